"""What models read wrongly in a specification: truth tables and Karnaugh maps, minimised (`verilog.minimise`), and
which sequential element a waveform shows (`verilog.identify`)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise, product
from typing import TYPE_CHECKING, Annotated, Any, Self

from pydantic import Field

from chatdev.departments.verilog.compilation import render_report
from chatdev.departments.verilog.design.elaborate import DesignError
from chatdev.departments.verilog.design.facts import constant_bits
from chatdev.errors import MissingProgram, ToolError
from chatdev.tools.base import ToolArgumentsError, ToolContext, tool

if TYPE_CHECKING:
    from sympy.logic.boolalg import Boolean


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


# Truth tables and Karnaugh maps: `verilog.minimise`, because models read and minimise them wrongly.

_MOST_VARIABLES = 8
_CELLS = {"0": "0", "1": "1", **dict.fromkeys(("x", "d", "-", "?", "*"), "x")}
_REST = "default"
_BIT_NAME = re.compile(r"(?P<base>[A-Za-z_][\w$]*)(?:\[(?P<index>\d{1,3})\])?", re.ASCII)
"""A bit: the name of a signal, or one of its bits as in `x[3]`."""
_LONGEST = 4000
_MODULE = """module truth;
function automatic logic of_{ports};
return
{expression}
;
endfunction
localparam logic [{last}:0] column = {{{calls}}};
endmodule
"""


@tool()
def minimise(
    context: ToolContext, *,
    row_variables: Annotated[list[str], Field(description="what the characters of the row labels are values of, in "
                                                          "their order; of a truth table all variables")],
    row_labels: Annotated[list[str], Field(description="as drawn, from the top, such as 00, 01, 11, 10")],
    cells: Annotated[list[list[int | str]], Field(description="row by row: 0, 1, and x or d for don't care")],
    column_variables: Annotated[list[str] | None, Field(description="the same for the columns; a truth table has none, "
                                                                    "and one cell in each row")] = None,
    column_labels: Annotated[list[str] | None, Field(description="as drawn, from the left")] = None,
    expression: Annotated[str | None, Field(description="a Verilog expression to compare with the table")] = None,
) -> str:
    """Turn a Karnaugh map or truth table into minimal Verilog expressions, each evaluated back, and tell where an
    expression of one's own differs from it. Variables are bits: a, x[3]."""
    across = Side(column_variables, column_labels or []) if column_variables else Side([], [""])
    table = TruthTable.of_map(Side(row_variables, row_labels), across, cells)
    forms = minimal_expressions(table)
    if wrong := [text for text in forms if table.faults(text)]:
        raise ToolError(f"the expression found differs from the table, a fault of this tool: {wrong[0]}")
    return render_report("minimise", table=table, forms=forms, expression=expression,
                         faults=table.faults(expression) if expression else [])


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a map: its variables, and labels with a character for each of them, in the order drawn. No order is
    taken for granted. The label `default` stands for those that are not there."""

    variables: Sequence[str]
    labels: Sequence[str]

    def places(self) -> dict[str, int]:
        """Each combination of values with the place of its label. Raises ToolArgumentsError where that is not exactly
        one."""
        self._check_labels()
        labels = {label: place for place, label in enumerate(self.labels)}
        if len(labels) < len(self.labels):
            raise ToolArgumentsError(f"a label stands twice: {', '.join(self.labels)}")
        every = ["".join(bits) for bits in product("01", repeat=len(self.variables))]
        missing = [] if _REST in labels else [values for values in every if values not in labels]
        if missing:
            raise ToolArgumentsError(f"{len(missing)} of the {len(every)} combinations of {self._names} have no label, "
                                     f"first {missing[0]}; add them, or one label {_REST!r} for all of them")
        return {values: labels.get(values, labels.get(_REST, 0)) for values in every}

    def _check_labels(self) -> None:
        for label in self.labels:
            if label != _REST and (len(label) != len(self.variables) or label.strip("01")):
                raise ToolArgumentsError(f"the label {label!r} must be {len(self.variables)} characters 0 or 1, the "
                                         f"values of {self._names}, or {_REST!r} for all that are not listed")

    @property
    def _names(self) -> str:
        return ", ".join(self.variables) or "no variables"


@dataclass(frozen=True, slots=True)
class TruthTable:
    """`cells` maps each row, the variables' values in their order (`0110`), to `0`, `1`, or `x` where any will do."""

    variables: Sequence[str]
    cells: Mapping[str, str]

    @classmethod
    def of_map(cls, down: Side, across: Side, cells: Sequence[Sequence[object]]) -> Self:
        """From a map as it is drawn, its cells row by row; a truth table has `Side((), [""])` across. Raises
        ToolArgumentsError for cells and labels that make no map."""
        variables = [*down.variables, *across.variables]
        bit_places(variables)
        if not 0 < len(variables) <= _MOST_VARIABLES:
            raise ToolArgumentsError(f"a table has 1 to {_MOST_VARIABLES} variables; this one: {len(variables)}")
        if len(cells) != len(down.labels) or any(len(line) != len(across.labels) for line in cells):
            raise ToolArgumentsError(
                f"the labels need {len(down.labels)} rows of {len(across.labels)} cells; the rows given have "
                f"{', '.join(str(len(line)) for line in cells) or 'none'}")
        lines, columns = down.places(), across.places()
        return cls(variables, {row + column: _read_cell(cells[line][place], row + column)
                               for row, line in lines.items() for column, place in columns.items()})

    def rows(self, value: str) -> list[str]:
        """The rows with this value."""
        return [row for row, cell in self.cells.items() if cell == value]

    def faults(self, expression: str) -> list[tuple[str, str, str]]:
        """(row, the table's value, the expression's) where a Verilog expression differs. Raises ToolArgumentsError."""
        values = evaluate_rows(expression, self.variables, list(self.cells))
        return [(row, cell, value) for (row, cell), value in zip(self.cells.items(), values, strict=True)
                if cell not in {"x", value}]


