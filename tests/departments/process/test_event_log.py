"""Event logs of other programs: what is read of XES, tables and OCEL, and what is refused with its place."""

from __future__ import annotations

import csv
import gzip
import json
import tempfile
import tracemalloc
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from xml.sax.saxutils import quoteattr

import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

from chatdev.cli.app import command_line
from chatdev.departments.process.event_log import EventLog, LogChoice, keep_frequent
from chatdev.departments.process.log_files import read_log
from chatdev.departments.process.log_times import TimeReader
from chatdev.errors import ConfigError

BEGIN = datetime(2026, 3, 4, 8, 0, tzinfo=UTC)
Case = list[tuple[str, str]]  # activity and transition, a minute apart


def xes(cases: list[Case], *, more: str = "", namespace: str = ' xmlns="http://www.xes-standard.org/"') -> str:
    """The cases as XES."""
    lines = [f"<log{namespace}>{more}"]
    for number, case in enumerate(cases):
        lines.append(f'<trace><string key="concept:name" value="c{number}"/>')
        for minute, (activity, transition) in enumerate(case):
            time = (BEGIN + timedelta(minutes=minute)).isoformat()
            lines.append(f'<event><string key="concept:name" value={quoteattr(activity)}/>'
                         f'<date key="time:timestamp" value="{time}"/>'
                         f'<string key="lifecycle:transition" value="{transition}">'
                         '<string key="concept:name" value="in"/></string></event>')
        lines.append("</trace>")
    return "\n".join([*lines, "</log>"])


def simple(*cases: str) -> list[Case]:
    """Cases whose activities are letters."""
    return [[(letter, "complete") for letter in case] for case in cases]


def read(tmp_path: Path, name: str, text: str | bytes, **choice: str) -> EventLog:
    """The log in a file of this name."""
    (tmp_path / name).write_bytes(text.encode() if isinstance(text, str) else text)
    return read_log(tmp_path / name, LogChoice(**choice))  # type: ignore[arg-type]


def refusal(tmp_path: Path, name: str, text: str | bytes, **choice: str) -> str:
    """Why it is refused."""
    with pytest.raises(ConfigError) as caught:
        read(tmp_path, name, text, **choice)
    assert str(tmp_path / name) in str(caught.value)
    return str(caught.value).removeprefix(f"{tmp_path}/")


def variants(log: EventLog) -> dict[str, int]:
    """The variants as words."""
    return {"".join(variant): count for variant, count in log.variants.items()}


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("namespace", ["", ' xmlns="http://www.xes-standard.org/"', ' xes.version="1.0"'])
def test_the_cases_of_an_xes_file_are_its_traces(packed: bool, namespace: str, tmp_path: Path) -> None:
    data = xes(simple("abc", "abc", "ac"), namespace=namespace).encode()
    log = read(tmp_path, "log.xes.gz" if packed else "log.xes", gzip.compress(data) if packed else data)
    assert variants(log) == {"abc": 2, "ac": 1}
    assert (log.cases, log.events, log.activities) == (3, 8, Counter(a=3, b=2, c=3))
    assert log.typical_durations == {"median": 120.0, "p90": 120.0}
    assert log.waits["a", "b"].count == 2
    assert log.waits["a", "b"].total == 120.0


def test_starts_and_completes_are_one_step_in_their_order(tmp_path: Path) -> None:
    case = [("a", "start"), ("b", "start"), ("b", "complete"), ("a", "COMPLETE"), ("a", "schedule"), ("c", "complete"),
            ("d", "start")]
    log = read(tmp_path, "log.xes", xes([case]))
    assert variants(log) == {"bacd": 1}
    assert (log.unfinished, log.passed_over) == (1, Counter(schedule=1))
    assert log.waits["a", "c"].total == 120.0
    told = {steps: variants(read(tmp_path, "log.xes", xes([case]), lifecycles=steps)) for steps in
            ("complete", "start", "all")}
    assert told == {"complete": {"bac": 1}, "start": {"abd": 1}, "all": {"abbaacd": 1}}


def test_states_that_no_standard_knows_are_events(tmp_path: Path) -> None:
    assert variants(read(tmp_path, "log.xes", xes([[("a", "In Progress"), ("a", "Closed")]]))) == {"aa": 1}


