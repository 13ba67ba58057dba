"""Facts that hold after every scan, found by Houdini: many are guessed, those that a scan can break are dropped, and so
on until the rest holds together. They make inductive what alone is not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any

import z3

from chatdev.departments.plc.proof.search import Budget, System, solver_for
from chatdev.departments.plc.proof.terms import lift, symbol, wrap
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
    numbers = {name: scalar for name, scalar in system.states.items() if scalar.kind in ("int", "time", "enum", "bits")}
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
