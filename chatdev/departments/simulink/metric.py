"""How far a model agrees with the one that was asked for: SimuGen's accuracy (equation 1), precision and F1.

The rule, in full. Two blocks can be matched when they are of one kind: of the same block type as files name it (Add and
Subtract are Sum), library blocks of the same type. A pair counts when what their icons show agrees, too: the ports with
their signs, in any order, and the defining parameters, which are those that display names stand for (Operator,
Function, …; `catalogue.BlockType.display`), GotoTag and the relation of a Compare block. Names of blocks decide
nothing; they help to find pairs.

A connection is a signal's way to one input, or one of the |net| - 1 edges that join a net of physical ports. A signal's
way counts when both blocks are matched and it leads from the same output to the same input; inputs that a Sum or
Product gives the same sign are one, and so are the inputs of a logical operator and of MinMax. Of the nets those edges
count that join ports which are joined in both models; the terminals of a resistor, capacitor and inductor are
interchangeable, and so are those of a busbar.

Of all ways to match the blocks one that gives the highest accuracy is looked for: all are tried where they are few,
else pairs are found along the connections and exchanged while that helps, so that a figure is never too high.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from chatdev.departments.simulink.comparable import Comparable
from chatdev.departments.simulink.diagram import Diagram
from chatdev.departments.simulink.matching import best_match, count_common_blocks, count_common_connections


class Share(NamedTuple):
    """How many of the things asked for, and of those made, are matched."""

    matched: int
    asked: int
    made: int

    @property
    def recall(self) -> float:
        """The share of what was asked for; 1 where that is nothing."""
        return self.matched / self.asked if self.asked else 1.0

    @property
    def precision(self) -> float:
        """The share of what was made; where that is nothing, 1 if nothing was asked for."""
        return self.matched / self.made if self.made else float(not self.asked)

    @property
    def f1(self) -> float:
        """The harmonic mean of both."""
        return _harmonic_mean(self.recall, self.precision)


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far two models agree; all figures lie between 0 and 1."""

    blocks: Share
    connections: Share

    @property
    def accuracy(self) -> float:
        """The mean of both recalls: equation 1 of SimuGen (arXiv 2506.15695)."""
        return (self.blocks.recall + self.connections.recall) / 2

    @property
    def precision(self) -> float:
        """The mean of both precisions, which accuracy leaves out: what is too much lowers it."""
        return (self.blocks.precision + self.connections.precision) / 2

    @property
    def f1(self) -> float:
        """The harmonic mean of accuracy and precision."""
        return _harmonic_mean(self.accuracy, self.precision)


def compare(asked: Diagram, made: Diagram) -> Agreement:
    """How far `made` is what was `asked` for."""
    wanted, given = Comparable.of(asked), Comparable.of(made)
    match = best_match(wanted, given)
    return Agreement(Share(count_common_blocks(wanted, given, match), len(wanted.kinds), len(given.kinds)),
                     Share(count_common_connections(wanted, given, match), wanted.size, given.size))


def count_connections(diagram: Diagram) -> int:
    """Signals' ways to inputs, and |net| - 1 edges of each physical net."""
    return Comparable.of(diagram).size


def _harmonic_mean(one: float, other: float) -> float:
    return 2 * one * other / (one + other) if one + other else 0.0
