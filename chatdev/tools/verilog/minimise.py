"""Truth tables and Karnaugh maps: `verilog.minimise`, because models read and minimise them wrongly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Self

from pydantic import Field

from chatdev.errors import MissingProgram, ToolError
from chatdev.tools.base import ToolContext, template
from chatdev.tools.function import ToolArgumentsError, tool
from chatdev.tools.verilog.boolean import evaluated, places_of

if TYPE_CHECKING:
    from sympy.logic.boolalg import Boolean

_TEMPLATE = Path(__file__).with_name("minimise.j2")
_MOST_VARIABLES = 8
_CELLS = {"0": "0", "1": "1", **dict.fromkeys(("x", "d", "-", "?", "*"), "x")}
_REST = "default"


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a map: its variables, and labels with a character for each of them, in the order drawn. No order is
    taken for granted. The label `default` stands for those that are not there."""

    variables: Sequence[str]
    labels: Sequence[str]

    def every(self) -> dict[str, int]:
        """Each combination with the place of its label. Raises ToolArgumentsError where that is not exactly one."""
        names = ", ".join(self.variables) or "no variables"
        for label in self.labels:
            if label != _REST and (len(label) != len(self.variables) or label.strip("01")):
                raise ToolArgumentsError(f"the label {label!r} must be {len(self.variables)} characters 0 or 1, the "
                                         f"values of {names}, or {_REST!r} for all that are not listed")
        places = {label: place for place, label in enumerate(self.labels)}
        if len(places) < len(self.labels):
            raise ToolArgumentsError(f"a label stands twice: {', '.join(self.labels)}")
        every = ["".join(bits) for bits in product("01", repeat=len(self.variables))]
        missing = [label for label in every if label not in places and _REST not in places]
        if missing:
            raise ToolArgumentsError(f"{len(missing)} of the {len(every)} combinations of {names} have no label, first "
                                     f"{missing[0]}; add them, or one label {_REST!r} for all of them")
        return {label: places.get(label, places.get(_REST, 0)) for label in every}


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
        places_of(variables)
        if not 0 < len(variables) <= _MOST_VARIABLES:
            raise ToolArgumentsError(f"a table has 1 to {_MOST_VARIABLES} variables; this one: {len(variables)}")
        if len(cells) != len(down.labels) or any(len(line) != len(across.labels) for line in cells):
            raise ToolArgumentsError(
                f"the labels need {len(down.labels)} rows of {len(across.labels)} cells; the rows given have "
                f"{', '.join(str(len(line)) for line in cells) or 'none'}")
        lines, columns = down.every(), across.every()
        return cls(variables, {row + column: _cell(cells[line][place], row + column)
                               for row, line in lines.items() for column, place in columns.items()})

    def rows(self, value: str) -> list[str]:
        """The rows with this value."""
        return [row for row, cell in self.cells.items() if cell == value]

    def faults(self, expression: str) -> list[tuple[str, str, str]]:
        """(row, the table's value, the expression's) where a Verilog expression differs. Raises ToolArgumentsError."""
        values = evaluated(expression, self.variables, list(self.cells))
        return [(row, cell, value) for (row, cell), value in zip(self.cells.items(), values, strict=True)
                if cell not in {"x", value}]


def _cell(cell: object, row: str) -> str:
    try:
        return _CELLS[str(cell).strip().lower()]
    except KeyError:
        raise ToolArgumentsError(f"the cell {cell!r} at {row} is none of 0, 1 and, where any value will do, "
                                 "x, d or -") from None


def expressions(table: TruthTable) -> dict[str, str]:
    """Verilog expressions that agree with the table, each with its kind, the shortest first: sum of products, product
    of sums, and an exclusive or where that is shorter. Raises MissingProgram without sympy."""
    try:
        from sympy import POSform, SOPform, Symbol
    except ImportError as error:
        raise MissingProgram("minimising needs sympy: pip install 'chatdev-chain[verilog]'") from error
    symbols = [Symbol(variable) for variable in table.variables]
    ones, free = ([[int(bit) for bit in row] for row in table.rows(value)] for value in "1x")
    forms = {_verilog(POSform(symbols, ones, free), table): "product of sums",
             _verilog(SOPform(symbols, ones, free), table): "sum of products"}
    parity = _exclusive_or(table)
    if parity and len(parity) < min(map(len, forms)):
        forms[parity] = "exclusive or"
    return dict(sorted(forms.items(), key=lambda form: len(form[0])))


def _verilog(form: Boolean, table: TruthTable) -> str:
    """The expression, its names in the table's order."""
    from sympy import Not, Or, false, true

    def order(part: Any) -> list[int]:
        return sorted(table.variables.index(str(symbol)) for symbol in part.free_symbols)

    def written(part: Any) -> str:
        if part in (true, false):
            return f"1'b{int(bool(part))}"
        if isinstance(part, Not):
            return f"~{part.args[0]}"
        inner = [f"({written(one)})" if len(one.args) > 1 else written(one) for one in sorted(part.args, key=order)]
        return (" | " if isinstance(part, Or) else " & ").join(inner) or str(part)

    return written(form)


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
    forms = expressions(table)
    if wrong := [text for text in forms if table.faults(text)]:
        raise ToolError(f"the expression found differs from the table, a fault of this tool: {wrong[0]}")
    text: str = template(_TEMPLATE.read_text(encoding="utf-8")).render(
        table=table, forms=forms, expression=expression, faults=table.faults(expression) if expression else [])
    return text.strip()
