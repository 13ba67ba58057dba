"""The directly-follows graph: which phase follows which in a pool, how often; and without what is rare."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import chain, combinations, groupby, pairwise
from typing import Any

from chatdev.departments.process.process_tree import Instance

Log = Mapping[Instance, int]
Edges = Counter[tuple[str, str]]


@dataclass(frozen=True)
class FollowsGraph:
    """The directly-follows graph: its phases in order, how often an edge was taken, and how often an instance begins or
    ends with a phase. The relations below say which of it exists, whatever the count."""

    phases: tuple[str, ...]
    edges: Edges
    starts: Counter[str]
    ends: Counter[str]
    later: Edges = field(default_factory=Counter)
    """How often a phase comes anywhere after another; only in filtered graphs, where it decides the order."""

    def count_concurrent(self, name: str) -> int:
        """With how many phases this one comes in both orders."""
        return sum((name, other) in self.edges and (other, name) in self.edges for other in self.phases)


def build_graph(log: Log) -> FollowsGraph:
    """The graph of all instances; each counts as often as it was seen."""
    edges: Edges = Counter()
    starts: Counter[str] = Counter()
    ends: Counter[str] = Counter()
    phases: set[str] = set()
    for instance, count in log.items():
        phases.update(instance)
        if instance:
            starts[instance[0]] += count
            ends[instance[-1]] += count
            for pair in pairwise(instance):
                edges[pair] += count
    return FollowsGraph(tuple(sorted(phases)), edges, starts, ends)


def build_graphs_without(log: Log, graph: FollowsGraph) -> dict[str, FollowsGraph]:
    """The graph of the pool without a phase, for each: those before and behind it come to follow each other."""
    joined: dict[str, tuple[Edges, Counter[str], Counter[str]]] = {
        name: (Counter(), Counter(), Counter()) for name in graph.phases}
    for instance, count in log.items():
        runs = [name for name, _ in groupby(instance)]
        for before, name, after in zip(runs, runs[1:], runs[2:], strict=False):
            joined[name][0][before, after] += count
        if len(runs) > 1:
            joined[runs[0]][1][runs[1]] += count
            joined[runs[-1]][2][runs[-2]] += count
    return {name: _leave_out(graph, name, *found) for name, found in joined.items()}


def _leave_out(graph: FollowsGraph, name: str, edges: Edges, starts: Counter[str], ends: Counter[str]) -> FollowsGraph:
    """The graph without a phase, with what its neighbours come to be."""
    edges.update({edge: count for edge, count in graph.edges.items() if name not in edge})
    starts.update({start: count for start, count in graph.starts.items() if start != name})
    ends.update({end: count for end, count in graph.ends.items() if end != name})
    return FollowsGraph(tuple(phase for phase in graph.phases if phase != name), edges, starts, ends)


def order_phases(log: Log) -> list[str]:
    """The phases in the order in which they come on average, whatever they are called: phases that come equally late
    and often are told apart by what comes before and after them, and only where the pool treats them alike by their
    names."""
    counts: Counter[str] = Counter()
    places: Counter[str] = Counter()
    for instance, count in log.items():
        for place, name in enumerate(instance):
            counts[name] += count
            places[name] += place * count
    graph = build_graph(log)
    signs: dict[str, tuple[Any, ...]] = {
        name: (places[name] / counts[name], counts[name], graph.starts[name], graph.ends[name])
        for name in graph.phases}
    kinds = 0
    while kinds < (kinds := len(set(signs.values()))) < len(signs):  # as long as neighbours tell phases apart
        signs = _look_around(graph, signs)
    return sorted(signs, key=lambda name: (signs[name], name))


def _look_around(graph: FollowsGraph, signs: Mapping[str, tuple[Any, ...]]) -> dict[str, tuple[Any, ...]]:
    """The signs, with those of the phases before and after each."""
    ranks = {sign: rank for rank, sign in enumerate(sorted(set(signs.values())))}
    around: dict[str, list[tuple[int, int, int]]] = {name: [] for name in signs}
    for (one, other), count in graph.edges.items():
        around[one].append((0, ranks[signs[other]], count))
        around[other].append((1, ranks[signs[one]], count))
    return {name: (ranks[sign], *sorted(around[name])) for name, sign in signs.items()}


def drop_infrequent(graph: FollowsGraph, later: Edges, noise: float) -> FollowsGraph:
    """The graph without what is rarer than `noise` times its most frequent alternative (Leemans, Fahland, van der
    Aalst: Discovering Block-Structured Process Models from Event Logs Containing Infrequent Behaviour, 2013, section
    3.1); `later` as `count_later` counts it of its pool, or of one with more phases.

    Alternatives of an edge are the others that leave the same phase, those of a start or an end all others. Of two
    phases' order the alternative is the reverse one. (The paper compares it with other edges of the same phase, too; of
    a late phase these are all noise, and noise beside noise would stay.)
    """
    phases = {*graph.phases}
    order = Counter({(one, other): count for (one, other), count in later.items()
                     if count >= noise * later[other, one] and one in phases and other in phases})
    return FollowsGraph(graph.phases, _keep_strong(graph.edges, graph.ends, noise), _keep_frequent(graph.starts, noise),
                        _keep_frequent(graph.ends, noise), order)


def count_later(log: Log) -> Edges:
    """How often one phase comes anywhere after another. It survives infrequent behaviour that the direct relation does
    not: where a phase was left out, its neighbours still come in their order."""
    found: Edges = Counter()
    short: dict[int, list[Instance]] = {}
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


def _keep_strong(edges: Edges, ends: Counter[str], noise: float) -> Edges:
    """Ending is one of the ways to leave a phase, so it counts among the strongest."""
    strongest = Counter(ends)
    for (source, _), count in edges.items():
        strongest[source] = max(strongest[source], count)
    return Counter({edge: count for edge, count in edges.items() if count >= noise * strongest[edge[0]]})


def _keep_frequent(counts: Counter[str], noise: float) -> Counter[str]:
    most = max(counts.values(), default=0)
    return Counter({name: count for name, count in counts.items() if count >= noise * most})
