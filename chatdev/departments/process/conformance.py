"""How well a process model, as an automaton, and a pool of instances fit each other.

Fitness is the share of instances that the model allows; precision says how little else it allows (escaping edges:
Muñoz-Gama, Carmona: A Fresh Look at Precision in Process Conformance, 2010). `find_difference` decides whether two
models allow the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import compress, groupby
from operator import add, mul
from typing import NamedTuple

from chatdev.departments.process.process_tree import Instance, ProcessTree
from chatdev.departments.process.tree_automaton import State, TreeAutomaton
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
    """All beginnings of a pool's instances, each once: how often one was gone on from, and how often it was all. Each
    instance adds those that none before it has, one behind the other."""

    def __init__(self, log: Mapping[Instance, int] | Mapping[str, int]) -> None:
        followers: list[dict[str, int]] = [{}]  # by phase, the number of the beginning that is longer by it
        self._added: list[tuple[int, list[str]]] = []  # by an instance: to which beginning, and which phases
        self._gone_on, ended, shorter = [0], Counter[int](), [0]
        for instance, count in log.items():
            here, added = 0, list[str]()
            for name in instance:
                self._gone_on[here] += count
                if name not in followers[here]:
                    if not added:
                        self._added.append((here, added))
                    added.append(name)
                    shorter.append(here)
                    followers[here][name] = len(followers)
                    followers.append({})
                    self._gone_on.append(0)
                here = followers[here][name]
            ended[here] += count
        self._ended = [*ended.items()]
        self._seen = [gone_on + ended[number] for number, gone_on in enumerate(self._gone_on)]
        self._gone_on_before = [0, *map(self._gone_on.__getitem__, shorter[1:])]
        self._seen_before = [0, *map(self._seen.__getitem__, shorter[1:])]

    def measure(self, automaton: TreeAutomaton) -> tuple[Quality, float]:
        """The quality of a model, and its precision where that nothing comes next counts as a phase.

        Precision: of the phases that the model allows next, after every beginning that the pool and the model share,
        the share that the pool knows; beginnings count as often as they were seen. 1 where the model allows nothing.
        """
        states = self._replay(automaton)
        shared = [*filter(None, states)]
        nexts = [*map(int.bit_count, automaton.nexts)]
        nexts_and_ends = [*map(add, nexts, automaton.ends)]
        used = sum(compress(self._gone_on_before, states))
        allowed = sum(map(mul, compress(self._gone_on, states), map(nexts.__getitem__, shared)))
        used_with_ends = sum(compress(self._seen_before, states))
        allowed_with_ends = sum(map(mul, compress(self._seen, states), map(nexts_and_ends.__getitem__, shared)))
        fitting, total = 0, self._seen[0]
        for number, count in self._ended:
            if automaton.ends[states[number]]:
                fitting += count
                used_with_ends += self._seen[number]
        return (Quality(fitting / total if total else 1.0, used / allowed if allowed else 1.0),
                used_with_ends / allowed_with_ends if allowed_with_ends else 1.0)

    def _replay(self, automaton: TreeAutomaton) -> list[State]:
        """The state of the model after each beginning; 0 where the model does not share it."""
        states, steps = [automaton.start], automaton.steps
        for shorter, added in self._added:
            state, end = states[shorter], len(states) + len(added)
            for name in added if state else ():
                known = steps[state]
                state = known[name] if name in known else automaton.step(state, name)
                if not state:
                    break
                states.append(state)
            states += [0] * (end - len(states))
        return states


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
