"""One check of one property, as it runs in the child: build the transition, search, replay, look for vacuity."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import z3

from chatdev.isolation.isolate import isolate
from chatdev.tools.plc.proof.cone import Symbols, System, cut
from chatdev.tools.plc.proof.explain import ReplayedRun
from chatdev.tools.plc.proof.flatten import TooLarge
from chatdev.tools.plc.proof.invariants import find_invariants
from chatdev.tools.plc.proof.outcome import RUN_TIME, Limits, Outcome, Property
from chatdev.tools.plc.proof.properties import (
    ASSERTION,
    MONITORS,
    PATTERNS,
    PropertyError,
    Step,
    read_conditions,
)
from chatdev.tools.plc.proof.search import Budget, Found, search
from chatdev.tools.plc.proof.terms import BOOL, Inexpressible, Term, choose, either, is_known, lift, negate, symbol
from chatdev.tools.plc.proof.transition import Obligation, Transition, build_transition
from chatdev.tools.plc.st.core import IEC, Dialect, Expression
from chatdev.tools.plc.st.reading import read_program

_DEPTH = 20_000  # of calls in Python, for long chains of operators
_NO_ASSERT = "the source has no //#ASSERT, so there is nothing to hold"
_NEVER_ASKED = "what it is about never comes up in any run"
_CANNOT_COME_UP = "what it is about cannot come up: its condition contradicts itself"
_UNREACHABLE = "no program can come to it: the condition contradicts itself"
_ALWAYS_TRUE = "it holds whatever the program does"
_IMPOSSIBLE = "no program can satisfy it: the condition contradicts itself"
_NO_VALUE = ("{} has no value in the last scan: an index is outside of its array, or a divisor is 0; say in a "
             "condition before it when it is meant")
_REPEAT = "that something can come about again and again is not decided; ask for its reachability"


class ProofStopped(Exception):
    """The process that reasons was ended; the text says why."""


@contextmanager
def at_work() -> Iterator[None]:
    """Meanwhile the solver's lack of memory is this process's, and chains of operators may be long; other readers of
    this process keep the usual limit, by which they refuse what is nested too deeply."""
    usual = sys.getrecursionlimit()
    sys.setrecursionlimit(_DEPTH)
    try:
        yield
    except z3.Z3Exception as error:
        if "out of memory" in str(error):
            raise MemoryError from error
        raise
    finally:
        sys.setrecursionlimit(usual)


@dataclass
class Model:
    """A program's transition, and what was found out about it on the way."""

    transition: Transition
    cycle_ms: int | None
    symbols: Symbols = field(default_factory=Symbols)
    invariants: dict[tuple[frozenset[str], tuple[int, ...]], list[Any]] = field(default_factory=dict)


@isolate(ProofStopped)
@at_work()
def list_obligations(source: str, entry: str | None, cycle_ms: int | None, limits: Limits, dialect: Dialect = IEC
                     ) -> tuple[Property, ...]:
    """What a program owes at run time, in the order of its execution. Raises ProofStopped."""
    model = model_of(source, entry, cycle_ms, limits.watch_overflow, dialect)
    return tuple(Property(RUN_TIME, (one.kind, str(one.span), one.text)) for one in model.transition.obligations)


@isolate(ProofStopped)
@at_work()
def check_property(source: str, entry: str | None, cycle_ms: int | None, asked: Property, limits: Limits,
                   dialect: Dialect = IEC) -> Outcome:
    """The verdict on one property."""
    began = time.process_time()
    try:
        check = Check(model_of(source, entry, cycle_ms, limits.watch_overflow, dialect), asked, limits)
        outcome = check.decide()
    except (PropertyError, Inexpressible) as error:
        outcome = Outcome(asked, "UNKNOWN", reason=str(error))
    return replace(outcome, seconds=round(time.process_time() - began, 3))


@isolate(ProofStopped)
@at_work()
def doubt_properties(interface: str, entry: str, properties: Sequence[Property]) -> tuple[str, ...]:
    """For each property why it is of no use for programs with this interface (a source without statements), or "".

    Of no use is what names unknown variables or does not fit their types, what holds whatever a program does, and what
    no program can keep. Raises ProofStopped.
    """
    return tuple(_find_nonsense(interface, entry, asked) for asked in properties)


