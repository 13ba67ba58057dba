"""A run of a source with inputs from a table, in the child of this process, as a model may have written it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from chatdev.departments.plc.simulation.layout import TooDeep
from chatdev.departments.plc.simulation.machine import BrokenAssert
from chatdev.departments.plc.simulation.trace import (
    CYCLE,
    MOST_ROWS,
    Mismatch,
    Trace,
    WrongTrace,
    columns_of,
    random_inputs,
    read_trace,
    run_trace,
    write_trace,
)
from chatdev.departments.plc.simulation.values import WrongValue
from chatdev.departments.plc.source_check import SourceRefused, readable_program
from chatdev.departments.plc.st.core import IEC, MOST_TURNS, Dialect, Program, Span
from chatdev.isolation.isolate import isolate

DEFAULT_CYCLES = 20
"""Scans of a run that nobody gives inputs or a length to."""


DEFAULT_CYCLE_MS = 100
"""From scan to scan, where nothing says it."""


@dataclass(frozen=True, slots=True)
class EndingFault:
    """The run-time fault that ended a run in a scan (counted from 1): `kind` is index, division, loop or subrange."""

    kind: str
    message: str
    span: Span
    scan: int


@dataclass(frozen=True, slots=True)
class SourceRun:
    """What was seen. The trace has a row for each scan that came to its end, with all scalars that the entry keeps;
    `outputs` are the roots of those that are outputs. `milliseconds` says how long after the scan before each came,
    `lines` which lines ran, also in the scan that a fault ended; `mismatches` are with what the table expects."""

    trace: Trace
    outputs: tuple[str, ...]
    milliseconds: tuple[int, ...]
    lines: tuple[tuple[int, ...], ...]
    mismatches: tuple[Mismatch, ...] = ()
    broken: tuple[BrokenAssert, ...] = ()
    fault: EndingFault | None = None

    @property
    def passed(self) -> bool:
        """Whether it ran to its end, and all was as asserted and expected."""
        return not (self.mismatches or self.broken or self.fault)

    @property
    def csv(self) -> str:
        """The trace as CSV."""
        return write_trace(self.trace)


@isolate(SourceRefused, WrongTrace, WrongValue)
def simulate_source(source: str, entry: str | None = None, inputs: str = "",  # noqa: PLR0913 - options of a command
                    cycle_ms: int | None = None, cycles: int | None = None, initial: Mapping[str, Any] | None = None,
                    dialect: Dialect = IEC, most_turns: int = MOST_TURNS) -> SourceRun:
    """Run a source scan by scan. `inputs` is a CSV text as `simulation/trace.py` describes it; it is cut after `cycles`
    scans, or the last inputs are held until then. From scan to scan pass `cycle_ms`, else what the entry's TASK says,
    else 100 ms. `initial` are values to begin with, as Python has them. More than
    `most_turns` of a loop in a scan are a run-time fault.

    Raises SourceRefused for a source that has errors or is nested too deeply, WrongTrace for a table that does not fit
    it, WrongValue for such initial values."""
    if cycles is not None and not 1 <= cycles <= MOST_ROWS:
        raise WrongTrace(f"{cycles} scans are asked for; 1 to {MOST_ROWS} can be run")
    program = readable_program(source, entry, dialect, together=True)
    given = read_trace(inputs, program) if inputs.strip() else Trace((), ((),) * (cycles or DEFAULT_CYCLES))
    given = _lengthen(given, cycles)
    if not given.rows:
        raise WrongTrace("the table has no line below its header, and so no scan; add one, or say how many cycles")
    try:
        return _run(program, given, cycle_ms or program.cycle_ms or DEFAULT_CYCLE_MS, initial, most_turns)
    except TooDeep as error:
        raise SourceRefused(str(error)) from None


@isolate(SourceRefused)
def simulate_at_random(source: str, entry: str | None, cycles: int, cycle_ms: int = 100, seed: int = 0) -> SourceRun:
    """The same with random inputs (`simulation/trace.py`). Raises SourceRefused."""
    program = readable_program(source, entry)
    columns = tuple(column for column in columns_of(program) if column.is_input)
    drawn = islice(random_inputs(program, seed), cycles)
    given = Trace(columns, tuple(tuple(column.read(values) for column in columns) for values in drawn))
    try:
        return _run(program, given, cycle_ms, None)
    except TooDeep as error:
        raise SourceRefused(str(error)) from None


def _run(program: Program, given: Trace, cycle_ms: int, initial: Mapping[str, Any] | None,
         most_turns: int = MOST_TURNS) -> SourceRun:
    """Raises TooDeep, and WrongValue for initial values that do not fit."""
    replay = run_trace(program, given, cycle_ms, initial, most_turns)
    fault = replay.fault
    outputs = tuple(one.name for one in program.entry.of_section("output"))
    return SourceRun(replay.trace(columns_of(program)), outputs, _milliseconds(given, cycle_ms)[:len(replay.states)],
                     tuple(tuple(sorted(lines)) for lines in replay.lines), replay.mismatches, replay.broken,
                     EndingFault(fault.kind, fault.message, fault.span, fault.scan) if fault else None)


def _lengthen(trace: Trace, cycles: int | None) -> Trace:
    if cycles is None:
        return trace
    silent = (None,) * len(trace.columns)
    return replace(trace, rows=(trace.rows + (silent,) * (cycles - len(trace.rows)))[:cycles])


def _milliseconds(trace: Trace, cycle_ms: int) -> tuple[int, ...]:
    """The time before each scan."""
    at = next((number for number, column in enumerate(trace.columns) if column.name == CYCLE), None)
    return tuple(cycle_ms if at is None or row[at] is None else row[at] for row in trace.rows)
