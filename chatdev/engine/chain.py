"""The chain: steps in order, each solution the bridge to the next (ChatDev equation 1; step kinds of design §3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from chatdev.config.expressions import compile_expression
from chatdev.config.schema import (
    ForeachStep,
    ParallelStep,
    PhaseStep,
    ProcessStep,
    RepeatStep,
    Step,
    StepFields,
    ToolStep,
)
from chatdev.engine.context import RunContext
from chatdev.engine.foreach import order, outcome_of
from chatdev.engine.parallel import run_branches
from chatdev.engine.phase import run_phase
from chatdev.engine.state import State
from chatdev.engine.tool_use import call_tool
from chatdev.engine.written import written_only_in
from chatdev.errors import PhaseFailed
from chatdev.events import Noted, StepFinished, StepSkipped, StepStarted


@dataclass(slots=True)
class Scope:
    """A place in the run; numbers what happens in it, so that ids are places and never positions in time."""

    path: str = ""
    _counts: dict[str, int] = field(default_factory=dict)

    def enter(self, name: str) -> str:
        """The place of the next occurrence of `name` here, e.g. `repeat#1/pass-2/coding#1`."""
        self._counts[name] = self._counts.get(name, 0) + 1
        return f"{self.path}{name}#{self._counts[name]}"


@dataclass(frozen=True, slots=True)
class Chain:
    """Runs steps over a state."""

    context: RunContext

    async def run(self, steps: Sequence[Step], state: State, scope: Scope, until: str | None = None) -> bool:
        """Run the steps in order. `until` is evaluated after every one; True when it became true, which leaves at
        once."""
        for step in steps:
            await self.step(step, state, scope)
            if until and self._holds(until, state):
                return True
        return False

    async def step(self, step: StepFields, state: State, scope: Scope) -> None:
        """Run one step, or skip it when its `when` is false."""
        kind, name = _label(step)
        place = scope.enter(name)
        if step.when and not self._holds(step.when, state):
            self.context.emit(StepSkipped(place, kind, f"`{step.when}` does not hold"))
            return
        if isinstance(step, PhaseStep):
            if known := self._known_from_before(step, state):
                self.context.emit(StepSkipped(place, kind, f"`{known}` is known from the run before"))
                return
            await run_phase(self.context, state, step.phase, place)
            return
        self.context.emit(StepStarted(place, kind, _detail(step)))
        outcome = await self._composed(step, state, place)
        self.context.emit(StepFinished(place, kind, outcome))

    async def _composed(self, step: StepFields, state: State, place: str) -> str:
        match step:
            case ToolStep():
                reads = None if step.reads is None else tuple(step.reads)
                state.values[step.writes] = await call_tool(self.context, state, step.tool, place, reads=reads)
                return ""
            case RepeatStep():
                return await self._repeat(step, state, place)
            case ForeachStep():
                return await self._foreach(step, state, place)
            case ParallelStep():
                return await self._parallel(step, state, place)
            case ProcessStep():
                return await self._process(step, state, place)
        raise TypeError(f"not a step: {step!r}")

    async def _repeat(self, step: RepeatStep, state: State, place: str) -> str:
        body = step.repeat
        self._unset(body.steps, state)
        for number in range(1, body.max + 1):
            if await self.run(body.steps, state, Scope(f"{place}/pass-{number}/"), body.until):
                return f"until after {number} of {body.max}"
        return f"max {body.max}"

    async def _foreach(self, step: ForeachStep, state: State, place: str) -> str:
        body = step.foreach
        items = order(self._value(body.over, state), body, place)
        entry, failures = state.software, dict[str, PhaseFailed]()
        done = 0
        for item in items:
            if parent := next((p for p in item.parents if p in failures), None):
                reason = f"item {item.id} is skipped: its parent {parent} failed"
                failures[item.id] = PhaseFailed(reason)
                self.context.emit(Noted(f"{place}/item-{item.id}", reason, "warning"))
                continue
            if body.fresh and state.software != entry:
                await state.deliver(entry, f"{place}/item-{item.id}: start from the entry state")
            self._unset(body.steps, state)
            state.values[body.as_] = item.value
            try:
                found = await self.run(body.steps, state, Scope(f"{place}/item-{item.id}/"), body.until)
            except PhaseFailed as failure:
                failures[item.id] = failure
                self.context.emit(Noted(f"{place}/item-{item.id}", f"item {item.id} failed: {failure}", "warning"))
                continue
            done += 1
            if found:
                break
        state.values.pop(body.as_, None)
        return outcome_of(items, done, list(failures.values()))

    async def _parallel(self, step: ParallelStep, state: State, place: str) -> str:
        async def branch(number: int, fork: State) -> None:
            part = step.parallel[number]
            scope = Scope(f"{place}/branch-{number + 1}/")
            if isinstance(part, StepFields) and hasattr(part, "steps"):
                if not part.when or self._holds(part.when, fork):
                    await self.run(part.steps, fork, scope)
            else:
                await self.step(part, fork, scope)

        optional = [part.optional for part in step.parallel]
        await run_branches(self.context, state, place, optional, branch)
        return f"{len(optional)} branches"

    async def _process(self, step: ProcessStep, state: State, place: str) -> str:
        phases = state.values.get(step.process)
        if not isinstance(phases, list) or not all(isinstance(name, str) for name in phases):
            raise PhaseFailed(f"{place}: {step.process!r} must hold a list of phase names, not {phases!r}")
        if unknown := [name for name in phases if name not in self.context.company.phases]:
            known = ", ".join(self.context.company.phases)
            raise PhaseFailed(f"{place}: the process names unknown phases {unknown}; known are {known}")
        scope = Scope(f"{place}/")
        for name in phases:
            await run_phase(self.context, state, name, scope.enter(name))
        return f"{len(phases)} phases"

    def _known_from_before(self, step: PhaseStep, state: State) -> str | None:
        """The name that a phase writes `once` and that is there."""
        phase = self.context.company.phases[step.phase]
        return phase.writes if phase.once and phase.writes in state.values else None

    def _unset(self, steps: Sequence[StepFields], state: State) -> None:
        """Forget what an earlier pass, item or run of this body left under the names that only it writes."""
        for name in written_only_in(steps, self.context.company):
            state.values.pop(name, None)

    def _holds(self, expression: str, state: State) -> bool:
        return bool(self._value(expression, state))

    def _value(self, expression: str, state: State) -> Any:
        names = {**self.context.inputs, **state.names(), "inputs": self.context.inputs}
        return compile_expression(expression).evaluate(names)


def _label(step: StepFields) -> tuple[str, str]:
    """Kind of a step, and the name its place carries."""
    match step:
        case PhaseStep():
            return "phase", step.phase
        case ToolStep():
            return "tool", step.tool
        case RepeatStep():
            return "repeat", "repeat"
        case ForeachStep():
            return "foreach", "foreach"
        case ParallelStep():
            return "parallel", "parallel"
    return "process", "process"


def _detail(step: StepFields) -> str:
    match step:
        case ToolStep():
            return step.tool
        case RepeatStep():
            return f"until {step.repeat.until or 'max'}, at most {step.repeat.max}"
        case ForeachStep():
            return f"{step.foreach.as_} of {step.foreach.over}"
        case ParallelStep():
            return f"{len(step.parallel)} branches"
        case ProcessStep():
            return step.process
    return ""