def _read_cell(cell: object, row: str) -> str:
    try:
        return _CELLS[str(cell).strip().lower()]
    except KeyError:
        raise ToolArgumentsError(f"the cell {cell!r} at {row} is none of 0, 1 and, where any value will do, "
                                 "x, d or -") from None


def minimal_expressions(table: TruthTable) -> dict[str, str]:
    """Verilog expressions that agree with the table, each with its kind, the shortest first: sum of products, product
    of sums, and an exclusive or where that is shorter. Raises MissingProgram without sympy."""
    try:
        from sympy import POSform, SOPform, Symbol
    except ImportError as error:
        raise MissingProgram("minimising needs sympy: pip install 'chatdev-chain[verilog]'") from error
    symbols = [Symbol(variable) for variable in table.variables]
    ones, free = ([[int(bit) for bit in row] for row in table.rows(value)] for value in "1x")
    forms = {_verilog_text(POSform(symbols, ones, free), table): "product of sums",
             _verilog_text(SOPform(symbols, ones, free), table): "sum of products"}
    parity = _exclusive_or(table)
    if parity and len(parity) < min(map(len, forms)):
        forms[parity] = "exclusive or"
    return dict(sorted(forms.items(), key=lambda form: len(form[0])))


def _verilog_text(form: Boolean, table: TruthTable) -> str:
    """The expression, its names in the table's order."""
    from sympy import Not, Or, false, true

    def order(part: Any) -> list[int]:
        return sorted(table.variables.index(str(symbol)) for symbol in part.free_symbols)

    def text_of(part: Any) -> str:
        if part in (true, false):
            return f"1'b{int(bool(part))}"
        if isinstance(part, Not):
            return f"~{part.args[0]}"
        inner = [f"({text_of(one)})" if len(one.args) > 1 else text_of(one) for one in sorted(part.args, key=order)]
        return (" | " if isinstance(part, Or) else " & ").join(inner) or str(part)

    return text_of(form)


def _exclusive_or(table: TruthTable) -> str:
    """The exclusive or of the fewest variables, at least two, or its negation, that agrees; empty when none does."""
    cares = [(row, cell) for row, cell in table.cells.items() if cell != "x"]
    for count in range(2, len(table.variables) + 1):
        for places in combinations(range(len(table.variables)), count):
            odd = {sum(int(row[place]) for place in places) % 2 == int(cell) for row, cell in cares}
            if len(odd) == 1:
                text = " ^ ".join(table.variables[place] for place in places)
                return text if odd.pop() else f"~({text})"
    return ""


def evaluate_rows(expression: str, variables: Sequence[str], rows: Sequence[str]) -> list[str]:
    """The last bit of the expression in each row: `0`, `1`, or `x` where it is not known.

    A row is the variables' values in their order, such as `0110`. Raises ToolArgumentsError for what is no expression
    of these variables, and MissingProgram without pyslang.
    """
    if len(expression) > _LONGEST or set(expression) & set(";`"):
        raise ToolArgumentsError(f"an expression has at most {_LONGEST} characters, no ; and no `: {expression[:80]!r}")
    places = bit_places(variables)
    ports = ", ".join(f"input logic {'' if None in bits else f'[{_highest(bits)}:0] '}{base}"
                      for base, bits in places.items())
    calls = ", ".join(f"of_({', '.join(_literal(bits, row) for bits in places.values())})" for row in reversed(rows))
    text = _MODULE.format(ports=f"({ports})", expression=expression, last=len(rows) - 1, calls=calls)
    try:
        column = constant_bits(text, "truth", "column", len(rows))
    except DesignError as error:
        raise ToolArgumentsError(f"{expression!r} is no expression of {', '.join(variables)}:\n{error}") from None
    if column is None:
        raise ToolArgumentsError(f"{expression!r} is no constant function; use operators and {', '.join(variables)}")
    return [bit.replace("z", "x") for bit in column]


def bit_places(variables: Sequence[str]) -> dict[str, dict[int | None, int]]:
    """For each signal its bits (None for one that has but one) and their places in a row. Raises ToolArgumentsError for
    names that are none, or that name a bit twice."""
    places: dict[str, dict[int | None, int]] = {}
    for place, variable in enumerate(variables):
        match = _BIT_NAME.fullmatch(variable)
        if not match:
            raise ToolArgumentsError(f"{variable!r} names no bit; write names as in Verilog: a, x[3]")
        bits = places.setdefault(match["base"], {})
        bit = int(match["index"]) if match["index"] else None
        if bit in bits or (bits and None in {bit, *bits}):
            raise ToolArgumentsError(f"{variable!r} is named twice, or is part of another; name every bit once")
        bits[bit] = place
    return places


def _literal(bits: Mapping[int | None, int], row: str) -> str:
    if None in bits:
        return f"1'b{row[bits[None]]}"
    falling = range(_highest(bits), -1, -1)
    return f"{len(falling)}'b" + "".join(row[bits[bit]] if bit in bits else "x" for bit in falling)


def _highest(bits: Iterable[int | None]) -> int:
    return max(bit for bit in bits if bit is not None)
