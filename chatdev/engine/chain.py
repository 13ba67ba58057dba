"""The chain: steps in order, each solution the bridge to the next (ChatDev equation 1); the items of a `foreach`.

What a kind of step holds is in `config/schema.py`; how it runs is in `RUNNERS`, at the end.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from graphlib import CycleError, TopologicalSorter
from typing import Any

from chatdev.config.phases import names_read
from chatdev.config.schema import (
    Branch,
    Foreach,
    ForeachStep,
    ParallelStep,
    PhaseStep,
    ProcessStep,
    RepeatStep,
    Step,
    ToolStep,
    names_written_only_in,
)
from chatdev.config.templates import compile_expression
from chatdev.engine.context import RunContext, State
from chatdev.engine.drafts import run_branches
from chatdev.engine.people import ask_approval
from chatdev.engine.phase import PhaseRun
from chatdev.engine.turn import ToolRequest, apply_files, call_tool, failed_verdict
from chatdev.errors import PhaseFailed, ToolError
from chatdev.events import Noted, Place, StepFinished, StepSkipped, StepStarted
from chatdev.safe_text import short_name


@dataclass(slots=True)
class Scope:
    """A place in the run; numbers what happens in it, so that ids are places and never positions in time."""

    place: Place = field(default_factory=Place)
    _counts: dict[str, int] = field(default_factory=dict)

    def enter(self, name: str) -> Place:
        """The place of the next occurrence of `name` here, e.g. `repeat#1/pass-2/coding#1`; a step without a name
        is where the scope is."""
        if not name:
            return self.place
        self._counts[name] = self._counts.get(name, 0) + 1
        return self.place.step(name, self._counts[name])


@dataclass(frozen=True, slots=True)
class Chain:
    """Runs steps over a state."""

    context: RunContext

    async def run(self, steps: Sequence[Step], state: State, scope: Scope, until: str | None = None) -> bool:
        """Run the steps in order. `until` is evaluated after every one; True when it became true, which leaves at
        once."""
        for step in steps:
            await self.step(step, state, scope)
            if until and self.value(until, state):
                return True
        return False

    async def step(self, step: Step, state: State, scope: Scope) -> None:
        """Run one step, or skip it."""
        place = scope.enter(step.name)
        if reason := self._reason_to_skip(step, state):
            if step.name:
                self.context.emit(StepSkipped(place, step.kind, reason))
            return
        if step.announced:
            self.context.emit(StepStarted(place, step.kind, step.detail))
        outcome = await RUNNERS[type(step)](self, step, state, place)
        if step.announced:
            self.context.emit(StepFinished(place, step.kind, outcome))

    def value(self, expression: str, state: State) -> Any:
        """The value of an expression now; a missing name counts as false."""
        return compile_expression(expression).evaluate(self.context.names(state))

    def value_for(self, step: Step, expression: str, state: State) -> Any:
        """The value of an expression of a step; that of a phase may name the sizes of its assistant's model, too."""
        if not step.phase_named:
            return self.value(expression, state)
        assistant = self.context.company.phases[step.phase_named].assistant
        sizes = self.context.role_model(step.phase_named, assistant).profile.sizes
        return compile_expression(expression).evaluate({"sizes": sizes, **self.context.names(state)})

    def unset(self, steps: Sequence[Step], state: State) -> None:
        """Forget what an earlier pass, item or run of a loop's body left under the names that only it writes."""
        company = self.context.company
        for name in names_written_only_in(steps, company.chain, company.phases):
            state.values.pop(name, None)

    def _reason_to_skip(self, step: Step, state: State) -> str:
        """Why a step does not run; empty when it does."""
        phase = self.context.company.phases[step.phase_named] if step.phase_named else None
        if step.when and not self.value_for(step, step.when, state):
            return f"`{step.when}` does not hold"
        if isinstance(step, PhaseStep) and step.fresh and state.given:
            return "the software was there before the run, and is not written anew"
        if phase and phase.once and phase.writes in state.values:
            return f"`{phase.writes}` is known from the run before"
        return ""


