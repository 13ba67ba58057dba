"""What holds before each turn of a summarised loop: it is guessed, and kept where one turn does not break it, as
`invariants.py` does for scans. Among it is how far a variable can have come in so many turns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import z3

from chatdev.tools.plc.proof.cone import REALS, Symbols
from chatdev.tools.plc.proof.invariants import guess_bounds, keep_holding
from chatdev.tools.plc.proof.loop_summary import TURNS, Carried, LoopSummary, is_signed, widen
from chatdev.tools.plc.proof.search import Budget
from chatdev.tools.plc.proof.terms import BOOL, both, either, is_known, lift, negate, wrap
from chatdev.tools.plc.st.core import Scalar

_NUMBERS = ("int", "time", "enum", "bits")
_MOST_GUESSES = 200  # of one kind
_MOST_COMPARED = 8  # variables, with each other
_MOST_CONSTANTS = 8  # of one variable
_MOST_STEPS = 6  # that a number is guessed to make at most in a turn
_LONGEST_STEP = 1 << 15
_MOST_NODES = 2000  # of a term, among which numbers are looked for
_SECONDS = 5.0  # that the facts of all loops may take


@dataclass
class LoopFacts:
    """What holds before each turn of the summarised loops of a scan, found when it is asked for. Earlier loops come
    first; `given` is known of the inputs."""

    loops: Sequence[LoopSummary]
    given: Sequence[Any]
    symbols: Symbols
    _found: list[Any] = field(default_factory=list)
    _left: float = _SECONDS

    def of(self, number: int) -> Any:
        """The facts of a loop, as something that holds in every scan."""
        while len(self._found) <= number:
            budget = Budget(self._left)
            self._found.append(self._find(self.loops[len(self._found)], budget))
            self._left = budget.left
        return self._found[number]

    def _find(self, loop: LoopSummary, budget: Budget) -> Any:
        """That where the loop is come to, behind all loops before it, there is a head that the facts are true of: so
        they may be required even of a scan that a fault ends elsewhere."""
        before = self.loops[:len(self._found) - len(loop.inner)]
        reached = z3.And(lift(loop.guard, BOOL), *(one.completed for one in before))
        goes_on = both(loop.begins, negate(either(loop.leaves, *loop.stops)))
        known = [reached, *self.given, *self._found]
        turn = [*known, *(one.completed for one in loop.inner), lift(goes_on, BOOL)]
        kinds = [list(zip(*(_GUESSES[kind](loop, _Moment(loop, when)) for when in (0, 1, 2)), strict=True))
                 for kind in _GUESSES]
        kept: list[Any] = []
        for guesses in (*kinds, kinds[0]):
            some = guesses[:_MOST_GUESSES]
            held = keep_holding(self._solver(known), [(z3.BoolVal(True), entry) for entry, _, _ in some],
                                Budget(budget.left / 4))
            some = [some[number] for number in held]
            held = keep_holding(self._solver([*turn, *kept]), [(head, behind) for _, head, behind in some],
                                Budget(budget.left / 4))
            kept += [some[number][1] for number in held]
        return z3.Implies(reached, z3.And(kept))

    def _solver(self, known: Sequence[Any]) -> Any:
        has_reals = any(REALS in self.symbols.of(term) for term in known)
        solver = z3.SolverFor("QF_FPBV" if has_reals else "QF_BV")
        solver.add(*known)
        return solver


class _Moment:
    """The values of a loop's variables when its summarised turns begin (0), before the turn (1) or behind it (2)."""

    def __init__(self, loop: LoopSummary, when: int) -> None:
        self._when = when
        self.made = (z3.BitVecVal(0, TURNS.bits), loop.turns - loop.first, loop.turns + 1 - loop.first)[when]
        """How many turns were made meanwhile."""
        self.distances = [(distance[0], distance[when]) for distance in loop.distances]

    def __call__(self, one: Carried) -> Any:
        return lift((one.entry, one.head, one.next)[self._when], one.type)


