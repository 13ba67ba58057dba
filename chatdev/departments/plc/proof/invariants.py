"""Facts found by Houdini, after every scan and before each turn of a summarised loop: many are guessed, those that a
scan or a turn can break are dropped, and so on until the rest holds together. They make inductive what alone is not."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations, islice
from typing import Any

import z3

from chatdev.departments.plc.proof.search import REALS, Budget, Symbols, System, solver_for
from chatdev.departments.plc.proof.symbolic_values import TURNS, Carried, LoopSummary, is_signed, widen
from chatdev.departments.plc.proof.terms import BOOL, either, is_known, lift, negate, symbol, wrap
from chatdev.departments.plc.st.core import Scalar

_MOST_CONSTANTS = 16  # that a state variable may be one of
_MOST_PAIRED = 24  # variables, of each kind that is compared
_MOST_GUESSES = 4000


def find_invariants(system: System, budget: Budget) -> list[Any]:
    """Facts over the states that hold at first and after every scan; none if time does not suffice."""
    guesses = _true_at_first(system, list(_guess(system))[:_MOST_GUESSES])
    if not guesses:
        return []
    solver = solver_for(system)
    solver.add(*system.always, *system.passed)
    renaming = [(symbol(name, scalar), system.next[name]) for name, scalar in system.states.items()]
    kept = keep_holding(solver, [(guess, z3.substitute(guess, *renaming)) for guess in guesses], budget)
    return [guesses[number] for number in kept]


def keep_holding(solver: Any, guesses: Sequence[tuple[Any, Any]], budget: Budget) -> list[int]:
    """The numbers of all guesses, given as they are before and behind a step, that hold behind it where they all hold
    before; none if time does not suffice. The solver knows the step."""
    for number, (before, after) in enumerate(guesses):
        solver.add(z3.Implies(_assumption(number), before), _consequence(number) == after)
    left = list(range(len(guesses)))
    while left:
        answer, held = _hold_again(solver, left, budget)
        if answer != "sat":
            return left if answer == "unsat" else []
        left = held
    return []


def _assumption(number: int) -> Any:
    return z3.Bool(f"$before{number}")


def _consequence(number: int) -> Any:
    return z3.Bool(f"$after{number}")


def _hold_again(solver: Any, left: list[int], budget: Budget) -> tuple[str, list[int]]:
    """Whether a step breaks one of the guesses that are left ("unsat": none), and which hold behind that step."""
    solver.push()
    solver.add(z3.Or([z3.Not(_consequence(number)) for number in left]))
    answer = budget.check(solver, *map(_assumption, left))
    model = solver.model() if answer == "sat" else None
    solver.pop()
    if model is None:
        return answer, []
    return answer, [number for number in left if z3.is_true(model.eval(_consequence(number), model_completion=True))]


def _true_at_first(system: System, guesses: list[Any]) -> list[Any]:
    start = [(symbol(name, scalar), lift(system.start[name], scalar)) for name, scalar in system.states.items()]
    return [guess for guess in guesses if z3.is_true(z3.simplify(z3.substitute(guess, *start)))]


def _guess(system: System) -> Iterator[Any]:
    numbers = {name: scalar for name, scalar in system.states.items() if scalar.kind in _NUMBERS}
    truths = [symbol(name, scalar) for name, scalar in system.states.items() if scalar.kind == "bool"]
    limits = {name: _constants(system, name, scalar) for name, scalar in numbers.items()}
    for name, scalar in numbers.items():
        yield from guess_bounds(symbol(name, scalar), scalar, limits[name])
    yield from _guess_implications(truths, [symbol(name, scalar) != lift(constant, scalar)
                                            for name, scalar in list(numbers.items())[:_MOST_PAIRED]
                                            for constant in limits[name][:_MOST_CONSTANTS]])
    yield from _guess_sums(system, numbers)


def _guess_implications(truths: list[Any], differences: list[Any]) -> Iterator[Any]:
    """Between truth values, and from a number's being a constant to a truth value."""
    literals = [literal for truth in truths for literal in (truth, z3.Not(truth))]
    yield from literals
    few = literals[:2 * _MOST_PAIRED]
    yield from (z3.Or(one, other) for one, other in combinations(few, 2))
    yield from (z3.Or(differs, literal) for differs in differences for literal in few)


