"""The picture of two models: what is marked in each, and that it can be told apart."""

from __future__ import annotations

from pathlib import Path
from random import Random
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner

from benchmarks.process.pools import random_tree
from chatdev.cli.app import command_line
from chatdev.departments.process.chart import FlowNode, draw_flow
from chatdev.departments.process.comparison_chart import MARKS, draw_comparison, find_own
from chatdev.departments.process.conformance import find_difference
from chatdev.departments.process.process_tree import ProcessTree, normalise, parse_tree


def own(one: str, other: str) -> set[str]:
    """What is marked in the chart of the first: names of tasks and kinds of gateways, and flows by both ends."""
    graph = draw_flow(parse_tree(one))
    nodes = {node.id: told(node) for node in graph.nodes}
    return {nodes[mark] if isinstance(mark, str) else f"{nodes[mark.source]} → {nodes[mark.target]}"
            for mark in find_own(graph, draw_flow(parse_tree(other)))}


def told(node: FlowNode) -> str:
    """A node in words."""
    return node.name if node.kind == "task" else node.kind


@pytest.mark.parametrize(("one", "other", "marked"), [
    ("->('a', 'b')", "->('a', 'b')", set()),
    ("->('a', 'x', 'b')", "->('a', 'b')", {"x", "a → x", "x → b"}),
    ("->('a', 'b')", "->('b', 'a')", {"start → a", "a → b", "b → end"}),
    ("->('a', X(tau, 'b'), 'c')", "->('a', 'b', 'c')", {"exclusive", "exclusive → exclusive"}),
    ("+('a', 'b')", "X('a', 'b')", {"parallel"}),
    ("*('a', tau)", "'a'", {"exclusive", "exclusive → exclusive"}),
    ("->('a', 'b', 'c')", "->('a', +('b', 'c'))", {"b → c"}),
])
def test_what_the_other_model_lacks_is_marked(one: str, other: str, marked: set[str]) -> None:
    assert own(one, other) == marked


def test_models_that_differ_are_marked_and_equal_ones_are_not() -> None:
    differ = marked = 0
    for seed in range(300):
        chance = Random(seed)
        names = list("abcd"[:chance.randint(2, 4)])
        trees = [normalise(random_tree(chance, names)), normalise(random_tree(chance, names[::-1]))]
        graphs = [*map(draw_flow, trees)]
        assert not find_own(graphs[0], graphs[0])
        if find_difference(*trees) is not None:
            differ += 1
            marked += bool(find_own(*graphs) or find_own(*graphs[::-1]))
    assert differ > 250
    assert marked > 0.98 * differ  # some differ only in how blocks lie in each other


def draw(one: ProcessTree, other: ProcessTree) -> str:
    return draw_comparison(("first.bpmn", one), ("second & last\x07", other), "svg").decode()


def test_marks_differ_in_more_than_colour() -> None:
    picture = draw(parse_tree("->('a', 'x')"), parse_tree("->('a', 'y')"))
    texts = ["".join(text.itertext()) for text in ElementTree.fromstring(picture).iter() if text.tag.endswith("}text")]
    assert texts == ["only in A", "only in B", "all else is in both", "A: first.bpmn", "a", "x", "only in A",
                     "B: second & last\\x07", "a", "y", "only in B"]
    assert len({mark.dashes for mark in MARKS}) == len({mark.line for mark in MARKS}) == 2
    for mark in MARKS:
        assert picture.count(f'stroke="{mark.line}" stroke-width="2.40" stroke-dasharray="{mark.dashes}"') == 2  # flows
    assert "is in only one of them" in draw(parse_tree("'a'"), parse_tree("'a'"))


def test_two_models_are_drawn_by_one_command(tmp_path: Path) -> None:
    files = ["--svg", str(tmp_path / "c.svg"), "--png", str(tmp_path / "c.png")]
    done = CliRunner().invoke(command_line, ["process", "compare", "->('a', 'x')", "->('a', 'y')", *files])
    assert done.exit_code == 1
    assert "only in A" in (tmp_path / "c.svg").read_text()
    assert (tmp_path / "c.png").read_bytes().startswith(b"\x89PNG")
