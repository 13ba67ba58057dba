"""Traces: tables with one row for each scan, read from CSV or drawn at random, run, held against what was seen, and
written as CSV.

The columns of inputs are given to the program, the others are what its author expects. An empty cell leaves an input
as it was and expects nothing. The column `CYCLE_TIME()` is the time of a scan.
"""

from __future__ import annotations

import csv
import io
import math
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import Any

from chatdev.departments.plc.simulation.layout import FieldTypes, all_variables, walk
from chatdev.departments.plc.simulation.machine import BrokenAssert, Machine, RunTimeFault
from chatdev.departments.plc.simulation.values import WrongValue, bounds, fit, read_text, write_text
from chatdev.departments.plc.st import core
from chatdev.departments.plc.st.restarts import RESTART

# A column of a trace: a scalar of the entry by its path, `Motor`, `Timer.ET`, `Values[3]` or `Grid[1,2].X`.

_PATH = re.compile(r"\w{1,200}(?:\.\w{1,200}|\[[-\d, ]{1,100}\]){0,20}")
_STEP = re.compile(r"\.(\w+)|\[([^\]]*)\]")
_OWN_NAME = re.compile(r"^%|\.")
"""Of a variable that a routine has AT an address, or of an address in a statement."""
_MOST_NAMES = 30


@dataclass(frozen=True, slots=True)
class Column:
    """`steps` are names of parts and positions in lists, counted from 0. `is_input` tells that scans are given it."""

    name: str
    root: str
    steps: tuple[str | int, ...]
    type: core.Scalar
    is_input: bool

    def read(self, values: Mapping[str, core.Value]) -> core.Value:
        """Its value among those of all variables."""
        value = values[self.root]
        for step in self.steps:
            value = value[step]
        return value

    def write(self, values: dict[str, core.Value], value: core.Value) -> None:
        """Set it among the values of variables."""
        inner, key = values, self.root
        for step in self.steps:
            inner, key = inner[key], step  # type: ignore[assignment]  # a list by now, and its position
        inner[key] = value


class Columns:
    """Finds the columns of a program."""

    def __init__(self, program: core.Program) -> None:
        self._name = program.entry.written or program.entry.name
        self._variables = {variable.name: variable for variable in all_variables(program, program.entry)}
        self._located = {name: one for one in self._variables.values() if _OWN_NAME.search(one.name)
                         for name in (one.name, one.written.lower())}
        self._fields = FieldTypes(program)
        self._namespaces = program.namespaces
        self._of_tasks = {one.written.lower(): Column(one.written, one.name, (), one.type, True)
                          for one in self._variables.values() if ":" in one.name and isinstance(one.type, core.Scalar)}
        """The inputs of the programs of other tasks."""

    def find(self, name: str) -> Column:
        """The column by a name, in which case does not count. Raises WrongValue, with what there is."""
        text = name.strip()
        first, _, rest = text.partition(".")
        if first.lower() in self._namespaces and first.lower() not in self._variables:  # `GVL.name`
            text = rest
        return self._of_tasks.get(text.lower()) or self._find(text)

    def _find(self, text: str) -> Column:
        if text.endswith("()") and text.lower() in self._variables:  # how long the controller ran before
            before = self._variables[text.lower()]
            assert isinstance(before.type, core.Scalar)
            return Column(before.written, before.name, (), before.type, True)
        name, variable = self._find_variable(text.lower())
        if variable is None or not _PATH.fullmatch(f"x{text[len(name):]}"):
            shown = (one for one in self._variables.values() if not one.is_hidden)
            known = [one.written or one.name for one in islice(shown, _MOST_NAMES)]
            raise WrongValue(f"there is no variable {text!r}; {self._name} has {', '.join(known)}")
        steps, type_ = self._follow_all(variable.type, text[len(name):], text)
        if not isinstance(type_, core.Scalar):
            raise WrongValue(f"{text!r} has parts; name one of them, as in {text}{_example(type_)}")
        return Column(text, variable.name, tuple(steps), type_, variable.section in ("input", "in_out"))

    def _find_variable(self, text: str) -> tuple[str, core.Variable | None]:
        """The variable with which the name of a column begins, and its name there; one AT an address may have dots in
        its name."""
        name = re.split(r"[.\[]", text, maxsplit=1)[0]
        for located, variable in self._located.items():
            if text.startswith(located) and text[len(located):][:1] in ("", ".", "["):
                return located, variable
        return name, self._variables.get(name)

    def _follow_all(self, type_: core.Type, way: str, text: str) -> tuple[list[str | int], core.Type]:
        """The way into a variable that a column's name says, and the type at its end."""
        steps: list[str | int] = []
        for part, indices in _STEP.findall(way.lower()):
            for step in [part] if part else indices.split(","):
                key, type_ = self._follow(type_, step.strip(), text)
                steps.append(key)
        return steps, type_

    def _follow(self, type_: core.Type, step: str, text: str) -> tuple[str | int, core.Type]:
        if isinstance(type_, core.Array) and re.fullmatch(r"-?\d{1,10}", step):
            if not type_.low <= int(step) <= type_.high:
                raise WrongValue(f"{text!r}: the array goes from {type_.low} to {type_.high}")
            return int(step) - type_.low, type_.element
        if isinstance(type_, core.Record) and step in (types := self._fields.of(type_)):
            return step, types[step]
        known = f"parts {', '.join(part.written or part.name for part in type_.fields[:_MOST_NAMES])}" if isinstance(
            type_, core.Record) else "indices" if isinstance(type_, core.Array) else "no parts"
        raise WrongValue(f"{text!r}: there is no {step!r}; it has {known}")


