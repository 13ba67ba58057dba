"""The Inductive Miner: from a pool of instances to a process tree that allows them, by where the directly-follows graph
of the pool falls into parts that a tree can put together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from itertools import accumulate, chain, combinations, groupby, islice, pairwise, product
from typing import Any, NamedTuple

from chatdev.departments.process.conformance import Beginnings, Quality
from chatdev.departments.process.follows_graph import (
    Edges,
    FollowsGraph,
    Log,
    build_graph,
    build_graphs_without,
    count_later,
    drop_infrequent,
    order_phases,
)
from chatdev.departments.process.process_tree import (
    MOST_DEPTH,
    SILENT,
    Instance,
    Operator,
    ProcessTree,
    exclusive,
    loop,
    normalise,
    optional,
    parallel,
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
    seen = {instance: count for instance, count in log.items() if count}
    names = order_phases(seen)
    places = {name: f"{place:06}" for place, name in enumerate(names)}
    placed = Counter({tuple(map(places.__getitem__, instance)): count for instance, count in seen.items()})
    tree = _Search(noise).pool(placed).explain(LOOKED_INTO)
    return normalise(rename(tree, {place: name for name, place in places.items()}))


def _check(log: Mapping[Instance, int], noise: float) -> None:
    if not 0 <= noise <= 1:
        raise ConfigError(f"noise must lie between 0 and 1, not {noise}")
    if wrong := [count for count in log.values() if count < 0]:
        raise ConfigError(f"an instance cannot have been seen {wrong[0]} times")
    if strange := [one for one in log if not _is_instance(one)]:
        raise ConfigError(f"an instance is a tuple of the names of its phases, not {strange[0]!r:.80}")


def _is_instance(value: object) -> bool:
    return isinstance(value, tuple) and all(isinstance(name, str) and name for name in value)


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
        self._pools: dict[frozenset[tuple[Instance, int]], _Pool] = {}

    def pool(self, log: Counter[Instance]) -> _Pool:
        """The part with these instances; there is one, in whatever ways they were come by."""
        content = frozenset(log.items())
        if content not in self._pools:
            self._pools[content] = _Pool(log, self)
        return self._pools[content]


class _Whole(NamedTuple):
    """The pool that is mined, and its tree around that of a part."""

    pool: _Pool
    place: Callable[[ProcessTree], ProcessTree]

    def score(self, tree: ProcessTree) -> float:
        """How well the pool fits if this is the tree of the part."""
        return self.pool.score(normalise(self.place(tree)))


class _Pool:
    """Instances that a tree has to explain; what was found out about them is kept."""

    def __init__(self, log: Counter[Instance], search: _Search) -> None:
        self.log, self._search, self._noise = log, search, search.noise
        self._found: list[_Step] = []
        self._first: _Grown | None = None
        self._scores: dict[ProcessTree, float] = {}
        self._more = self._list_steps()

    def first(self, depth: int) -> _Grown:
        """The tree by the first way to go on, everywhere; at this depth of the whole."""
        if self._first and depth + self._first.levels <= DEEPEST:
            return self._first
        if depth > DEEPEST:
            return _Grown(_flower(self.log, self._graph), 0)
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
        if self._search.left <= 0 or depth > DEEPEST:
            return self.first(depth).tree
        whole = whole or _Whole(self, lambda tree: tree)
        steps = self._steps(MOST_STEPS if len(self._graph.phases) <= MOST_LEFT_OUT else 1)
        if len(steps) == 1:
            return self._explain_parts(steps[0], looked_into, depth, whole)
        self._search.left -= len(steps)
        tried: dict[ProcessTree, _Step] = {}
        for step in steps:
            trees = (part.first(depth + step.deeper).tree for part in step.parts)
            tried.setdefault(normalise(step.combine(*trees)), step)
        score = whole.score if self._noise else self.score
        best_first = sorted(tried, key=score, reverse=True)
        best_first += [normalise(self._explain_parts(tried[tree], 1, depth, whole))
                       for tree in best_first[:looked_into]]
        return max(best_first, key=score)

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

    def _steps(self, most: int) -> list[_Step]:
        while len(self._found) < most and (step := next(self._more, None)):
            self._found.append(step)
        return self._found[:most]

    @cached_property
    def _graph(self) -> FollowsGraph:
        return build_graph(self.log)

    @cached_property
    def _later(self) -> Edges:
        return count_later(self.log)

    @cached_property
    def _frequent(self) -> FollowsGraph:
        return drop_infrequent(self._graph, self._later, self._noise)

    @cached_property
    def _beginnings(self) -> Beginnings:
        return Beginnings(self.log)

    def _list_steps(self) -> Iterator[_Step]:
        """The ways to go on, those of the papers first; there is one at least."""
        log, graph = self.log, self._graph
        if not graph.phases:
            yield _Step(lambda: SILENT)
        elif empty := log[()]:
            full = self._search.pool(Counter({instance: count for instance, count in log.items() if instance}))
            if empty <= self._noise * log.total():
                yield _Step(lambda tree: tree, (full,), 0)
            else:
                yield _Step(optional, (full,))
        elif len(graph.phases) == 1:
            yield _Step(lambda: _mine_single(log, graph.phases[0]))
        else:
            cuts = self._list_cuts(graph)
            yield from map(self._cut, cuts)
            if not cuts or (self._noise and len(graph.phases) <= MOST_FALLEN):
                yield from self._fall_through(graph)

    def _list_cuts(self, graph: FollowsGraph) -> list[Cut]:
        """The cuts of all behaviour, with noise also of what is frequent: by which phases come after others, and by
        which come directly after them."""
        cuts = [*find_cuts(graph)]
        if self._noise:
            cuts += find_cuts(self._frequent)
            if len(graph.phases) <= MOST_CUT_TWICE:
                cuts += find_cuts(replace(self._frequent, later=Counter()))
        return [*dict.fromkeys(cuts)]

    def _cut(self, cut: Cut) -> _Step:
        parts = tuple(map(self._search.pool, split_log(self.log, cut)))
        if cut.operator == "loop":
            return _Step(lambda body, *redos: loop(body, exclusive(*redos)), parts, 2)
        return _Step(lambda *trees: ProcessTree(cut.operator, children=trees), parts)

    def _fall_through(self, graph: FollowsGraph) -> Iterator[_Step]:
        """What else can be said of a pool without a cut: a phase is parallel to the others, if every instance has it
        once or there is a cut without it; the pool repeats itself; groups of phases are parallel by their order alone;
        nothing."""
        yield from (self._set_apart(name, graph) for name in islice(self._list_apart(graph), MOST_APART))
        rounds = [shorter for strict in (True, False) if (shorter := _split_rounds(self.log, graph, strict))]
        yield from (_Step(loop, (self._search.pool(shorter),)) for shorter in rounds)
        if cut := find_order_cut(self._frequent):
            yield self._cut(cut)
        yield _Step(lambda: _flower(self.log, graph))

    def _list_apart(self, graph: FollowsGraph) -> Iterator[str]:
        """The phases that may be parallel to the others, those first that come in both orders with most."""
        names = sorted(graph.phases, key=lambda name: -graph.count_concurrent(name))
        once = [name for name in names if all(instance.count(name) == 1 for instance in self.log)]
        yield from once
        if len(names) <= MOST_LEFT_OUT:
            without = build_graphs_without(self.log, graph)
            yield from (name for name in names if name not in once and self._has_cut(without[name]))

    def _has_cut(self, graph: FollowsGraph) -> bool:
        """Whether the graph of a part of the phases has a cut."""
        return bool(find_cut(graph) or (self._noise and find_cut(drop_infrequent(graph, self._later, self._noise))))

    def _set_apart(self, name: str, graph: FollowsGraph) -> _Step:
        groups = frozenset([name]), frozenset(graph.phases) - {name}
        return _Step(parallel, tuple(self._search.pool(project(self.log, group)) for group in groups))


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
    if not graph.phases:
        return SILENT
    petals = loop(exclusive(*map(phase, graph.phases)))
    return optional(petals) if log[()] else petals


# Where the directly-follows graph of a pool falls into parts that a process tree can put together.

Group = frozenset[str]


class Cut(NamedTuple):
    """Groups of phases, of which each becomes a child of the operator. The first group of a loop is its body."""

    operator: Operator
    groups: tuple[Group, ...]


MOST_HOMELESS = 4
"""Of more groups that cannot begin and end an instance all stay together."""


def find_cut(graph: FollowsGraph) -> Cut | None:
    """The first cut that the graph has."""
    return next(find_cuts(graph), None)


def find_cuts(graph: FollowsGraph) -> Iterator[Cut]:
    """The cuts by the first operator by which the graph has any, in the order of the paper: exclusive, sequence,
    parallel, loop. Only a parallel one may be made in several ways."""
    finders: Sequence[tuple[Operator, Callable[[FollowsGraph], Iterable[list[Group]]]]] = (
        ("exclusive", _cut_exclusive), ("sequence", _cut_sequence), ("parallel", _cut_parallel), ("loop", _cut_loop))
    for operator, find in finders if len(graph.phases) > 1 else ():
        found = False
        for groups in find(graph):
            if len(groups) > 1:
                found = True
                yield Cut(operator, tuple(groups))
        if found:
            return


def find_order_cut(graph: FollowsGraph) -> Cut | None:
    """A parallel cut of a graph that has `later`: phases that never come in both orders, however far from each other,
    belong together, and so do those that come in both with all others. Unlike the cuts above it needs no direct
    succession of every two phases, which small pools do not show."""
    apart = [(one, other) for one, other in combinations(graph.phases, 2)
             if not {(one, other), (other, one)} <= graph.later.keys()]
    found = _components(graph.phases, apart)
    groups = [group for group in found if len(group) > 1]
    if rest := _unite(group for group in found if len(group) == 1):
        groups.append(rest)
    return Cut("parallel", tuple(groups)) if len(groups) > 1 else None


def _cut_exclusive(graph: FollowsGraph) -> Iterator[list[Group]]:
    """Phases that no instance has in common."""
    yield _components(graph.phases, graph.edges)


def _cut_sequence(graph: FollowsGraph) -> Iterator[list[Group]]:
    """Groups of which one always comes after another: phases that can follow each other, or cannot at all, belong
    together."""
    reached = _close(graph.phases, graph.later or graph.edges)
    together = ((one, other) for one, other in combinations(graph.phases, 2)
                if (one in reached[other]) == (other in reached[one]))
    groups = sorted(_components(graph.phases, together),
                    key=lambda group: -len(_unite(reached[name] for name in group) - group))
    yield _join_optional(groups, graph) if len(groups) > 1 else groups


def _join_optional(groups: list[Group], graph: FollowsGraph) -> list[Group]:
    """Join neighbours that are only left out together, or the model would allow one without the other.

    Around each group that can be left out, those before it are joined from which nothing leads beyond it, and those
    after it to which nothing leads from before it (the strict sequence cut of Leemans: Robust Process Mining with
    Guarantees, 2017, section 6.1).
    """
    last = len(groups)
    jumps = _list_jumps(graph, groups)
    farthest, nearest = list(range(last)), list(range(last))
    optional: set[int] = set()
    for one, other in jumps:
        if one >= 0:
            farthest[one] = max(farthest[one], other)
        if other < last:
            nearest[other] = min(nearest[other], one)
        optional.update(range(one + 1, other))
    links = [link for pivot in sorted(optional) for link in _neighbours(pivot, farthest, nearest)]
    return [_unite(groups[number] for number in part) for part in _components(range(last), links)]


def _list_jumps(graph: FollowsGraph, groups: Sequence[Group]) -> set[tuple[int, int]]:
    """From which group to which one can go; -1 is the beginning, the number of groups the end."""
    place = {name: number for number, group in enumerate(groups) for name in group}
    return {*((place[one], place[other]) for one, other in graph.edges), *((-1, place[name]) for name in graph.starts),
            *((place[name], len(groups)) for name in graph.ends)}


def _unite(groups: Iterable[Iterable[str]]) -> Group:
    return frozenset(chain.from_iterable(groups))


def _neighbours(pivot: int, farthest: list[int], nearest: list[int]) -> Iterable[tuple[int, int]]:
    before = pivot - 1
    while before >= 0 and farthest[before] <= pivot:
        yield before, pivot
        before -= 1
    after = pivot + 1
    while after < len(nearest) and nearest[after] >= pivot:
        yield pivot, after
        after += 1


def _cut_parallel(graph: FollowsGraph) -> Iterator[list[Group]]:
    """Groups of which every phase can come directly before and after every phase of the others, and each of which can
    begin and end an instance. What cannot do that is joined with another group, and the paper does not say with which:
    each way is one to cut, those first that change the fewest groups."""
    apart = [(one, other) for one, other in combinations(graph.phases, 2)
             if not {(one, other), (other, one)} <= graph.edges.keys()]
    groups = _components(graph.phases, apart)
    whole = [group for group in groups if _is_whole(group, graph)]
    rest = [group for group in groups if group not in whole]
    ways = _host(rest if len(rest) <= MOST_HOMELESS else [_unite(rest)], whole, graph)
    yield from sorted(ways, key=lambda groups: len({*whole} - {*groups}))


def _host(rest: Sequence[Group], groups: list[Group], graph: FollowsGraph) -> Iterator[list[Group]]:
    """All ways to join the rest with groups or with each other, after which every group is whole."""
    if rest:
        for number, group in enumerate(groups):
            yield from _host(rest[1:], [*groups[:number], group | rest[0], *groups[number + 1:]], graph)
        yield from _host(rest[1:], [*groups, rest[0]], graph)
    elif all(_is_whole(group, graph) for group in groups):
        yield groups


def _is_whole(group: Group, graph: FollowsGraph) -> bool:
    return bool(group & graph.starts.keys() and group & graph.ends.keys())


def _cut_loop(graph: FollowsGraph) -> Iterator[list[Group]]:
    """A body with all phases that begin or end an instance, and redo parts that lead from all its ends to all its
    starts, if they lead from or to any of them."""
    starts, ends = set(graph.starts), set(graph.ends)
    inner = [edge for edge in graph.edges if not {*edge} & (starts | ends)]
    parts = _components([name for name in graph.phases if name not in starts | ends], inner)
    redos = [part for part in parts if _is_redo(part, graph, starts, ends)]
    body = frozenset(graph.phases).difference(*redos)
    yield [body, *redos]


def _is_redo(part: Group, graph: FollowsGraph, starts: set[str], ends: set[str]) -> bool:
    entered = _crossing(graph, lambda one, other: one not in part and other in part)
    left = _crossing(graph, lambda one, other: one in part and other not in part)
    return (entered == set(product(ends, {other for _, other in entered}))
            and left == set(product({one for one, _ in left}, starts)))


def _crossing(graph: FollowsGraph, is_wanted: Callable[[str, str], bool]) -> set[tuple[str, str]]:
    return {edge for edge in graph.edges if is_wanted(*edge)}


def _close(nodes: Sequence[str], links: Iterable[tuple[str, str]]) -> dict[str, Group]:
    """What can be reached from each node (Warshall 1962), a row of bits for each."""
    places = {node: place for place, node in enumerate(nodes)}
    rows = [0] * len(nodes)
    for one, other in links:
        rows[places[one]] |= 1 << places[other]
    for place in range(len(nodes)):
        row, bit = rows[place], 1 << place
        rows = [other | row if other & bit else other for other in rows]
    return {node: frozenset(other for place, other in enumerate(nodes) if row >> place & 1)
            for node, row in zip(nodes, rows, strict=True)}


def _components(nodes: Iterable[Any], links: Iterable[tuple[Any, Any]]) -> list[frozenset[Any]]:
    """What hangs together, in the order of the first of each."""
    groups = {node: {node} for node in nodes}
    for one, other in links:
        small, large = sorted((groups[one], groups[other]), key=len)
        if small is not large:
            large |= small
            groups.update(dict.fromkeys(small, large))
    return sorted(map(frozenset, {id(group): group for group in groups.values()}.values()), key=min)


# The pool divided by a cut: the part of each instance that a child of the operator has to explain.

Parts = Iterable[tuple[int, Instance]]
"""Of one instance: the number of a group, and what that group has to explain."""


def split_log(log: Log, cut: Cut) -> list[Counter[Instance]]:
    """One pool for each group of the cut."""
    place = {name: number for number, group in enumerate(cut.groups) for name in group}
    split = _SPLITS[cut.operator]
    found: list[Counter[Instance]] = [Counter() for _ in cut.groups]
    for instance, count in log.items():
        for number, part in split(instance, place, len(cut.groups)):
            found[number][part] += count
    return found


def project(log: Log, names: Group) -> Counter[Instance]:
    """The pool without the other phases."""
    found: Counter[Instance] = Counter()
    for instance, count in log.items():
        found[tuple(name for name in instance if name in names)] += count
    return found


def _split_exclusive(instance: Instance, place: Mapping[str, int], groups: int) -> Parts:
    """The group that has most of the phases takes the instance; the others' phases in it are noise."""
    most = Counter(place[name] for name in instance)
    number = min(most, key=lambda one: (-most[one], one))
    yield number, tuple(name for name in instance if place[name] == number)


