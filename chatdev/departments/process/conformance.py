"""How well a process model and a pool of instances fit each other.

Fitness is the share of instances that the model allows; precision says how little else it allows (escaping edges:
Muñoz-Gama, Carmona: A Fresh Look at Precision in Process Conformance, 2010). `find_difference` decides whether two
models allow the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from chatdev.departments.process.automaton import State, TreeAutomaton
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

    def measure_precision(self, tree: ProcessTree) -> tuple[float, float]:
        """Of the phases that the model allows next, after every beginning that the pool and the model share, the share
        that the pool knows; beginnings count as often as they were seen. And the same where that nothing comes next
        counts as a phase. 1 where the model allows nothing."""
        automaton = TreeAutomaton(tree)
        states: dict[int, State] = {0: automaton.start}
        allowed = used = may_end = ends = 0
        for number, followers in enumerate(self._followers):
            if number not in states:
                continue
            gone_on, ended = self._gone_on[number], self._ended[number]
            names = automaton.next_phases(states[number])
            shared = [name for name in followers if name in names]
            allowed += gone_on * len(names)
            used += gone_on * len(shared)
            states.update((followers[name], automaton.step(states[number], name)) for name in shared)
            if automaton.may_end(states[number]):
                may_end, ends = may_end + gone_on + ended, ends + bool(ended) * (gone_on + ended)
            may_end, ends = may_end + ended * len(names), ends + ended * len(shared)
        return (used / allowed if allowed else 1.0,
                (used + ends) / (allowed + may_end) if allowed + may_end else 1.0)


def measure_quality(tree: ProcessTree, log: Log) -> Quality:
    """Fitness and precision of a model over a pool."""
    return Quality(measure_fitness(tree, log), measure_precision(tree, log))


def measure_fitness(tree: ProcessTree, log: Log) -> float:
    """The share of all instances, each as often as it was seen, that the model allows; 1 of no instances."""
    automaton = TreeAutomaton(tree)
    total = sum(log.values())
    return sum(count for instance, count in log.items() if _accepts(automaton, instance)) / total if total else 1.0


def measure_precision(tree: ProcessTree, log: Log) -> float:
    """How little else the model allows than the pool: `Beginnings.measure_precision`."""
    return Beginnings(log).measure_precision(tree)[0]


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
