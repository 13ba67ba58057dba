"""Karnaugh maps and truth tables: what comes out agrees with what went in."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chatdev.departments.verilog.identify import Side, TruthTable, evaluate_rows, minimal_expressions
from chatdev.sandbox.kinds import find_sandbox
from chatdev.tools.base import ToolArgumentsError, ToolContext, registry

GRAY = ["00", "01", "11", "10"]
NAMES = ["a", "b", "x[3]", "x[1]", "c_1", "E", "I", "q"]


def said(tmp_path: Path, **arguments: object) -> str:
    context = ToolContext({}, {}, {}, find_sandbox("none"), tmp_path, tmp_path)
    report = registry()["verilog.minimise"].call(context, arguments)
    assert isinstance(report, str)
    return report


def value_of(expression: str, variables: list[str], row: str) -> str:
    """By Python, whose operators on whole numbers do the same to the last bit."""
    bits = dict(zip(variables, map(int, row), strict=True))
    signals = {"x": {3: bits.get("x[3]", 0), 1: bits.get("x[1]", 0)}} | bits
    return str(eval(expression.replace("1'b", ""), {}, signals) & 1)


@st.composite
def tables(draw: st.DrawFn, most: int = 5) -> tuple[list[str], dict[str, str]]:
    """Variables, and a cell for each of their combinations."""
    variables = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=most, unique=True))
    rows = ["".join(bits) for bits in product("01", repeat=len(variables))]
    cells = draw(st.lists(st.sampled_from("01x"), min_size=len(rows), max_size=len(rows)))
    return variables, dict(zip(rows, cells, strict=True))


@given(tables())
@settings(max_examples=40)
def test_every_expression_agrees_with_every_cell_that_counts(made: tuple[list[str], dict[str, str]]) -> None:
    variables, cells = made
    table = TruthTable(variables, cells)
    for expression in minimal_expressions(table):
        assert [row for row, cell in cells.items() if cell not in {"x", value_of(expression, variables, row)}] == []
        assert table.faults(expression) == []


@given(tables(most=4), st.data())
@settings(max_examples=40)
def test_maps_are_read_by_their_labels_in_whatever_order(made: tuple[list[str], dict[str, str]],
                                                         data: st.DataObject) -> None:
    variables, cells = made
    cut = data.draw(st.integers(0, len(variables)))
    down, across = (data.draw(st.permutations(["".join(bits) for bits in product("01", repeat=count)]))
                    for count in (cut, len(variables) - cut))
    drawn = [[cells[row + column] for column in across] for row in down]
    assert TruthTable.of_map(Side(variables[:cut], down), Side(variables[cut:], across), drawn).cells == cells


def test_a_map_becomes_a_short_expression(tmp_path: Path) -> None:
    """The columns are not in Gray's order."""
    report = said(tmp_path, row_variables=["c", "d"], row_labels=GRAY, column_variables=["a", "b"],
                  column_labels=["01", "00", "10", "11"], cells=[
                      list("d011"), list("00dd"), list("0111"), list("0111")])
    assert "(c, d, a, b in this order)" in report
    assert "- is 1 for 0010, 0011, 1000, 1010, 1011, 1100, 1110, 1111\n" in report
    assert "equal to the table in all 13 cells that are 0 or 1" in report
    assert "- (c & ~b) | a   (sum of products)\n- (c | a) & (a | ~b)   (product of sums)" in report


def test_a_parity_is_an_exclusive_or(tmp_path: Path) -> None:
    report = said(tmp_path, row_variables=["a", "b"], row_labels=GRAY, cells=[[1], [0], [1], [0]])
    assert "- ~(a ^ b)   (exclusive or)" in report


@pytest.mark.parametrize(("cells", "constant"), [("11", "1'b1"), ("00", "1'b0"), ("1x", "1'b1"), ("x0", "1'b0")])
def test_a_constant_is_found(cells: str, constant: str) -> None:
    assert list(minimal_expressions(TruthTable(["a"], {"0": cells[0], "1": cells[1]}))) == [constant]


def test_what_is_not_listed_is_as_the_label_default_says(tmp_path: Path) -> None:
    report = said(tmp_path, row_variables=["a", "q"], row_labels=["01", "10", "default"], cells=[[1], [0], ["x"]])
    assert "- ~a   (" in report


def test_the_agents_own_expression_is_compared(tmp_path: Path) -> None:
    arguments = {"row_variables": ["x[1]", "x[0]"], "row_labels": GRAY, "cells": [[0], [1], ["d"], [1]]}
    assert said(tmp_path, **arguments, expression="x != 0").endswith("x != 0 agrees with the table.")
    assert "- at x[1]=1 x[0]=0 the table has 1, the expression 0" in said(tmp_path, **arguments, expression="x == 1")
    assert "the expression x" in said(tmp_path, **arguments, expression="1'bx")


@pytest.mark.parametrize(("changed", "complaint"), [
    ({"cells": [[0], [1], [1]]}, "the labels need 4 rows of 1 cells; the rows given have 1, 1, 1"),
    ({"cells": [[0, 1]] * 4}, "the rows given have 2, 2, 2, 2"),
    ({"cells": [[0], [1], [2], [1]]}, "the cell 2 at 11 is none of 0, 1"),
    ({"row_labels": ["00", "01", "11", "1"]}, "the label '1' must be 2 characters 0 or 1, the values of a, b"),
    ({"row_labels": ["00", "01", "11", "11"]}, "a label stands twice"),
    ({"row_labels": ["00", "01"], "cells": [[0], [1]]}, "2 of the 4 combinations of a, b have no label, first 10"),
    ({"row_variables": ["a", "a"]}, "'a' is named twice"),
    ({"row_variables": ["a", "a[1]"]}, "'a\\[1\\]' is named twice, or is part of another"),
    ({"row_variables": ["a", "b or c"]}, "'b or c' names no bit"),
    ({"row_variables": list("abcdefghi")}, "1 to 8 variables; this one: 9"),
    ({"column_variables": ["c"], "column_labels": []}, "the labels need 4 rows of 0 cells"),
    ({"expression": "a & zebra"}, "use of undeclared identifier 'zebra'"),
    ({"expression": "a & "}, "'a & ' is no expression of a, b"),
    ({"expression": "a; endfunction"}, "no ; and no `"),
    ({"expression": "`include \"/etc/passwd\""}, "no ; and no `"),
    ({"expression": "$fopen(\"f\")"}, "is no"),
])
def test_what_makes_no_map_is_refused(tmp_path: Path, changed: dict[str, object], complaint: str) -> None:
    good = {"row_variables": ["a", "b"], "row_labels": GRAY, "cells": [[0], [1], [0], [1]]}
    with pytest.raises(ToolArgumentsError, match=complaint):
        said(tmp_path, **{**good, **changed})


names = st.sampled_from(["a", "b", "x[1]", "x[3]"])
formulas = st.recursive(names, lambda inner: st.builds("~({})".format, inner) | st.builds(
    "({} {} {})".format, inner, st.sampled_from("&|^"), inner), max_leaves=8)


@given(formulas)
@settings(max_examples=40)
def test_expressions_are_evaluated_as_python_does(expression: str) -> None:
    variables = ["x[3]", "a", "x[1]", "b"]
    rows = ["".join(bits) for bits in product("01", repeat=4)]
    assert evaluate_rows(expression, variables, rows) == [value_of(expression, variables, row) for row in rows]
