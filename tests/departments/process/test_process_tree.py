"""Trees: normal form, plain values, size, random instances, and which instances a tree allows."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.process.playout import MOST_PHASES, play_out
from benchmarks.process.pools import random_names, random_tree
from chatdev.departments.process.chart import draw_flow
from chatdev.departments.process.conformance import accepts, find_difference
from chatdev.departments.process.process_tree import (
    MOST_DEPTH,
    SILENT,
    ModelSize,
    ProcessTree,
    exclusive,
    from_plain,
    loop,
    measure_size,
    normalise,
    optional,
    parallel,
    phase,
    sequence,
    to_plain,
)
from chatdev.errors import ConfigError, ToolError

A, B, C, D = map(phase, "abcd")
LEAVES = st.sampled_from([A, B, C, D, SILENT])
TREES = st.recursive(LEAVES, lambda inner: st.one_of(
    st.builds(lambda kind, children: ProcessTree(kind, children=tuple(children)),
              st.sampled_from(["sequence", "exclusive", "parallel"]), st.lists(inner, min_size=1, max_size=3)),
    st.builds(loop, inner, inner)), max_leaves=7)
"""Any trees, with names that come again and silence everywhere."""


@settings(max_examples=40)
@given(TREES)
def test_the_normal_form_allows_the_same(tree: ProcessTree) -> None:
    normal = normalise(tree)
    assert normalise(normal) == normal
    assert find_difference(tree, normal) is None


@settings(max_examples=40)
@given(TREES, st.integers())
def test_what_is_played_out_is_accepted(tree: ProcessTree, seed: int) -> None:
    instance = play_out(tree, Random(seed))
    assert accepts(tree, instance)
    assert instance == play_out(tree, Random(seed))


@pytest.mark.parametrize(("tree", "yes", "no"), [
    (sequence(A, optional(B), C), ["ac", "abc"], ["", "ab", "abbc", "acb", "abcx"]),
    (exclusive(A, sequence(B, C)), ["a", "bc"], ["", "b", "abc"]),
    (parallel(sequence(A, B), C), ["abc", "acb", "cab"], ["bac", "ab"]),
    (loop(sequence(A, B), C), ["ab", "abcab"], ["", "abab", "abc"]),
    (loop(optional(A), optional(B)), ["", "a", "b", "ab", "bb", "aba", "aa"], ["c"]),
    (loop(parallel(A, B)), ["ab", "abba"], ["", "aba", "aabb"]),
    (sequence(A, exclusive(A, SILENT), A), ["aa", "aaa"], ["a", "aaaa"]),
    (SILENT, [""], ["a"]),
])
def test_a_tree_allows_what_it_says(tree: ProcessTree, yes: list[str], no: list[str]) -> None:
    assert [accepts(tree, tuple(text)) for text in yes + no] == [True] * len(yes) + [False] * len(no)


def test_a_difference_is_a_shortest_instance() -> None:
    assert find_difference(sequence(A, optional(B)), sequence(A, loop(optional(B)))) == ("a", "b", "b")


def test_long_and_cyclic_instances_come_to_an_end() -> None:
    names = [phase(str(number)) for number in range(200)]
    assert accepts(sequence(*names), tuple(map(str, range(200))))
    assert accepts(parallel(*names), tuple(map(str, reversed(range(200)))))
    assert accepts(loop(exclusive(*names)), tuple(str(number % 7) for number in range(200)))
    twins = parallel(*(sequence(A, B) for _ in range(12)))
    assert accepts(twins, ("a",) * 12 + ("b",) * 12)
    assert len(play_out(loop(loop(loop(A))), Random(0), repeat=1.0)) >= MOST_PHASES


def test_a_tree_with_too_many_readings_is_given_up() -> None:
    tangle = parallel(*(sequence(A, phase(str(number))) for number in range(20)))
    with pytest.raises(ToolError, match="name each phase once"):
        accepts(tangle, ("a",) * 10)


def test_sizes_are_those_of_the_chart() -> None:
    assert measure_size(sequence(A, parallel(B, loop(C)), optional(D))) == ModelSize(4, 4, 2)
    assert ModelSize(4, 4, 2).gateways == 6
    for seed in range(50):
        tree = random_tree(Random(seed), random_names(Random(seed)))
        graph, size = draw_flow(tree), measure_size(tree)
        assert len(list(graph.gateways())) == size.gateways
        assert sum(node.kind == "task" for node in graph.nodes) == size.phases


def test_plain_values_are_read_back_and_others_refused() -> None:
    tree = sequence(A, optional(B), loop(C, D))
    assert from_plain(to_plain(tree)) == tree
    assert str(tree) == "->('a', X(tau, 'b'), *('c', 'd'))"
    deep: object = "a"
    for _ in range(MOST_DEPTH):
        deep = ["sequence", deep]
    for wrong in ("", 3, ["loop", "a"], ["sequence"], ["or", "a"], [["sequence"], "a"], deep):
        with pytest.raises(ConfigError):
            from_plain(wrong)
