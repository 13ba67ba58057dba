"""A program as a transition relation: what every scalar is after a scan, as terms over state and inputs before it.

In every scan VAR_INPUT and VAR_IN_OUT of the entry are fresh (REAL inputs are finite, enumerations one of their
values), everything else keeps its value; the time since the scan before is 1 to 1000 ms unless it is given.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import z3

from chatdev.departments.plc.proof import terms
from chatdev.departments.plc.proof.symbolic_scan import SymbolicScan
from chatdev.departments.plc.proof.symbolic_values import (
    Fault,
    LoopSummary,
    entry_variables,
    refuse_too_large,
    scalars_of,
    values_of,
)
from chatdev.departments.plc.proof.terms import Term, either, is_known, lift, symbol
from chatdev.departments.plc.st.core import MOST_TURNS, Expression, Program, Scalar, Span, Type, Value, assertions_of
from chatdev.departments.plc.st.instances import ID

CYCLE = "$cycle"
"""The path of the time since the scan before."""
_TIME = Scalar("TIME", "time", 32)
_ROUNDS = 8  # of constant propagation, after which all that is written is taken for changing
_FRESH = ("input", "in_out")


@dataclass(frozen=True)
class Obligation:
    """What must not happen at run time, at one place of the source; `violated` says when it does. `faults` are the
    times at which it may, each with its position among all of the scan; so many summarised `loops` end before.
    `reached` is False for an assertion that no run comes to."""

    kind: str
    span: Span
    text: str
    faults: tuple[tuple[int, Term], ...] = ()
    loops: int = 0
    reached: bool = True

    @property
    def violated(self) -> Term:
        """When it happens."""
        return either(*(term for _, term in self.faults))

    @property
    def parameters(self) -> tuple[str, str, str]:
        """Kind, place and text, as a property that asks for it has them."""
        return self.kind, str(self.span), self.text


@dataclass(frozen=True)
class Transition:
    """One scan. `begin` and `end` are the values of all scalars before and after it, by their paths; states are those
    that keep their value and are not constant."""

    program: Program
    inputs: Mapping[str, Scalar]
    states: Mapping[str, Scalar]
    start: Mapping[str, Value]
    begin: Mapping[str, Term]
    end: Mapping[str, Term]
    types: Mapping[str, Scalar]
    frame: Mapping[str, tuple[str, Type]]
    limits: tuple[Any, ...]
    obligations: tuple[Obligation, ...]
    loops: tuple[LoopSummary, ...] = ()

    @cached_property
    def next(self) -> dict[str, Any]:
        """The states after the scan."""
        return {path: lift(self.end[path], scalar) for path, scalar in self.states.items()}

    def value(self, expression: Expression, at: Mapping[str, Term]) -> tuple[Term, Term]:
        """An expression over the variables of the entry, in `begin` or `end`, and when it has no value (an index
        outside of its array, a divisor of 0)."""
        values = SymbolicScan(self.program, True)
        values.begin()
        values.state |= at
        values.types |= self.types
        values.frame = dict(self.frame)
        term = values.value(expression)
        return term, either(*(fault.term for fault in values.faults if fault.kind != "assertion"))


@dataclass(frozen=True)
class ScanRules:
    """What a scan is taken for: the time since the one before, whether integers may not overflow, how many turns of a
    loop are no fault, and whether loops are summarised of which it is not seen that they make few turns."""

    cycle_ms: int | None = None
    watch_overflow: bool = False
    most_turns: int = MOST_TURNS
    summarises: bool = False


def build_transition(program: Program, rules: ScanRules = ScanRules()) -> Transition:
    """Execute one scan over terms. Raises TooLarge and Inexpressible, and TooLong where no loops are summarised.

    Constants are found by trying: everything begins as its initial value, what a scan changes is given up, and so on
    until nothing changes any more. What is left is constant in every run.
    """
    refuse_too_large(program)
    changing: set[str] = set()
    open_loops: set[tuple[Span, ...]] | None = set() if rules.summarises else None
    for round_ in range(10_000):
        scan, kept = _prepare(program, changing, rules)
        scan.open_loops = open_loops
        before = dict(scan.state)
        scan.run(program.entry.body)
        found = {path for path in kept if not terms.is_same(scan.state[path], before[path])} - changing
        if not found:
            return _transition(program, scan, before, changing)
        changing |= found if round_ < _ROUNDS else scan.written.intersection(kept)
    raise AssertionError("every round adds to a finite set")


def _prepare(program: Program, changing: set[str], rules: ScanRules) -> tuple[SymbolicScan, list[str]]:
    """A scan that is about to begin, and the paths that keep their values."""
    cycle = symbol(CYCLE, _TIME) if rules.cycle_ms is None else rules.cycle_ms
    scan = SymbolicScan(program, cycle, rules.watch_overflow)
    scan.most_turns = rules.most_turns
    scan.begin()
    kept: list[str] = []
    for variable in entry_variables(program):
        initial = dict(values_of(program, variable.type, variable.initial, variable.name))
        for path, scalar in scalars_of(program, variable.type, variable.name):
            scan.types[path] = scalar
            is_open = (variable.section in _FRESH and not path.endswith(f".{ID}")) or path in changing
            scan.state[path] = symbol(path, scalar) if is_open else initial[path]
            if variable.section in ("output", "local"):
                kept.append(path)
        scan.frame[variable.name] = (variable.name, variable.type)
    scan.inputs = _inputs(program, rules)
    scan.given = tuple(limit for path, scalar in scan.inputs.items() for limit in _limits(path, scalar))
    return scan, kept


def _inputs(program: Program, rules: ScanRules) -> dict[str, Scalar]:
    """What is fresh in every scan."""
    found: dict[str, Scalar] = {} if rules.cycle_ms is not None else {CYCLE: _TIME}
    for variable in entry_variables(program):
        if variable.section in _FRESH:
            found |= {path: scalar for path, scalar in scalars_of(program, variable.type, variable.name)
                      if not path.endswith(f".{ID}")}
    return found


def _transition(program: Program, scan: SymbolicScan, begin: dict[str, Term], changing: set[str]) -> Transition:
    start: dict[str, Value] = {}
    for variable in entry_variables(program):
        start |= values_of(program, variable.type, variable.initial, variable.name)
    states = {path: scan.types[path] for path in begin if path in changing}
    return Transition(program, {**scan.inputs, **scan.unknowns}, states, {path: start[path] for path in states}, begin,
                      dict(scan.state), dict(scan.types), dict(scan.frame), tuple(scan.given),
                      _gather(program, scan.faults), tuple(scan.loops))


def _limits(path: str, scalar: Scalar) -> list[Any]:
    """What is known of an input."""
    one = symbol(path, scalar)
    if path == CYCLE:
        return [one >= 1, one <= 1000]
    if scalar.kind == "real":
        return [z3.Not(z3.Or(z3.fpIsNaN(one), z3.fpIsInf(one)))]
    if scalar.kind == "enum" and scalar.names:
        return [z3.Or([one == number for number in _numbers(scalar)])]
    if scalar.low is not None and scalar.high is not None:
        return [one >= scalar.low, one <= scalar.high] if scalar.signed else \
            [z3.UGE(one, scalar.low), z3.ULE(one, scalar.high)]
    return []


def _numbers(enumeration: Scalar) -> list[int]:
    """Those that stand for one of its values."""
    return [number for number, name in enumerate(enumeration.names, enumeration.low or 0) if name]


def _gather(program: Program, faults: list[Fault]) -> tuple[Obligation, ...]:
    """Faults of one kind at one place (in the turns of a loop, and in several calls) as one obligation; assertions that
    no run comes to are among them."""
    found: dict[tuple[Any, ...], list[tuple[int, Fault]]] = {}
    for number, fault in enumerate(faults):
        found.setdefault((fault.kind, fault.span, fault.text), []).append((number, fault))
    reached = tuple(Obligation(kind, span, text, tuple((number, fault.term) for number, fault in group
                                                       if not is_known(fault.term) or fault.term),
                               min(fault.loops for _, fault in group))
                    for (kind, span, text), group in found.items())
    dead = (one for one in assertions_of(program) if ("assertion", one.span, one.name) not in found)
    return reached + tuple(Obligation("assertion", one.span, one.name, reached=False) for one in dead)


def is_constant(transition: Transition, path: str) -> bool:
    """Whether a scalar has the same known value in every run."""
    return path not in transition.states and path not in transition.inputs and is_known(transition.end[path])