def test_equal_times_keep_the_order_of_the_file(tmp_path: Path) -> None:
    rows = ["2,z,2026-01-02", "1,b,2026-01-01 10:00:00", "2,y,2026-01-02", "1,a,2026-01-01 09:59:59.5",
            "1,c,2026-01-01T10:00:00Z", "2,x,2026-01-02"]
    log = read(tmp_path, "log.csv", "\n".join(["case,activity,timestamp", *rows]))
    assert variants(log) == {"abc": 1, "zyx": 1}


@pytest.mark.parametrize(("head", "separator"), [
    ("Case ID;Activity;Complete Timestamp", ";"), ("case:concept:name,concept:name,time:timestamp", ","),
    ("case_id\tactivity\ttimestamp", "\t"), ("caseid|task|time", "|")])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16"])
def test_tables_of_other_programs_are_read_as_they_are(head: str, separator: str, encoding: str,
                                                       tmp_path: Path) -> None:
    rows = [("1", "prüfen", "01.02.2026 10:00"), ("1", '"x, y; z"', "01.02.2026 11:00"), ("2", "prüfen", "")]
    text = "\r\n".join([head, *(separator.join(row) for row in rows), ""])
    log = read(tmp_path, "log.csv", text.encode(encoding))
    assert log.variants == {("prüfen", "x, y; z"): 1, ("prüfen",): 1}
    assert log.typical_durations == {"median": 3600.0, "p90": 3600.0}


def test_a_date_of_which_no_date_tells_the_order_is_asked_for(tmp_path: Path) -> None:
    text = "case,activity,time\n1,a,{}\n1,b,05/03/2026 10:00\n"
    log = read(tmp_path, "log.csv", text.format("04/23/2026 9:00 PM"))
    assert variants(log) == {"ab": 1}
    assert log.begin == datetime(2026, 4, 23, 21, tzinfo=UTC).timestamp()
    assert variants(read(tmp_path, "log.csv", text.format("23/04/2026"))) == {"ba": 1}
    assert "the day or the month first" in refusal(tmp_path, "log.csv", text.format("04/03/2026"))
    assert read(tmp_path, "log.csv", text.format("04/03/2026 00:00"), time_format="%d/%m/%Y %H:%M").cases == 1


@pytest.mark.parametrize(("text", "moment"), [
    ("2026-03-04T08:00:00.000+01:00", "2026-03-04T07:00:00"), ("2026-03-04 08:00:00 UTC", "2026-03-04T08:00:00"),
    ("2026-03-04", "2026-03-04T00:00:00"), ("2026/03/04 08:00:00.5", "2026-03-04T08:00:00.5"),
    ("4.3.2026 08:00", "2026-03-04T08:00:00"), ("30-12-2010:11.02", "2010-12-30T11:02:00"),
    ("1772611200", "2026-03-04T08:00:00"), ("1772611200000", "2026-03-04T08:00:00"),
    ("1772611200000000", "2026-03-04T08:00:00"), ("13/3/2026 12:30 am", "2026-03-13T00:30:00")])
def test_times_of_many_forms_are_read(text: str, moment: str) -> None:
    assert TimeReader()(text) == datetime.fromisoformat(f"{moment}+00:00").timestamp()


@pytest.mark.parametrize("text", ["yesterday", "4.3.26", "2026-13-01", "32.1.2026", "9" * 40, "1/2/3/4", "٣"])
def test_what_is_no_time_is_told(text: str) -> None:
    with pytest.raises(ValueError, match=r"time|year|month|day"):
        TimeReader()(text)


def test_an_extension_may_have_another_prefix(tmp_path: Path) -> None:
    text = xes([[("a", "start"), ("a", "complete"), ("b", "complete")]], more='<extension name="Lifecycle" prefix="lc" '
               'uri="http://www.xes-standard.org/lifecycle.xesext"/>').replace("lifecycle:transition", "lc:transition")
    assert variants(read(tmp_path, "log.xes", text)) == {"ab": 1}