def guess_bounds(one: Any, scalar: Scalar, constants: Sequence[int]) -> Iterator[Any]:
    """That a number is one of these, or not beyond one of them."""
    if 0 < len(constants) <= _MOST_CONSTANTS:
        yield z3.Or([one == lift(constant, scalar) for constant in constants])
    at_most, at_least = (lambda a, b: a <= b, lambda a, b: a >= b) if scalar.signed and scalar.kind != "bits" \
        else (z3.ULE, z3.UGE)
    reachable = (number for constant in constants for number in (constant, constant - 1))  # x MOD 10 is 9 at the most
    for constant in sorted({0, *filter(lambda number: wrap(number, scalar) == number, reachable)}):
        yield at_most(one, lift(constant, scalar))
        yield at_least(one, lift(constant, scalar))


def _guess_sums(system: System, numbers: dict[str, Scalar]) -> Iterator[Any]:
    """Of two variables of one type: their sum, their difference, and which is the greater."""
    for (name, scalar), (other, second) in combinations(list(numbers.items())[:_MOST_PAIRED], 2):
        if scalar.bits != second.bits or scalar.signed != second.signed:
            continue
        one, two = symbol(name, scalar), symbol(other, second)
        start = lift(system.start[name], scalar), lift(system.start[other], second)
        yield one + two == z3.simplify(start[0] + start[1])
        yield one - two == z3.simplify(start[0] - start[1])
        if scalar.signed:
            yield from (one <= two, two <= one)


def _constants(system: System, name: str, scalar: Scalar) -> list[int]:
    """The numbers in what a variable becomes, with those around them: where it is assigned them or compared with."""
    found = {system.start[name]}
    waiting: list[Any] = [system.next[name]]
    seen: set[int] = set()
    while waiting and len(seen) < 3000:
        node = waiting.pop()
        if node.get_id() in seen:
            continue
        seen.add(node.get_id())
        if z3.is_bv_value(node):
            number = node.as_signed_long() if scalar.signed and scalar.kind != "bits" else node.as_long()
            found |= {number} if wrap(number, scalar) == number else set()
        waiting.extend(node.children())
    return sorted(found, key=lambda number: (abs(number), number))[:4 * _MOST_CONSTANTS]


# What holds before each turn of a summarised loop: it is guessed, and kept where one turn does not break it, as
# `invariants.py` does for scans. Among it is how far a variable can have come in so many turns.

_NUMBERS = ("int", "time", "enum", "bits", "opaque")
_MOST_LOOP_GUESSES = 200  # of one kind
_MOST_ELEMENTS = 16  # of arrays, of which something is guessed
_MOST_COMPARED = 8  # variables, with each other
_MOST_LOOP_CONSTANTS = 8  # of one variable
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
                kept.add(list(islice(zip(*moments, strict=True), _MOST_LOOP_GUESSES)), known)
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
        steps = {abs(number) for number in (*_loop_constants(one), *limits)}
        for most in sorted(step for step in steps if 1 < step < _LONGEST_STEP)[:_MOST_STEPS]:
            far = _count(now.made, way) * most
            yield from (way <= far, way >= -far)


def _guess_bounds(_loop: LoopSummary, some: Sequence[Carried], now: _Moment) -> Iterator[Any]:
    """What a number never leaves, and of two the smaller one."""
    for one in _numbers_of(_plain(some)):
        yield now(one) != 0
        yield from guess_bounds(now(one), one.type, _loop_constants(one)[:_MOST_LOOP_CONSTANTS])
    for one, other in combinations(_numbers_of(_plain(some))[:_MOST_COMPARED], 2):
        if one.type == other.type:
            yield from (_at_most(now(one), now(other), one.type), _at_most(now(other), now(one), one.type))


def _guess_elements(_loop: LoopSummary, some: Sequence[Carried], now: _Moment) -> Iterator[Any]:
    """What the elements of arrays never leave."""
    elements = [one for one in some if "[" in one.name]
    for one in _numbers_of(elements) if len(elements) <= _MOST_ELEMENTS else ():
        yield from guess_bounds(now(one), one.type, _loop_constants(one)[:_MOST_LOOP_CONSTANTS])


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


def _loop_constants(one: Carried) -> list[int]:
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