def columns_of(program: core.Program) -> list[Column]:
    """Inputs, in-outs and outputs of the entry, and what else it keeps: all scalars, arrays element by element."""
    order = {"input": 0, "in_out": 1, "output": 2, "local": 3}
    variables = sorted((one for one in all_variables(program, program.entry)
                        if one.section in order and not one.is_hidden), key=lambda one: order[one.section])
    columns = Columns(program)
    names = dict.fromkeys(name for one in variables for name in _leaves(one.written or one.name, one.type))
    return [columns.find(name) for name in names]


def _leaves(name: str, type_: core.Type) -> list[str]:
    if isinstance(type_, core.Array):
        return [leaf for number in range(type_.low, type_.high + 1)
                for leaf in _leaves(f"{name}[{number}]", type_.element)]
    if isinstance(type_, core.Record):
        return [leaf for part in type_.fields for leaf in _leaves(f"{name}.{part.written or part.name}", part.type)]
    return [name] if type_.kind != "opaque" else []


def _example(type_: core.Type) -> str:
    return f"[{type_.low}]" if isinstance(type_, core.Array) else f".{type_.fields[0].name}" if isinstance(
        type_, core.Record) and type_.fields else ""


# Tables: read, run, held against what was seen, written.

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
    """The trace in a CSV text with a line of names, as spreadsheets and recorders write it: commas, semicolons or tabs
    separate (behind the latter two a comma may be a decimal one), and a column of times (`time`, `t [ms]`, …) that is
    no variable says how long after the scan before each comes. Raises WrongTrace."""
    text = text.lstrip("\ufeff")
    head = text.partition("\n")[0]
    separator = next((sign for sign in ";\t" if sign in head), ",")
    table = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    try:
        names = next(table, [])
        clock = _find_clock(names, program)
        columns = _read_columns(names, program, clock)
        rows = [_read_row(clock.read(cells, line) if clock else cells, columns, line)
                for line, cells in _filled_lines(table, separator)]
    except csv.Error as error:
        raise WrongTrace(f"line {table.line_num}: this is no CSV: {error}") from error
    return Trace(columns, tuple(clock.fill(rows) if clock else rows))


