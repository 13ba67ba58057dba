"""Which sequential element a waveform shows: `verilog.identify`.

VerilogCoder (NVlabs/VerilogCoder) has such a tool, its paper (arXiv 2408.08927) does not describe it. Here nothing is
guessed: an element is ruled out only by samples that it cannot produce, and what is not ruled out is named.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Self

from pydantic import Field

from chatdev.tools.base import ToolContext, template
from chatdev.tools.function import ToolArgumentsError, tool

_TEMPLATE = Path(__file__).with_name("elements.j2")
Inputs = tuple[str, ...]
Edge = Callable[[str | None, str | None], bool]
Column = list[int | str]
_EDGES = {"rising": ("0", "1"), "falling": ("1", "0")}
_LATCH_AT = {"1": "high", "0": "low"}


@dataclass(frozen=True, slots=True)
class Samples:
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
        lengths = {name: len(column) for name, column in columns.items()}
        if len(set(lengths.values())) > 1 or len(output) < 2:
            given = ", ".join(f"{length} of {name}" for name, length in lengths.items())
            raise ToolArgumentsError(f"every column needs one entry for each row, and at least 2; there are {given}")
        if strange := [value for value in map(_known, clock) if value not in {"0", "1", None}]:
            raise ToolArgumentsError(f"a clock is 0, 1 or x, and not {strange[0]!r}")
        return cls([str(time) for time in times] or [f"row {row}" for row in range(1, len(output) + 1)],
                   [_known(value) for value in clock], {name: [*map(_known, column)] for name, column in data.items()},
                   [_known(value) for value in output])

    def inputs(self, row: int) -> Inputs | None:
        """The data of a row; None when some of it is unknown, or none is given."""
        values = [column[row] for column in self.data.values()]
        return tuple(map(str, values)) if values and None not in values else None

    @property
    def known(self) -> list[int]:
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
class Seen:
    """What the output became by which data. For a flip-flop these are the data just before an edge, and `before` is the
    output then (`x` where unknown); else that is empty."""

    inputs: Inputs
    before: str
    after: str


def _known(value: object) -> str | None:
    text = str(value).strip().lower()
    return None if not text or set(text) & set("xz?-") else text


def _may_rise(before: str | None, after: str | None) -> bool:
    return before != "1" and after != "0"


def _may_fall(before: str | None, after: str | None) -> bool:
    return before != "0" and after != "1"


def _edge_between(samples: Samples, early: int, late: int, edge: Edge) -> bool:
    return any(edge(*step) for step in pairwise(samples.clock[early:late + 1]))


def _open_between(samples: Samples, early: int, late: int, level: str) -> bool:
    """Whether a latch may take another value: not when it was closed, nor when it stays as open as its data are."""
    closed = "0" if level == "1" else "1"
    if all(value == closed for value in samples.clock[early:late + 1]):
        return False
    inputs = samples.inputs(early)
    still = late == early + 1 and inputs is not None and inputs == samples.inputs(late)
    return not (still and samples.clock[early] == level)


_MAY_CHANGE: Mapping[str, Callable[[Samples, int, int], bool]] = {
    "rising": partial(_edge_between, edge=_may_rise), "falling": partial(_edge_between, edge=_may_fall),
    "high": partial(_open_between, level="1"), "low": partial(_open_between, level="0"),
    "combinational": lambda _samples, _early, _late: True,
}
ELEMENTS = tuple(_MAY_CHANGE)
"""Edge-triggered flip-flops, latches that are open while the clock is high or low, and logic without memory."""


def contradictions(samples: Samples, element: str) -> list[Contradiction]:
    """What speaks against an element.

    The next value of a flip-flop may be any function of anything; the output of an open latch any function of the data,
    and that of combinational logic any function of the data and the clock. Data that change together with the clock may
    count before or after the change. Without data only what must hold is checked.
    """
    changed = [Contradiction("changed", early, late) for early, late in pairwise(samples.known)
               if samples.output[early] != samples.output[late] and not _MAY_CHANGE[element](samples, early, late)]
    first = dict[object, int]()
    rows = [(row, first.setdefault(cause, row)) for row, cause in _causes(samples, element)]
    return changed + [Contradiction("same", early, row) for row, early in rows
                      if samples.output[early] != samples.output[row]]


def _causes(samples: Samples, element: str) -> Iterator[tuple[int, object]]:
    """The rows whose output follows from the data alone (and for combinational logic from the clock), with these."""
    for row in samples.known:
        inputs, clock = samples.inputs(row), samples.clock[row]
        if inputs is None or clock is None:
            continue
        if element == "combinational":
            yield row, (inputs, clock)
        elif element == _LATCH_AT.get(clock):
            yield row, inputs


def seen(samples: Samples, element: str) -> list[Seen]:
    """What the output became by which data, each once."""
    if element in _EDGES:
        steps = [(row, samples.inputs(row - 1), samples.output[row - 1] or "x") for row in samples.known
                 if row and (samples.clock[row - 1], samples.clock[row]) == _EDGES[element]]
    else:
        steps = [(row, samples.inputs(row), "") for row, _ in _causes(samples, element)]
    return list(dict.fromkeys(Seen(inputs, before, str(samples.output[row])) for row, inputs, before in steps
                              if inputs is not None))


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
    samples = Samples.of(clock, output, data or {}, times or ())
    judged = [element for element in ELEMENTS if samples.data or element != "combinational"]
    against = {element: contradictions(samples, element) for element in judged}
    facts = {element: seen(samples, element) for element, reasons in against.items() if not reasons}
    text: str = template(_TEMPLATE.read_text(encoding="utf-8")).render(
        samples=samples, against=against, facts=facts,
        more={element: len({(one.inputs, one.before) for one in rows}) < len(rows) for element, rows in facts.items()})
    return text.strip()
