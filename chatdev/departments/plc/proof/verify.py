"""Verify a program: each check in a child that is ended when it takes too much; contradictions among requirements."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any, TypedDict, Unpack

import z3

from chatdev.departments.plc.proof.checks import (
    Check,
    ProofStopped,
    at_work,
    check_property,
    list_obligations,
    model_of,
    rules_of,
    run_by_chance,
)
from chatdev.departments.plc.proof.outcomes import ENDS_RUN, RUN_TIME, UNREADABLE, Limits, Outcome, Property
from chatdev.departments.plc.proof.properties import PropertyError, Step
from chatdev.departments.plc.proof.search import Budget
from chatdev.departments.plc.proof.terms import BOOL, Inexpressible, lift, negate
from chatdev.departments.plc.st.core import IEC, Dialect
from chatdev.isolation.isolate import encode, isolate
from chatdev.isolation.parent import Reader, ReadingLimits

MEMORY = 2 << 30
"""Bytes that a check may take."""
TOGETHER = 20
"""How many times as long as one check all checks may take together."""
_SPARE = 10  # seconds of a processor beside those of the check: to build the transition, and to replay
_ANY_FAULT = Property(RUN_TIME, ("any", "1:1", ""))  # asked where it is not even known what is owed
_About = tuple[str, str | None, int | None]  # source, entry, time from scan to scan


class VerifyLimits(TypedDict, total=False):
    """What `verify` takes, as in `Limits`."""

    seconds: float
    most_k: int
    watch_overflow: bool
    most_turns: int


def verify(source: str, entry: str | None, properties: Sequence[Property], *, cycle_ms: int | None = None,
           dialect: Dialect = IEC, **given: Unpack[VerifyLimits]) -> list[Outcome]:
    """The verdicts on the properties, in their order, and behind them those on what the program owes at run time.

    `seconds` is what each check may take (all together `TOGETHER` times as much, and half of that those at run time),
    `most_k` the scans that are looked at, `cycle_ms` the time from scan to scan if it is fixed, `most_turns` those of a
    loop that are no run-time fault. Properties are meant for runs without a run-time fault: a run ends with its first
    one. That some contradict each other is said in their reasons. What cannot be checked is UNKNOWN with its reason;
    nothing is raised but SandboxError, when no process can be started.
    """
    limits = Limits(**given | {"seconds": float(given.get("seconds", 10.0))})
    with _prover((source, entry, cycle_ms), limits, dialect) as prover:
        try:
            owed = prover.list_obligations()
        except ProofStopped as stopped:
            return [Outcome(asked, "UNKNOWN", reason=str(stopped)) for asked in (*properties, _ANY_FAULT)]
        most = TOGETHER * limits.seconds
        if any(duty.parameters[0] == "loop" for duty in owed):
            prover.check_alone((*properties, *owed), limits, most / 2)
        duties = _check_duties(prover, owed, limits, most / 2)
        limits = replace(limits, assumed=_open_faults(duties))
        found = [prover.check(asked, limits, most) for asked in properties]
        if len(properties) > 1:
            for contradiction in prover.find_contradictions(properties):
                _tell_contradiction(contradiction, found)
    return found + duties


def _open_faults(duties: Sequence[Outcome]) -> tuple[tuple[str, ...], ...]:
    """The faults that end a run and are not ruled out."""
    return tuple(outcome.asked.parameters for outcome in duties
                 if outcome.verdict != "PROVED" and outcome.asked.parameters[0] in ENDS_RUN)


def _check_duties(prover: _Prover, owed: Sequence[Property], limits: Limits, most: float) -> list[Outcome]:
    """Each is asked for in runs without an earlier fault that is not ruled out."""
    found: list[Outcome] = []
    for duty in owed:
        found.append(prover.check(duty, replace(limits, assumed=_open_faults(found)), most))
    return found


def _tell_contradiction(contradiction: Contradiction, outcomes: list[Outcome]) -> None:
    """Say it in the reason of each property that is part of it."""
    for number in contradiction.numbers:
        others = ", ".join(str(other + 1) for other in sorted(contradiction.numbers) if other != number)
        why = (f"only a program in which `{contradiction.about}` never holds can satisfy them together"
               if contradiction.about else "no program can satisfy them together")
        said = f"it contradicts property {others}: {why}" if others else ""
        outcome = outcomes[number]
        outcomes[number] = replace(outcome, reason="; ".join(filter(None, (outcome.reason, said))))


@contextmanager
def _prover(about: _About, limits: Limits, dialect: Dialect) -> Iterator[_Prover]:
    reader = Reader(ReadingLimits(MEMORY, int(limits.seconds) + _SPARE))
    try:
        yield _Prover(reader, about, limits, dialect)
    finally:
        reader.end()


class _Prover:
    """Asks the child."""

    def __init__(self, reader: Reader, about: _About, limits: Limits, dialect: Dialect) -> None:
        self._reader = reader
        self._about = about
        self._limits = limits
        self._dialect = dialect
        self._decided: dict[Property, Outcome] = {}
        self._spent = 0.0  # seconds of the processor, by all checks

    def list_obligations(self) -> tuple[Property, ...]:
        """Raises ProofStopped."""
        found: tuple[Property, ...] = self._ask(list_obligations, self._limits)
        return found

    def find_contradictions(self, properties: Sequence[Property]) -> tuple[Contradiction, ...]:
        """None when the child is ended."""
        found: tuple[Contradiction, ...] = ()
        with suppress(ProofStopped):
            found = self._ask(find_contradictions, tuple(properties), self._limits)
        return found

    def check_alone(self, some: Sequence[Property], limits: Limits, most: float) -> None:
        """Decide what can be in a third of the time from what each depends on, before it is known what of the rest is
        sure."""
        limits = replace(limits, seconds=limits.seconds / 3, alone=True)
        for asked in some:
            if (found := self.check(asked, limits, most)).is_decided:
                self._decided[asked] = found

    def check(self, asked: Property, limits: Limits, most: float) -> Outcome:
        """UNKNOWN when the child is ended, or when all checks so far took as many seconds as they may together."""
        if asked.pattern == UNREADABLE:
            return Outcome(asked, "UNKNOWN", reason=asked.parameters[1])
        if asked in self._decided:
            return self._decided[asked]
        left = most - self._spent
        if left <= 0:
            return Outcome(asked, "UNKNOWN", reason="the other checks left no time for it; allow more seconds")
        try:
            found: Outcome = self._ask(check_property, asked, replace(limits, seconds=min(limits.seconds, left)))
        except ProofStopped as stopped:
            found = self._decided[asked] = self._run_by_chance(asked, limits) or Outcome(
                asked, "UNKNOWN", seconds=limits.seconds, reason=f"the check was ended: {stopped}")
            self._spent += self._limits.seconds + _SPARE - found.seconds
        self._spent += found.seconds
        return found

    def _run_by_chance(self, asked: Property, limits: Limits) -> Outcome | None:
        """What random runs show of what the solver had no end with."""
        with suppress(ProofStopped):
            found: Outcome | None = self._ask(run_by_chance, asked, limits)
            return found
        return None

    def _ask(self, function: Any, *given: Any) -> Any:
        request = encode([function.__module__, function.__qualname__, [*self._about, *given],
                          {"dialect": self._dialect}])
        return function.isolated.take(*self._reader.ask(request))


# Requirements that contradict each other whatever a program does, found before there is one.

_PATTERNS = ("pattern-invariant", "pattern-implication", "pattern-forbidden")
"""Those that look at one moment only."""


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Properties by their numbers, counted from 0, of which none can be left out. No program satisfies them together,
    or, with `about`, only one in which that condition never holds."""

    numbers: tuple[int, ...]
    about: str = ""


