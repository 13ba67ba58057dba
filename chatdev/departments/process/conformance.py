"""How well a process model, as an automaton, and a pool of instances fit each other.

Fitness is the share of instances that the model allows; precision says how little else it allows (escaping edges:
Muñoz-Gama, Carmona: A Fresh Look at Precision in Process Conformance, 2010). `find_difference` decides whether two
models allow the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import groupby
from typing import NamedTuple

from chatdev.departments.process.process_tree import Instance, ProcessTree
from chatdev.errors import ToolError

MOST_STATES = 200_000
"""So many pairs of states are looked at before two models are given up on."""

Log = Mapping[Instance, int]
"""Each different instance, and how often it was seen."""


class Quality(NamedTuple):
    """Both sides of a model, from 0 to 1."""

    fitness: float
    precision: float

    @property
    def f_score(self) -> float:
        """The harmonic mean of both."""
        total = self.fitness + self.precision
        return 2 * self.fitness * self.precision / total if total else 0.0


def accepts(tree: ProcessTree, instance: Instance) -> bool:
    """Whether the model allows exactly these phases in this order."""
    return _accepts(TreeAutomaton(tree), instance)


def _accepts(automaton: TreeAutomaton, instance: Iterable[str]) -> bool:
    return automaton.may_end(automaton.run(instance))


class Beginnings:
    """All beginnings of a pool's instances, each once: how often one was gone on from, with which phases, and how often
    it was all."""

    def __init__(self, log: Log) -> None:
        self._followers: list[dict[str, int]] = [{}]  # by phase, the number of the beginning that is longer by it
        self._gone_on, self._ended = [0], [0]
        for instance, count in log.items():
            here = 0
            for name in instance:
                self._gone_on[here] += count
                if name not in self._followers[here]:
                    self._followers[here][name] = len(self._followers)
                    self._followers.append({})
                    self._gone_on.append(0)
                    self._ended.append(0)
                here = self._followers[here][name]
            self._ended[here] += count

    def measure(self, automaton: TreeAutomaton) -> tuple[Quality, float]:
        """The quality of a model, and its precision where that nothing comes next counts as a phase.

        Precision: of the phases that the model allows next, after every beginning that the pool and the model share,
        the share that the pool knows; beginnings count as often as they were seen. 1 where the model allows nothing.
        """
        states: list[State] = [0] * len(self._followers)
        states[0] = automaton.start
        allowed = used = may_end = ends = fitting = 0
        for state, followers, gone_on, ended in zip(states, self._followers, self._gone_on, self._ended, strict=True):
            if not state:
                continue
            names = automaton.next_phases(state)
            shared = 0
            for name, longer in followers.items():
                if name in names:
                    shared += 1
                    states[longer] = automaton.step(state, name)
            allowed += gone_on * len(names)
            used += gone_on * shared
            if automaton.may_end(state):
                fitting += ended
                may_end, ends = may_end + gone_on + ended, ends + bool(ended) * (gone_on + ended)
            may_end, ends = may_end + ended * len(names), ends + ended * shared
        total = self._gone_on[0] + self._ended[0]
        return (Quality(fitting / total if total else 1.0, used / allowed if allowed else 1.0),
                (used + ends) / (allowed + may_end) if allowed + may_end else 1.0)


def measure_quality(tree: ProcessTree, log: Log) -> Quality:
    """Fitness and precision of a model over a pool."""
    return Beginnings(log).measure(TreeAutomaton(tree))[0]


def measure_fitness(tree: ProcessTree, log: Log) -> float:
    """The share of all instances, each as often as it was seen, that the model allows; 1 of no instances."""
    automaton = TreeAutomaton(tree)
    total = sum(log.values())
    return sum(count for instance, count in log.items() if _accepts(automaton, instance)) / total if total else 1.0


def measure_precision(tree: ProcessTree, log: Log) -> float:
    """How little else the model allows than the pool: `Beginnings.measure`."""
    return measure_quality(tree, log).precision


def find_difference(one: ProcessTree, other: ProcessTree) -> Instance | None:
    """A shortest instance that only one of the two models allows; None when they allow the same. Raises ToolError when
    the models are too large to decide it."""
    automata = TreeAutomaton(one), TreeAutomaton(other)
    begin = automata[0].start, automata[1].start
    paths: dict[object, Instance] = {begin: ()}
    queue = [begin]
    for pair in queue:
        if automata[0].may_end(pair[0]) != automata[1].may_end(pair[1]):
            return paths[pair]
        for name in sorted(automata[0].next_phases(pair[0]) | automata[1].next_phases(pair[1])):
            follower = automata[0].step(pair[0], name), automata[1].step(pair[1], name)
            if follower not in paths:
                paths[follower] = (*paths[pair], name)
                queue.append(follower)
        if len(queue) > MOST_STATES:
            raise ToolError(f"the two process models have more than {MOST_STATES} states in common")
    return None


# How often instances run the parts of a model.

TreePath = tuple[int, ...]
"""A part of a tree: the numbers of the children that lead to it."""


class Visits(NamedTuple):
    """How often each part of a model was run, and by how many cases, of those `cases` that it allows."""

    runs: Counter[TreePath]
    reached: Counter[TreePath]
    cases: int


def count_visits(tree: ProcessTree, log: Log) -> Visits | None:
    """The instances that the model allows, replayed on it; where an instance can be read in several ways, that with the
    fewest repetitions. None for a model that names a phase twice, as it is not said then which of them was run."""
    names = [node.name for node in tree.walk() if node.operator == "phase"]
    if len(names) != len(set(names)):
        return None
    replay, automaton = _Replay(), TreeAutomaton(tree)
    found = Visits(Counter(), Counter(), sum(count for instance, count in log.items() if _accepts(automaton, instance)))
    for instance, count in log.items():
        if _accepts(automaton, instance):
            for path, times in replay.read(tree, (), instance).items():
                found.runs[path] += times * count
                found.reached[path] += count
    return found


class _Replay:
    """Reads instances of a tree that names each phase once; what was once read is kept."""

    def __init__(self) -> None:
        self._found: dict[tuple[TreePath, Instance], Counter[TreePath]] = {}
        self._names: dict[ProcessTree, frozenset[str]] = {}
        self._automata: dict[ProcessTree, TreeAutomaton] = {}

    def read(self, tree: ProcessTree, path: TreePath, instance: Instance) -> Counter[TreePath]:
        """How often each part of the tree runs in an instance that the tree allows."""
        if (path, instance) not in self._found:
            visits = Counter([path])
            for number, part in self._parts(tree, instance):
                visits.update(self.read(tree.children[number], (*path, number), part))
            self._found[path, instance] = visits
        return self._found[path, instance]

    def _parts(self, tree: ProcessTree, instance: Instance) -> Iterable[tuple[int, Instance]]:
        """What each child runs of the instance."""
        if tree.operator in ("sequence", "parallel"):
            for number, child in enumerate(tree.children):
                names = self._names_of(child)
                yield number, tuple(name for name in instance if name in names)
        elif tree.operator == "exclusive":
            fits = [number for number, child in enumerate(tree.children)
                    if (instance[0] in self._names_of(child) if instance else child.is_nullable)]
            yield fits[0], instance
        elif tree.operator == "loop":
            yield from self._rounds(tree, instance)

    def _rounds(self, tree: ProcessTree, instance: Instance) -> Iterable[tuple[int, Instance]]:
        """Body and redo part in turn; what begins or ends with a redo part ran the body without a trace."""
        body, before = self._names_of(tree.children[0]), 1
        for is_redo, run in groupby(instance, lambda name: name not in body):
            for words in self._split(tree.children[is_redo], tuple(run)):
                if before == is_redo:
                    yield 1 - is_redo, ()
                yield int(is_redo), words
                before = is_redo
        if before:
            yield 0, ()

    def _split(self, tree: ProcessTree, run: Instance) -> list[Instance]:
        """The fewest instances of the tree that make up the run."""
        automaton = self._automata.setdefault(tree, TreeAutomaton(tree))
        begins: dict[int, tuple[int, int]] = {0: (0, 0)}  # by end: how many there are, and where the last begins
        for begin in range(len(run)):
            if begin not in begins:
                continue
            state, number = automaton.start, begins[begin][0] + 1
            for end in range(begin + 1, len(run) + 1):
                state = automaton.step(state, run[end - 1])
                if not state:
                    break
                if automaton.may_end(state) and (end not in begins or begins[end][0] > number):
                    begins[end] = number, begin
        words, end = list[Instance](), len(run)
        while end:
            begin = begins[end][1]
            words.append(run[begin:end])
            end = begin
        return words[::-1]

    def _names_of(self, tree: ProcessTree) -> frozenset[str]:
        if tree not in self._names:
            self._names[tree] = frozenset(node.name for node in tree.walk() if node.operator == "phase")
        return self._names[tree]


# A process tree as an automaton: what may be run next after what was run.

State = int
"""By its number; 0 is that of what may not be run."""
Position = tuple[int, ...]
"""Where a reader of a tree may be: the number of a child and its state, in a parallel part the states of all children;
in a phase whether it was run."""

MOST_LEFT = 4000
"""So many positions may there be at once. Only trees that name phases again and again within parallel parts need more,
and those that are mined name each phase once."""
_BEFORE: Position = (-1, 0)


class TreeAutomaton:
    """The states of one tree, made of those of its children; what was once found out is kept. Trees that have parts in
    common may share the automata of these, which are kept in `known`."""

    def __init__(self, tree: ProcessTree, known: dict[ProcessTree, TreeAutomaton] | None = None) -> None:
        self._operator = tree.operator if tree.children or tree.operator == "phase" else "silent"
        self._name = tree.name
        known = {} if known is None else known
        for child in tree.children:
            if child not in known:
                known[child] = TreeAutomaton(child, known)
        self._parts = tuple(known[child] for child in tree.children)
        self._owners: dict[str, list[int]] = {}
        for number, part in enumerate(self._parts):
            for name in part._owners:
                self._owners.setdefault(name, []).append(number)
        if tree.operator == "phase":
            self._owners = {tree.name: []}
        self._positions: list[frozenset[Position]] = []
        self._numbers: dict[frozenset[Position], State] = {}
        self._nexts: list[frozenset[str]] = []
        self._ends: list[bool] = []
        self._steps: list[dict[str, State]] = []
        self._number([])
        self.start: State = self._number([self._begin()])

    def step(self, state: State, name: str) -> State:
        """The state after one more phase; 0 if it may not be run there. Raises ToolError when there are too many ways
        to read what was run."""
        steps = self._steps[state]
        if name not in steps:
            steps[name] = self._find_step(state, name)
        return steps[name]

    def run(self, names: Iterable[str]) -> State:
        """The state after these phases; 0 if they may not be run."""
        state = self.start
        for name in names:
            state = self.step(state, name)
            if not state:
                break
        return state

    def next_phases(self, state: State) -> frozenset[str]:
        """The phases that may be run next."""
        return self._nexts[state]

    def may_end(self, state: State) -> bool:
        """Whether nothing more need be run."""
        return self._ends[state]

    def _number(self, positions: Iterable[Position]) -> State:
        """The number of a state, a new one if there is none."""
        found = frozenset(positions)
        if found not in self._numbers:
            if len(found) > MOST_LEFT:
                raise ToolError(f"the process model can be read in over {MOST_LEFT} ways; name each phase once")
            self._numbers[found] = len(self._positions)
            self._positions.append(found)
            self._nexts.append(frozenset().union(*map(self._list_next, found)))
            self._ends.append(any(map(self._is_end, found)))
            self._steps.append({})
        return self._numbers[found]

    def _begin(self) -> Position:
        if self._operator == "parallel":
            return tuple(part.start for part in self._parts)
        if self._operator in ("sequence", "loop") and self._parts:
            return 0, self._parts[0].start
        return _BEFORE

    def _find_step(self, state: State, name: str) -> State:
        if name not in self._nexts[state]:
            return 0
        if self._operator == "phase":
            return self._number([(0, 1)])
        if self._operator == "parallel":
            return self._number((*states[:number], after, *states[number + 1:])
                                for states in self._positions[state]
                                for number in self._owners[name]
                                if (after := self._parts[number].step(states[number], name)))
        return self._number((number, after) for position in self._positions[state]
                            for number, here in self._ways(position) if (after := self._parts[number].step(here, name)))

    def _ways(self, position: Position) -> Iterable[Position]:
        """The children that the next phase may be of, each with the state in which it is read."""
        number, state = position
        if self._operator == "exclusive":
            return [position] if number >= 0 else [(way, part.start) for way, part in enumerate(self._parts)]
        found = [position]
        turn, count = self._operator == "loop", len(self._parts)
        while self._parts[number]._ends[state] and (turn or number + 1 < count):
            number = (number + 1) % count
            state = self._parts[number].start
            if (number, state) in found:
                break
            found.append((number, state))
        return found

    def _list_next(self, position: Position) -> frozenset[str]:
        if self._operator in ("phase", "silent"):
            return frozenset([self._name] if self._operator == "phase" and position == _BEFORE else [])
        ways = enumerate(position) if self._operator == "parallel" else self._ways(position)
        return frozenset().union(*(self._parts[number]._nexts[state] for number, state in ways))

    def _is_end(self, position: Position) -> bool:
        if self._operator in ("phase", "silent"):
            return self._operator == "silent" or position != _BEFORE
        if self._operator == "parallel":
            return all(part._ends[state] for part, state in zip(self._parts, position, strict=True))
        ends = [(number, self._parts[number]._ends[state]) for number, state in self._ways(position)]
        if self._operator == "exclusive":
            return any(may_end for _, may_end in ends)
        last = 0 if self._operator == "loop" else len(self._parts) - 1
        return (last, True) in ends