def _filled_lines(table: Any, separator: str) -> Iterator[tuple[int, list[str]]]:
    """The rows of a table with the numbers of their lines: an empty line is none, a row of empty cells is one."""
    count = 0
    for cells in table:
        if len(cells) > 1 or any(cell.strip() for cell in cells):
            count += 1
            if count > MOST_ROWS:
                raise WrongTrace(f"line {table.line_num}: a trace has at most {MOST_ROWS} rows")
            yield table.line_num, cells if separator == "," else [_DECIMAL.sub(".", cell) for cell in cells]


_DECIMAL = re.compile(r"(?<=\d),(?=\d)")
_CLOCK = re.compile(r"(?:time|t|zeit|timestamp)(?:[ _]*[(\[]?(ms|s|us|µs)[)\]]?)?", re.IGNORECASE)
_PER_MS = {"us": 1000.0, "µs": 1000.0, "ms": 1.0, "s": 0.001}


class _Clock:
    """The column of times of a recording, in seconds where its head says no unit; what it holds becomes the time of
    each scan, in whole milliseconds."""

    def __init__(self, index: int, name: str, unit: str) -> None:
        self.index, self._name, self._per_ms = index, name, _PER_MS[unit.lower() or "s"]
        self._times: list[float] = []

    def read(self, cells: list[str], line: int) -> list[str]:
        """Take the time of a row; its cells with nothing there. Raises WrongTrace where time does not go on."""
        text = cells[self.index].strip() if self.index < len(cells) else ""
        try:
            now = float(text) / self._per_ms
        except ValueError:
            raise WrongTrace(f"line {line}: {self._name} has {text!r:.80}; write a number") from None
        if not math.isfinite(now) or (self._times and now <= self._times[-1]):
            raise WrongTrace(f"line {line}: {self._name} is {text}, and does not go on from the row before")
        self._times.append(now)
        return [*cells[:self.index], "", *cells[self.index + 1:]]

    def fill(self, rows: Sequence[tuple[core.Value, ...]]) -> Iterator[tuple[core.Value, ...]]:
        """The rows with the time of each scan; the first is as long as the second, and none is shorter than 1 ms."""
        ends = [round(now - self._times[0]) for now in self._times]
        steps = [end - begin for begin, end in pairwise(ends)]
        for row, step in zip(rows, [*steps[:1], *steps] if steps else [None] * len(rows), strict=True):
            yield (*row[:self.index], None if step is None else max(1, step), *row[self.index + 1:])


def _find_clock(names: Sequence[str], program: core.Program) -> _Clock | None:
    known = {variable.name for variable in all_variables(program, program.entry)}
    for index, name in enumerate(names):
        if (found := _CLOCK.fullmatch(name.strip())) and name.strip().lower() not in known:
            return _Clock(index, name.strip(), found[1] or "")
    return None


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


def _read_columns(names: Sequence[str], program: core.Program, clock: _Clock | None) -> tuple[Column, ...]:
    if not names:
        raise WrongTrace("line 1: the trace is empty; its first line names variables of the program")
    if len(names) > MOST_COLUMNS:
        raise WrongTrace(f"line 1: {len(names)} columns; a trace has at most {MOST_COLUMNS}")
    found: dict[tuple[str, tuple[str | int, ...]], Column] = {}
    known = Columns(program)
    for index, name in enumerate(names):
        is_time = name.strip().upper() == CYCLE or (clock is not None and clock.index == index)
        try:
            column = _CYCLE if is_time else known.find(name)
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


# Random inputs: numbers that the program names, the bounds of the types, values held for a while.

_HOLDS = (0.0, 0.5, 0.9, 0.97)
"""How likely an input keeps its value in a scan: each has one of these for `_PHASE` scans."""
_PHASE = 40
_NAMED, _NEAR = 0.5, 0.8
"""How likely a number is one that the program names (or lies beside it), and below which it is at least a small one."""
_SMALL = 20
_RESTARTS = 0.03
"""How many scans begin with a restart of the controller."""
_CHARACTERS = "09AZaz .,-+/"


