"""The Inductive Miner: from a pool of instances to a process tree that allows them.

The pool is cut into smaller ones until single phases are left (Leemans, Fahland, van der Aalst: Discovering
Block-Structured Process Models from Event Logs, 2013); where there is no cut, one of the fall-throughs of the paper and
of Leemans' thesis (Robust Process Mining with Guarantees, 2017) gives up a little precision. Without noise every
instance of the pool is allowed by the tree (fitness 1). With `noise`, it is the infrequent variant (IMf; Leemans,
Fahland, van der Aalst: … Containing Infrequent Behaviour, 2013): what is rare beside its alternatives is left out of
the model, which becomes simpler and more precise.

Think-on-Process mines the instances that a filter by success rate has left (arXiv 2409.06568, section 3).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from chatdev.errors import ConfigError
from chatdev.process.cuts import Cut, find_cut
from chatdev.process.directly_follows import FollowsGraph, build_graph, drop_infrequent
from chatdev.process.log_split import project, split_log
from chatdev.process.process_tree import (
    MOST_DEPTH,
    SILENT,
    Instance,
    ProcessTree,
    exclusive,
    loop,
    normalise,
    optional,
    parallel,
    phase,
)

MOST_TRIED = 40
"""Of more different phases it is not tried for each whether the pool without it has a cut: that takes their cube."""


def mine(log: Mapping[Instance, int], noise: float = 0.0) -> ProcessTree:
    """The process model of a pool, in normal form; equal pools give equal models, in whatever order they come.

    `log` says how often each instance was seen, `noise` from 0 to 1 how rare beside its alternatives behaviour must be
    to be left out. Of an empty pool nothing is known, so the model allows only the empty instance. Raises ConfigError
    for a wrong threshold or count, MissingProgram without networkx.
    """
    if not 0 <= noise <= 1:
        raise ConfigError(f"noise must lie between 0 and 1, not {noise}")
    if wrong := [count for count in log.values() if count < 0]:
        raise ConfigError(f"an instance cannot have been seen {wrong[0]} times")
    seen = Counter({instance: count for instance, count in log.items() if count})
    return normalise(_Miner(noise).mine(seen, 1))


class _Miner:
    def __init__(self, noise: float) -> None:
        self._noise = noise

    def mine(self, log: Counter[Instance], depth: int) -> ProcessTree:
        """The tree of a pool, which stands at this depth of the whole."""
        graph = build_graph(log)
        if not graph.phases:
            return SILENT
        if depth > MOST_DEPTH - 4:  # what the nodes made here and silence around them may still need
            return _flower(log, graph)
        if empty := log[()]:
            full = Counter({instance: count for instance, count in log.items() if instance})
            if empty <= self._noise * log.total():
                return self.mine(full, depth)
            return optional(self.mine(full, depth + 1))
        if len(graph.phases) == 1:
            return _mine_single(log, graph.phases[0])
        if cut := self._find_cut(log, graph):
            return self._mine_cut(log, cut, depth)
        return self._fall_through(log, graph, depth)

    def _find_cut(self, log: Counter[Instance], graph: FollowsGraph) -> Cut | None:
        """A cut of all behaviour, else of what is frequent."""
        cut = find_cut(graph)
        return cut or (find_cut(drop_infrequent(log, graph, self._noise)) if self._noise else None)

    def _mine_cut(self, log: Counter[Instance], cut: Cut, depth: int) -> ProcessTree:
        parts = [self.mine(part, depth + 1 + (cut.operator == "loop")) for part in split_log(log, cut)]
        if cut.operator == "loop":
            return loop(parts[0], exclusive(*parts[1:]))
        return ProcessTree(cut.operator, children=tuple(parts))

    def _fall_through(self, log: Counter[Instance], graph: FollowsGraph, depth: int) -> ProcessTree:
        """What else can be said of a pool without a cut, the most precise first."""
        apart = _find_once_each(log, graph) or self._find_concurrent(log, graph)
        if apart:
            return parallel(*(self.mine(project(log, names), depth + 1)
                              for names in (frozenset([apart]), frozenset(graph.phases) - {apart})))
        for strict in (True, False):
            if shorter := _split_rounds(log, graph, strict):
                return loop(self.mine(shorter, depth + 1))
        return _flower(log, graph)

    def _find_concurrent(self, log: Counter[Instance], graph: FollowsGraph) -> str:
        """A phase without which the pool has a cut."""
        if len(graph.phases) > MOST_TRIED:
            return ""
        for name in graph.phases:
            rest = project(log, frozenset(graph.phases) - {name})
            if self._find_cut(rest, build_graph(rest)):
                return name
        return ""


def _mine_single(log: Counter[Instance], name: str) -> ProcessTree:
    """One phase; several times, if any instance has it more than once. The infrequent variant may overlook that it is
    rare; here it does not, for what one phase after another overlooks adds up to most of the instances."""
    return phase(name) if all(len(instance) == 1 for instance in log) else loop(phase(name))


def _find_once_each(log: Counter[Instance], graph: FollowsGraph) -> str:
    """A phase that every instance has exactly once."""
    return next((name for name in graph.phases if all(instance.count(name) == 1 for instance in log)), "")


def _split_rounds(log: Counter[Instance], graph: FollowsGraph, strict: bool) -> Counter[Instance] | None:
    """The instances divided where a new round begins: before each phase that begins instances; if `strict`, only when
    one that ends instances comes before it. None when no instance is divided so."""
    found: Counter[Instance] = Counter()
    for instance, count in log.items():
        begins = [place for place, name in enumerate(instance) if place and name in graph.starts
                  and (not strict or instance[place - 1] in graph.ends)]
        for begin, end in zip([0, *begins], [*begins, len(instance)], strict=True):
            found[instance[begin:end]] += count
    return found if found.total() > log.total() else None


def _flower(log: Counter[Instance], graph: FollowsGraph) -> ProcessTree:
    """Any of the phases, any number of times: nothing is known but their names."""
    petals = loop(exclusive(*map(phase, graph.phases)))
    return optional(petals) if log[()] else petals


