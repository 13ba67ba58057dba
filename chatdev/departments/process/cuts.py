"""Where the directly-follows graph of a pool falls into parts that a process tree can put together."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import reduce
from operator import or_
from typing import NamedTuple

from chatdev.departments.process.follows_graph import FollowsGraph, Phases, Rows, list_numbers
from chatdev.departments.process.process_tree import Operator


class Cut(NamedTuple):
    """Groups of phases, of which each becomes a child of the operator. The first group of a loop is its body."""

    operator: Operator
    groups: tuple[Phases, ...]


MOST_HOMELESS = 4
"""Of more groups that cannot begin and end an instance all stay together."""


def find_cut(graph: FollowsGraph) -> Cut | None:
    """The first cut that the graph has."""
    return next(find_cuts(graph), None)


def find_cuts(graph: FollowsGraph) -> Iterator[Cut]:
    """The cuts by the first operator by which the graph has any, in the order of the paper: exclusive, sequence,
    parallel, loop. Only a parallel one may be made in several ways."""
    if graph.phases.bit_count() < 2:
        return
    if len(groups := _cut_exclusive(graph)) > 1:
        yield Cut("exclusive", tuple(groups))
    elif len(groups := _cut_sequence(graph)) > 1:
        yield Cut("sequence", tuple(groups))
    elif ways := _cut_parallel(graph):
        yield from (Cut("parallel", tuple(groups)) for groups in ways)
    elif len(groups := _cut_loop(graph)) > 1:
        yield Cut("loop", tuple(groups))


def find_order_cut(phases: Phases, order: FollowsGraph) -> Cut | None:
    """A parallel cut by what comes anywhere after what: phases that never come in both orders, however far from each
    other, belong together, and so do those that come in both with all others. Unlike the cuts above it needs no direct
    succession of every two phases, which small pools do not show."""
    found = _components(phases, lambda number: ~(order.after[number] & order.before[number]))
    groups = [group for group in found if group.bit_count() > 1]
    if rest := _unite(group for group in found if group.bit_count() == 1):
        groups.append(rest)
    return Cut("parallel", tuple(groups)) if len(groups) > 1 else None


def _components(phases: Phases, row: Callable[[int], Phases]) -> list[Phases]:
    """What hangs together, in the order of the first of each; `row` says what hangs together with a phase."""
    found = []
    while phases:
        group = new = phases & -phases
        while new and group != phases:
            lowest = new & -new
            more = row(lowest.bit_length() - 1) & phases & ~group
            group |= more
            new ^= lowest | more
        found.append(group)
        phases ^= group
    return found


def _unite(groups: Iterable[Phases]) -> Phases:
    return reduce(or_, groups, 0)


def _cut_exclusive(graph: FollowsGraph) -> list[Phases]:
    """Phases that no instance has in common."""
    return _components(graph.phases, lambda number: graph.after[number] | graph.before[number])


def _cut_sequence(graph: FollowsGraph) -> list[Phases]:
    """Groups of which one always comes after another: phases that can follow each other, or cannot at all, belong
    together."""
    phases = graph.phases
    after, before = graph.later or graph.after, graph.earlier or graph.before
    first = phases & -phases
    if _reach(first, after, phases) == phases == _reach(first, before, phases):
        return [phases]
    reached, reaching = _close(after, phases), _close(before, phases)
    together = _components(phases, lambda number: ~(reached[number] ^ reaching[number]))
    groups = sorted(together, key=lambda group: -(
        _unite(reached[number] for number in list_numbers(group)) & ~group).bit_count())
    return _join_optional(groups, graph) if len(groups) > 1 else groups


def _reach(group: Phases, rows: Rows, phases: Phases) -> Phases:
    """The group, and all that can be reached from it."""
    new = group
    while new and group != phases:
        lowest = new & -new
        more = rows[lowest.bit_length() - 1] & phases & ~group
        group |= more
        new ^= lowest | more
    return group


def _close(rows: Rows, phases: Phases) -> Rows:
    """What can be reached from each phase (Warshall 1962)."""
    numbers = [*list_numbers(phases)]
    found = [rows[number] & phases for number in numbers]
    for place, number in enumerate(numbers):
        row, bit = found[place], 1 << number
        found = [other | row if other & bit else other for other in found]
    return dict(zip(numbers, found, strict=True))


def _join_optional(groups: list[Phases], graph: FollowsGraph) -> list[Phases]:
    """Join neighbours that are only left out together, or the model would allow one without the other.

    Around each group that can be left out, those before it are joined from which nothing leads beyond it, and those
    after it to which nothing leads from before it (the strict sequence cut of Leemans: Robust Process Mining with
    Guarantees, 2017, section 6.1).
    """
    farthest = [_find_last(groups, _unite(graph.after[number] for number in list_numbers(group)), place)
                for place, group in enumerate(groups)]
    nearest = [_find_first(groups, _unite(graph.before[number] for number in list_numbers(group)), place)
               for place, group in enumerate(groups)]
    optional = {pivot for one, other in enumerate([_find_last(groups, graph.starts, -1), *farthest], -1)
                for pivot in range(one + 1, other)}
    return _glue(groups, {place for pivot in optional for place in _list_glued(pivot, farthest, nearest)})


def _glue(groups: Iterable[Phases], glued: Collection[int]) -> list[Phases]:
    """The groups, those joined with the next that are at these places."""
    found: list[Phases] = []
    for place, group in enumerate(groups):
        if place - 1 in glued:
            found[-1] |= group
        else:
            found.append(group)
    return found


def _list_glued(pivot: int, farthest: list[int], nearest: list[int]) -> Iterator[int]:
    """The groups around one that can be left out that are joined with the next."""
    before = pivot - 1
    while before >= 0 and farthest[before] <= pivot:
        yield before
        before -= 1
    after = pivot + 1
    while after < len(nearest) and nearest[after] >= pivot:
        yield after - 1
        after += 1


def _find_last(groups: Sequence[Phases], targets: Phases, least: int) -> int:
    """The last group that has any of these phases, from `least` on; behind all if the mark is one of them."""
    if targets & 1:
        return len(groups)
    return next((place for place in range(len(groups) - 1, least, -1) if groups[place] & targets), least)


def _find_first(groups: Sequence[Phases], sources: Phases, most: int) -> int:
    """The first group that has any of these phases, up to `most`; -1 if the mark is one of them."""
    if sources & 1:
        return -1
    return next((place for place in range(most) if groups[place] & sources), most)


def _cut_parallel(graph: FollowsGraph) -> list[list[Phases]]:
    """Groups of which every phase can come directly before and after every phase of the others, and each of which can
    begin and end an instance. What cannot do that is joined with another group, and the paper does not say with which:
    each way is one to cut, those first that change the fewest groups."""
    after, before = graph.after, graph.before
    groups = _components(graph.phases, lambda number: ~(after[number] & before[number]))
    whole = [group for group in groups if _is_whole(group, graph)]
    rest = [group for group in groups if group not in whole]
    ways = _host(rest if len(rest) <= MOST_HOMELESS else [_unite(rest)], whole, graph)
    return sorted((groups for groups in ways if len(groups) > 1), key=lambda groups: len({*whole} - {*groups}))


def _host(rest: Sequence[Phases], groups: list[Phases], graph: FollowsGraph) -> Iterator[list[Phases]]:
    """All ways to join the rest with groups or with each other, after which every group is whole."""
    if rest:
        for number, group in enumerate(groups):
            yield from _host(rest[1:], [*groups[:number], group | rest[0], *groups[number + 1:]], graph)
        yield from _host(rest[1:], [*groups, rest[0]], graph)
    elif all(_is_whole(group, graph) for group in groups):
        yield groups


def _is_whole(group: Phases, graph: FollowsGraph) -> bool:
    return bool(group & graph.starts and group & graph.ends)


def _cut_loop(graph: FollowsGraph) -> list[Phases]:
    """A body with all phases that begin or end an instance, and redo parts that lead from all its ends to all its
    starts, if they lead from or to any of them."""
    inner = graph.phases & ~(graph.starts | graph.ends)
    parts = _components(inner, lambda number: graph.after[number] | graph.before[number])
    redos = [part for part in parts if _is_redo(part, graph)]
    return [graph.phases & ~_unite(redos), *redos]


def _is_redo(part: Phases, graph: FollowsGraph) -> bool:
    """Whether every phase of the part that comes after others comes after all ends, and every one that comes before
    others comes before all starts."""
    outside, starts, ends = graph.phases & ~part, graph.starts, graph.ends
    return all(graph.before[number] & outside in (0, ends) and graph.after[number] & outside in (0, starts)
               for number in list_numbers(part))
