"""Test cases in the benchmark's form are read, run and counted."""

from __future__ import annotations

import json
from typing import Any

import pytest

from chatdev.departments.plc.simulation.test_cases import read_case, read_tasks, run_case, write_agreement
from tests.departments.plc.simulation.sources import program

COUNTER = """\
FUNCTION_BLOCK Counter
VAR_INPUT add : BOOL; amounts : ARRAY[1..4] OF INT; END_VAR
VAR_OUTPUT total : INT; share : REAL; END_VAR
VAR State : INT; i : INT; END_VAR
IF add THEN
    FOR i := 1 TO 4 DO total := total + amounts[i]; END_FOR;
    State := State + 1;
END_IF;
share := INT_TO_REAL(total) / 3.0;
i := total / (total - 7);
END_FUNCTION_BLOCK
"""
TASK: dict[str, Any] = {
    "description": "adds", "initial_state": {"State": 3}, "initial_outputs": {"total": 10},
    "input_trace": {"add": [True, False, True], "amounts": [[1], [2, 3], [1, 1, 1, 1]]},
    "expected_output_trace": {"total": [11, 11, 15], "share": [3.666667, 3.666667, 5.0]},
    "expected_internal_state": {"State": [4, 4, 5]}}


@pytest.mark.parametrize(("change", "outcome", "why"), [
    ({}, "agrees", ""), ({"initial_state": 3}, "agrees", ""),
    ({"initial_state": {"State": 4}}, "differs", "scan 1: state is 5, not 4"),
    ({"initial_outputs": {"total": 6}}, "faults", "division by zero"),
    ({"input_trace": {"plus": [1]}}, "unfit", "plus is no variable"),
    ({"input_trace": {"amounts": [[1] * 5]}}, "unfit", "5 values given"),
    ({"expected_output_trace": {"total": ["many"]}}, "unfit", "'many' is no INT")])
def test_a_case_ends_in_one_of_four_ways(change: dict[str, Any], outcome: str, why: str) -> None:
    result = run_case(program(COUNTER), read_case(TASK | change))
    assert result.outcome == outcome
    assert why in result.why


def test_tasks_stand_one_after_another_and_are_counted() -> None:
    text = json.dumps({"id": "1", "test_cases": [TASK]}, indent=1) + "\n\n" + json.dumps(
        {"id": "2", "test_cases": [TASK, TASK | {"initial_state": 9}]})
    results = {task["id"]: [run_case(program(COUNTER), read_case(one)) for one in task["test_cases"]]
               for task in read_tasks(text)}
    assert write_agreement(results).splitlines()[2:] == [
        "| 1 | 1 | 0 | 0 | 0 |  |", "| 2 | 1 | 1 | 0 | 0 | scan 1: state is 10, not 4 |"]
    with pytest.raises(ValueError, match="Expecting"):
        read_tasks('{"id": 1} {')


def test_tasks_that_are_nested_too_deeply_are_refused() -> None:
    with pytest.raises(ValueError, match="nested too deeply at character 3"):
        read_tasks("{}\n" + "[" * 60_000)
