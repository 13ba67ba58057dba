"""The directly-follows graph of a pool: which phase comes directly after which; and without what is rare.

To the miner a phase is a character and an instance a string, as Python counts and divides strings quickly. Sets of
phases are bits: phase `chr(n)` is bit n, and bit 0 is the mark that stands before and behind each instance.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, combinations, groupby, pairwise
from typing import Any

from chatdev.departments.process.process_tree import Instance

Log = Mapping[str, int]
"""Each different instance, a character for each phase, and how often it was seen."""
Phases = int
"""A set of phases, as bits."""
Rows = dict[int, Phases]
"""By the number of a phase, those that it has to do with."""
Edges = Counter[tuple[str, str]]

MARK = "\0"


@dataclass(frozen=True, slots=True)
class FollowsGraph:
    """What comes directly after each phase and before it. The mark has rows, too: what comes after it begins instances,
    what comes before it ends them."""

    phases: Phases
    after: Rows
    before: Rows
    later: Rows | None = None
    """What comes anywhere after each phase; only in filtered graphs, where it decides the order."""
    earlier: Rows | None = None

    @property
    def starts(self) -> Phases:
        """The phases that begin instances."""
        return self.after[0] & self.phases

    @property
    def ends(self) -> Phases:
        """The phases that end instances."""
        return self.before[0] & self.phases

    def restrict(self, group: Phases) -> FollowsGraph:
        """The graph of a part of the phases, where the others only come before and after its instances."""
        after, before = _restrict(self.after, group), _restrict(self.before, group)
        return FollowsGraph(group, {0: _beside_mark(before), **after}, {0: _beside_mark(after), **before})

    def count_concurrent(self, number: int) -> int:
        """With how many phases this one comes in both orders."""
        return (self.after[number] & self.before[number] & self.phases).bit_count()


def _restrict(rows: Rows, group: Phases) -> Rows:
    return {number: rows[number] & group | bool(rows[number] & ~group) for number in list_numbers(group)}


def _beside_mark(rows: Rows) -> Phases:
    return sum(1 << number for number, row in rows.items() if row & 1)


def list_numbers(phases: Phases) -> Iterator[int]:
    """The numbers of a set of phases, in order."""
    while phases:
        lowest = phases & -phases
        yield lowest.bit_length() - 1
        phases ^= lowest


def bits_of(phases: Iterable[str]) -> Phases:
    """Phases as a set."""
    return sum(1 << ord(name) for name in {*phases})


def build_graph(texts: Iterable[str], phases: Phases) -> FollowsGraph:
    """The graph of instances that stand in texts, with marks between them."""
    return graph_of(chain.from_iterable({*pairwise(text)} for text in texts), phases)


def graph_of(edges: Iterable[tuple[str, str]], phases: Phases) -> FollowsGraph:
    """The graph with these edges between phases, or the mark and a phase."""
    after: Rows = dict.fromkeys([0, *list_numbers(phases)], 0)
    before = after.copy()
    for one, other in edges:
        source, target = ord(one), ord(other)
        after[source] |= 1 << target
        before[target] |= 1 << source
    return FollowsGraph(phases, after, before)


def list_neighbours(texts: Iterable[str], graph: FollowsGraph) -> dict[int, list[tuple[int, int]]]:
    """What comes directly before and after each phase, together; runs of a phase count as one."""
    found: dict[int, list[tuple[int, int]]] = {}
    if any(graph.after[number] >> number & 1 for number in list_numbers(graph.phases)):
        texts = ("".join(name for name, _ in groupby(text)) for text in texts)
    for one, name, other in {*chain.from_iterable(zip(text, text[1:], text[2:], strict=False) for text in texts)}:
        found.setdefault(ord(name), []).append((ord(one), ord(other)))
    return found


def leave_out(graph: FollowsGraph, number: int, neighbours: Iterable[tuple[int, int]]) -> FollowsGraph:
    """The graph of the pool without a phase: those before and behind it come to follow each other."""
    others = ~(1 << number)
    after, before = ({one: row & others for one, row in rows.items() if one != number}
                     for rows in (graph.after, graph.before))
    for source, target in neighbours:
        after[source] |= 1 << target
        before[target] |= 1 << source
    return FollowsGraph(graph.phases & others, after, before)


def count_edges(texts: Iterable[tuple[int, str]]) -> Edges:
    """How often each edge is taken, in texts that were each seen so many times."""
    found: Edges = Counter()
    for count, text in texts:
        for edge, times in Counter(pairwise(text)).items():
            found[edge] += times * count
    return found


def count_later(log: Log) -> Edges:
    """How often one phase comes anywhere after another. It survives infrequent behaviour that the direct relation does
    not: where a phase was left out, its neighbours still come in their order."""
    found: Edges = Counter()
    short: dict[int, list[str]] = {}
    for instance, count in log.items():
        if len(instance) <= _SHORT:
            short.setdefault(count, []).append(instance)
            continue
        before: Counter[str] = Counter()
        for name in instance:
            for earlier, times in before.items():
                found[earlier, name] += times * count
            before[name] += 1
    for count, instances in short.items():
        for pair, times in Counter(chain.from_iterable(combinations(one, 2) for one in instances)).items():
            found[pair] += times * count
    return found


_SHORT = 64  # phases: of longer instances the pairs are counted by name, as they repeat phases


# Without what is rarer than `noise` times its most frequent alternative (Leemans, Fahland, van der Aalst: Discovering
# Block-Structured Process Models from Event Logs Containing Infrequent Behaviour, 2013, section 3.1).


def keep_frequent(edges: Edges, phases: Phases, order: FollowsGraph, noise: float) -> FollowsGraph:
    """The graph without infrequent edges, with the order that `keep_order` gives. Alternatives of an edge are the
    others that leave the same phase, and ending there; those of a start or an end all others."""
    strongest: Counter[str] = Counter()
    most_ends = 0
    for (one, other), count in edges.items():
        if one != other or one != MARK:
            strongest[one] = max(strongest[one], count)
            most_ends = max(most_ends, count if other == MARK else 0)
    found = graph_of((edge for edge, count in edges.items()
                      if count >= noise * (most_ends if edge[1] == MARK else strongest[edge[0]])), phases)
    return FollowsGraph(phases, found.after, found.before, order.after, order.before)


def keep_order(later: Edges, phases: Phases, noise: float) -> FollowsGraph:
    """What comes anywhere after what, without what is rare beside the reverse order. (The paper compares it with what
    else comes after the same phase, too; of a late phase this is all noise, and noise beside noise would stay.)"""
    return graph_of((pair for pair, count in later.items() if count >= noise * later[pair[::-1]]), phases)


# How the phases of a pool become characters.


def encode(log: Mapping[Instance, int]) -> tuple[dict[str, int], dict[str, str]]:
    """The pool as the miner has it, and the name of each character. Phases come in the order in which they do on
    average, so that nothing depends on what they are called."""
    names = order_phases(log)
    signs = {name: chr(number) for number, name in enumerate(names, 1)}
    coded = {"".join(map(signs.__getitem__, instance)): count for instance, count in log.items()}
    return coded, {sign: name for name, sign in signs.items()}


def order_phases(log: Mapping[Instance, int]) -> list[str]:
    """The phases in the order in which they come on average, whatever they are called: phases that come equally late
    and often are told apart by what comes before and after them, and only where the pool treats them alike by their
    names."""
    counts: Counter[str] = Counter()
    places: Counter[str] = Counter()
    edges: Edges = Counter()
    by_count: dict[int, list[Instance]] = {}
    for instance, count in log.items():
        by_count.setdefault(count, []).append(instance)
    for count, instances in by_count.items():
        for (place, name), times in Counter(chain.from_iterable(map(enumerate, instances))).items():
            counts[name] += times * count
            places[name] += place * times * count
        for edge, times in Counter(chain.from_iterable(pairwise(("", *one, "")) for one in instances)).items():
            edges[edge] += times * count
    signs: dict[str, tuple[Any, ...]] = {
        name: (places[name] / counts[name], counts[name], edges["", name], edges[name, ""]) for name in counts}
    inner = {edge: count for edge, count in edges.items() if all(edge)}
    kinds = 0
    while kinds < (kinds := len(set(signs.values()))) < len(signs):  # as long as neighbours tell phases apart
        signs = _look_around(inner, signs)
    return sorted(signs, key=lambda name: (signs[name], name))


def _look_around(edges: Mapping[tuple[str, str], int], signs: Mapping[str, tuple[Any, ...]]
                 ) -> dict[str, tuple[Any, ...]]:
    """The signs, with those of the phases before and after each."""
    ranks = {sign: rank for rank, sign in enumerate(sorted(set(signs.values())))}
    around: dict[str, list[tuple[int, int, int]]] = {name: [] for name in signs}
    for (one, other), count in edges.items():
        around[one].append((0, ranks[signs[other]], count))
        around[other].append((1, ranks[signs[one]], count))
    return {name: (ranks[sign], *sorted(around[name])) for name, sign in signs.items()}