def random_inputs(program: core.Program, seed: int = 0) -> Iterator[dict[str, core.Value]]:
    """The inputs and in-outs of the entry for scan after scan, without end; the same ones for the same seed."""
    dice = random.Random(seed)
    named = _Named(program)
    variables = [variable for variable in all_variables(program, program.entry)
                 if variable.section in ("input", "in_out")]
    values = {variable.name: _draw(variable.type, named, dice) for variable in variables}
    holds: dict[str, float] = {}
    scan = 0
    while True:
        if scan % _PHASE == 0:
            holds = {variable.name: dice.choice(_HOLDS) for variable in variables}
        for variable in variables:
            if variable == RESTART:
                values[variable.name] = dice.random() < _RESTARTS
            elif dice.random() >= holds[variable.name]:
                values[variable.name] = _draw(variable.type, named, dice)
        yield values.copy()
        scan += 1


class _Named:
    """The numbers and texts in a program's own code and initial values, in order."""

    def __init__(self, program: core.Program) -> None:
        found = list(_named_values(program))
        self.numbers: list[float] = sorted({0, 1} | {value for value, kind in found if kind not in ("bool", "string")})
        self.texts: list[str] = sorted({""} | {value for value, kind in found if kind == "string"})
        self.characters = "".join(sorted({*"".join(self.texts), *_CHARACTERS}))


def _named_values(program: core.Program) -> Iterator[tuple[core.Value, core.Kind]]:
    for routine in program.routines.values():
        constants = [] if routine.standard else [(node.value, node.type) for node in walk(routine.body)
                                                 if isinstance(node, core.Constant)]
        initial = [] if routine.standard else [(variable.initial, variable.type) for variable in routine.variables]
        yield from ((value, type_.kind) for value, type_ in constants + initial if isinstance(type_, core.Scalar))


def _draw(type_: core.Type, named: _Named, dice: random.Random) -> Any:
    if isinstance(type_, core.Array):
        return [_draw(type_.element, named, dice) for _ in range(type_.low, type_.high + 1)]
    if isinstance(type_, core.Record):
        return {part.name: _draw(part.type, named, dice) for part in type_.fields}
    if type_.kind == "bool":
        return dice.random() < 0.5
    if type_.kind == "string":
        return _draw_text(type_, named, dice)
    draw = _draw_real if type_.kind == "real" else _draw_integer
    return draw(type_, named.numbers, dice)


def _draw_text(type_: core.Scalar, named: _Named, dice: random.Random) -> str:
    """A text that the program names, or one of some characters."""
    if dice.random() < _NAMED:
        return dice.choice(named.texts)[:type_.high]
    return "".join(dice.choices(named.characters, k=dice.randint(0, min(_SMALL, type_.high or _SMALL))))


def _draw_real(type_: core.Scalar, named: list[float], dice: random.Random) -> core.Value:
    chance = dice.random()
    if chance < _NAMED:
        value = dice.choice(named) + dice.choice((0.0, 0.0, 0.1, -0.1, 1.0, -1.0))
    else:
        value = dice.uniform(-_SMALL, _SMALL) if chance < _NEAR else dice.uniform(min(named) - 1, max(named) * 2 + 1)
    return fit(value, type_, "")


def _draw_integer(type_: core.Scalar, named: list[float], dice: random.Random) -> int:
    low, high = bounds(type_)
    chance = dice.random()
    if chance < _NAMED:
        value = round(dice.choice(named)) + dice.choice((0, 0, -1, 1))
    elif chance < _NEAR:
        value = dice.randint(max(low, -_SMALL), min(high, _SMALL)) if low <= _SMALL and high >= -_SMALL else low
    else:
        value = dice.choice((low, high, dice.randint(low, high)))
    return min(max(value, low), high)