def _split_parallel(instance: Instance, place: Mapping[str, int], groups: int) -> Parts:
    parts: list[list[str]] = [[] for _ in range(groups)]
    for name in instance:
        parts[place[name]].append(name)
    return enumerate(map(tuple, parts))


def _split_sequence(instance: Instance, place: Mapping[str, int], groups: int) -> Parts:
    numbers = [place[name] for name in instance]
    if all(one <= other for one, other in pairwise(numbers)):
        return _split_parallel(instance, place, groups)
    parts: list[list[str]] = [[] for _ in range(groups)]
    for begin, end in pairwise(_find_bounds(numbers)):
        names, here = instance[begin:end], sorted({*numbers[begin:end]})
        if len(here) == 1:
            parts[here[0]] += names
            continue
        ranks = tuple(map(here.index, numbers[begin:end]))
        stretches = pairwise([0, *_best_ends(ranks, len(here))])
        for rank, (first, last) in enumerate(stretches):
            parts[here[rank]] += [name for name, own in zip(names[first:last], ranks[first:last], strict=True)
                                  if own == rank]
    return enumerate(map(tuple, parts))


def _find_bounds(numbers: Sequence[int]) -> list[int]:
    """Where numbers can be divided so that all before are smaller than all behind: each part is split by itself."""
    highest = accumulate(numbers[:-1], max)
    lowest = [*accumulate(reversed(numbers[1:]), min)][::-1]
    inner = [place for place, (high, low) in enumerate(zip(highest, lowest, strict=True), 1) if high < low]
    return [0, *inner, len(numbers)]


