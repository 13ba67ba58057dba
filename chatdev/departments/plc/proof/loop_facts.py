"""What holds before each turn of a summarised loop: it is guessed, and kept where one turn does not break it, as
`invariants.py` does for scans. Among it is how far a variable can have come in so many turns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations, islice
from typing import Any

import z3

from chatdev.departments.plc.proof.invariants import guess_bounds, keep_holding
from chatdev.departments.plc.proof.loop_summary import TURNS, Carried, LoopSummary, is_signed, widen
from chatdev.departments.plc.proof.search import REALS, Budget, Symbols
from chatdev.departments.plc.proof.terms import BOOL, either, is_known, lift, negate, wrap
from chatdev.departments.plc.st.core import Scalar

_NUMBERS = ("int", "time", "enum", "bits")
_MOST_GUESSES = 200  # of one kind
_MOST_ELEMENTS = 16  # of arrays, of which something is guessed
_MOST_COMPARED = 8  # variables, with each other
_MOST_CONSTANTS = 8  # of one variable
_MOST_STEPS = 6  # that a number is guessed to make at most in a turn
_LONGEST_STEP = 1 << 15
_MOST_NODES = 2000  # of a term, among which numbers are looked for
_SECONDS, _SECONDS_OF_ONE = 10.0, 3.0  # that the facts of all loops, and of one, may take


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
            budget = Budget(min(self._left, _SECONDS_OF_ONE))
            self._found.append(self._find(self.loops[len(self._found)], budget))
            self._left -= min(self._left, _SECONDS_OF_ONE) - budget.left
        return self._found[number]

    def _find(self, loop: LoopSummary, budget: Budget) -> Any:
        """That where the loop is come to, behind all loops before it, there is a head that the facts are true of: so
        they may be required even of a scan that a fault ends elsewhere."""
        before = self.loops[:len(self._found) - len(loop.inner)]
        reached = z3.And(lift(loop.guard, BOOL), *(one.completed for one in before))
        goes_on = negate(either(loop.leaves, *loop.stops))
        within = set().union(*(one.symbols for one in loop.inner))
        simple = [one for one in loop.carried if not self.symbols.of(one.next) & within]
        begins = [lift(loop.guard, BOOL), *self.given, lift(loop.begins, BOOL)]
        turn = [*begins, reached, *self._found, *(one.completed for one in loop.inner), lift(goes_on, BOOL)]
        kept = _Kept(self._solver, [reached, *self.given, *self._found], budget)
        for known, some in ((begins, simple), (turn, loop.carried)):
            for guess in _KINDS:
                moments = (guess(loop, some, _Moment(loop, when)) for when in (0, 1, 2))
                kept.add(list(islice(zip(*moments, strict=True), _MOST_GUESSES)), known)
        return z3.Implies(reached, z3.And(*kept.facts.values()))

    def _solver(self, known: Sequence[Any]) -> Any:
        has_reals = any(REALS in self.symbols.of(term) for term in known)
        solver = z3.SolverFor("QF_FPBV" if has_reals else "QF_BV")
        solver.add(*known)
        return solver


class _Kept:
    """Facts by their numbers in the solver: what holds when the turns begin, where that is `reached`, and is not broken
    by a turn."""

    def __init__(self, make_solver: Callable[[Sequence[Any]], Any], reached: Sequence[Any], budget: Budget) -> None:
        self.facts: dict[int, Any] = {}
        self._make_solver = make_solver
        self._reached = reached
        self._budget = budget

    def add(self, guesses: Sequence[tuple[Any, Any, Any]], turn: Sequence[Any]) -> None:
        """Those of the guesses, each said of the three moments, that hold, where this is known of a turn."""
        some = [one for one in guesses if one[1].get_id() not in self.facts]
        begun = self._hold(self._reached, [(z3.BoolVal(True), entry) for entry, _, _ in some])
        some = [some[number] for number in begun]
        held = self._hold([*turn, *self.facts.values()], [(head, behind) for _, head, behind in some])
        self.facts |= {some[number][1].get_id(): some[number][1] for number in held}

    def _hold(self, known: Sequence[Any], steps: Sequence[tuple[Any, Any]]) -> list[int]:
        return keep_holding(self._make_solver(known), steps, Budget(self._budget.left / 4)) if steps else []


class _Moment:
    """The values of a loop's variables when its summarised turns begin (0), before the turn (1) or behind it (2)."""

    def __init__(self, loop: LoopSummary, when: int) -> None:
        self._when = when
        self.made = (z3.BitVecVal(0, TURNS.bits), loop.turns - loop.first, loop.turns + 1 - loop.first)[when]
        """How many turns were made meanwhile."""
        self.distances = [(distance[0], distance[when]) for distance in loop.distances]

    def __call__(self, one: Carried) -> Any:
        return lift((one.entry, one.head, one.next)[self._when], one.type)


def _guess_ways(loop: LoopSummary, some: Sequence[Carried], now: _Moment) -> Iterator[Any]:
    """How far a variable is from what it was: exactly so many steps, in one direction, not at all; and that each turn
    brings what is compared closer."""
    for entry, distance in now.distances:
        yield distance + _count(now.made, distance) <= entry
    for one in _plain(some):
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


def _guess_counts(_loop: LoopSummary, some: Sequence[Carried], now: _Moment) -> Iterator[Any]:
    """That a number goes no further than one in each turn."""
    for one in _numbers_of(_plain(some)):
        way = widen(now(one), one.type) - widen(one.entry, one.type)
        yield from (way <= _count(now.made, way), way >= -_count(now.made, way))


def _guess_steps(loop: LoopSummary, some: Sequence[Carried], now: _Moment) -> Iterator[Any]:
    """How far a number can go in each turn."""
    limits = _numbers_in(z3.And(lift(loop.guard, BOOL), lift(loop.begins, BOOL)))
    for one in _numbers_of(_plain(some)):
        way = widen(now(one), one.type) - widen(one.entry, one.type)
        steps = {abs(number) for number in (*_constants(one), *limits)}
        for most in sorted(step for step in steps if 1 < step < _LONGEST_STEP)[:_MOST_STEPS]:
            far = _count(now.made, way) * most
            yield from (way <= far, way >= -far)


def _guess_bounds(_loop: LoopSummary, some: Sequence[Carried], now: _Moment) -> Iterator[Any]:
    """What a number never leaves, and of two the smaller one."""
    for one in _numbers_of(_plain(some)):
        yield now(one) != 0
        yield from guess_bounds(now(one), one.type, _constants(one)[:_MOST_CONSTANTS])
    for one, other in combinations(_numbers_of(_plain(some))[:_MOST_COMPARED], 2):
        if one.type == other.type:
            yield from (_at_most(now(one), now(other), one.type), _at_most(now(other), now(one), one.type))


def _guess_elements(_loop: LoopSummary, some: Sequence[Carried], now: _Moment) -> Iterator[Any]:
    """What the elements of arrays never leave."""
    elements = [one for one in some if "[" in one.name]
    for one in _numbers_of(elements) if len(elements) <= _MOST_ELEMENTS else ():
        yield from guess_bounds(now(one), one.type, _constants(one)[:_MOST_CONSTANTS])


def _plain(some: Sequence[Carried]) -> list[Carried]:
    """Without elements of arrays."""
    return [one for one in some if "[" not in one.name]


_KINDS = (_guess_ways, _guess_counts, _guess_bounds, _guess_steps, _guess_elements, _guess_ways)
"""What is guessed, in this order; some ways can only be seen when steps are known."""


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
