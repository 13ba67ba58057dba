"""Programs of several tasks: interleaved in a run, and open to each other in a proof."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from chatdev.departments.plc.proof.outcomes import Property
from chatdev.departments.plc.proof.verify import verify
from chatdev.departments.plc.simulation.machine import Machine
from chatdev.departments.plc.st.core import Dialect
from chatdev.departments.plc.st.reading import read_program
from tests.departments.plc.latch import plc

GLOBALS = "VAR_GLOBAL level : INT; alarm : BOOL; pulses : DINT; limit : INT := 100; END_VAR\n"
PROGRAMS = """PROGRAM Fast
VAR_INPUT sensor : BOOL; END_VAR
VAR n : INT; END_VAR
VAR_OUTPUT horn : BOOL; top : INT; END_VAR
n := (n + 1) MOD 1000;
IF sensor THEN pulses := pulses + 1; END_IF
horn := alarm;
top := limit;
END_PROGRAM
PROGRAM Slow
VAR_INPUT fill : BOOL; END_VAR
VAR seen : DINT; t : TON; END_VAR
IF fill AND level < limit THEN level := level + 1; END_IF
alarm := level > 3;
seen := pulses;
t(IN := fill, PT := T#250ms);
END_PROGRAM
"""
TASKS = """CONFIGURATION c
RESOURCE r ON plc
TASK quick (INTERVAL := T#10ms, PRIORITY := {0});
TASK idle (INTERVAL := T#40ms, PRIORITY := {1});
PROGRAM f WITH quick : Fast;
PROGRAM s WITH idle : Slow;
END_RESOURCE
END_CONFIGURATION
"""
BOTH = GLOBALS + PROGRAMS + TASKS.format(1, 5)


def states(source: str, entry: str, scans: int, given: dict[str, Any]) -> list[dict[str, Any]]:
    program = read_program(source, entry, together=True).program
    assert program
    machine = Machine(program, program.cycle_ms or 0)
    return [dict(machine.scan(given)) for _ in range(scans)]


@pytest.mark.parametrize(("priorities", "entry", "expected"), [
    ((1, 5), "Fast", [0, 1, 1, 1, 1, 5, 5, 5, 5, 9]), ((5, 1), "Fast", [0, 0, 0, 0, 4, 4, 4, 4, 8, 8]),
    ((1, 1), "Fast", [0, 1, 1, 1, 1, 5, 5, 5, 5, 9])])
def test_programs_are_interleaved_by_interval_and_priority(priorities: tuple[int, int], entry: str,
                                                           expected: list[int]) -> None:
    """What Slow has seen of the pulses that Fast counts, at the end of each scan of Fast."""
    source = GLOBALS + PROGRAMS + TASKS.format(*priorities)
    assert [one["slow"]["seen"] for one in states(source, entry, 10, {"sensor": True})] == expected


@pytest.mark.parametrize(("priorities", "expected"), [((1, 5), [1, 5, 9, 13]), ((5, 1), [0, 4, 8, 12])])
def test_a_slow_program_comes_between_the_scans_of_a_fast_one(priorities: tuple[int, int], expected: list[int]) -> None:
    source = GLOBALS + PROGRAMS + TASKS.format(*priorities)
    assert [one["seen"] for one in states(source, "Slow", 4, {"fast:sensor": True})] == expected


def test_timers_of_all_programs_count_the_same_time() -> None:
    seen = states(BOTH, "Fast", 30, {"slow:fill": True})
    assert [at for at, one in enumerate(seen) if one["slow"]["t"]["q"]][:1] == [29]  # at 280 ms, the first of 0, 40, …


def judge(source: str, entry: str | None, pattern: str, *parameters: str) -> tuple[str, str]:
    found = verify(source, entry, [Property(f"pattern-{pattern}", parameters)], seconds=4)[0]
    return found.verdict, found.reason


@pytest.mark.parametrize(("entry", "pattern", "parameters", "verdict"), [
    (None, "invariant", ("n >= 0 AND n < 1000",), "PROVED"), (None, "invariant", ("horn = alarm",), "PROVED"),
    (None, "invariant", ("top = 100",), "PROVED"),  # no task writes it
    (None, "invariant", ("NOT horn",), "VIOLATED"), (None, "invariant", ("level <= 100",), "UNKNOWN"),
    (None, "reachability", ("horn",), "PROVED"), (None, "invariant", ("level >= 0",), "UNKNOWN"),
    ("Slow", "invariant", ("level >= 0 AND level <= 100",), "PROVED"),
    ("Slow", "invariant", ("seen <= 2",), "VIOLATED"),
    ("Slow", "invariant", ("level < 3",), "VIOLATED"), ("Slow", "implication", ("alarm", "level > 3"), "PROVED"),
    ("Slow", "invariant", ("seen <> 77777",), "UNKNOWN"),
    (None, "statechange-duringcycle", ("level = 5", "n = 0"), "UNKNOWN"),
    (None, "statechange-duringcycle", ("sensor", "pulses <> 0"), "BOUNDED")])
def test_what_is_proved_holds_whatever_other_tasks_write(entry: str | None, pattern: str, parameters: tuple[str, ...],
                                                         verdict: str) -> None:
    found, reason = judge(BOTH, entry, pattern, *parameters)
    assert found == verdict, reason
    if verdict == "UNKNOWN":
        assert reason.startswith("not verified: what programs of other tasks write")


def test_what_a_program_resets_may_change_before_its_next_scan() -> None:
    """In each scan Fast finds what Slow wrote since, though it leaves 0 behind."""
    source = BOTH.replace("top := limit;", "top := level; level := 0;")
    assert judge(source, None, "invariant", "level = 0")[0] == "PROVED"
    assert judge(source, None, "invariant", "top = 0")[0] == "VIOLATED"
    assert judge(source, None, "statechange-duringcycle", "level = 1", "FALSE")[0] == "UNKNOWN"


def test_a_task_that_writes_by_way_of_a_pointer_may_write_anything() -> None:
    source = BOTH.replace("seen := pulses;", "seen := pulses; p := ADR(seen); p := p + 4; p^ := 3;").replace(
        "VAR seen : DINT;", "VAR p : POINTER TO DINT; seen : DINT;")
    for claim in ("top = 100", "n >= 0"):
        assert judge(source, None, "invariant", claim)[0] == "UNKNOWN"


def test_an_instance_that_another_task_calls_by_an_interface_is_open() -> None:
    objects = """INTERFACE IGo
METHOD Go
END_METHOD
END_INTERFACE
FUNCTION_BLOCK Go IMPLEMENTS IGo
VAR_OUTPUT gone : INT; END_VAR
METHOD Go
gone := gone + 1;
END_METHOD
END_FUNCTION_BLOCK
VAR_GLOBAL shared : IGo; END_VAR
"""
    source = objects + BOTH.replace("VAR n : INT;", "VAR go : Go; other : Go; n : INT;").replace(
        "top := limit;", "shared := go; top := go.gone; n := other.gone;").replace(
        "seen := pulses;", "IF shared <> 0 THEN shared.Go(); END_IF")
    assert [one.code for one in read_program(source, None, Dialect("twincat")).diagnostics
            if one.severity == "error"] == []
    for claim, verdict in (("top = 0", "VIOLATED"), ("top < 2000", "UNKNOWN"), ("horn = alarm", "PROVED")):
        found = verify(source, None, [Property("pattern-invariant", (claim,))], seconds=4, dialect=Dialect("twincat"))
        assert (found[0].verdict, claim) == (verdict, claim), found[0].reason


def test_inputs_of_all_programs_are_columns(tmp_path: Path) -> None:
    file, table = tmp_path / "main.st", tmp_path / "in.csv"
    file.write_text(BOTH, encoding="utf-8")
    table.write_text("sensor,Slow.fill,Slow.seen\nTRUE,TRUE,0\nTRUE,TRUE,1\n", encoding="utf-8")
    seen = plc("run", file, "--inputs", table, "--json")
    assert seen.exit_code == 0, seen.output
    assert json.loads(seen.output)["columns"][:2] == ["sensor", "Slow.fill"]
    rows = list(csv.reader(plc("run", file, "--cycles", "3").output.splitlines()))
    assert len(set(rows[0])) == len(rows[0])
    properties = tmp_path / "p.json"
    properties.write_text(json.dumps([{"job_req": "pattern", "pattern_id": "pattern-invariant",
                                       "pattern_params": ["NOT horn"]}]), encoding="utf-8")
    shown = plc("explain", file, "--properties", properties, "--property", 1).output
    assert "Slow.fill" in shown
    assert "@" not in shown


def test_global_variables_are_found_by_the_name_of_their_list(tmp_path: Path) -> None:
    file, table = tmp_path / "main.st", tmp_path / "in.csv"
    file.write_text("NAMESPACE Io\nVAR_GLOBAL demand AT %ID0 : INT; END_VAR\nEND_NAMESPACE\nPROGRAM P\n"
                    "VAR y : INT; END_VAR\ny := Io.demand;\nEND_PROGRAM\n", encoding="utf-8")
    table.write_text("Io.demand,y\n4,4\n", encoding="utf-8")
    assert plc("run", file, "--inputs", table).exit_code == 0
    assert judge(file.read_text(encoding="utf-8"), None, "invariant", "y = Io.demand")[0] == "PROVED"