@pytest.mark.parametrize(("name", "text", "reason"), [
    ("log.xes", "", "no element found"),
    ("log.xes", xes(simple("ab", "ab"))[:-80], "1 cases before it are whole"),
    ("log.xes", "<html></html>", "log.xes:1:1: the file is a <html> and no <log>"),
    ("log.xes", "<log></log>", "has no events"),
    ("log.xes", "<log><trace><event/></trace></log>", "has no events that are steps, but 1 without activity"),
    ("log.csv", "case,activity\n1,\n2,\n", "has no events that are steps, but 2 without case or activity"),
    ("log.xes", '<!DOCTYPE log [<!ENTITY a "b">]><log/>', "document type"),
    ("log.xes", '<log><trace><event><string key="name" value="a"/></event></trace></log>', "its events have name"),
    ("log.xes", f"<log>{'<a>' * 200}", "nested more than 100"),
    ("log.xes", xes(simple("a")).replace("2026-03-04T", "soon "), "is no time that is known"),
    ("log.xes.gz", gzip.compress(xes(simple("abc")).encode())[:-30], "cannot be read to its end"),
    ("log.csv", "", "which column is the case"),
    ("log.csv", "a,b,c\n1,2,3\n", "which column is the case? Name it with --case; there are: a, b, c"),
    ("log.csv", "case,activity\n1,a\n1,b,c\n", "log.csv:3: 3 values where the head has 2 columns"),
    ("log.csv", 'case,activity\n1,"a\n', "no whole line of a table"),
    ("log.csv", "case,activity,time\n1,a,2026-01-01\n1,b,later\n", "log.csv:3: 'later' is no time"),
    ("log.csv", "case,activity\n" + "1," + "x" * 2000, "2000 characters is no name"),
    ("log.csv", "case,activity\n" + "\n".join(f"1,{number}" for number in range(10_001)), "more than 10,000 activ"),
    ("log.jsonocel", "{", "no event log in OCEL"),
    ("log.jsonocel", '{"events": []}', "no event log in OCEL (KeyError: 'objects')"),
    ("log.jsonocel", "[" * 100_000, "no event log in OCEL"),
])
def test_what_is_no_log_is_refused_with_its_place(name: str, text: str | bytes, reason: str, tmp_path: Path) -> None:
    assert reason in refusal(tmp_path, name, text)


def test_names_that_are_not_there_are_told_with_those_that_are(tmp_path: Path) -> None:
    table = "number,what,when\n1,a,2026-01-01\n"
    assert variants(read(tmp_path, "log.csv", table, case="number", activity="what", time="when")) == {"a": 1}
    assert "no column 'who'; it has: number, what, when" in refusal(tmp_path, "log.csv", table, case="who")
    assert read(tmp_path, "log.csv", table, case="number", activity="what+when").variants == {("a+2026-01-01",): 1}
    both = read(tmp_path, "log.xes", xes(simple("a")), activity="concept:name+lifecycle:transition")
    assert both.variants == {("a+complete",): 1}


_NAMES = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zs", "Zl", "Zp"]), min_size=1, max_size=6)


