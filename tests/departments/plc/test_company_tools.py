"""What the company's tools say: the interface, the requirements, and verdicts on right programs and on wrong ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from chatdev.errors import ToolError
from chatdev.paths import bundled_folder
from chatdev.sandbox.kinds import Unconfined
from chatdev.tools.base import ToolContext, Verdict, registry

EXAMPLE = bundled_folder("company_config") / "agents4plc" / "examples" / "motor_start_stop"
TASK = (EXAMPLE / "requirement.md").read_text(encoding="utf-8")
RIGHT = (EXAMPLE / "solution.st").read_text(encoding="utf-8")
SKELETON = RIGHT[:RIGHT.index("VAR CONSTANT")] + "END_FUNCTION_BLOCK\n"
PROPERTIES = (EXAMPLE / "properties.json").read_bytes()
QUOTE = "stops it and wins over `Start`"


def call(tool: str, software: str | bytes | None = None, inputs: dict[str, Any] | None = None, **values: Any) -> Any:
    data = software.encode() if isinstance(software, str) else software
    files = {} if data is None else {"main.st": data}
    context = ToolContext(files, values, {"task": TASK, **(inputs or {})}, Unconfined(), Path(), Path())
    return registry()[tool].call(context, {})


def interface(**inputs: Any) -> Any:
    return call("plc.interface", inputs=inputs)


def verdict(program: str | bytes | None, tool: str = "plc.verify", given: bytes = PROPERTIES) -> Verdict:
    found: Verdict = call(tool, program, program_interface=interface(interface=SKELETON),
                          requirements=call("plc.properties", inputs={"properties": given}))
    return found


@pytest.mark.parametrize("task", [
    f"Write it.\n\n{SKELETON}", f"Write it.\n```iecst\n{SKELETON}```\nThank you.",
    f"Function blocks are fine.\n{SKELETON}",
    SKELETON.replace("    ", "\t").replace("\n", "\r\n"),
])
def test_a_skeleton_in_the_task_is_the_interface(task: str) -> None:
    found = interface(task=task)
    assert found["entry"] == "MotorControl"
    outputs = [one["name"] for one in found["variables"] if one["section"] == "output"]
    assert outputs == ["Motor", "VoltageOk", "Tripped"]


@pytest.mark.parametrize("task", [
    "", "A motor.", "FUNCTION_BLOCK A is wanted.", SKELETON.replace("BOOL", "BOLE"), "PROGRAM\n" * 200])
def test_what_is_no_interface_is_none(task: str) -> None:
    assert interface(task=task) == {"found": False}


def test_the_users_interface_must_be_readable() -> None:
    with pytest.raises(ToolError, match="the input `interface` is no Structured Text: line 3: unknown type"):
        interface(interface=SKELETON.replace("BOOL", "BOLE", 1).encode())


def test_a_right_program_is_proved() -> None:
    found = verdict(RIGHT)
    assert (found.passed, found.judged, found.score) == (True, True, 1.0)
    assert found.report == "main.st compiles, and all 8 requirements are proved."


WRONG = {
    "Stop wins over Start.": (" AND NOT Stop", ""), "The good range includes both limits.": ("3600", "3500"),
    "A trip while running is remembered.": ("Tripped := TRUE", "Tripped := FALSE"),
    "Only a reset ends a trip.": ("ELSIF Reset AND VoltageOk", "ELSIF VoltageOk"),
    "The motor starts only when somebody starts it.": ("(Motor OR Start)", "TRUE"),
    "A start with a good voltage works.": ("(Motor OR Start)", "Motor"),
}


@pytest.mark.parametrize("description", WRONG)
def test_a_wrong_program_is_shown_a_run(description: str) -> None:
    old, new = WRONG[description]
    found = verdict(RIGHT.replace(old, new))
    assert not found.passed
    assert 0.1 < found.score < 1
    assert f"VIOLATED: {description}" in found.report or f"VIOLATED as well: {description}" in found.report
    assert "scan 1 (after" in found.report
    assert "In the last scan these lines ran:" in found.report


@pytest.mark.parametrize(("old", "new", "says"), [
    ("Tripped := FALSE;", "Tripped := FALSE", "missing ';'"),
    ("Tripped := TRUE", "x := TRUE", "undeclared variable 'x'"),
    ("Reset   : BOOL;", "Reset : INT;", "operator 'AND' is not defined"),
    ("Voltage : INT;", "Voltage : DINT;", "- Voltage is wanted as VAR_INPUT of type INT; it is VAR_INPUT of type DINT"),
    ("FUNCTION_BLOCK MotorControl", "FUNCTION_BLOCK Motors", "MotorControl"),
])
def test_what_does_not_compile_as_wanted_is_said_with_its_line(old: str, new: str, says: str) -> None:
    for tool in ("plc.check", "plc.verify", "plc.judge"):
        found = verdict(RIGHT.replace(old, new), tool)
        assert not found.passed
        assert found.score == 0
        assert says in found.report


def test_an_output_that_is_not_declared_is_missed() -> None:
    program = SKELETON.replace("    Motor     : BOOL;\n", "")
    assert "- Motor is wanted as VAR_OUTPUT of type BOOL; it is not declared." in verdict(program, "plc.check").report


@pytest.mark.parametrize("program", [None, b"\xff\xfe\x00", ""])
def test_no_program_is_a_verdict(program: str | bytes | None) -> None:
    for tool in ("plc.check", "plc.verify", "plc.judge"):
        assert not verdict(program, tool).passed


def test_a_property_of_a_variable_that_is_not_there_is_not_had() -> None:
    given = json.dumps([{"pattern_id": "pattern-invariant", "pattern_params": ["instance.Hours >= 0"]}]).encode()
    found = verdict(RIGHT, given=given)
    assert not found.passed
    assert "undeclared variable 'Hours'" in found.report


def test_what_is_not_decided_is_held_against_nobody() -> None:
    given = json.dumps([{"pattern_id": "pattern-repeatability", "pattern_params": ["instance.Tripped"]}]).encode()
    found = verdict(RIGHT, given=given)
    assert (found.passed, found.judged) == (True, False)
    assert "Not decided (UNKNOWN)" in found.report


def proposal(pattern: str, *conditions: str, source: str = QUOTE) -> dict[str, Any]:
    return {"about": "It.", "source": source, "pattern": pattern, "conditions": list(conditions)}


@pytest.mark.parametrize(("proposed", "why"), [
    (proposal("invariant", "Motor OR NOT Motor"), "it holds whatever the program does"),
    (proposal("invariant", "Motor AND NOT Motor"), "no program can satisfy it"),
    (proposal("implication", "Voltage > 40000", "Motor"), "it holds whatever the program does"),
    (proposal("reachability", "Motor AND NOT Motor"), "no program can come to it"),
    (proposal("reachability", "Motor OR NOT Motor"), "it holds whatever the program does"),
    (proposal("invariant", "Motr"), "undeclared variable 'Motr' (Did you mean 'Motor'?)"),
    (proposal("invariant", "Voltage"), "BOOL"),
    (proposal("implication", "Stop"), "its pattern takes 2 conditions, not 1"),
    (proposal("always", "Stop"), "there is no pattern 'always'"),
    (proposal("implication", "Stop", "NOT Motor", source="stops the car at once"), "does not stand in the task"),
    (proposal("implication", "Stop", "NOT Motor", source="Stop"), "does not stand in the task word for word"),
    ("nonsense", "does not stand in the task word for word"),
])
def test_a_proposal_that_says_nothing_is_dropped(proposed: Any, why: str) -> None:
    right = proposal("implication", "Stop", "NOT Motor")
    values = {"program_interface": interface(interface=SKELETON), "proposed_properties": [right, proposed]}
    found = call("plc.propose", **values)
    assert (found.passed, found.score) == (False, 0.5)
    assert why in found.report
    fixed = call("plc.properties", **values)
    assert [one["says"] for one in fixed["properties"]] == [
        "whenever `Stop` holds at the end of a scan, `NOT Motor` holds there too"]
    assert why in fixed["dropped"][0]["why"]


def test_proposals_of_use_pass() -> None:
    found = call("plc.propose", program_interface=interface(interface=SKELETON),
                 proposed_properties=[proposal("implication", "Stop", "NOT Motor")])
    assert (found.passed, found.score) == (True, 1.0)
