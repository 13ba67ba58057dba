"""Which phase directly follows which, in a pool of instances, and how often: what the miner cuts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise

from chatdev.process.process_tree import Instance

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


def drop_infrequent(log: Log, graph: FollowsGraph, noise: float) -> FollowsGraph:
    """The graph without what is rarer than `noise` times its most frequent alternative (Leemans, Fahland, van der
    Aalst: Discovering Block-Structured Process Models from Event Logs Containing Infrequent Behaviour, 2013, section
    3.1).

    Alternatives of an edge are the others that leave the same phase, those of a start or an end all others. Of two
    phases' order the alternative is the reverse one. (The paper compares it with other edges of the same phase, too; of
    a late phase these are all noise, and noise beside noise would stay.)
    """
    later = count_later(log)
    order = Counter({(one, other): count for (one, other), count in later.items()
                     if count >= noise * later[other, one]})
    return FollowsGraph(graph.phases, _keep_strong(graph.edges, graph.ends, noise), _keep_frequent(graph.starts, noise),
                        _keep_frequent(graph.ends, noise), order)


def count_later(log: Log) -> Edges:
    """How often one phase comes anywhere after another. It survives infrequent behaviour that the direct relation does
    not: where a phase was left out, its neighbours still come in their order."""
    found: Edges = Counter()
    for instance, count in log.items():
        before: Counter[str] = Counter()
        for name in instance:
            for earlier, times in before.items():
                found[earlier, name] += times * count
            before[name] += 1
    return found


def _keep_strong(edges: Edges, ends: Counter[str], noise: float) -> Edges:
    """Ending is one of the ways to leave a phase, so it counts among the strongest."""
    strongest = Counter(ends)
    for (source, _), count in edges.items():
        strongest[source] = max(strongest[source], count)
    return Counter({edge: count for edge, count in edges.items() if count >= noise * strongest[edge[0]]})


def _keep_frequent(counts: Counter[str], noise: float) -> Counter[str]:
    most = max(counts.values(), default=0)
    return Counter({name: count for name, count in counts.items() if count >= noise * most})