async def _run_phase(chain: Chain, step: PhaseStep, state: State, place: Place) -> str:
    rounds = step.rounds
    if isinstance(rounds, str):
        rounds = chain.value_for(step, rounds, state)
    if not (rounds is None or (isinstance(rounds, int) and rounds > 0)):
        raise PhaseFailed(f"{place}: `rounds: {step.rounds}` gives {rounds!r:.80}; it must be a whole number above 0")
    await PhaseRun(chain.context, state, step.phase, place, rounds=rounds, anew=step.fresh is not None).run()
    return ""


async def _run_tool(chain: Chain, step: ToolStep, state: State, place: Place) -> str:
    reads = None if step.reads is None else tuple(step.reads)
    if step.approve and (refusal := await _refusal_of_tool(chain, step, place)):
        return refusal
    try:
        result = await call_tool(chain.context, state, place, ToolRequest(step.tool, reads=reads))
    except ToolError as error:
        if not error.repeated:
            raise
        if step.writes != "software":  # which stays as it is
            state.values[step.writes] = replace(failed_verdict(chain.context, error), judged=False).to_dict()
        return "failed again"
    if step.writes == "software":
        await state.set_software(apply_files(step.tool, result, state.software), str(place))
    else:
        state.values[step.writes] = result
    return ""


async def _refusal_of_tool(chain: Chain, step: ToolStep, place: Place) -> str:
    """The outcome where a person does not want the tool to be called; empty where they do."""
    context = chain.context
    answer = await ask_approval(context, place.at("approve"), about=f"tool {step.tool}, which writes {step.writes}",
                                text=context.toolbox.spec(step.tool).description)
    if answer.action == "accept":
        return ""
    why = f": {answer.text}" if answer.text.strip() else ""
    context.emit(Noted(place, f"{step.tool} is not called, a person refuses it{why}" if answer.action == "refuse"
                       else f"{step.tool} is not called, nobody approves it", "warning"))
    return "refused" if answer.action == "refuse" else "skipped"


async def _run_repeat(chain: Chain, step: RepeatStep, state: State, place: Place) -> str:
    body = step.repeat
    chain.unset(body.steps, state)
    for number in range(1, body.max + 1):
        if await chain.run(body.steps, state, Scope(place.at("pass", number)), body.until):
            return f"until after {number} of {body.max}"
    return f"max {body.max}"


async def _run_foreach(chain: Chain, step: ForeachStep, state: State, place: Place) -> str:
    body, emit = step.foreach, chain.context.emit
    items = order_items(chain.value(body.over, state), body, place)
    entry, failures = state.software, dict[str, PhaseFailed]()
    done = 0
    for item in items:
        at = place.at("item", item.id)
        if parent := next((p for p in item.parents if p in failures), None):
            reason = f"item {item.id} is skipped: its parent {parent} failed"
            failures[item.id] = PhaseFailed(reason)
            emit(Noted(at, reason, "warning"))
            continue
        if body.fresh and state.software != entry:
            await state.set_software(entry, f"{at}: start from the entry state")
        chain.unset(body.steps, state)
        state.values[body.as_] = item.value
        try:
            found = await chain.run(body.steps, state, Scope(at), body.until)
        except PhaseFailed as failure:
            failures[item.id] = failure
            emit(Noted(at, f"item {item.id} failed: {failure}", "warning"))
            continue
        done += 1
        if found:
            break
    state.values.pop(body.as_, None)
    return outcome_of(items, done, list(failures.values()))


async def _run_parallel(chain: Chain, step: ParallelStep, state: State, place: Place) -> str:
    async def run_branch(number: int, fork: State) -> None:
        await chain.step(step.parallel[number], fork, Scope(place.at("branch", number + 1)))

    optional = [part.optional for part in step.parallel]
    await run_branches(chain.context, state, place, optional, run_branch)
    return f"{len(optional)} branches"


async def _run_branch(chain: Chain, step: Branch, state: State, place: Place) -> str:
    await chain.run(step.steps, state, Scope(place))
    return ""