def _find_nonsense(source: str, entry: str, asked: Property) -> str:
    if asked.pattern not in PATTERNS:
        return ""
    try:
        return Check(model_of(source, entry, None, False), asked, Limits()).find_nonsense()
    except (PropertyError, Inexpressible, TooLarge) as error:
        return str(error)


@lru_cache(maxsize=2)
def model_of(source: str, entry: str | None, cycle_ms: int | None, watch_overflow: bool, dialect: Dialect = IEC
             ) -> Model:
    """A program's transition; those of the last two programs are kept. Raises ProofStopped."""
    program = read_program(source, entry, dialect).program
    if program is None:
        raise ProofStopped("the program has errors; check it first")
    try:
        return Model(build_transition(program, cycle_ms, watch_overflow), cycle_ms)
    except TooLarge as error:
        raise ProofStopped(str(error)) from None
    except Inexpressible as error:
        raise ProofStopped(f"the program has a {error}, which the solver does not know; use numbers or an enumeration"
                           ) from None


class Check:
    """One property of one program."""

    def __init__(self, model: Model, asked: Property, limits: Limits) -> None:
        self._model = model
        self._transition = model.transition
        self._asked = asked
        self._limits = limits
        self._budget = Budget(limits.seconds)
        self._without_value: set[str] = set()  # conditions that have none in the scan that was observed last
        self._assumed = [negate(model.transition.obligations[number].violated) for number in limits.assumed]
        is_pattern = asked.pattern in PATTERNS
        self._conditions: list[Expression] = read_conditions(asked, model.transition.program) if is_pattern else []

    def decide(self) -> Outcome:
        """The verdict, with its counterexample or what makes it vacuous."""
        if self._asked.pattern not in PATTERNS:
            return self._decide_obligation()
        if self._asked.pattern == "pattern-repeatability":
            return Outcome(self._asked, "UNKNOWN", reason=_REPEAT)
        step = self._step()
        found = self._search(step.harm, step.monitors)
        if PATTERNS[self._asked.pattern].is_goal:
            return self._tell_reached(found)
        if found.answer == "happens":
            reason = _IMPOSSIBLE if self._holds_freely(negate(self.free_step().harm)) else ""
            return self._confirm(found, "VIOLATED", reason)
        if found.answer == "bounded":
            return self._tell_bounded(found)
        return Outcome(self._asked, "PROVED", found.k, vacuous=self._why_vacuous(step))

    def find_nonsense(self) -> str:
        """Why it holds or fails, or is never asked, whatever the values of the variables are; "" if it depends."""
        step = self.free_step()
        if self._holds_freely(step.harm):
            return _UNREACHABLE if PATTERNS[self._asked.pattern].is_goal else _ALWAYS_TRUE
        if self._holds_freely(negate(step.harm)):
            return _ALWAYS_TRUE if PATTERNS[self._asked.pattern].is_goal else _IMPOSSIBLE
        return _CANNOT_COME_UP if self._holds_freely(step.trigger) else ""

    def _step(self) -> Step:
        monitors = {name: symbol(name, BOOL) for name in MONITORS}
        return self._observe(self._transition.begin, self._transition.end, monitors)

    def _observe(self, begin: Mapping[str, Term], end: Mapping[str, Term], monitors: Mapping[str, Term]) -> Step:
        pattern = PATTERNS[self._asked.pattern]
        self._without_value = set()

        def seen(number: int, at: Mapping[str, Term]) -> Term:
            term, undefined = self._transition.value(self._conditions[number], at)
            if undefined is True:
                self._without_value.add(self._asked.parameters[number])
            return choose(undefined, pattern.undefined[number], term, BOOL)

        return pattern.observe(lambda number: seen(number, begin), lambda number: seen(number, end), monitors)

    def _decide_obligation(self) -> Outcome:
        kind, place, text = (ASSERTION, "", "") if self._asked.pattern == ASSERTION else self._asked.parameters
        owed = self._owed(kind)
        if not owed:
            return Outcome(self._asked, "PROVED", vacuous=_NO_ASSERT)
        found = self._search(either(*(one.violated for one in owed)), {})
        if found.answer == "never":
            return Outcome(self._asked, "PROVED", found.k)
        if found.answer == "bounded":
            return self._tell_bounded(found)
        replay = ReplayedRun(self._transition, self._model.cycle_ms, kind == "overflow")
        if not replay.shows_fault(found.inputs, kind, place, text):
            return self._tell_unconfirmed(found, replay)
        return Outcome(self._asked, "VIOLATED", found.k, cycles=tuple(replay.cycles))

    def _owed(self, kind: str) -> list[Obligation]:
        """The obligation that is asked for, or all assertions."""
        return [one for one in self._transition.obligations if one.kind == kind
                and (self._asked.pattern == ASSERTION or (str(one.span), one.text) == self._asked.parameters[1:])]

    def _search(self, harm: Term, monitors: Mapping[str, Term]) -> Found:
        system = cut(self._transition, self._model.symbols, [harm], monitors, self._assumed)
        return search(system, lift(harm, BOOL), self._budget, self._limits.most_k, lambda: self._invariants(system))

    def _invariants(self, system: System) -> Sequence[Any]:
        """Those of the program's own states serve every property with the same cone. A monitor remembers something else
        for each property."""
        if not system.states.keys().isdisjoint(MONITORS):
            return find_invariants(system, Budget(self._budget.left / 3))
        key = frozenset(system.states), self._limits.assumed
        if key not in self._model.invariants:
            self._model.invariants[key] = find_invariants(system, Budget(self._budget.left / 3))
        return self._model.invariants[key]

    # what is told ------------------------------------------------------------------------------------------------

    def _confirm(self, found: Found, verdict: Any, reason: str = "") -> Outcome:
        """The verdict, if the interpreter sees the same."""
        replay = ReplayedRun(self._transition, self._model.cycle_ms)
        if not replay.shows_harm(found.inputs, self._observe):
            return self._tell_unconfirmed(found, replay)
        if self._without_value:
            reason = _NO_VALUE.format(" and ".join(f"`{text}`" for text in sorted(self._without_value)))
        return Outcome(self._asked, verdict, found.k, reason=reason, cycles=tuple(replay.cycles))

    def _tell_unconfirmed(self, found: Found, replay: ReplayedRun) -> Outcome:
        why = "the counterexample did not replay"
        unknown = [name for inputs in found.inputs[:1] for name in inputs if name.startswith("$") and "#" in name]
        if replay.fault is not None:
            why = f"the run ends before with a run-time fault at {replay.fault.span}: {replay.fault.message}"
        elif unknown:
            why = f"it depends on {unknown[0][1:].partition('#')[0]}, which the solver takes for any value"
        return Outcome(self._asked, "UNKNOWN", found.k, reason=why)

    def _tell_bounded(self, found: Found) -> Outcome:
        if found.k == 0:
            return Outcome(self._asked, "UNKNOWN", reason=found.reason)
        return Outcome(self._asked, "BOUNDED", found.k, reason=found.reason)

    def _tell_reached(self, found: Found) -> Outcome:
        if found.answer == "happens":
            return self._confirm(found, "PROVED")
        if found.answer == "never":
            return Outcome(self._asked, "VIOLATED", found.k, reason="no run comes to it")
        return self._tell_bounded(found)

    def _why_vacuous(self, step: Step) -> str:
        if self._holds_freely(self.free_step().harm):
            return _ALWAYS_TRUE
        if is_known(step.trigger):
            return "" if step.trigger else _NEVER_ASKED
        self._budget = Budget(max(0.5, self._budget.left / 2))
        found = self._search(step.trigger, step.monitors)
        return _NEVER_ASKED if found.answer == "never" else ""

    def free_step(self) -> Step:
        """The property over values that no program binds."""
        begin, end = ({path: symbol(f"{side} {path}", scalar) for path, scalar in self._transition.types.items()
                       if path in self._transition.end and scalar.kind != "string"} for side in ("begin", "end"))
        return self._observe(begin, end, {name: symbol(name, BOOL) for name in MONITORS})

    def _holds_freely(self, harm: Term) -> bool:
        """Whether harm cannot be, whatever the values are."""
        if is_known(harm):
            return not harm
        solver = z3.Solver()
        solver.add(harm)
        return Budget(min(1.0, self._budget.left)).check(solver) == "unsat"