@isolate(ProofStopped)
@at_work()
def find_contradictions(source: str, entry: str | None, cycle_ms: int | None, properties: tuple[Property, ...],
                        limits: Limits, dialect: Dialect = IEC) -> tuple[Contradiction, ...]:
    """The contradictions among properties of one moment, no property in two of them. Values that the program gives to
    its variables do not count, only their types. Raises ProofStopped."""
    model = model_of(source, entry, rules_of(cycle_ms, limits), dialect)
    steps: dict[int, Step] = {}
    for number, asked in enumerate(properties):
        if asked.pattern in _PATTERNS:
            with suppress(PropertyError, Inexpressible):
                steps[number] = Check(model, asked, limits).free_step()
    search = _Search(steps, Budget(limits.seconds))
    return tuple(Contradiction(numbers, properties[numbers[0]].parameters[0] if about is not None else "")
                 for numbers, about in search.run())


class _Search:
    """Asks the solver which properties can hold at once."""

    def __init__(self, steps: Mapping[int, Step], budget: Budget) -> None:
        self._triggers = {number: lift(step.trigger, BOOL) for number, step in steps.items()}
        self._budget = budget
        self._solver = z3.Solver()
        for number, step in steps.items():
            self._solver.add(z3.Implies(_holds(number), lift(negate(step.harm), BOOL)))

    def run(self) -> Iterator[tuple[tuple[int, ...], int | None]]:
        """The numbers that contradict each other, and which one's condition they do so about, which then stands
        first."""
        open_ = set(self._triggers)
        for about in (None, *self._triggers):
            while about is None or about in open_:
                found = self._contradiction(open_, about)
                if not found:
                    break
                open_ -= set(found)
                yield found, about

    def _contradiction(self, numbers: set[int], about: int | None) -> tuple[int, ...]:
        """Properties that cannot hold at once: at all, or where the condition of `about`, one of them, holds, which
        could hold without it. Nothing if there are no two of them."""
        trigger = z3.BoolVal(True) if about is None else self._triggers[about]
        if not self._clash(numbers, trigger):
            return ()
        if about is not None and self._clash(numbers - {about}, trigger):
            return ()
        if about is None:
            return self._shrink(numbers, set(), trigger)
        others = self._shrink(numbers - {about}, {about}, trigger)
        return (about, *others) if others else ()

    def _shrink(self, numbers: set[int], kept: set[int], trigger: Any) -> tuple[int, ...]:
        """Those of the numbers of which none can be left out, later ones left out first."""
        for number in sorted(numbers, reverse=True):
            if self._clash((numbers | kept) - {number}, trigger):
                numbers = numbers - {number}
        return tuple(sorted(numbers))

    def _clash(self, numbers: set[int], trigger: Any) -> bool:
        """Whether they surely cannot hold at once. What the solver needs of them is all that is asked for later."""
        return self._budget.check(self._solver, trigger, *map(_holds, sorted(numbers))) == "unsat"


def _holds(number: int) -> Any:
    return z3.Bool(f"$holds{number}")
