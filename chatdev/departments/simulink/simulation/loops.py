"""The order in which nodes are computed, and algebraic loops: which variables are guessed (tearing), and Newton's
method with finite differences on them."""

from __future__ import annotations

import heapq
import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter

import networkx
import numpy

from chatdev.departments.simulink.simulation.kernel import Node, Rate, SimulationFailed

_MOST_ROUNDS, _HALVINGS, _TOLERANCE, _SINGULAR = 60, 6, 1e-12, 1e-9
_STEADY = 1e-5  # of a value, by which a solution may miss itself where it is off by the tolerance


@dataclass(frozen=True, slots=True)
class Group:
    """Nodes that are computed together: one alone, or those of a loop in their order, of which the last, `torn`, are
    guessed."""

    nodes: tuple[Node, ...]
    torn: int = 0


def sort_nodes(nodes: Sequence[Node], reads: Mapping[str, set[str]]) -> Iterator[Group]:
    """The nodes by direct feed-through; those of one rate one behind the other where that is possible. What is equal
    keeps its order."""
    before = _dependencies(nodes, reads)
    graph, members, followers = _parts(before)
    waits = dict.fromkeys(members, 0)
    for after in (after for all_after in followers.values() for after in all_after):
        waits[after] += 1
    numbers: dict[Rate, int] = {}
    rates = [numbers.setdefault(node.rate, len(numbers)) for node in nodes]
    ready: dict[int, list[tuple[int, int]]] = defaultdict(list)

    def push(part: int) -> None:
        first = members[part][0]
        heapq.heappush(ready[rates[first]], (first, part))

    for part in members:
        if not waits[part]:
            push(part)
    rate = None
    while any(ready.values()):
        if rate is None or not ready[rate]:
            rate = min((key for key in ready if ready[key]), key=lambda key: ready[key][0])
        part = heapq.heappop(ready[rate])[1]
        yield _group(members[part], graph, nodes)
        for after in followers[part]:
            waits[after] -= 1
            if not waits[after]:
                push(after)


def _dependencies(nodes: Sequence[Node], reads: Mapping[str, set[str]]) -> dict[int, list[int]]:
    """Which nodes, by their numbers, must be known before each."""
    by_target = {node.target: number for number, node in enumerate(nodes)}
    return {number: [by_target[name] for name in reads[node.target] & by_target.keys()]
            for number, node in enumerate(nodes)}


def _parts(before: Mapping[int, Sequence[int]]
           ) -> tuple[networkx.DiGraph, dict[int, list[int]], Mapping[int, Sequence[int]]]:
    """The graph (empty where there is no loop), the members of each part of it that is computed at once, and the parts
    behind each. Without loops, which is the rule, each node is a part, and no graph is needed."""
    graph = networkx.DiGraph()
    try:
        TopologicalSorter(before).prepare()
    except CycleError:
        graph.add_nodes_from(before)
        graph.add_edges_from((one, number) for number, all_before in before.items() for one in all_before)
        parts = networkx.condensation(graph)
        return graph, {part: sorted(parts.nodes[part]["members"]) for part in parts}, {
            part: [*parts.successors(part)] for part in parts}
    followers: dict[int, list[int]] = {number: [] for number in before}
    for number, all_before in before.items():
        for one in all_before:
            followers[one].append(number)
    return graph, {number: [number] for number in before}, followers


def _group(part: list[int], graph: networkx.DiGraph, nodes: Sequence[Node]) -> Group:
    if len(part) == 1 and not graph.has_edge(part[0], part[0]):
        return Group((nodes[part[0]],))
    rest, torn = networkx.DiGraph(graph.subgraph(part)), list[int]()
    while loops := [loop for loop in networkx.strongly_connected_components(rest)
                    if len(loop) > 1 or rest.has_edge(*[*loop] * 2)]:
        for loop in sorted(loops, key=min):
            worst = min(loop, key=lambda one: (-min(rest.in_degree(one), rest.out_degree(one)), one))
            torn.append(worst)
            rest.remove_node(worst)
    order = [*networkx.lexicographical_topological_sort(rest), *sorted(torn)]
    return Group(tuple(nodes[number] for number in order), len(torn))


def solve_loop(step: Callable[..., tuple[float, ...]], guess: tuple[float, ...], blocks: Sequence[str],
               time: float) -> tuple[float, ...]:
    """The values that `step` makes of themselves, from a guess. Raises SimulationFailed, which names the blocks."""
    values = list(guess)
    misses = _misses(step, values)
    for _ in range(_MOST_ROUNDS):
        if _is_small(misses, values, _TOLERANCE):
            there = [value + miss for value, miss in zip(values, misses, strict=True)]
            if any(misses) and not _is_small(_misses(step, there), there, _STEADY):
                break  # a jump, which only seems to be a solution
            return tuple(values)
        if not all(map(math.isfinite, misses)):
            raise _failure("leads to values that are not finite", blocks, time)
        change = _newton_change(step, values, misses)
        if change is None:
            raise _failure("has no solution, or more than one (its gain is 1)", blocks, time)
        if _is_small(change, values, _TOLERANCE / 100):
            return tuple(values)
        size, share = _size(misses), 1.0
        for halving in range(_HALVINGS):
            tried = [value + share * one for value, one in zip(values, change, strict=True)]
            found = _misses(step, tried)
            if _size(found) < size or halving == _HALVINGS - 1:
                break
            share = share / 2 if halving < _HALVINGS - 2 else 1.0
        values, misses = tried, found
    raise _failure("does not settle on values", blocks, time)


def _misses(step: Callable[..., tuple[float, ...]], values: Sequence[float]) -> list[float]:
    return [new - value for new, value in zip(step(*values), values, strict=True)]


def _is_small(misses: Sequence[float], values: Sequence[float], part: float) -> bool:
    return all(abs(miss) <= part * max(1.0, abs(value)) for miss, value in zip(misses, values, strict=True))


def _size(misses: Sequence[float]) -> float:
    size = max(map(abs, misses))
    return size if math.isfinite(size) else math.inf


def _newton_change(step: Callable[..., tuple[float, ...]], values: Sequence[float],
                   misses: Sequence[float]) -> list[float] | None:
    """What to add to the values; None where no change helps."""
    jacobian = numpy.empty((len(values), len(values)))
    for column, value in enumerate(values):
        aside = list(values)
        aside[column] += 1e-6 * max(1.0, abs(value))
        jacobian[:, column] = (numpy.array(_misses(step, aside)) - misses) / (aside[column] - value)
    if not numpy.isfinite(jacobian).all():
        return None
    if len(values) == 1:
        slope = float(jacobian[0, 0])
        return [-misses[0] / slope] if abs(slope) > _SINGULAR * max(1.0, abs(slope + 1)) else None
    singular = numpy.linalg.svd(jacobian, compute_uv=False)
    if singular[-1] <= _SINGULAR * max(1.0, singular[0]):
        return None
    return [float(one) for one in numpy.linalg.solve(jacobian, -numpy.array(misses))]


def _failure(what: str, blocks: Sequence[str], time: float) -> SimulationFailed:
    return SimulationFailed(f"the algebraic loop {' → '.join(map(repr, blocks))} {what} at {time:g} s; put a Memory or "
                            "a Unit Delay into it, or check its signs and gains", blocks, time)
