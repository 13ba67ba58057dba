"""What something besides the program writes: inputs of the controller, and global variables of other tasks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from chatdev.departments.plc.proof.outcomes import Property, Verdict
from chatdev.departments.plc.proof.verify import verify
from chatdev.departments.plc.st.core import Dialect
from chatdev.departments.plc.st.reading import read_program
from tests.departments.plc.latch import plc

INPUTS = """PROGRAM first
VAR button AT %IX0.0 : BOOL; lamp AT %QX0.0 : BOOL; END_VAR
VAR_EXTERNAL sensor : BOOL; shared : INT; own : INT; END_VAR
VAR seen, mine : INT; felt : BOOL; t : TON; END_VAR
lamp := button;
felt := sensor;
seen := shared;
own := own + 1;
mine := own;
t(IN := TRUE, PT := T#1s);
END_PROGRAM
"""
SECOND = """PROGRAM second
VAR_EXTERNAL shared : INT; END_VAR
Write();
END_PROGRAM
FUNCTION Write : BOOL
VAR_EXTERNAL shared : INT; END_VAR
shared := 7;
END_FUNCTION
"""
TASKS = """CONFIGURATION Config0
VAR_GLOBAL
  shared AT %MW0 : INT := 3;
  own : INT;
  sensor AT %IX0.3 : BOOL;
END_VAR
RESOURCE Res0 ON PLC
TASK task0(INTERVAL := T#20ms,PRIORITY := 0);
PROGRAM instance0 WITH task0 : first;
END_RESOURCE
END_CONFIGURATION
"""
TWO = TASKS.replace("END_RESOURCE", "TASK task1(INTERVAL := T#50ms,PRIORITY := 1);\n"
                    "PROGRAM instance1 WITH task1 : second;\nEND_RESOURCE")


def verdicts(source: str, *conditions: str, entry: str | None = None) -> list[Verdict]:
    asked = [Property("pattern-invariant", (one,)) for one in conditions]
    return [one.verdict for one in verify(source, entry, asked, seconds=2)][:len(conditions)]


def test_inputs_of_the_controller_have_any_value() -> None:
    assert verdicts(INPUTS + TASKS, "NOT lamp", "NOT felt", "lamp = button", "seen = 3") == [
        "VIOLATED", "VIOLATED", "PROVED", "PROVED"]
    columns = plc_run(INPUTS + TASKS)["columns"]
    assert columns[:2] == ["button", "sensor"]


def plc_run(source: str) -> dict[str, Any]:
    file = Path("main.st")
    file.write_text(source, encoding="utf-8")
    found: dict[str, Any] = json.loads(plc("run", file, "--cycles", 2, "--json").output)
    return found


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_an_input_within_a_block_is_not_known() -> None:
    source = ("FUNCTION_BLOCK Reader\nVAR x AT %I* : BOOL; END_VAR\nVAR_OUTPUT q : BOOL; END_VAR\nq := x;\n"
              "END_FUNCTION_BLOCK\nPROGRAM P\nVAR r : Reader; a, b : BOOL; END_VAR\nr();\na := r.q;\nb := FALSE;\n"
              "END_PROGRAM\n")
    assert verdicts(source, "NOT a", "NOT b") == ["UNKNOWN", "PROVED"]
    assert [one.code for one in read_program(source).diagnostics] == ["gap-located"]
    assert verdicts(source, "NOT q", entry="Reader") == ["VIOLATED"]


def test_what_another_task_writes_is_not_known() -> None:
    source = INPUTS + SECOND + TWO
    assert verdicts(source, "seen = 3", "shared <> 8", "mine <= 5", "felt = sensor") == [
        "VIOLATED", "UNKNOWN", "VIOLATED", "PROVED"]
    assert verdicts(source, "seen <> 7", "seen < 8", entry="first") == ["VIOLATED", "UNKNOWN"]
    said = [one for one in read_program(source).diagnostics if one.code == "gap-tasks"]
    assert "only first is proved, with any values in the global variables" in said[0].message


def test_two_instances_of_a_program_write_the_same_global_variables() -> None:
    source = INPUTS.replace("own := own + 1;", "IF own < 1 THEN own := own + 1; END_IF;")
    assert verdicts(source + TASKS, "mine = 1", "lamp = button") == ["PROVED", "PROVED"]
    twice = TASKS.replace("END_RESOURCE", "PROGRAM i2 WITH task0 : first;\nEND_RESOURCE")
    assert verdicts(source + twice, "mine = 1", "lamp = button") == ["UNKNOWN", "PROVED"]


def test_the_interval_of_a_task_is_the_time_from_scan_to_scan() -> None:
    assert plc_run(INPUTS + TASKS)["milliseconds"] == [20, 20]
    Path("steps.json").write_text(json.dumps([{"property": {
        "job_req": "pattern", "pattern_id": "pattern-invariant", "pattern_params": {"1": "t.ET <> T#30ms"}}}]),
        encoding="utf-8")
    assert plc("verify", "main.st", "--properties", "steps.json").exit_code == 0
    assert plc("verify", "main.st", "--properties", "steps.json", "--cycle-ms", 10).exit_code == 1


def test_the_tasks_of_a_twincat_project_are_several_programs() -> None:
    task = ('<?xml version="1.0"?>\n<TcPlcObject><Task Name="{0}"><CycleTime>{1}</CycleTime><PouCall><Name>{2}</Name>'
            "</PouCall></Task></TcPlcObject>\n")
    Path("one.TcTTO").write_text(task.format("one", 20000, "first"), encoding="utf-8")
    Path("main.st").write_text(f"{INPUTS}VAR_GLOBAL shared : INT := 3; own : INT; sensor : BOOL; END_VAR\n{SECOND}",
                               encoding="utf-8")
    assert "gap" not in plc("check", ".").output
    Path("two.TcTTO").write_text(task.format("two", 50000, "second"), encoding="utf-8")
    said = plc("check", ".").output
    assert "two.TcTTO:1:1: gap: several programs are run by tasks; only first is" in said
    exported = plc("export", ".", "--out", "out.xml")
    assert (exported.exit_code, Path("out.xml").read_text(encoding="utf-8").count("<pouInstance")) == (0, 2)


def test_the_interval_is_that_of_the_program_that_is_run() -> None:
    program = read_program(INPUTS + SECOND + TWO, "second", Dialect("iec")).program
    assert program is not None
    assert program.cycle_ms == 50
