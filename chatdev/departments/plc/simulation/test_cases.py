"""The test cases of the benchmark's high-fidelity tasks: read, run on a program, and held against what they expect.

The tasks stand in the file one after another as JSON. A case gives a list of values by scan for each variable; some
give outputs and inner variables before a scan, too, and arrays that are shorter than the declared ones.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from chatdev.departments.plc.simulation.layout import all_variables
from chatdev.departments.plc.simulation.machine import Machine, RunTimeFault
from chatdev.departments.plc.simulation.trace import is_close
from chatdev.departments.plc.simulation.values import WrongValue, fit
from chatdev.departments.plc.st import core

Outcome = Literal["agrees", "differs", "faults", "unfit"]


@dataclass(frozen=True, slots=True)
class BenchmarkCase:
    """What a case gives and expects: values by scan for each name, and the state before the first scan."""

    description: str
    given: Mapping[str, Sequence[Any]]
    expected: Mapping[str, Sequence[Any]]
    initial: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class CaseResult:
    """How a case ended; `why` tells of the first difference, of the fault, or of what does not fit the program."""

    case: BenchmarkCase
    outcome: Outcome
    why: str = ""


def read_tasks(text: str) -> list[dict[str, Any]]:
    """The tasks of one of the benchmark's files. Raises ValueError, which says where, for what is no JSON
    and for what is nested too deeply."""
    decoder = json.JSONDecoder()
    tasks: list[dict[str, Any]] = []
    end = _skip_blanks(text, 0)
    while end < len(text):
        try:
            task, end = decoder.raw_decode(text, end)
        except RecursionError:
            raise ValueError(f"nested too deeply at character {end}") from None
        tasks.append(task)
        end = _skip_blanks(text, end)
    return tasks


def _skip_blanks(text: str, place: int) -> int:
    while text[place:place + 1].isspace():
        place += 1
    return place


def read_case(case: Mapping[str, Any]) -> BenchmarkCase:
    """A case of a task's `test_cases`. A state that is a mere number is that of the variable State."""
    initial = case.get("initial_state") or {}
    if not isinstance(initial, Mapping):
        initial = {"State": initial}
    outputs = case.get("initial_outputs") or {}
    return BenchmarkCase(str(case.get("description", "")), case.get("input_trace") or {},
                         {**case.get("expected_output_trace", {}), **case.get("expected_internal_state", {})},
                         {**(outputs if isinstance(outputs, Mapping) else {}), **initial})


def run_case(program: core.Program, case: BenchmarkCase, cycle_ms: int = 100) -> CaseResult:
    """Run a program on a case; it ends with the first difference."""
    machine = Machine(program, cycle_ms)
    try:
        _set(machine, case.initial)
        scans = max((len(values) for values in [*case.given.values(), *case.expected.values()]), default=0)
        for scan in range(scans):
            _set(machine, _row(case.given, scan))
            state, expected = machine.scan({}), _row(case.expected, scan)
            for name, value in _fit_all(machine, expected).items():
                if not _is_equal(value, state[name]):
                    return CaseResult(case, "differs", f"scan {scan + 1}: {name} is {state[name]}, not {value}")
    except RunTimeFault as fault:
        return CaseResult(case, "faults", str(fault))
    except WrongValue as error:
        return CaseResult(case, "unfit", str(error))
    return CaseResult(case, "agrees")


def _row(columns: Mapping[str, Sequence[Any]], scan: int) -> dict[str, Any]:
    """What columns say of a scan; each has as many rows as it has."""
    return {name: values[scan] for name, values in columns.items() if scan < len(values)}


def write_agreement(results: Mapping[str, Iterable[CaseResult]]) -> str:
    """A table in Markdown: for each task how many of its cases ended in which way, and the first that did not agree."""
    outcomes: tuple[Outcome, ...] = ("agrees", "differs", "faults", "unfit")
    rows = ["| task | " + " | ".join(outcomes) + " | first that does not agree |", "| --- " * 6 + "|"]
    for task, found in results.items():
        ends = list(found)
        counts = [str(sum(one.outcome == outcome for one in ends)) for outcome in outcomes]
        why = next((one.why for one in ends if one.outcome != "agrees"), "")
        rows.append(f"| {task} | {' | '.join(counts)} | {why} |")
    return "\n".join(rows) + "\n"


def _set(machine: Machine, values: Mapping[str, Any]) -> None:
    machine.state = _fit_all(machine, values)


def _fit_all(machine: Machine, values: Mapping[str, Any]) -> dict[str, core.Value]:
    """The values by the core's names, with arrays as long as they are declared."""
    variables = {one.name: one for one in all_variables(machine.program, machine.program.entry)}
    found = {}
    for name, value in values.items():
        variable = variables.get(name.lower())
        if variable is None:
            raise WrongValue(f"{name} is no variable of the program")
        found[variable.name] = fit(_lengthen(value, variable.type), variable.type, name)
    return found


def _lengthen(value: Any, type_: core.Type) -> Any:
    if not isinstance(type_, core.Array) or not isinstance(value, list):
        return value
    missing = type_.high - type_.low + 1 - len(value)
    return [_lengthen(part, type_.element) for part in value] + [core.initial_value(type_.element)] * missing


def _is_equal(expected: core.Value, seen: core.Value) -> bool:
    if isinstance(expected, list) and isinstance(seen, list):
        return all(_is_equal(one, other) for one, other in zip(expected, seen, strict=True))
    return is_close(expected, seen)
