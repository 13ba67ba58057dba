"""Traces: tables with one row for each scan, read from CSV, run, held against what was seen, and written as CSV.

The columns of inputs are given to the program, the others are what its author expects. An empty cell leaves an input
as it was and expects nothing. The column `CYCLE_TIME()` is the time of a scan.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from chatdev.departments.plc.simulation.column import Column, Columns
from chatdev.departments.plc.simulation.machine import BrokenAssert, Machine, RunTimeFault
from chatdev.departments.plc.simulation.values import WrongValue, read_text, write_text
from chatdev.departments.plc.st import core

CYCLE = "CYCLE_TIME()"
MOST_ROWS = 100_000
MOST_COLUMNS = 1000
LONGEST_CELL = 200
CLOSE, CLOSE_TO_ZERO = 1e-5, 1e-6
"""How far a REAL may be from what is expected, as part of it and near zero: authors write few digits."""
_CYCLE = Column(CYCLE, CYCLE, (), core.Scalar("TIME", "time", 32, low=0, high=(1 << 31) - 1), True)


class WrongTrace(ValueError):
    """A table is no trace of this program; the text says in which line, and what is allowed."""


@dataclass(frozen=True, slots=True)
class Trace:
    """The columns, and in each row one value for each of them; None stands in an empty cell."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[core.Value, ...], ...]


@dataclass(frozen=True, slots=True)
class Mismatch:
    """A value that was not as expected, after a scan (counted from 1)."""

    scan: int
    column: Column
    expected: core.Value
    seen: core.Value


@dataclass(frozen=True, slots=True)
class Replay:
    """What was seen: for each scan all variables and the lines that ran. A fault ends it."""

    states: tuple[Mapping[str, core.Value], ...]
    lines: tuple[frozenset[int], ...]
    mismatches: tuple[Mismatch, ...]
    broken: tuple[BrokenAssert, ...]
    fault: RunTimeFault | None = None

    @property
    def passed(self) -> bool:
        """Whether all was as expected."""
        return not (self.mismatches or self.broken or self.fault)

    def trace(self, columns: Sequence[Column]) -> Trace:
        """What was seen in some columns."""
        return Trace(tuple(columns), tuple(tuple(column.read(state) for column in columns) for state in self.states))


def read_trace(text: str, program: core.Program) -> Trace:
    """The trace in a CSV text with a line of names; commas or semicolons separate. Raises WrongTrace."""
    head = text.lstrip("\ufeff").partition("\n")[0]
    separator = ";" if ";" in head and "," not in head else ","
    table = csv.reader(io.StringIO(text.lstrip("\ufeff"), newline=""), delimiter=separator, strict=True)
    try:
        names = next(table, [])
        columns = _read_columns(names, program)
        rows: list[tuple[core.Value, ...]] = []
        for cells in table:
            if len(rows) == MOST_ROWS:
                raise WrongTrace(f"line {table.line_num}: a trace has at most {MOST_ROWS} rows")
            if len(cells) > 1 or any(cell.strip() for cell in cells):  # an empty line is none, a row of empty cells is
                rows.append(_read_row(cells, columns, table.line_num))
    except csv.Error as error:
        raise WrongTrace(f"line {table.line_num}: this is no CSV: {error}") from error
    return Trace(columns, tuple(rows))


def write_trace(trace: Trace) -> str:
    """The trace as CSV."""
    out = io.StringIO()
    table = csv.writer(out, lineterminator="\n")
    table.writerow(column.name for column in trace.columns)
    for row in trace.rows:
        table.writerow("" if value is None else write_text(value, column.type)
                       for value, column in zip(row, trace.columns, strict=True))
    return out.getvalue()


def run_trace(program: core.Program, trace: Trace, cycle_ms: int = 100,
              initial: Mapping[str, core.Value] | None = None, most_turns: int = core.MOST_TURNS) -> Replay:
    """Run a scan for each row, from the program's own initial state or with some of it set otherwise. Raises WrongValue
    if `initial` does not fit."""
    machine = Machine(program, cycle_ms, most_turns=most_turns)
    machine.state = initial or {}
    states: list[Mapping[str, core.Value]] = []
    lines: list[frozenset[int]] = []
    broken: list[BrokenAssert] = []
    mismatches: list[Mismatch] = []
    fault = None
    for row in trace.rows:
        cells = {column: value for column, value in zip(trace.columns, row, strict=True) if value is not None}
        cycle = cells.pop(_CYCLE, None)
        try:
            states.append(machine.scan(_put_inputs(machine, cells), cycle))
        except RunTimeFault as stop:
            fault = stop
        lines.append(machine.lines)
        broken += machine.broken
        if fault:
            break
        mismatches += _compare(machine.scans, cells, states[-1])
    return Replay(tuple(states), tuple(lines), tuple(mismatches), tuple(broken), fault)


def is_close(expected: core.Value, seen: core.Value) -> bool:
    """Whether a value is what was expected, but for the last digits of a REAL."""
    if isinstance(expected, float) and isinstance(seen, float):
        return math.isclose(expected, seen, rel_tol=CLOSE, abs_tol=CLOSE_TO_ZERO) or (expected != expected
                                                                                     and seen != seen)
    return bool(expected == seen)


def _read_columns(names: Sequence[str], program: core.Program) -> tuple[Column, ...]:
    if not names:
        raise WrongTrace("line 1: the trace is empty; its first line names variables of the program")
    if len(names) > MOST_COLUMNS:
        raise WrongTrace(f"line 1: {len(names)} columns; a trace has at most {MOST_COLUMNS}")
    found: dict[tuple[str, tuple[str | int, ...]], Column] = {}
    known = Columns(program)
    for name in names:
        try:
            column = _CYCLE if name.strip().upper() == CYCLE else known.find(name)
        except WrongValue as error:
            raise WrongTrace(f"line 1: {error}") from error
        if found.setdefault((column.root, column.steps), column) is not column:
            raise WrongTrace(f"line 1: the column {column.name!r} stands there twice")
    return tuple(found.values())


def _read_row(cells: Sequence[str], columns: Sequence[Column], line: int) -> tuple[core.Value, ...]:
    if len(cells) != len(columns):
        raise WrongTrace(f"line {line}: {len(cells)} cells for {len(columns)} columns")
    row = []
    for cell, column in zip(cells, columns, strict=True):
        if len(cell) > LONGEST_CELL:
            raise WrongTrace(f"line {line}: a cell of {column.name} is longer than {LONGEST_CELL} characters")
        try:
            row.append(read_text(cell, column.type, column.name) if cell.strip() else None)
        except WrongValue as error:
            raise WrongTrace(f"line {line}: {error}") from error
    return tuple(row)


def _put_inputs(machine: Machine, cells: Mapping[Column, core.Value]) -> dict[str, core.Value]:
    """The inputs of a scan; elements of arrays are put into what their array holds."""
    inputs = {column.root: value for column, value in cells.items() if column.is_input and not column.steps}
    parts = {column: value for column, value in cells.items() if column.is_input and column.steps}
    if parts:
        inputs |= {column.root: machine.state[column.root] for column in parts}
    for column, value in parts.items():
        column.write(inputs, value)
    return inputs


def _compare(scan: int, cells: Mapping[Column, core.Value], state: Mapping[str, core.Value]) -> list[Mismatch]:
    return [Mismatch(scan, column, expected, seen) for column, expected in cells.items()
            if not column.is_input and not is_close(expected, seen := column.read(state))]
