"""Instances that a process tree allows, drawn at random."""

from __future__ import annotations

from random import Random

from chatdev.departments.process.process_tree import Instance, ProcessTree

REPEAT = 0.3
"""How likely a loop begins once more."""
MOST_PHASES = 1000
"""From here on no loop begins once more, so that nested loops come to an end."""


def play_out(tree: ProcessTree, chance: Random, repeat: float = REPEAT) -> Instance:
    """One instance: each way of a choice is as likely as the others, parallel parts are shuffled into each other. The
    same state of `chance` gives the same instance."""
    return tuple(_Play(chance, repeat).run(tree))


class _Play:
    def __init__(self, chance: Random, repeat: float) -> None:
        self._chance, self._repeat, self._count = chance, repeat, 0

    def run(self, tree: ProcessTree) -> list[str]:
        if tree.operator == "phase":
            self._count += 1
            return [tree.name]
        if tree.operator == "silent":
            return []
        if tree.operator == "exclusive":
            return self.run(self._chance.choice(tree.children))
        if tree.operator == "loop":
            return self._run_loop(*tree.children)
        parts = [self.run(child) for child in tree.children]
        return self._shuffle(parts) if tree.operator == "parallel" else [name for part in parts for name in part]

    def _run_loop(self, body: ProcessTree, redo: ProcessTree) -> list[str]:
        found = self.run(body)
        while self._chance.random() < self._repeat and self._count < MOST_PHASES:
            found += self.run(redo) + self.run(body)
        return found

    def _shuffle(self, parts: list[list[str]]) -> list[str]:
        """The parts interleaved, each in its own order; all ways to do so are equally likely."""
        turns = [number for number, part in enumerate(parts) for _ in part]
        self._chance.shuffle(turns)
        left = [iter(part) for part in parts]
        return [next(left[number]) for number in turns]
