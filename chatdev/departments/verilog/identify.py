"""Which sequential element a waveform shows: `verilog.identify`.

VerilogCoder (NVlabs/VerilogCoder) has such a tool, its paper (arXiv 2408.08927) does not describe it. Here nothing is
guessed: an element is ruled out only by rows that it cannot have shown, and what is not ruled out is named.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, Self

from pydantic import Field

from chatdev.departments.verilog.compilation import render_report
from chatdev.tools.base import ToolArgumentsError, ToolContext, tool

ELEMENTS = ("rising", "falling", "high", "low", "combinational")
"""Flip-flops of one edge of the clock, latches that are open while it is high or low, and logic without memory."""

Inputs = tuple[str, ...]
Column = list[int | str]
_EDGES = {"rising": ("0", "1"), "falling": ("1", "0")}
_OPEN_AT = {"high": "1", "low": "0"}


@tool()
def identify(
    context: ToolContext, *,
    clock: Annotated[Column, Field(description="0, 1 or x in each row of the waveform")],
    output: Annotated[Column, Field(description="the output in each row; x where unknown")],
    data: Annotated[dict[str, Column] | None, Field(
        description="every other input that the output may depend on: name and value in each row")] = None,
    times: Annotated[list[int | float | str] | None, Field(description="the time of each row")] = None,
) -> str:
    """Tell from the waveform of a specification (its table, row by row) whether an output is that of a flip-flop of
    the rising or falling edge, of a latch, or combinational, and what its next values are."""
    table = WaveTable.of(clock, output, data or {}, times or ())
    judged = [element for element in ELEMENTS if table.data or element != "combinational"]
    against = {element: contradictions(table, element) for element in judged}
    facts = {element: observations(table, element) for element, reasons in against.items() if not reasons}
    return render_report("identify", samples=table, against=against, facts=facts, more={
        element: len({(one.inputs, one.before) for one in rows}) < len(rows) for element, rows in facts.items()})


@dataclass(frozen=True, slots=True)
class WaveTable:
    """A waveform as a specification's table gives it: values hold from the time of their row until the next, and there
    is a row for every change of the clock. What is `x`, in whole or in part, is unknown: None here."""

    times: Sequence[str]
    clock: Sequence[str | None]
    data: Mapping[str, Sequence[str | None]]
    output: Sequence[str | None]

    @classmethod
    def of(cls, clock: Sequence[object], output: Sequence[object], data: Mapping[str, Sequence[object]],
           times: Sequence[object] = ()) -> Self:
        """From columns of equal length; rows are numbered where there are no times. Raises ToolArgumentsError."""
        columns = {"clock": clock, "output": output, **({"times": times} if times else {}),
                   **{f"data {name!r}": column for name, column in data.items()}}
        _check_lengths({name: len(column) for name, column in columns.items()})
        known_clock = _known_values(clock)
        if strange := [value for value in known_clock if value not in {"0", "1", None}]:
            raise ToolArgumentsError(f"a clock is 0, 1 or x, and not {strange[0]!r}")
        return cls([str(time) for time in times] or [f"row {row}" for row in range(1, len(output) + 1)], known_clock,
                   {name: _known_values(column) for name, column in data.items()}, _known_values(output))

    def inputs(self, row: int) -> Inputs | None:
        """The data of a row; None when some of it is unknown, or none is given."""
        values = [column[row] for column in self.data.values()]
        return tuple(map(str, values)) if values and None not in values else None

    @property
    def known_rows(self) -> list[int]:
        """The rows in which the output is known."""
        return [row for row, value in enumerate(self.output) if value is not None]


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Two rows that an element cannot have shown: the output `changed` though it must hold, or is another though the
    inputs are the `same`."""

    kind: str
    early: int
    late: int


@dataclass(frozen=True, slots=True)
class Observation:
    """What the output became by which data. For a flip-flop these are the data just before an edge, and `before` is the
    output then (`x` where unknown); else that is empty."""

    inputs: Inputs
    before: str
    after: str


def _check_lengths(lengths: Mapping[str, int]) -> None:
    if len(set(lengths.values())) > 1 or lengths["output"] < 2:
        given = ", ".join(f"{length} of {name}" for name, length in lengths.items())
        raise ToolArgumentsError(f"every column needs one entry for each row, and at least 2; there are {given}")


def _known_values(column: Sequence[object]) -> list[str | None]:
    texts = [str(value).strip().lower() for value in column]
    return [None if not text or set(text) & set("xz?-") else text for text in texts]


def _may_change(table: WaveTable, element: str, early: int, late: int) -> bool:
    """Whether the output of an element may be another in row `late` than in row `early`."""
    if element in _EDGES:
        return any(_may_be_edge(*step, _EDGES[element]) for step in pairwise(table.clock[early:late + 1]))
    if element in _OPEN_AT:
        return _latch_may_change(table, _OPEN_AT[element], early, late)
    return True


def _may_be_edge(before: str | None, after: str | None, edge: tuple[str, str]) -> bool:
    """Whether two values of a clock may be those of an edge: unknown ones may be either."""
    return before in {edge[0], None} and after in {edge[1], None}


def _latch_may_change(table: WaveTable, level: str, early: int, late: int) -> bool:
    """Whether a latch may take another value: not when it was closed, nor when it stays as open as its data are."""
    closed = "0" if level == "1" else "1"
    if all(value == closed for value in table.clock[early:late + 1]):
        return False
    inputs = table.inputs(early)
    still = late == early + 1 and inputs is not None and inputs == table.inputs(late)
    return not (still and table.clock[early] == level)


def contradictions(table: WaveTable, element: str) -> list[Contradiction]:
    """What speaks against an element.

    The next value of a flip-flop may be any function of anything; the output of an open latch any function of the data,
    and that of combinational logic any function of the data and the clock. Data that change together with the clock may
    count before or after the change. Without data only what must hold is checked.
    """
    changed = [Contradiction("changed", early, late) for early, late in pairwise(table.known_rows)
               if table.output[early] != table.output[late] and not _may_change(table, element, early, late)]
    first = dict[object, int]()
    rows = [(row, first.setdefault(cause, row)) for row, cause in _causes(table, element)]
    return changed + [Contradiction("same", early, row) for row, early in rows
                      if table.output[early] != table.output[row]]


def _causes(table: WaveTable, element: str) -> Iterator[tuple[int, object]]:
    """The rows whose output follows from the data alone (and for combinational logic from the clock), with these."""
    for row in table.known_rows:
        inputs, clock = table.inputs(row), table.clock[row]
        if inputs is None or clock is None:
            continue
        if element == "combinational":
            yield row, (inputs, clock)
        elif _OPEN_AT.get(element) == clock:
            yield row, inputs


def observations(table: WaveTable, element: str) -> list[Observation]:
    """What the output became by which data, each once."""
    if element in _EDGES:
        steps = [(row, table.inputs(row - 1), table.output[row - 1] or "x") for row in table.known_rows
                 if row and (table.clock[row - 1], table.clock[row]) == _EDGES[element]]
    else:
        steps = [(row, table.inputs(row), "") for row, _ in _causes(table, element)]
    return list(dict.fromkeys(Observation(inputs, before, str(table.output[row])) for row, inputs, before in steps
                              if inputs is not None))
