"""Mutants have one mistake each, at a line that is known."""

from __future__ import annotations

import pytest

from benchmarks.verilog.mutants import mutants
from benchmarks.verilog.pyverilog import sliced
from chatdev.departments.verilog.design.design import Design
from tests.departments.verilog.designs import LOCK, UNIT


@pytest.mark.parametrize("text", [LOCK.answer, UNIT.answer], ids=["lock", "unit"])
def test_a_mutant_differs_near_its_line_alone(text: str) -> None:
    before = text.splitlines()
    for mutant in mutants(text):
        after = mutant.text.splitlines()
        assert before[:mutant.line - 1] == after[:mutant.line - 1] or mutant.operator in ("dropped else",
                                                                                         "missing case item")
        assert mutant.text != text


def test_there_are_mutants_of_every_operator_and_each_is_another() -> None:
    found = [*mutants(LOCK.answer), *mutants(UNIT.answer)]
    assert len({mutant.text for mutant in found}) == len(found)
    assert {mutant.operator for mutant in found} == {
        "bit width", "blocking", "constant", "dropped else", "missing case item", "negated condition", "operator swap",
        "reset polarity", "reset value", "state transition", "swapped operands", "wrong edge"}


@pytest.mark.parametrize(("operator", "before", "after"), [
    ("operator swap", "state == OPEN;", "state != OPEN;"),
    ("wrong edge", "posedge clk", "negedge clk"),
    ("reset polarity", "if (reset) last", "if (!(reset)) last"),
    ("state transition", "? WAIT : SHUT", "? OPEN : SHUT"),
    ("swapped operands", "in ? OPEN : SHUT", "in ? SHUT : OPEN"),
    ("blocking", "state <= next", "state = next"),
    ("bit width", "reg [1:0] state", "reg [0:0] state"),
    ("constant", "3'b101", "3'b100"),
    ("missing case item", "      WAIT: next = in ? OPEN : SHUT;", "      "),
])
def test_an_operator_makes_its_mistake(operator: str, before: str, after: str) -> None:
    assert before in LOCK.answer
    assert LOCK.answer.replace(before, after, 1) in [one.text for one in mutants(LOCK.answer)
                                                     if one.operator == operator]


def test_most_mutants_can_be_elaborated() -> None:
    for mutant in mutants(UNIT.answer)[::8]:
        assert Design.of(mutant.text).ports


class Node:
    """A node as pyverilog has them."""

    def __init__(self, *children: Node, lineno: int = 0, name: str = "", **parts: Node) -> None:
        self._children, self.lineno, self.name = (*parts.values(), *children), lineno, name
        self.__dict__.update(parts)

    def children(self) -> tuple[Node, ...]:
        return self._children


class Identifier(Node):
    pass


class Assign(Node):
    pass


def test_the_slice_for_comparison_goes_back_level_by_level() -> None:
    tree = Node(Assign(lineno=1, left=Identifier(name="y"), right=Node(Identifier(name="w"))),
                Assign(lineno=2, left=Identifier(name="w"), right=Identifier(name="a")),
                Assign(lineno=3, left=Identifier(name="z"), right=Identifier(name="a")))
    assert sliced(tree, ["y"], 3) == [{1}, {1, 2}, {1, 2}]
