"""`chatdev process`: the commands that look at a pool, and what they refuse."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from chatdev.cli.app import command_line
from chatdev.departments.process.pool import InstanceOutcome, export_outcomes
from tests.departments.process.office import COMPANY, SHORT, TESTED, Department
from tests.support.chat_server import ChatServer


@pytest.fixture
def department(tmp_path: Path, chat_server: ChatServer, here: Path) -> Department:
    return Department(tmp_path, chat_server)


@pytest.fixture
def filled(department: Department) -> Department:
    """A pool that was imported."""
    outcomes = [InstanceOutcome(tuple(SHORT.split(" → ")), n < 2, True, area="Words") for n in range(3)]
    outcomes += [InstanceOutcome(tuple(TESTED.split(" → ")), True, True, area="Words", temperature=0.6)] * 2
    outcomes += [InstanceOutcome(("Foo",), False, failure="unknown phase")]
    text = export_outcomes(outcomes, COMPANY.default)
    (department.folder / "pool.json").write_text(text)
    said = department.command("import", str(department.folder / "pool.json"))
    assert said.exit_code == 0
    assert "pool top: 6 new outcomes" in said.output
    return department


def test_a_pool_is_carried_elsewhere(filled: Department) -> None:
    exported = filled.command("export")
    again = CliRunner().invoke(command_line, ["process", "import", "-", "--pool", "copy"], input=exported.output)
    assert again.exit_code == 0, again.output
    copied, kept = filled.command("filter", "--pool", "copy", "--all"), filled.command("filter", "--all")
    assert copied.output == kept.output
    broken = CliRunner().invoke(command_line, ["process", "import", "-"], input="[]")
    assert broken.exit_code == 2
    assert "is no exported pool" in broken.output


def test_a_pool_is_filtered(filled: Department) -> None:
    said = filled.command("filter").output
    assert "2 of 3 instances succeed in at least 30% of their runs; 6 outcomes" in said
    assert re.search(rf"^3 +2 +0.67 +[\d.]+ +{SHORT}$", said, re.M)
    assert "Foo" not in said
    data = json.loads(filled.command("filter", "--json", "--least", "0.9").output)
    assert [(one["frequency"], one["success_rate"]) for one in data] == [(2, 1.0)]


def test_a_model_is_mined_drawn_and_described(filled: Department) -> None:
    files = {kind: filled.folder / f"model.{kind}" for kind in ("bpmn", "svg", "png")}
    options = [part for kind, file in files.items() for part in (f"--{kind}", str(file))]
    said = filled.command("mine", *options)
    assert said.exit_code == 0, said.output
    assert "fitness 1.00, precision 1.00; 6 phases, 2 exclusive and 0 parallel gateways" in said.output
    assert "bpmndi:BPMNShape" in files["bpmn"].read_text()
    assert "<svg" in files["svg"].read_text()
    assert files["png"].read_bytes().startswith(b"\x89PNG")
    assert json.loads(filled.command("mine", "--json").output)["precision"] == 1
    assert 'First run "DemandAnalysis".' in filled.command("describe").output
    known = json.loads(filled.command("describe", "--json").output)
    assert sorted(known["instances"]) == sorted([SHORT, TESTED])
    refused = filled.command("mine", "--least", "1", "--pool", "none")
    assert refused.exit_code == 2
    assert "there is no pool 'none'" in refused.output


def test_a_pool_in_which_all_failed_teaches_nothing(department: Department) -> None:
    text = export_outcomes([InstanceOutcome(COMPANY.default, False)], COMPANY.default)
    CliRunner().invoke(command_line, ["process", "import", "-"], input=text)
    for name in ("mine", "describe"):
        refused = department.command(name)
        assert refused.exit_code == 2
        assert "there is nothing to mine" in refused.output


def test_a_process_is_checked_before_anything_is_paid(department: Department) -> None:
    right = department.command("check", "demand analysis -> LanguageChoose -> Coding")
    assert (right.exit_code, right.output) == (0, "OK: DemandAnalysis → LanguageChoose → Coding\n")
    wrong = department.command("check", "LanguageChoose → Foo")
    assert (wrong.exit_code, wrong.output) == (1, "there is no phase Foo\n")
    data = json.loads(department.command("check", "Coding", "--json").output)
    assert [one["missing"] for one in data["problems"]] == ["language", "modality"]
    other = department.command("check", "Coding", "--company", "chatdev")
    assert other.exit_code == 2
    assert "runs no proposed processes" in other.output


@pytest.mark.parametrize(("tasks", "why"), [("nowhere", "names no data set"), ("", "names no data set"),
                                            ("easy:no-such-set", "no-such-set"), ("srdd:0", "names no data set")])
def test_tasks_that_are_none_are_refused(department: Department, tasks: str, why: str) -> None:
    refused = department.command("develop", "--tasks", tasks, "--model", "m")
    assert refused.exit_code == 2
    assert why in refused.output


@pytest.mark.tool
def test_the_pools_of_other_phases_and_of_the_company_are_not_written(filled: Department) -> None:
    refused = filled.run("develop", "--pool", "starter", "--process", SHORT)
    assert refused.exit_code == 2
    assert "is only read" in refused.output


def test_the_page_shows_what_became_of_the_pool(filled: Department) -> None:
    outcomes = [InstanceOutcome(tuple(SHORT.split(" → ")), n > 0, True, area="Words", temperature=1.0,
                                run=f"compare-1: {'with text' if n else 'without text'}/<b>{n}") for n in range(3)]
    (filled.folder / "more.json").write_text(export_outcomes(outcomes, COMPANY.default))
    filled.command("import", str(filled.folder / "more.json"))
    said = filled.command("report", "--output", "page.html")
    assert said.exit_code == 0, said.output
    page = Path("page.html").read_text()
    assert "<b>9</b><span>outcomes</span>" in page
    assert "unknown phase 1" in page
    assert "compare-1: without text" in page
    assert "<b>1<" not in page
    row = page.partition("<td>Words</td>")[2].partition("</tr>")[0]
    assert re.findall(r">([\d.][^<]*)<", row) == ["0.00 (1)", "1.00 [1.00, 1.00] (2)"]
    assert page.count('<svg class="plot"') == 3
    assert page.count("data:image/svg+xml;base64,") == 2
    assert "First run &#34;DemandAnalysis&#34;." in page


def test_a_page_about_little_says_so(department: Department) -> None:
    text = export_outcomes([], COMPANY.default)
    CliRunner(env={"COLUMNS": "200"}).invoke(command_line, ["process", "import", "-"], input=text)
    said = department.command("report", "--output", "page.html")
    assert said.exit_code == 0, said.output
    assert "There is nothing to mine." in Path("page.html").read_text()


def test_strategies_say_what_they_would_replay(filled: Department) -> None:
    said = filled.command("strategies", "--count", "2").output
    assert said.count("\n") == 5 * 3
    assert "Foo" not in said
    once = said.partition("uct_once:\n")[2].splitlines()
    assert {line.strip() for line in once} == {SHORT, TESTED}


def test_strategies_say_why_nothing_can_be_replayed(department: Department) -> None:
    failed = [InstanceOutcome(("Foo", "Coding"), False, failure="unknown phase")] * 20
    unread = [InstanceOutcome(("Coding",), False, failure="missing solution")] * 6
    unrun = [InstanceOutcome(tuple(SHORT.split(" → ")), False, failure="no reply")]
    for pool, outcomes, why in (
            ("failed", failed + unread, "none of the 26 outcomes of the pool is of a process that was run and can be "
                                        "run (unknown phase 20, missing solution 6)"),
            ("unrun", unrun, "can be run (never run 1), so"), ("empty", [], "the pool is empty, so")):
        text = export_outcomes(outcomes, COMPANY.default)
        CliRunner().invoke(command_line, ["process", "import", "-", "--pool", pool], input=text)
        said = department.command("strategies", "--pool", pool)
        assert said.exit_code == 2
        assert why in " ".join(said.output.split())
        assert "uct:" not in said.output
        assert "is empty" not in said.output or pool == "empty"


def test_one_instance_a_circle_and_a_long_one_are_mined(department: Department) -> None:
    """A pool may hold what no company of ours would run."""
    circle = ("DemandAnalysis", "LanguageChoose", *("Coding", "TestErrorSummary") * 9)
    for number, instance in enumerate((("Coding",), circle, tuple("Coding" for _ in range(60)))):
        text = export_outcomes([InstanceOutcome(instance, True)] * 2, COMPANY.default)
        CliRunner().invoke(command_line, ["process", "import", "-", "--pool", str(number)], input=text)
        said = department.command("mine", "--pool", str(number))
        assert "fitness 1.00" in said.output, said.output
        assert department.command("report", "--pool", str(number)).exit_code == 0
    text = export_outcomes([InstanceOutcome(("Coding",) * 200, True)], COMPANY.default)
    refused = CliRunner().invoke(command_line, ["process", "import", "-", "--pool", "3"], input=text)
    assert refused.exit_code == 2
    assert "200 phases is too long for a pool" in refused.output


LOG = """case,activity,time
1,register,2026-01-01T10:00
1,check,2026-01-01T11:00
1,pay,2026-01-01T12:00
2,register,2026-01-02T10:00
2,pay,2026-01-02T12:00
3,register,2026-01-02T10:00
3,check,2026-01-02T11:00
3,check,2026-01-02T12:00
3,pay,2026-01-02T13:00
"""


@pytest.fixture
def logged(department: Department) -> Department:
    """Two logs, and the model of the first as a file."""
    (department.folder / "a.csv").write_text(LOG)
    (department.folder / "b.csv").write_text(LOG.replace("2,pay", "2,refund"))
    made = run(department, "mine", "--log", "a.csv", "--bpmn", "a.bpmn", "--executable")
    assert made.exit_code == 0, made.output
    return department


def run(department: Department, *words: str) -> Result:
    """A command with the files of the folder."""
    given = [str(department.folder / word) if word.endswith((".csv", ".bpmn", ".svg")) else word for word in words]
    return CliRunner().invoke(command_line, ["process", *given])


def test_a_model_file_is_put_into_words(logged: Department) -> None:
    said = run(logged, "describe", "--bpmn", "a.bpmn")
    assert said.output == ('First run "register". Then, only if it is needed, run "check" once or several times. '
                           'Finally run "pay".\n')
    text = (logged.folder / "a.bpmn").read_text()
    assert 'isExecutable="true"' in text
    assert text.count("conditionExpression>") == text.count("default=") == 2


def test_a_log_is_checked_against_a_model(logged: Department) -> None:
    assert run(logged, "check", "--bpmn", "a.bpmn", "--log", "a.csv").exit_code == 0
    said = run(logged, "check", "--bpmn", "a.bpmn", "--log", "b.csv", "--svg", "c.svg")
    assert said.exit_code == 1
    assert "fitness 0.667, precision 0.733" in said.output
    assert "after register: \"refund\" is not allowed; allowed: 'check', 'pay'" in said.output
    assert "</svg>" in (logged.folder / "c.svg").read_text()
    data = json.loads(run(logged, "check", "--bpmn", "a.bpmn", "--log", "b.csv", "--json").output)
    assert data["deviating"] == [{"cases": 1, "instance": ["register", "refund"], "place": 1,
                                  "allowed": ["check", "pay"]}]
    short = run(logged, "check", "--bpmn", "->('register', 'check', 'pay')", "--log", "a.csv")
    assert "after register: \"pay\" is not allowed" in short.output
    both = run(logged, "check", "Coding", "--bpmn", "a.bpmn")
    assert (both.exit_code, "one of the two" in both.output) == (2, True)


def test_models_logs_and_pools_are_compared(logged: Department) -> None:
    same = run(logged, "compare", "a.bpmn", "->('register', X(tau, *('check', tau)), 'pay')")
    assert (same.exit_code, same.output) == (0, "both allow the same\n")
    said = run(logged, "compare", "a.csv", "b.csv")
    assert said.exit_code == 1
    assert "they differ; only a.csv allows: register → pay" in said.output
    assert "activities only in b.csv: refund" in said.output
    assert "a.csv on b.csv: fitness 0.667, precision 0.733, F 0.698" in said.output
    assert "  pay: 100.0%, 66.7%" in said.output
    data = json.loads(run(logged, "diff", "a.csv", "starter", "--json").output)
    assert (data["same"], len(data["quality"]), data["activities_only"][0]) == (False, 4, ["check", "pay", "register"])
    assert run(logged, "compare", "a.csv", "nothing").exit_code == 2
    assert "--tasks" in run(logged, "compare").output


def test_what_only_looks_loads_neither_a_database_nor_what_runs_companies() -> None:
    code = ("import sys\nfrom click.testing import CliRunner\nfrom chatdev.cli.app import command_line\n"
            "done = CliRunner().invoke(command_line, ['process', 'mine', '--pool', 'starter'])\n"
            "heavy = {'sqlalchemy', 'chatdev.cli.study_run', 'chatdev.runner.api'} & set(sys.modules)\n"
            "sys.exit(str(heavy) if heavy else done.exit_code)")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
