"""Verilog expressions of single bits, evaluated exactly for every row of a truth table, by pyslang."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from chatdev.tools.function import ToolArgumentsError
from chatdev.tools.verilog.design.elaborate import DesignError, elaborated, integral

NAME = re.compile(r"(?P<base>[A-Za-z_][\w$]*)(?:\[(?P<index>\d{1,3})\])?", re.ASCII)
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


def evaluated(expression: str, variables: Sequence[str], rows: Sequence[str]) -> list[str]:
    """The last bit of the expression in each row: `0`, `1`, or `x` where it is not known.

    A row is the variables' values in their order, such as `0110`. Raises ToolArgumentsError for what is no expression
    of these variables, and MissingProgram without pyslang.
    """
    if len(expression) > _LONGEST or set(expression) & set(";`"):
        raise ToolArgumentsError(f"an expression has at most {_LONGEST} characters, no ; and no `: {expression[:80]!r}")
    places = places_of(variables)
    ports = ", ".join(f"input logic {'' if None in bits else f'[{_highest(bits)}:0] '}{base}"
                      for base, bits in places.items())
    calls = ", ".join(f"of_({', '.join(_literal(bits, row) for bits in places.values())})" for row in reversed(rows))
    text = _MODULE.format(ports=f"({ports})", expression=expression, last=len(rows) - 1, calls=calls)
    try:
        _compilation, instance = elaborated(text, "truth")
        parameter: Any = instance.body.find("column")
    except DesignError as error:
        raise ToolArgumentsError(f"{expression!r} is no expression of {', '.join(variables)}:\n{error}") from None
    column = integral(parameter.value)
    if column is None:
        raise ToolArgumentsError(f"{expression!r} is no constant function; use operators and {', '.join(variables)}")
    return [str(column[row]).replace("z", "x") for row in range(len(rows))]


def places_of(variables: Sequence[str]) -> dict[str, dict[int | None, int]]:
    """For each signal its bits (None for one that has but one) and their places in a row. Raises ToolArgumentsError for
    names that are none, or that name a bit twice."""
    places: dict[str, dict[int | None, int]] = {}
    for place, variable in enumerate(variables):
        match = NAME.fullmatch(variable)
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
