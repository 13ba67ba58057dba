"""Deliveries: responses that parse as a solution, applied at once and never for the worse (design §3)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from chatdev.config.phases import Phase
from chatdev.engine.activity import digest
from chatdev.engine.context import RunContext
from chatdev.engine.state import Files, State
from chatdev.engine.tool_use import call_tool, fingerprint
from chatdev.events import DeliveryApplied, DeliveryRefused
from chatdev.replies import FilesDelivery, Unreadable, objections, parse_solution

Verdict = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Received:
    """What became of a response. `kept` is a delivery; the other two go back to the assistant with `problem`."""

    outcome: Literal["kept", "unreadable", "refused"]
    problem: str = ""
    unchanged: bool = False


@dataclass(slots=True)
class Deliveries:
    """Receives the responses of one phase; holds the value as it stands and the newest verdicts."""

    context: RunContext
    phase: Phase
    state: State
    place: str
    value: Any = None
    """The last delivery kept; before it, the value at entry."""
    made: int = 0
    refused: int = 0
    verdict: Verdict | None = None
    """Newest verdict of `feedback`."""
    guard: Verdict | None = None
    versions: list[tuple[float, Files]] = field(default_factory=list)
    _judged: dict[tuple[str, str], Verdict] = field(default_factory=dict)

    async def open(self) -> None:
        """Judge the state at entry."""
        self.value = self.state.values.get(self.phase.writes)
        there = self.state.software if self.phase.writes == "software" else self.phase.writes in self.state.values
        if self.phase.feedback:
            self.verdict = await self._judge(self.phase.feedback, f"{self.place}/feedback-0", judges=bool(there))
            if self.state.software:
                self._remember()
        if self.phase.guard:
            self.guard = await self._judge(self.phase.guard, f"{self.place}/guard-0", judges=bool(there))

    @property
    def passed(self) -> bool:
        """Whether the feedback passes."""
        return bool(self.verdict and self.verdict["passed"])

    @property
    def owed(self) -> bool:
        """Whether there is neither a delivery nor a value from before the phase that could stand."""
        if self.made:
            return False
        if self.phase.writes == "software":
            return not (self.refused and self.state.software)
        return True

    @property
    def version(self) -> str:
        """A fingerprint of the value as it stands."""
        return fingerprint(self.state.software) if self.phase.writes == "software" else digest(self.value)

    async def receive(self, body: str, place: str) -> Received:
        """Parse a response; keep it as a delivery, or say why not."""
        try:
            parsed = parse_solution(self.phase.solution, body, self.state.software)
        except Unreadable as problem:
            return Received("unreadable", str(problem))
        if isinstance(parsed, FilesDelivery):
            return await self._receive_files(parsed, place)
        if self.phase.guard:
            state = replace(self.state, values={**self.state.values, self.phase.writes: parsed})
            guard = await self._judge(self.phase.guard, f"{place}/guard", state)
            if worse := self._worse(None, guard):
                return self._refuse(worse, place)
            self.guard = guard
        unchanged = self.made > 0 and parsed == self.value
        self.value, self.made = parsed, self.made + 1
        self.context.emit(DeliveryApplied(place, (self.phase.writes,), (), unchanged))
        if self.phase.feedback:
            self.state.values[self.phase.writes] = parsed
            self.verdict = await self._judge(self.phase.feedback, f"{place}/feedback")
        return Received("kept", unchanged=unchanged)

    async def _receive_files(self, delivery: FilesDelivery, place: str) -> Received:
        before = self.state.software
        if reasons := objections(before, delivery.software, whole=delivery.whole):
            return self._refuse("\n".join(reasons), place)
        verdicts = await self._judge_delivery(delivery.software, place)
        if worse := self._worse(*verdicts):
            return self._refuse(worse, place)
        self.verdict, self.guard = verdicts
        self.made += 1
        if not delivery.unchanged:
            await self.state.deliver(delivery.software, f"{place}: {_list(delivery)}")
        self._remember()
        self.context.emit(DeliveryApplied(place, delivery.written, delivery.deleted, delivery.unchanged))
        return Received("kept", unchanged=delivery.unchanged)

    async def _judge_delivery(self, software: Files, place: str) -> tuple[Verdict | None, Verdict | None]:
        feedback, guard, state = self.phase.feedback, self.phase.guard, replace(self.state, software=software)
        return (await self._judge(feedback, f"{place}/feedback", state) if feedback else None,
                await self._judge(guard, f"{place}/guard", state) if guard else None)

    def _worse(self, feedback: Verdict | None, guard: Verdict | None) -> str:
        """The report of a verdict that passed before and does not now, or of a guard's that was better before; by
        feedback the best version stands at the end in any case."""
        for old, new in ((self.verdict, feedback), (self.guard, guard)):
            if old and new and old["passed"] and not new["passed"]:
                return str(new["report"])
        if self.guard and guard and _score(guard) < _score(self.guard):
            return str(guard["report"])
        return ""

    def _refuse(self, reason: str, place: str) -> Received:
        self.refused += 1
        self.context.emit(DeliveryRefused(place, reason))
        return Received("refused", reason)

    async def _judge(self, tool: str, place: str, state: State | None = None, *, judges: bool = True) -> Verdict:
        """A tool's verdict on the state, or on one with a delivery that is not kept before it is judged; one and the
        same software is judged once in a phase. Where nothing is there yet (`judges` is false), the verdict is for
        the opening only and is not shown as one."""
        state = state or self.state
        key = (tool, fingerprint(state.software))
        if self.phase.writes != "software" or key not in self._judged:
            self._judged[key] = await call_tool(self.context, state, tool, place, judges=judges)
        return self._judged[key]

    def _remember(self) -> None:
        if self.verdict:
            self.versions.append((_score(self.verdict), self.state.software))

    async def settle(self) -> None:
        """At the end of a phase whose feedback never passed, the best version stands (the newest of equals)."""
        if self.passed or not self.versions:
            return
        best = max(self.versions, key=lambda version: version[0])[0]
        software = [files for score, files in self.versions if score == best][-1]
        if software != self.state.software:
            await self.state.deliver(software, f"{self.place}: back to the best version by {self.phase.feedback}")


def _score(verdict: Verdict) -> float:
    return float(verdict.get("score", verdict["passed"]))


def _list(delivery: FilesDelivery) -> str:
    """The commit subject's list of files."""
    return ", ".join([*delivery.written, *(f"-{path}" for path in delivery.deleted)])[:200]
