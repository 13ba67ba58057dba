"""The Inductive Miner: from a pool of instances to a process tree that allows them.

The pool is cut into smaller ones until single phases are left (Leemans, Fahland, van der Aalst: Discovering
Block-Structured Process Models from Event Logs, 2013); where there is no cut, one of the fall-throughs of the paper and
of Leemans' thesis (Robust Process Mining with Guarantees, 2017) gives up a little precision. Without noise every
instance of the pool is allowed by the tree (fitness 1). With `noise`, it is the infrequent variant (IMf; Leemans,
Fahland, van der Aalst: … Containing Infrequent Behaviour, 2013): what is rare beside its alternatives is left out of
the model, which becomes simpler and more precise.

The papers leave open which of several parallel cuts is made, and which fall-through comes first. Here each is tried,
and the one whose model fits its pool best is taken; what fits equally well is taken in the order in which phases come
in the pool. So names decide nothing.

Think-on-Process mines the instances that a filter by success rate has left (arXiv 2409.06568, section 3).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from itertools import islice
from typing import NamedTuple

from chatdev.departments.process.conformance import Beginnings, Quality, measure_fitness
from chatdev.departments.process.cuts import (
    Cut,
    FollowsGraph,
    build_graph,
    drop_infrequent,
    find_cut,
    find_cuts,
    find_order_cut,
    order_phases,
    project,
    split_log,
)
from chatdev.departments.process.process_tree import (
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
    rename,
)
from chatdev.errors import ConfigError

MOST_LEFT_OUT = 40
"""Of more different phases it is not tried for each whether the pool without it has a cut, and the first way to go on
is taken: all else takes their cube."""
MOST_STEPS, LOOKED_INTO, MOST_TREES = 12, 2, 60
"""So many ways to go on with a pool are tried, so many of them looked into further, and so many trees tried in all."""
MOST_APART = 8
"""So many phases are tried as parallel to the others, so that other fall-throughs have their turn."""


def mine(log: Mapping[Instance, int], noise: float = 0.0) -> ProcessTree:
    """The process model of a pool, in normal form; equal pools give equal models, in whatever order they come, and
    pools that differ only in the names of their phases give models that differ only in these.

    `log` says how often each instance was seen, `noise` from 0 to 1 how rare beside its alternatives behaviour must be
    to be left out. Of an empty pool nothing is known, so the model allows only the empty instance. Raises ConfigError
    for a wrong threshold or count.
    """
    if not 0 <= noise <= 1:
        raise ConfigError(f"noise must lie between 0 and 1, not {noise}")
    if wrong := [count for count in log.values() if count < 0]:
        raise ConfigError(f"an instance cannot have been seen {wrong[0]} times")
    seen = {instance: count for instance, count in log.items() if count}
    names = order_phases(seen)
    places = {name: f"{place:06}" for place, name in enumerate(names)}
    placed = Counter({tuple(map(places.__getitem__, instance)): count for instance, count in seen.items()})
    tree = _Pool(placed, _Search(noise)).explain(LOOKED_INTO)
    return normalise(rename(tree, {place: name for name, place in places.items()}))


class _Step(NamedTuple):
    """One way to explain a pool: by the trees of smaller ones."""

    combine: Callable[..., ProcessTree]
    parts: tuple[_Pool, ...] = ()


class _Search:
    """What all parts of one pool share: how much noise there is, and how many more trees may be tried."""

    def __init__(self, noise: float) -> None:
        self.noise, self.left = noise, MOST_TREES


class _Pool:
    """Instances that a tree at this depth of the whole has to explain; what was found out about them is kept."""

    def __init__(self, log: Counter[Instance], search: _Search, depth: int = 1) -> None:
        self.log, self._search, self._noise, self._depth = log, search, search.noise, depth
        self._found: list[_Step] = []
        self._scores: dict[ProcessTree, float] = {}
        self._more = self._list_steps()

    @cached_property
    def first(self) -> ProcessTree:
        """The tree by the first way to go on, everywhere."""
        step = self._steps(1)[0]
        return step.combine(*(part.first for part in step.parts))

    def explain(self, looked_into: int) -> ProcessTree:
        """The tree that fits the pool best among those by the ways to go on whose first trees do. So many of these are
        looked into further; where several were, within each only the best."""
        steps = self._steps(MOST_STEPS if len(self._graph.phases) <= MOST_LEFT_OUT and self._search.left > 0 else 1)
        if len(steps) == 1:
            return steps[0].combine(*(part.explain(looked_into) for part in steps[0].parts))
        self._search.left -= len(steps)
        tried: dict[ProcessTree, _Step] = {}
        for step in steps:
            tried.setdefault(normalise(step.combine(*(part.first for part in step.parts))), step)
        best_first = sorted(tried, key=self._score, reverse=True)
        for tree in best_first[:looked_into]:
            found = normalise(tried[tree].combine(*(part.explain(1) for part in tried[tree].parts)))
            best_first.append(found)
        return max(best_first, key=self._score)

    def _score(self, tree: ProcessTree) -> float:
        """How well a tree fits the pool. This may be a part of another pool, where something comes after it; so half of
        the precision is that with ends."""
        if tree not in self._scores:
            fitness = measure_fitness(tree, self.log) if self._noise else 1.0
            self._scores[tree] = Quality(fitness, sum(self._beginnings.measure_precision(tree)) / 2).f_score
        return self._scores[tree]

    def _steps(self, most: int) -> list[_Step]:
        while len(self._found) < most and (step := next(self._more, None)):
            self._found.append(step)
        return self._found[:most]

    @cached_property
    def _graph(self) -> FollowsGraph:
        return build_graph(self.log)

    @cached_property
    def _beginnings(self) -> Beginnings:
        return Beginnings(self.log)

    def _part(self, log: Counter[Instance], deeper: int = 1) -> _Pool:
        return _Pool(log, self._search, self._depth + deeper)

    def _list_steps(self) -> Iterator[_Step]:
        """The ways to go on, those of the papers first; there is one at least."""
        log, graph = self.log, self._graph
        if not graph.phases:
            yield _Step(lambda: SILENT)
        elif self._depth > MOST_DEPTH - 4:  # what the nodes made here and silence around them may still need
            yield _Step(lambda: _flower(log, graph))
        elif empty := log[()]:
            full = Counter({instance: count for instance, count in log.items() if instance})
            if empty <= self._noise * log.total():
                yield _Step(lambda tree: tree, (self._part(full, 0),))
            else:
                yield _Step(optional, (self._part(full),))
        elif len(graph.phases) == 1:
            yield _Step(lambda: _mine_single(log, graph.phases[0]))
        else:
            cuts = self._list_cuts(graph)
            yield from map(self._cut, cuts) if cuts else self._fall_through(graph)

    def _list_cuts(self, graph: FollowsGraph) -> list[Cut]:
        """The cuts of all behaviour, else of what is frequent."""
        cuts = [*find_cuts(graph)]
        return cuts or ([*find_cuts(drop_infrequent(self.log, graph, self._noise))] if self._noise else [])

    def _cut(self, cut: Cut) -> _Step:
        is_loop = cut.operator == "loop"
        parts = tuple(self._part(part, 1 + is_loop) for part in split_log(self.log, cut))
        if is_loop:
            return _Step(lambda body, *redos: loop(body, exclusive(*redos)), parts)
        return _Step(lambda *trees: ProcessTree(cut.operator, children=trees), parts)

    def _fall_through(self, graph: FollowsGraph) -> Iterator[_Step]:
        """What else can be said of a pool without a cut: a phase is parallel to the others, if every instance has it
        once or there is a cut without it; the pool repeats itself; groups of phases are parallel by their order alone;
        nothing."""
        yield from (self._set_apart(name, graph) for name in islice(self._list_apart(graph), MOST_APART))
        rounds = [shorter for strict in (True, False) if (shorter := _split_rounds(self.log, graph, strict))]
        yield from (_Step(loop, (self._part(shorter),)) for shorter in rounds)
        if cut := find_order_cut(drop_infrequent(self.log, graph, self._noise)):
            yield self._cut(cut)
        yield _Step(lambda: _flower(self.log, graph))

    def _list_apart(self, graph: FollowsGraph) -> Iterator[str]:
        """The phases that may be parallel to the others, those first that come in both orders with most."""
        names = sorted(graph.phases, key=lambda name: -graph.count_concurrent(name))
        once = [name for name in names if all(instance.count(name) == 1 for instance in self.log)]
        yield from once
        if len(names) <= MOST_LEFT_OUT:
            yield from (name for name in names if name not in once and self._is_cut_without(name, graph))

    def _is_cut_without(self, name: str, graph: FollowsGraph) -> bool:
        rest = project(self.log, frozenset(graph.phases) - {name})
        left = build_graph(rest)
        return bool(find_cut(left) or (self._noise and find_cut(drop_infrequent(rest, left, self._noise))))

    def _set_apart(self, name: str, graph: FollowsGraph) -> _Step:
        groups = frozenset([name]), frozenset(graph.phases) - {name}
        return _Step(parallel, tuple(self._part(project(self.log, group)) for group in groups))


def _mine_single(log: Counter[Instance], name: str) -> ProcessTree:
    """One phase; several times, if any instance has it more than once. The infrequent variant may overlook that it is
    rare; here it does not, for what one phase after another overlooks adds up to most of the instances."""
    return phase(name) if all(len(instance) == 1 for instance in log) else loop(phase(name))


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