def _guess_ways(loop: LoopSummary, now: _Moment) -> Iterator[Any]:
    """How far a variable is from what it was: exactly so many steps, in one direction, not at all; and that each turn
    brings what is compared closer."""
    for entry, distance in now.distances:
        yield distance + _count(now.made, distance) <= entry
    for one in loop.plain:
        entry = lift(one.entry, one.type)
        if one.type.kind == "bool":
            yield from (z3.Implies(now(one), entry), z3.Implies(entry, now(one)))
            continue
        yield now(one) == entry
        if one.type.kind not in _NUMBERS:
            continue
        step = z3.simplify(lift(one.next, one.type) - one.head)
        if z3.is_bv_value(step):
            yield now(one) == entry + step * _fit(now.made, one.type.bits)
        yield from (_at_most(entry, now(one), one.type), _at_most(now(one), entry, one.type))


def _guess_steps(loop: LoopSummary, now: _Moment) -> Iterator[Any]:
    """How far a number can come in each turn."""
    limits = _numbers_in(z3.And(lift(loop.guard, BOOL), lift(loop.begins, BOOL)))
    for one in _numbers_of(loop.plain):
        way = widen(now(one), one.type) - widen(one.entry, one.type)
        steps = {abs(number) for number in (1, *_constants(one), *limits)}
        for most in sorted(step for step in steps if 0 < step < _LONGEST_STEP)[:_MOST_STEPS]:
            far = _count(now.made, way) * most
            yield from (way <= far, way >= -far)


def _guess_bounds(loop: LoopSummary, now: _Moment) -> Iterator[Any]:
    """What a number never leaves, and of two the smaller one."""
    for one in _numbers_of(loop.plain):
        yield now(one) != 0
        yield from guess_bounds(now(one), one.type, _constants(one)[:_MOST_CONSTANTS])
    for one, other in combinations(_numbers_of(loop.plain)[:_MOST_COMPARED], 2):
        if one.type == other.type:
            yield from (_at_most(now(one), now(other), one.type), _at_most(now(other), now(one), one.type))


def _guess_elements(loop: LoopSummary, now: _Moment) -> Iterator[Any]:
    """What the elements of arrays never leave."""
    for one in _numbers_of(loop.elements):
        yield from guess_bounds(now(one), one.type, _constants(one)[:_MOST_CONSTANTS])


_GUESSES = {"ways": _guess_ways, "steps": _guess_steps, "bounds": _guess_bounds, "elements": _guess_elements}


def _numbers_of(some: Sequence[Carried]) -> list[Carried]:
    return [one for one in some if one.type.kind in _NUMBERS]


def _at_most(one: Any, other: Any, type_: Scalar) -> Any:
    return one <= other if is_signed(type_) else z3.ULE(one, other)


def _count(turns: Any, like: Any) -> Any:
    """A number of turns in as many bits as another number."""
    return z3.ZeroExt(like.size() - TURNS.bits, turns)


def _fit(count: Any, bits: int) -> Any:
    return z3.Extract(bits - 1, 0, count) if bits <= TURNS.bits else z3.SignExt(bits - TURNS.bits, count)


def _constants(one: Carried) -> list[int]:
    """The numbers of its type in what it becomes, the smallest first, and the bounds of a subrange."""
    found = {0, one.entry} if is_known(one.entry) else {0}
    found |= {bound for bound in (one.type.low, one.type.high) if bound is not None}
    found |= {wrap(number, one.type) for number in _numbers_in(lift(one.next, one.type), one.type.bits)}
    return sorted(found, key=lambda number: (abs(number), number))


def _numbers_in(term: Any, bits: int = 0) -> set[int]:
    """The numbers in a term, of a width if it is given."""
    found, seen, waiting = set[int](), set[int](), [term]
    while waiting and len(seen) < _MOST_NODES:
        node = waiting.pop()
        if node.get_id() in seen:
            continue
        seen.add(node.get_id())
        if z3.is_bv_value(node) and bits in (0, node.size()):
            found.add(node.as_signed_long())
        waiting.extend(node.children())
    return found