@lru_cache(maxsize=4096)  # short ones come again and again
def _best_ends(numbers: tuple[int, ...], groups: int) -> list[int]:
    """Where the stretch of each group ends, so that most phases lie in the stretch of their own group; the earliest
    ends of equally good ones."""
    kept = [0] * (len(numbers) + 1)  # phases in their own stretch, up to each place, with the groups so far
    choices: list[list[int]] = []
    for group in range(groups):
        best, begin, now, here = [], 0, [], kept[0]
        for end in range(len(numbers) + 1):
            if end:
                here += numbers[end - 1] == group
            if kept[end] > here:
                begin, here = end, kept[end]
            now.append(here)
            best.append(begin)
        kept, choices = now, [*choices, best]
    ends = [len(numbers)]
    for best in reversed(choices[1:]):
        ends.append(best[ends[-1]])
    return ends[::-1]


def _split_loop(instance: Instance, place: Mapping[str, int], groups: int) -> Parts:
    """Runs of phases of one group. What begins or ends with a redo part, or goes from one to another, ran the body
    without a trace of it."""
    runs = [(number, tuple(names)) for number, names in groupby(instance, place.__getitem__)]
    before = 1
    for number, names in runs:
        if before and number:
            yield 0, ()
        yield number, names
        before = number
    if before:
        yield 0, ()


_SPLITS: dict[str, Callable[[Instance, Mapping[str, int], int], Parts]] = {
    "exclusive": _split_exclusive, "sequence": _split_sequence, "parallel": _split_parallel, "loop": _split_loop}