async def _run_process(chain: Chain, step: ProcessStep, state: State, place: Place) -> str:
    phases = state.values.get(step.process)
    if not isinstance(phases, list) or not all(isinstance(name, str) for name in phases):
        raise PhaseFailed(f"{place}: {step.process!r} must hold a list of phase names, not {phases!r:.200}")
    known = step.phases_run(chain.context.company.phases)
    if unknown := [name for name in phases if name not in known]:
        raise PhaseFailed(f"{place}: the process names unknown phases {unknown!s:.200}; known are {', '.join(known)}")
    scope = Scope(place)
    for name in phases:
        read = names_read(chain.context.company.phases[name].reads)
        await chain.run([supply for supply in step.supplies if supply.writes in read], state, scope)
        await PhaseRun(chain.context, state, name, scope.enter(name)).run()
    return f"{len(phases)} phases"


RUNNERS: Mapping[type[Step], Callable[[Chain, Any, State, Place], Awaitable[str]]] = {
    PhaseStep: _run_phase, ToolStep: _run_tool, RepeatStep: _run_repeat, ForeachStep: _run_foreach,
    ParallelStep: _run_parallel, Branch: _run_branch, ProcessStep: _run_process,
}
"""How each kind of step runs; the text it returns is the step's outcome in its last event."""


# The items of a `foreach`: their names, their parents, and the order that respects them.

_SHOWN = 500  # characters of the ids in an error


@dataclass(frozen=True, slots=True)
class Item:
    """One item: its value as `as` shows it, its id, and the ids it depends on."""

    id: str
    value: Any
    parents: tuple[str, ...]


def order_items(values: Any, body: Foreach, place: str) -> list[Item]:
    """The items, parents before children and otherwise as given. Raises PhaseFailed for anything but a list, for two
    items of one id, for unknown parents and for cycles (a model wrote the list: it may be wrong)."""
    if not isinstance(values, list):
        raise PhaseFailed(f"{place}: `over: {body.over}` must give a list, not {type(values).__name__}")
    items = [_item(value, number, body) for number, value in enumerate(values, start=1)]
    by_id = {item.id: item for item in items}
    if len(by_id) < len(items):
        raise PhaseFailed(f"{place}: two items share an id; ids given: {_in_short(item.id for item in items)}")
    if body.depends_on is None:
        return items
    return [by_id[name] for name in _sort_parents_first(by_id, place)]


def _sort_parents_first(by_id: dict[str, Item], place: str) -> list[str]:
    sorter: TopologicalSorter[str] = TopologicalSorter()
    for item in by_id.values():
        if unknown := [parent for parent in item.parents if parent not in by_id]:
            raise PhaseFailed(f"{place}: item {item.id} depends on unknown items: {_in_short(unknown)}")
        sorter.add(item.id, *item.parents)
    try:
        sorter.prepare()
    except CycleError as error:
        circle = _in_short(error.args[1], " -> ")
        raise PhaseFailed(f"{place}: the items depend on one another in a circle: {circle}") from None
    positions = {name: n for n, name in enumerate(by_id)}
    ready, result = list(sorter.get_ready()), list[str]()
    while ready:
        ready.sort(key=positions.__getitem__)  # the given order decides among the free ones
        name = ready.pop(0)
        result.append(name)
        sorter.done(name)
        ready += sorter.get_ready()
    return result


def _item(value: Any, number: int, body: Foreach) -> Item:
    fields = value if isinstance(value, dict) else {}
    parents = fields.get(body.depends_on) or [] if body.depends_on else []
    parents = parents if isinstance(parents, list) else [parents]
    return Item(_id_of(fields.get(body.id, number)), value, tuple(map(_id_of, parents)))


def _id_of(given: Any) -> str:
    """The id as places, headers and messages have it."""
    return short_name(str(given))


def _in_short(names: Iterable[str], between: str = ", ") -> str:
    text = between.join(names)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]} …"


def outcome_of(items: Sequence[Item], done: int, failures: Sequence[PhaseFailed]) -> str:
    """The step's outcome in words. Raises the first failure when no item succeeded."""
    if failures and not done:
        raise failures[0]
    return f"{done} of {len(items)} items"
