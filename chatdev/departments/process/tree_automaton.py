"""A process tree as an automaton: what may be run next after what was run."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import reduce
from operator import or_

from chatdev.departments.process.process_tree import ProcessTree
from chatdev.errors import ToolError

State = int
"""By its number; 0 is that of what may not be run."""
Position = tuple[int, ...]
"""Where a reader may be: the number of a child and its state, in a parallel part the states of all children."""

MOST_LEFT = 4000
"""So many positions may there be at once. Only trees that name phases again and again within parallel parts need more,
and those that are mined name each phase once."""
_BEFORE: Position = (-1, 0)  # no way of a choice is begun


@dataclass(frozen=True, slots=True)
class Automata:
    """What automata have in common: those of their parts, and the bit of each phase."""

    parts: dict[ProcessTree, TreeAutomaton] = field(default_factory=dict)
    bits: dict[str, int] = field(default_factory=dict)


class TreeAutomaton:
    """The states of one tree, made of those of its children; what was once found out is kept. Trees that have parts in
    common may share the automata of these, which are kept in `known`."""

    nexts: list[int]
    """By state: the bits of the phases that may be run next."""
    ends: list[bool]
    """By state: whether nothing more need be run."""
    steps: list[dict[str, State]]
    """By state: those after one more phase, as far as they were asked for."""

    def __init__(self, tree: ProcessTree, known: Automata | None = None) -> None:
        known = known or Automata()
        for child in tree.children:
            if child not in known.parts:
                known.parts[child] = TreeAutomaton(child, known)
        self._operator = tree.operator if tree.children or tree.operator == "phase" else "silent"
        self._bits = known.bits
        self._parts = tuple(known.parts[child] for child in tree.children)
        self._owners = self._list_owners()
        self._is_definite = self._operator != "loop" and all(len(parts) == 1 for parts in self._owners.values())
        self._positions: list[tuple[Position, ...]] = [()]
        self._numbers: dict[Position | frozenset[Position], State] = {frozenset(): 0}
        self.nexts, self.ends, self.steps, self.start = [0], [False], [{}], 1
        self._begin_with(tree)

    def _begin_with(self, tree: ProcessTree) -> None:
        """Make the first states."""
        if tree.operator == "phase":
            self._owners = {tree.name: []}
            bit = self._bits.setdefault(tree.name, 1 << len(self._bits))
            self.nexts, self.ends, self.steps = [0, bit, 0], [False, False, True], [{}, {tree.name: 2}, {}]
        elif self._operator == "silent":
            self.nexts, self.ends, self.steps = [0, 0], [False, True], [{}, {}]
        else:
            self._afters = self._list_afters()
            self._number_one(self._begin())

    def _list_owners(self) -> dict[str, list[int]]:
        """By phase, the children that have it."""
        found: dict[str, list[int]] = {}
        for number, part in enumerate(self._parts):
            for name in part._owners:
                found.setdefault(name, []).append(number)
        return found

    def step(self, state: State, name: str) -> State:
        """The state after one more phase; 0 if it may not be run there. Raises ToolError when there are too many ways
        to read what was run."""
        steps = self.steps[state]
        if name not in steps:
            steps[name] = self._find_step(state, name) if self.nexts[state] & self._bits.get(name, 0) else 0
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
        return frozenset(name for name in self._owners if self.nexts[state] & self._bits[name])

    def may_end(self, state: State) -> bool:
        """Whether nothing more need be run."""
        return self.ends[state]

    def _number(self, positions: Iterable[Position]) -> State:
        """The number of the state with these positions, a new one if there is none."""
        found = frozenset(positions)
        if len(found) == 1:
            return self._number_one(*found)
        if found not in self._numbers:
            if len(found) > MOST_LEFT:
                raise ToolError(f"the process model can be read in over {MOST_LEFT} ways; name each phase once")
            nexts, ends = zip(*map(self._look_ahead, found), strict=True)
            self._add(found, tuple(found), reduce(or_, nexts), any(ends))
        return self._numbers[found]

    def _number_one(self, position: Position) -> State:
        """The number of the state with this position alone, a new one if there is none."""
        if position not in self._numbers:
            self._add(position, (position,), *self._look_ahead(position))
        return self._numbers[position]

    def _add(self, key: Position | frozenset[Position], positions: tuple[Position, ...], nexts: int, may_end: bool
             ) -> None:
        self._numbers[key] = len(self._positions)
        self._positions.append(positions)
        self.nexts.append(nexts)
        self.ends.append(may_end)
        self.steps.append({})

    def _begin(self) -> Position:
        if self._operator == "parallel":
            return tuple(part.start for part in self._parts)
        return _BEFORE if self._operator == "exclusive" else (0, self._parts[0].start)

    def _find_step(self, state: State, name: str) -> State:
        owners, positions = self._owners[name], self._positions[state]
        if self._is_definite:
            return self._number_one(self._move(positions[0], owners[0], name))
        if self._operator == "parallel":
            return self._number((*states[:number], after, *states[number + 1:]) for states in positions
                                for number in owners if (after := self._parts[number].step(states[number], name)))
        return self._number((number, after) for position in positions for number, here in self._list_ways(position)
                            if (after := self._parts[number].step(here, name)))

    def _move(self, position: Position, owner: int, name: str) -> Position:
        """The position after a phase that only this child has."""
        part = self._parts[owner]
        if self._operator == "parallel":
            return (*position[:owner], part.step(position[owner], name), *position[owner + 1:])
        return owner, part.step(position[1] if position[0] == owner else part.start, name)

    def _list_ways(self, position: Position) -> list[Position]:
        """The children that the next phase may be of, each with the state in which it is read."""
        number, state = position
        if number < 0:
            return [(way, part.start) for way, part in enumerate(self._parts)]
        begin = number
        found = [position]
        while self._parts[number].ends[state] and (number := self._next_to(number)) >= 0:
            state = self._parts[number].start
            found.append((number, state))
            if number == begin:
                break
        return found

    def _next_to(self, number: int) -> int:
        """The child that begins where this one ends; -1 if there is none."""
        if self._operator == "loop":
            return 1 - number
        return number + 1 if self._operator == "sequence" and number + 1 < len(self._parts) else -1

    def _list_afters(self) -> list[tuple[int, bool]]:
        """By child: what may be run next where it has ended, and whether nothing need be."""
        begins = [(part.nexts[part.start], part.ends[part.start]) for part in self._parts]
        if self._operator == "loop":
            (body, is_body_silent), (redo, is_redo_silent) = begins
            return [(redo | body * is_redo_silent, True), (body | redo * is_body_silent, is_body_silent)]
        afters = [(0, True)]
        for first, is_silent in reversed(begins[1:] if self._operator == "sequence" else ()):
            nexts, may_end = afters[-1]
            afters.append((first | nexts * is_silent, may_end and is_silent))
        return afters[::-1] if self._operator == "sequence" else afters * len(begins)

    def _look_ahead(self, position: Position) -> tuple[int, bool]:
        """What may be run next, and whether nothing need be."""
        if self._operator == "parallel":
            nexts, may_end = 0, True
            for part, state in zip(self._parts, position, strict=True):
                nexts |= part.nexts[state]
                may_end = may_end and part.ends[state]
            return nexts, may_end
        number, state = position
        if number < 0:
            firsts = (part.nexts[part.start] for part in self._parts)
            return reduce(or_, firsts), any(part.ends[part.start] for part in self._parts)
        part = self._parts[number]
        nexts, may_end = self._afters[number] if part.ends[state] else (0, False)
        return part.nexts[state] | nexts, may_end
