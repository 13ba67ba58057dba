"""The cone of influence: only what a question depends on is given to the solver."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import z3

from chatdev.departments.plc.proof.terms import BOOL, Term, is_known, lift, symbol
from chatdev.departments.plc.proof.transition import Transition
from chatdev.departments.plc.st.core import Scalar, Value

REALS = "$reals"
"""Stands among the symbols of a term for the floating point in it."""


@dataclass(frozen=True)
class System:
    """What a question depends on: states with what they begin with and become, inputs, what holds in every scan, and
    what holds in one that comes to its end (`passed`); `loops` are the numbers of the summarised loops among it."""

    states: Mapping[str, Scalar]
    start: Mapping[str, Value]
    next: Mapping[str, Any]
    inputs: Mapping[str, Scalar]
    always: tuple[Any, ...]
    passed: tuple[Any, ...]
    loops: frozenset[int]
    has_reals: bool
    """Whether floating point is among it, be it within an expression only."""


class Symbols:
    """Which symbols are in an expression; every node is looked at once."""

    def __init__(self) -> None:
        self._found: dict[int, int] = {}
        self._bits: dict[str, int] = {}
        self._names: list[str] = []
        self._alive: list[Any] = []

    def of(self, term: Term) -> set[str]:
        """The names of the symbols in a term."""
        if is_known(term):
            return set()
        mask = self._mask(term)
        return {name for bit, name in enumerate(self._names) if mask >> bit & 1}

    def _mask(self, root: Any) -> int:
        self._alive.append(root)  # numbers of nodes are used again when nodes are gone
        stack = [root]
        while stack:
            node = stack[-1]
            key = node.get_id()
            if key in self._found:
                stack.pop()
                continue
            children = node.children()
            waiting = [child for child in children if child.get_id() not in self._found]
            if waiting:
                stack.extend(waiting)
                continue
            mask = self._own(node)
            for child in children:
                mask |= self._found[child.get_id()]
            self._found[key] = mask
            stack.pop()
        return self._found[root.get_id()]

    def _own(self, node: Any) -> int:
        mask = self._bit(REALS) if z3.is_fp(node) else 0
        if z3.is_const(node) and node.decl().kind() == z3.Z3_OP_UNINTERPRETED:
            mask |= self._bit(node.decl().name())
        return mask

    def _bit(self, name: str) -> int:
        if name not in self._bits:
            self._bits[name] = 1 << len(self._names)
            self._names.append(name)
        return self._bits[name]


def cut(transition: Transition, symbols: Symbols, roots: Iterable[Term], monitors: Mapping[str, Term],
        assumed: Sequence[Term], facts: Callable[[int], Any], all_loops: bool = True) -> System:
    """The part of a transition that `roots` depend on, with what is assumed of each scan that comes to its end, and all
    summarised loops or those among that part; `facts` are about a loop by its number. Monitors are truth values that
    begin as FALSE and become the given terms."""
    scalars = dict(transition.states) | dict.fromkeys(monitors, BOOL)
    following = {**transition.next, **{name: lift(term, BOOL) for name, term in monitors.items()}}
    needed = _gather(symbols, following, (*roots, *assumed, *monitors.values())) | set(monitors)
    within: set[int] = set()
    while found := _loops_of(transition, None if all_loops else needed) - within:
        within |= found
        needed |= _gather(symbols, following, (*map(facts, found), *_ends_of(transition, found)))
    states, inputs = _among(needed, scalars), _among(needed, transition.inputs)
    limits = filter(lambda limit: symbols.of(limit) <= needed, transition.limits)
    start = {name: transition.start.get(name, False) for name in states}
    numbers = sorted(within)
    ends = [*(lift(term, BOOL) for term in assumed), *_ends_of(transition, numbers)]
    return System(states, start, {name: following[name] for name in states}, inputs, (*limits, *map(facts, numbers)),
                  tuple(ends), frozenset(within), REALS in needed)


def _ends_of(transition: Transition, numbers: Iterable[int]) -> list[Any]:
    """That summarised loops come to an end."""
    return [transition.loops[number].completed for number in numbers]


def _loops_of(transition: Transition, names: set[str] | None) -> set[int]:
    """The numbers of the summarised loops that symbols come from; without names, of all."""
    return {number for number, loop in enumerate(transition.loops) if names is None or loop.symbols & names}


def _among(names: set[str], scalars: Mapping[str, Scalar]) -> dict[str, Scalar]:
    return {name: scalar for name, scalar in scalars.items() if name in names}


def _gather(symbols: Symbols, following: Mapping[str, Any], roots: Iterable[Term]) -> set[str]:
    """The symbols in terms, and in what the states among them become."""
    needed: set[str] = set()
    waiting = set().union(*(symbols.of(term) for term in roots))
    while waiting:
        name = waiting.pop()
        needed.add(name)
        if name in following:
            waiting |= symbols.of(following[name]) - needed
    return needed


def start_of(system: System) -> list[Any]:
    """That the states have the values that they begin with."""
    return [symbol(name, scalar) == lift(system.start[name], scalar) for name, scalar in system.states.items()]
