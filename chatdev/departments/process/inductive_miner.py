"""The Inductive Miner: from a pool of instances to a process tree that allows them, by where the directly-follows graph
of the pool falls into parts that a tree can put together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property, partial
from itertools import islice
from typing import NamedTuple

from chatdev.departments.process.conformance import Beginnings, Quality
from chatdev.departments.process.cuts import Cut, find_cut, find_cuts, find_order_cut
from chatdev.departments.process.follows_graph import (
    MARK,
    FollowsGraph,
    Phases,
    build_graph,
    count_edges,
    encode,
    keep_frequent,
    keep_order,
    leave_out,
    list_neighbours,
    list_numbers,
)
from chatdev.departments.process.log_splits import Instances, split_log, split_rounds
from chatdev.departments.process.process_tree import (
    MOST_DEPTH,
    SILENT,
    Instance,
    ProcessTree,
    join_normal,
    normalise,
    phase,
    rename,
)
from chatdev.departments.process.tree_automaton import Automata, TreeAutomaton
from chatdev.errors import ConfigError

MOST_LEFT_OUT = 40
"""Of more different phases it is not tried for each whether the pool without it has a cut, and the first way to go on
is taken: all else takes their cube."""
MOST_STEPS, LOOKED_INTO, MOST_TREES = 12, 2, 24
"""So many ways to go on with a pool are tried, so many of them looked into further, and so many trees tried in all."""
MOST_FALLEN, MOST_CUT_TWICE = 6, 16
"""With noise, pools of so many phases are tried without a cut, too, and so many with the cuts by direct successions: of
more phases this takes long."""
MOST_APART = 8
"""So many phases are tried as parallel to the others, so that other fall-throughs have their turn."""

DEEPEST = MOST_DEPTH - 4
"""Parts that lie deeper are not explained; the rest is what the nodes made there, and silence around them, may need."""


def mine(log: Mapping[Instance, int], noise: float = 0.0) -> ProcessTree:
    """The process model of a pool, in normal form; equal pools give equal models, in whatever order they come, and
    pools that differ only in the names of their phases give models that differ only in these.

    `log` says how often each instance was seen, `noise` from 0 to 1 how rare beside its alternatives behaviour must be
    to be left out. Of an empty pool nothing is known, so the model allows only the empty instance. Raises ConfigError
    for a wrong threshold or count.
    """
    _check(log, noise)
    coded, names = encode({instance: count for instance, count in log.items() if count})
    tree = _Search(noise).pool(coded).explain(LOOKED_INTO)
    return normalise(rename(tree, names))


def _check(log: Mapping[Instance, int], noise: float) -> None:
    if not 0 <= noise <= 1:
        raise ConfigError(f"noise must lie between 0 and 1, not {noise}")
    if wrong := [count for count in log.values() if count < 0]:
        raise ConfigError(f"an instance cannot have been seen {wrong[0]} times")
    if strange := [one for one in log if not _is_instance(one)]:
        raise ConfigError(f"an instance is a tuple of the names of its phases, not {strange[0]!r:.80}")


def _is_instance(value: object) -> bool:
    return isinstance(value, tuple) and all(isinstance(name, str) and name for name in value)


# Trees of parts that are in normal form are made in normal form.


def _optional(tree: ProcessTree) -> ProcessTree:
    return join_normal("exclusive", SILENT, tree)


def _loop(body: ProcessTree, *redos: ProcessTree) -> ProcessTree:
    return join_normal("loop", body, join_normal("exclusive", *redos) if redos else SILENT)


class _Step(NamedTuple):
    """One way to explain a pool: by the trees of smaller ones, so many levels deeper."""

    combine: Callable[..., ProcessTree]
    parts: tuple[_Pool, ...] = ()
    deeper: int = 1


class _Grown(NamedTuple):
    """A tree, and how many levels deeper its pools went."""

    tree: ProcessTree
    levels: int


class _Search:
    """What all parts of one pool share: how much noise there is, how many more trees may be tried, and the parts."""

    def __init__(self, noise: float) -> None:
        self.noise, self.left = noise, MOST_TREES
        self.automata = Automata()
        self._instances: dict[frozenset[tuple[str, int]], Instances] = {}
        self._orders: dict[Instances, FollowsGraph] = {}
        self._parts: dict[tuple[Instances, Phases, int], _Pool] = {}

    def pool(self, log: Mapping[str, int]) -> _Pool:
        """The pool of these instances; there is one, in whatever ways they were come by."""
        content = frozenset(log.items())
        if content not in self._instances:
            self._instances[content] = Instances(log)
        found = self._instances[content]
        return self.part(found, found.phases, found.total)

    def part(self, instances: Instances, phases: Phases, total: int, graph: FollowsGraph | None = None) -> _Pool:
        """The pool of what so many of the instances have of the phases: of all that have any, and else of none."""
        key = instances, phases, total
        if key not in self._parts:
            self._parts[key] = _Pool(instances, phases, total, self, graph)
        return self._parts[key]

    def order(self, instances: Instances) -> FollowsGraph:
        """What comes after what in the instances, and in each of their parts, without what is rare."""
        if instances not in self._orders:
            self._orders[instances] = keep_order(instances.later, instances.phases, self.noise)
        return self._orders[instances]


class _Whole(NamedTuple):
    """The pool that is mined, and its tree around that of a part."""

    pool: _Pool
    place: Callable[[ProcessTree], ProcessTree]

    def score(self, tree: ProcessTree) -> float:
        """How well the pool fits if this is the tree of the part."""
        return self.pool.score(self.place(tree))


class _Pool:
    """Instances that a tree has to explain; what was found out about them is kept."""

    def __init__(self, instances: Instances, phases: Phases, total: int, search: _Search, graph: FollowsGraph | None
                 ) -> None:
        self._instances, self._phases, self._total, self._search = instances, phases, total, search
        self._noise = search.noise
        self._given = graph
        self._found: list[_Step] = []
        self._first: _Grown | None = None
        self._scores: dict[ProcessTree, float] = {}
        self._more = self._list_steps()

    def first(self, depth: int) -> _Grown:
        """The tree by the first way to go on, everywhere; at this depth of the whole."""
        if self._first and depth + self._first.levels <= DEEPEST:
            return self._first
        if depth > DEEPEST:
            return _Grown(self._flower(), 0)
        step = self._steps(1)[0]
        parts = [part.first(depth + step.deeper) for part in step.parts]
        found = _Grown(step.combine(*(part.tree for part in parts)),
                       step.deeper + max((part.levels for part in parts), default=0))
        if depth + found.levels <= DEEPEST:
            self._first = found
        return found

    def explain(self, looked_into: int, depth: int = 1, whole: _Whole | None = None) -> ProcessTree:
        """The tree that fits best among those by the ways to go on whose first trees do: the `whole` where there is
        noise, as what parts leave out adds up, else the pool. So many of these are looked into further; where several
        were, within each only the best."""
        if depth > DEEPEST or not (self._search.left > 0 or self._noise):
            return self.first(depth).tree
        whole = whole or _Whole(self, lambda tree: tree)
        steps = self._steps(self._most_steps)
        if len(steps) == 1:
            return self._explain_so(steps[0], looked_into, depth, whole)
        self._search.left -= len(steps)
        tried: dict[ProcessTree, _Step] = {}
        for step in steps:
            trees = (part.first(depth + step.deeper).tree for part in step.parts)
            tried.setdefault(step.combine(*trees), step)
        score = whole.score if self._noise else self.score
        best_first = sorted(tried, key=score, reverse=True)
        best_first += [self._explain_parts(tried[tree], 1, depth, whole) for tree in best_first[:looked_into]]
        return max(best_first, key=score)

    def _explain_so(self, step: _Step, looked_into: int, depth: int, whole: _Whole) -> ProcessTree:
        """The tree by the only way to go on; where instances are rarely empty, the whole decides whether it may be."""
        tree = self._explain_parts(step, looked_into, depth, whole)
        return max(tree, _optional(tree), key=whole.score) if self._is_rarely_empty else tree

    def _explain_parts(self, step: _Step, looked_into: int, depth: int, whole: _Whole) -> ProcessTree:
        trees = [part.first(depth + step.deeper).tree for part in step.parts]
        for number, part in enumerate(step.parts):

            def place(tree: ProcessTree, number: int = number) -> ProcessTree:
                return whole.place(step.combine(*trees[:number], tree, *trees[number + 1:]))

            trees[number] = part.explain(looked_into, depth + step.deeper, _Whole(whole.pool, place))
        return step.combine(*trees)

    def score(self, tree: ProcessTree) -> float:
        """How well a tree fits the pool. This may be a part of another pool, where something comes after it; so half of
        the precision is that with ends."""
        if tree not in self._scores:
            quality, with_ends = self._beginnings.measure(TreeAutomaton(tree, self._search.automata))
            fitness = quality.fitness if self._noise else 1.0
            self._scores[tree] = Quality(fitness, (quality.precision + with_ends) / 2).f_score
        return self._scores[tree]

    @property
    def _most_steps(self) -> int:
        """How many ways to go on may be tried."""
        return MOST_STEPS if self._search.left > 0 and self._phases.bit_count() <= MOST_LEFT_OUT else 1

    def _steps(self, most: int) -> list[_Step]:
        while len(self._found) < most and (step := next(self._more, None)):
            self._found.append(step)
        return self._found[:most]

    @cached_property
    def log(self) -> Mapping[str, int]:
        """Each different instance, and how often it was seen."""
        found: Counter[str] = Counter()
        for count, text in self._instances.project(self._phases):
            for instance, times in Counter(text[1:-1].split(MARK)).items():
                found[instance] += times * count
        found[""] = self._empty
        return +found

    @cached_property
    def _empty(self) -> int:
        """How many instances have none of the phases."""
        return self._total - self._instances.count_with(self._phases)

    @property
    def _is_rarely_empty(self) -> bool:
        """Whether so few instances have none of the phases that they may be left out, where the whole fits better."""
        return 0 < self._empty <= self._noise * self._total

    @cached_property
    def _graph(self) -> FollowsGraph:
        return self._given or build_graph((text for _, text in self._instances.project(self._phases)), self._phases)

    @cached_property
    def _frequent(self) -> FollowsGraph:
        edges = count_edges(self._instances.project(self._phases))
        return keep_frequent(edges, self._phases, self._search.order(self._instances), self._noise)

    @cached_property
    def _beginnings(self) -> Beginnings:
        return Beginnings(self.log)

    def _part(self, phases: Phases, total: int, graph: FollowsGraph | None = None) -> _Pool:
        return self._search.part(self._instances, phases, total, graph)

    def _list_steps(self) -> Iterator[_Step]:
        """The ways to go on, those of the papers first; there is one at least."""
        if not self._phases:
            yield _Step(lambda: SILENT)
        elif self._empty:
            full = self._part(self._phases, self._total - self._empty, self._given)
            yield _Step((lambda tree: tree) if self._is_rarely_empty else _optional, (full,))
        elif self._phases.bit_count() == 1:
            yield _Step(self._mine_single)
        else:
            cuts = [*find_cuts(self._graph)]
            yield from map(self._cut, cuts)
            infrequent = self._list_infrequent(cuts)
            yield from map(self._cut_infrequent, infrequent)
            if not (cuts or infrequent) or (self._noise and self._phases.bit_count() <= MOST_FALLEN):
                yield from self._fall_through()

    def _mine_single(self) -> ProcessTree:
        """One phase; several times, if any instance has it more than once. The infrequent variant may overlook that it
        is rare; here it does not, for what one phase after another overlooks adds up to most of the instances."""
        [number] = list_numbers(self._phases)
        single = phase(chr(number))
        return _loop(single) if self._graph.after[number] & self._phases else single

    def _list_infrequent(self, cuts: list[Cut]) -> list[Cut]:
        """The further cuts of what is frequent, if there is noise: by which phases come after others, and by which come
        directly after them."""
        if not self._noise:
            return []
        found = [*find_cuts(self._frequent)]
        if self._phases.bit_count() <= MOST_CUT_TWICE:
            found += find_cuts(replace(self._frequent, later=None, earlier=None))
        return [cut for cut in dict.fromkeys(found) if cut not in cuts]

    def _cut(self, cut: Cut) -> _Step:
        """The parts by a cut of all behaviour: projections of the pool, but of a loop what lies between redo parts."""
        if cut.operator == "loop":
            return self._cut_infrequent(cut)
        has_own_graphs = cut.operator in ("exclusive", "sequence")
        return self._join(cut, (
            self._part(group, self._instances.count_with(group) if cut.operator == "exclusive" else self._total,
                       self._graph.restrict(group) if has_own_graphs else None) for group in cut.groups))

    def _cut_infrequent(self, cut: Cut) -> _Step:
        """The parts by a cut that some instances do not follow, or follow several times."""
        return self._join(cut, map(self._search.pool, split_log(self.log, cut)))

    def _join(self, cut: Cut, parts: Iterable[_Pool]) -> _Step:
        if cut.operator == "loop":
            return _Step(_loop, tuple(parts), 2)
        return _Step(lambda *trees: join_normal(cut.operator, *trees), tuple(parts))

    def _fall_through(self) -> Iterator[_Step]:
        """What else can be said of a pool without a cut: a phase is parallel to the others, if every instance has it
        once or there is a cut without it; the pool repeats itself; groups of phases are parallel by their order alone;
        nothing."""
        graph = self._graph
        yield from (_Step(partial(join_normal, "parallel"), (self._part(1 << number, self._total), rest))
                    for number, rest in islice(self._list_apart(), MOST_APART))
        rounds = [split_rounds(self.log, graph.starts, graph.ends), split_rounds(self.log, graph.starts)]
        yield from (_Step(_loop, (self._search.pool(shorter),)) for shorter in rounds if shorter)
        if cut := find_order_cut(self._phases, self._search.order(self._instances)):
            yield self._cut_infrequent(cut)
        yield _Step(self._flower)

    def _list_apart(self) -> Iterator[tuple[int, _Pool]]:
        """The phases that may be parallel to the others, those first that come in both orders with most."""
        numbers = sorted(list_numbers(self._phases), key=lambda number: -self._graph.count_concurrent(number))
        once = [number for number in numbers if self._instances.once[chr(number)] == self._total]
        yield from ((number, self._part(self._phases & ~(1 << number), self._total)) for number in once)
        if len(numbers) <= MOST_LEFT_OUT:
            texts = (text for _, text in self._instances.project(self._phases))
            neighbours = list_neighbours(texts, self._graph)
            for number in numbers:
                graph = leave_out(self._graph, number, neighbours[number])
                others = self._part(graph.phases, self._total, graph)
                if number not in once and others.has_cut():
                    yield number, others

    def has_cut(self) -> bool:
        """Whether the graph of the pool has a cut."""
        return bool(find_cut(self._graph) or (self._noise and find_cut(self._frequent)))

    def _flower(self) -> ProcessTree:
        """Any of the phases, any number of times: nothing is known but their names."""
        petals = _loop(join_normal("exclusive", *(phase(chr(number)) for number in list_numbers(self._phases))))
        return _optional(petals) if self._empty and self._phases else petals
