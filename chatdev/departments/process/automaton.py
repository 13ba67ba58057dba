"""A process tree as an automaton: what may be run next after what was run.

A state is the set of trees that may be left to do. They come by partial derivatives (Antimirov 1996, with a rule for
interleaving), made only where an instance leads: a tree with 20 parallel phases has a million states, of which the pool
visits a few hundred.
"""

from __future__ import annotations

from collections.abc import Iterable

from chatdev.departments.process.process_tree import SILENT, ProcessTree, exclusive
from chatdev.errors import ToolError

State = frozenset[ProcessTree]

MOST_LEFT = 4000
"""So many trees may be left to do at once. Only trees that name phases again and again within parallel parts need more,
and those that are mined name each phase once."""
_NOTHING: State = frozenset()


class TreeAutomaton:
    """The states of one tree; what was once found out is kept."""

    def __init__(self, tree: ProcessTree) -> None:
        self.start: State = frozenset([tree])
        self._states: dict[State, State] = {}  # equal states are one, so that looking them up compares no trees
        self._nexts: dict[State, frozenset[str]] = {}
        self._steps: dict[tuple[State, str], State] = {}
        self._firsts: dict[ProcessTree, frozenset[str]] = {}
        self._lefts: dict[tuple[ProcessTree, str], State] = {}

    def step(self, state: State, name: str) -> State:
        """The state after one more phase; empty if it may not be run there. Raises ToolError when there are too many
        ways to read what was run."""
        if (state, name) not in self._steps:
            found = frozenset(left for tree in state for left in self._left(tree, name))
            if len(found) > MOST_LEFT:
                raise ToolError(f"the process model can be read in over {MOST_LEFT} ways; name each phase once")
            self._steps[state, name] = self._states.setdefault(found, found)
        return self._steps[state, name]

    def run(self, names: Iterable[str]) -> State:
        """The state after these phases; empty if they may not be run."""
        state = self.start
        for name in names:
            state = self.step(state, name)
            if not state:
                break
        return state

    def next_phases(self, state: State) -> frozenset[str]:
        """The phases that may be run next."""
        if state not in self._nexts:
            self._nexts[state] = frozenset(name for tree in state for name in self._first(tree))
        return self._nexts[state]

    @staticmethod
    def may_end(state: State) -> bool:
        """Whether nothing more need be run."""
        return any(tree.is_nullable for tree in state)

    def _first(self, tree: ProcessTree) -> frozenset[str]:
        """The phases that may come first."""
        if tree not in self._firsts:
            self._firsts[tree] = self._find_first(tree)
        return self._firsts[tree]

    def _find_first(self, tree: ProcessTree) -> frozenset[str]:
        if tree.operator == "phase":
            return frozenset([tree.name])
        found: set[str] = set()
        for child in tree.children:
            found |= self._first(child)
            if tree.operator in ("sequence", "loop") and not child.is_nullable:
                break
        return frozenset(found)

    def _left(self, tree: ProcessTree, name: str) -> State:
        """What may be left of the tree after the phase."""
        if name not in self._first(tree):
            return _NOTHING
        if (tree, name) not in self._lefts:
            self._lefts[tree, name] = frozenset(self._find_left(tree, name))
        return self._lefts[tree, name]

    def _find_left(self, tree: ProcessTree, name: str) -> Iterable[ProcessTree]:
        if tree.operator == "phase":
            return [SILENT]
        if tree.operator == "exclusive":
            return [left for child in tree.children for left in self._left(child, name)]
        if tree.operator == "parallel":
            return self._left_of_parallel(tree.children, name)
        if tree.operator == "loop":
            return self._left_of_loop(tree, name)
        return self._left_of_sequence(tree.children, name)

    def _left_of_parallel(self, children: tuple[ProcessTree, ...], name: str) -> list[ProcessTree]:
        return [_combine([*children[:number], left, *children[number + 1:]])
                for number, child in enumerate(children) for left in self._left(child, name)]

    def _left_of_loop(self, tree: ProcessTree, name: str) -> list[ProcessTree]:
        body, redo = tree.children
        again = exclusive(SILENT, _chain([redo, tree]))
        found = [_chain([left, again]) for left in self._left(body, name)]
        if body.is_nullable:
            found += [_chain([left, tree]) for left in self._left(redo, name)]
        return found

    def _left_of_sequence(self, children: tuple[ProcessTree, ...], name: str) -> list[ProcessTree]:
        found: list[ProcessTree] = []
        for number, child in enumerate(children):
            found += [_chain([left, *children[number + 1:]]) for left in self._left(child, name)]
            if not child.is_nullable:
                break
        return found


def _chain(children: list[ProcessTree]) -> ProcessTree:
    """The sequence, flat and without silence, so that equal rests are equal trees."""
    flat = [part for child in children for part in (child.children if child.operator == "sequence" else (child,))]
    loud = [part for part in flat if part != SILENT]
    if len(loud) < 2:
        return loud[0] if loud else SILENT
    return ProcessTree("sequence", children=tuple(loud))


def _combine(children: list[ProcessTree]) -> ProcessTree:
    """The parallel part without silence, in an order of its own, so that equal rests are equal trees."""
    loud = sorted((child for child in children if child != SILENT), key=hash)
    if len(loud) < 2:
        return loud[0] if loud else SILENT
    return ProcessTree("parallel", children=tuple(loud))
