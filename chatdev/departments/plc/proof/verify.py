"""Verify a program: each check in a child that is ended when it takes too long or too much memory."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any, TypedDict, Unpack

from chatdev.departments.plc.proof.checks import ProofStopped, check_property, list_obligations
from chatdev.departments.plc.proof.contradictions import Contradiction, find_contradictions
from chatdev.departments.plc.proof.outcome import ENDS_RUN, RUN_TIME, UNREADABLE, Limits, Outcome, Property
from chatdev.departments.plc.st.core import IEC, Dialect
from chatdev.isolation.codec import encode
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
        began, most = time.monotonic(), TOGETHER * limits.seconds
        if any(duty.parameters[0] == "loop" for duty in owed):
            prover.check_alone((*properties, *owed), limits, began + most / 2)
        duties = _check_duties(prover, owed, limits, began + most / 2)
        limits = replace(limits, assumed=_open_faults(duties))
        found = [prover.check(asked, limits, began + most) for asked in properties]
        for contradiction in prover.find_contradictions(properties):
            _tell_contradiction(contradiction, found)
    return found + duties


def _open_faults(duties: Sequence[Outcome]) -> tuple[tuple[str, ...], ...]:
    """The faults that end a run and are not ruled out."""
    return tuple(outcome.asked.parameters for outcome in duties
                 if outcome.verdict != "PROVED" and outcome.asked.parameters[0] in ENDS_RUN)


def _check_duties(prover: _Prover, owed: Sequence[Property], limits: Limits, end: float) -> list[Outcome]:
    """Each is asked for in runs without an earlier fault that is not ruled out."""
    found: list[Outcome] = []
    for duty in owed:
        found.append(prover.check(duty, replace(limits, assumed=_open_faults(found)), end))
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

    def check_alone(self, some: Sequence[Property], limits: Limits, end: float) -> None:
        """Decide what can be in a third of the time from what each depends on, before it is known what of the rest is
        sure."""
        limits = replace(limits, seconds=limits.seconds / 3, alone=True)
        for asked in some:
            if (found := self.check(asked, limits, end)).is_decided:
                self._decided[asked] = found

    def check(self, asked: Property, limits: Limits, end: float) -> Outcome:
        """UNKNOWN when the child is ended, or when there is no time left until `end` (of `time.monotonic`)."""
        if asked.pattern == UNREADABLE:
            return Outcome(asked, "UNKNOWN", reason=asked.parameters[1])
        if asked in self._decided:
            return self._decided[asked]
        left = end - time.monotonic()
        if left <= 0:
            return Outcome(asked, "UNKNOWN", reason="the other checks left no time for it; allow more seconds")
        try:
            found: Outcome = self._ask(check_property, asked, replace(limits, seconds=min(limits.seconds, left)))
        except ProofStopped as stopped:
            return Outcome(asked, "UNKNOWN", seconds=limits.seconds, reason=f"the check was ended: {stopped}")
        return found

    def _ask(self, function: Any, *given: Any) -> Any:
        request = encode([function.__module__, function.__qualname__, [*self._about, *given],
                          {"dialect": self._dialect}])
        return function.isolated.take(*self._reader.ask(request))
