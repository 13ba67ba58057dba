"""How well a process model and a pool of instances fit each other.

Fitness is the share of instances that the model allows; precision says how little else it allows (escaping edges:
Muñoz-Gama, Carmona: A Fresh Look at Precision in Process Conformance, 2010). `find_difference` decides whether two
models allow the same.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from chatdev.errors import ToolError
from chatdev.process.automaton import State, TreeAutomaton
from chatdev.process.process_tree import Instance, ProcessTree

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


def measure_quality(tree: ProcessTree, log: Log) -> Quality:
    """Fitness and precision of a model over a pool."""
    return Quality(measure_fitness(tree, log), measure_precision(tree, log))


def measure_fitness(tree: ProcessTree, log: Log) -> float:
    """The share of all instances, each as often as it was seen, that the model allows; 1 of no instances."""
    automaton = TreeAutomaton(tree)
    total = sum(log.values())
    return sum(count for instance, count in log.items() if _accepts(automaton, instance)) / total if total else 1.0


def measure_precision(tree: ProcessTree, log: Log) -> float:
    """Of the phases that the model allows next, after every beginning that the pool and the model share, the share that
    the pool knows; beginnings count as often as they were seen. 1 where the model allows nothing."""
    counts: dict[Instance, int] = defaultdict(int)
    known: dict[Instance, set[str]] = defaultdict(set)
    for instance, count in log.items():
        for end, name in enumerate(instance):
            counts[instance[:end]] += count
            known[instance[:end]].add(name)
    automaton = TreeAutomaton(tree)
    states: dict[Instance, State] = {(): automaton.start}
    allowed = used = 0
    for beginning in sorted(counts, key=len):
        state = states.get(beginning)
        if state:
            names = automaton.next_phases(state)
            allowed += counts[beginning] * len(names)
            used += counts[beginning] * len(names & known[beginning])
            states.update(((*beginning, name), automaton.step(state, name)) for name in known[beginning] & names)
    return used / allowed if allowed else 1.0


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