@given(st.lists(st.lists(_NAMES, min_size=1, max_size=8), min_size=1, max_size=8))
def test_a_log_is_the_same_from_every_form_of_file(cases: list[list[str]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        places = {name: Path(folder) / f"log.{name}" for name in ("xes", "csv", "jsonocel")}
        places["xes"].write_text(xes([[(activity, "") for activity in case] for case in cases]), encoding="utf-8")
        with places["csv"].open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["case", "activity", "time"])
            longest = max(map(len, cases))
            writer.writerows([number, case[place], (BEGIN + timedelta(minutes=place)).isoformat()]
                             for place in range(longest) for number, case in enumerate(cases) if place < len(case))
        events = [(number, place, activity) for number, case in enumerate(cases) for place, activity in enumerate(case)]
        places["jsonocel"].write_text(json.dumps({
            "objects": [{"id": str(number), "type": "case"} for number in range(len(cases))],
            "events": [{"id": f"{number}.{place}", "type": activity,
                        "time": (BEGIN + timedelta(minutes=place)).isoformat(),
                        "relationships": [{"objectId": str(number)}]} for number, place, activity in events]}))
        found = {name: read_log(place) for name, place in places.items()}
    expected = Counter(map(tuple, cases))
    assert {name: log.variants for name, log in found.items()} == dict.fromkeys(found, expected)
    assert len({tuple(sorted(log.durations)) for log in found.values()}) == 1


def test_memory_stays_small_for_a_long_table(tmp_path: Path) -> None:
    with (tmp_path / "log.csv").open("w") as file:
        file.write("case,activity,time\n")
        for number in range(100_000):
            file.write(f"{number % 5000},{'abcdefgh'[number // 5000 % 8]},{1_700_000_000 + number}\n")
    tracemalloc.start()
    log = read_log(tmp_path / "log.csv")
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (log.cases, log.events, len(log.variants)) == (5000, 100_000, 1)
    assert most < 4_000_000


# On the command line


def process(*arguments: object) -> Result:
    """What `chatdev process` says."""
    return CliRunner().invoke(command_line, ["process", *map(str, arguments)])


def test_a_log_is_mined_by_one_command(tmp_path: Path) -> None:
    file = tmp_path / "log.xes"
    file.write_text(xes(simple("abc", "acb", "abc", "ad")))
    found = process("mine", "--log", file, "--bpmn", tmp_path / "m.bpmn", "--svg", tmp_path / "m.svg")
    assert found.exit_code == 0, found.output
    assert "4 cases, 11 events, 4 activities, 3 variants" in found.output
    assert "->('a', X('d', +('b', 'c')))" in found.output
    assert (tmp_path / "m.bpmn").read_text().count("<bpmn:task") == 4
    few = process("mine", "--log", file, "--top", "1", "--json")
    assert json.loads(few.output)["model"] == ["sequence", "a", "b", "c"]
    assert 'First run "a".' in process("describe", "--log", file).output
    shown = process("filter", "--log", file, "--json")
    assert json.loads(shown.output)["most_frequent"][0] == {"cases": 2, "instance": ["a", "b", "c"]}
    assert "50.0%" in process("filter", "--log", file).output


def test_rare_activities_are_left_out_of_what_is_mined(tmp_path: Path) -> None:
    file = tmp_path / "log.xes"
    file.write_text(xes(simple("abc", "abc", "abxc", "aybc")))  # a, b and c are 12 of 14 steps
    whole, some = (json.loads(process("mine", "--log", file, "--keep", share, "--json").output)
                   for share in ("1", "0.8"))
    assert (whole["phases"], whole["left_out"]) == (5, [])
    assert (some["model"], some["left_out"]) == (["sequence", "a", "b", "c"], ["x", "y"])
    assert "left out: 2 activities (x, y)" in process("mine", "--log", file, "--keep", "0.8").output
    assert process("mine", "--log", file, "--keep", "0").exit_code == 2
    assert keep_frequent({("a", "b"): 1}, 0.5) == {("a",): 1}  # of equally frequent ones the first by name


def test_a_model_that_nobody_reads_says_how_there_is_less(tmp_path: Path) -> None:
    file = tmp_path / "log.csv"
    file.write_text("case,activity,time\n" + "".join(f"1,a{number},{number}\n" for number in range(31)))
    assert "31 activities make a large chart; --keep 0.8" in process("mine", "--log", file).output
    assert "large chart" not in process("mine", "--log", file, "--keep", "0.9").output


def test_an_imported_log_is_a_pool_of_its_own(tmp_path: Path) -> None:
    file, ledger = tmp_path / "My log.csv", ("--ledger", tmp_path / "ledger.sqlite")
    file.write_text("case,activity,time\n" + "".join(f"{case},{activity},{time}\n" for case in range(150)
                                                       for time, activity in enumerate("ab" if case else "b")))
    first = process("import", file, *ledger)
    assert first.exit_code == 0, first.output
    assert "150 cases" in first.output
    assert "kept as the pool My-log" in first.output
    from_file, kept = (json.loads(process("filter", *source, "--json").output)
                       for source in (("--log", file), ("--pool", "My-log", *ledger)))
    assert from_file == kept
    mined = process("mine", "--pool", "My-log", *ledger)
    assert "->(X(tau, 'a'), 'b')" in mined.output
    for looks_at_outcomes in ("report", "strategies", "export"):
        refused = process(looks_at_outcomes, "--pool", "My-log", *ledger)
        assert refused.exit_code == 2
        assert "is an event log" in refused.output
    exported = tmp_path / "pool.json"
    exported.write_text(process("export", "--pool", "starter").output)
    taken = process("import", exported, *ledger, "--pool", "My-log")
    assert taken.exit_code == 2
    assert "is an event log; name another pool" in taken.output
    again = process("import", file, *ledger)
    assert again.exit_code == 2
    assert "there is a log of this name" in again.output
    assert process("import", file, *ledger, "--replace").exit_code == 0
    other = process("import", file, *ledger, "--pool", "starter")
    assert other.exit_code == 2
    assert "belongs to the company" in other.output


def test_options_of_a_log_without_one_are_refused() -> None:
    found = process("mine", "--pool", "starter", "--case", "x")
    assert found.exit_code == 2
    assert "--log FILE" in found.output
