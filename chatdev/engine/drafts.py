"""Drafts (several first deliveries, tried on the same version, of which the best stands), and parallel branches.

Drafts are drawn in waves, as many at once as the model's profile allows, and judged one after another in the order of
their numbers; so what is chosen does not depend on which reply arrives first. Drawing stops at the first draft that
cannot be improved on. Each request and each verdict is an activity, so that a resumed run goes on with the draft that
is missing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from chatdev.engine.context import HALTS, Files, Halt, Halted, RunContext, State, Utterance
from chatdev.engine.delivery import Assessment, Deliveries
from chatdev.engine.model_calls import Agent, PhaseBudgetExhausted
from chatdev.errors import BudgetExhausted, ModelError, PhaseFailed, RecordEnds, ToolError
from chatdev.events import DraftJudged, Noted, Place

SPREAD = (0.6, 0.8, 1.0)  # temperatures of the second, third and fourth draft, and again; none is below the phase's own
_MISSING_REPLY = (BudgetExhausted, ModelError, RecordEnds, Halted)
_STOPS = (*_MISSING_REPLY, ToolError, asyncio.CancelledError)
"""Errors that end a session in the middle of the drafts, where it can be resumed."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A response that is judged, and no delivery yet."""

    place: Place
    utterance: Utterance
    assessment: Assessment


@dataclass(slots=True)
class Drafts:
    """The drafts of one response. `draw` takes the reply of an agent at a place, `assess` judges what it says there."""

    context: RunContext
    deliveries: Deliveries
    draw: Callable[[Agent, Place], Awaitable[Utterance]]
    assess: Callable[[str, Place], Awaitable[Assessment]]
    most: int
    at_once: int
    _best: Draft | None = field(default=None)

    async def choose(self, agent: Agent, place: Place, said: Utterance | None = None) -> Draft:
        """The best of the drafts of `agent` at `place`, of equals the earliest; `said` is the first one, if it is there
        already. Raises PhaseBudgetExhausted when there is room for none. Where the run ends in their midst, the best so
        far is kept as a delivery."""
        try:
            if not (said and await self._judge(1, place, said)):
                await self._draw_waves(agent, place, 2 if said else 1)
        except _STOPS:
            if self._best:
                await self.deliveries.keep(self._best.assessment, self._best.place)
            raise
        assert self._best is not None, "the first wave brings a draft or raises"
        return self._best

    async def _draw_waves(self, agent: Agent, place: Place, first: int) -> None:
        for begin in range(first, self.most + 1, self.at_once):
            numbers = range(begin, min(begin + self.at_once, self.most + 1))
            replies = await self._draw_wave(agent, place, numbers)
            failures = [reply for reply in replies if not isinstance(reply, Utterance | PhaseBudgetExhausted)]
            raise_first([failure for failure in failures if not isinstance(failure, _MISSING_REPLY)])
            done = await self._judge_wave(place, numbers, replies)
            raise_first(failures)
            if done or self._is_spent(replies):
                return

    def _is_spent(self, replies: Sequence[Utterance | BaseException]) -> bool:
        """Whether the budget of the phase has no room for more. Raises PhaseBudgetExhausted when it had none at all."""
        spent = next((reply for reply in replies if isinstance(reply, PhaseBudgetExhausted)), None)
        if spent and not self._best:
            raise spent
        return spent is not None

    async def _draw_wave(self, agent: Agent, place: Place,
                         numbers: Sequence[int]) -> list[Utterance | BaseException]:
        """The replies, or why there is none. One that fails lets the others finish the request that they are in, and
        stops them before the next; a spent budget of the phase does not, live or resumed."""
        halt = Halt(branches=len(numbers))

        async def draw(number: int) -> Utterance:
            HALTS.set((*HALTS.get(), halt))
            try:
                return await self.draw(vary(agent, number), _place_of(number, place))
            except PhaseBudgetExhausted:
                raise
            except BaseException:
                halt.raised = True
                raise

        return await asyncio.gather(*(asyncio.create_task(draw(number)) for number in numbers), return_exceptions=True)

    async def _judge_wave(self, place: Place, numbers: Sequence[int],
                          replies: Sequence[Utterance | BaseException]) -> bool:
        """Judge the replies in their order; whether one leaves nothing to want. The others are not judged then."""
        for number, reply in zip(numbers, replies, strict=True):
            if isinstance(reply, Utterance) and await self._judge(number, _place_of(number, place), reply):
                return True
        return False

    async def _judge(self, number: int, place: Place, utterance: Utterance) -> bool:
        """Judge one draft; whether it leaves nothing to want."""
        found = await self.assess(utterance.text, place)
        is_best = self._best is None or found.rank > self._best.assessment.rank
        if is_best:
            self._best = Draft(place, utterance, found)
        verdict = found.verdict
        self.context.emit(DraftJudged(
            place, number, self.most, verdict.score if verdict else None, verdict.passed if verdict else None,
            verdict.examples if verdict else None, is_best, found.problem))
        return found.is_complete


def vary(agent: Agent, number: int) -> Agent:
    """The agent for its draft of this number: the first as it is, the others at a temperature of the spread, unless it
    is left to the server, and with a seed of their own, if there is one."""
    if number == 1:
        return agent
    model = agent.role_model
    own, seed = model.sampling.temperature, model.sampling.seed
    warmer = None if own is None else max(own, SPREAD[(number - 2) % len(SPREAD)])
    sampling = replace(model.sampling, temperature=warmer, seed=None if seed is None else seed + number - 1)
    return replace(agent, role_model=replace(model, sampling=sampling))


def _place_of(number: int, place: Place) -> Place:
    """The first draft is made where the response is made without drafts."""
    return place if number == 1 else place.at("draft", number)


# Parallel branches: each works on a fork of the state, and the writes meet at the join.

_TOLERATED = (PhaseFailed, ToolError)
"""Errors that an optional branch may fail with; an unreachable model is not among them (design §3, success)."""


@dataclass(slots=True)
class BranchHistory:
    """The versions one branch made; they enter the real history at the join, in declared order."""

    base: Files
    versions: list[tuple[Files, str]] = field(default_factory=list)

    async def commit(self, software: Files, message: str) -> None:
        """Keep the version until the join."""
        self.versions.append((software, message))


@dataclass(slots=True)
class BranchRun:
    """One branch at work on a fork of the state."""

    place: Place
    optional: bool
    state: State
    history: BranchHistory
    failure: BaseException | None = None

    @classmethod
    def fork(cls, state: State, place: Place, *, optional: bool) -> BranchRun:
        """A branch that begins with a copy of the state."""
        history = BranchHistory(state.software)
        return cls(place, optional, State(dict(state.values), state.software, history, state.given), history)

    async def run(self, work: Awaitable[None], halt: Halt) -> None:
        """Do the work; a failure that cannot be borne raises the flag for the siblings."""
        HALTS.set((*HALTS.get(), halt))
        try:
            await work
        except BaseException as failure:
            self.failure = failure
            if not isinstance(failure, Halted):
                halt.raised = halt.raised or not self.is_excused
            raise

    @property
    def is_excused(self) -> bool:
        """Whether the branch has failed, and that is only reported."""
        return self.optional and isinstance(self.failure, _TOLERATED)

    def changed_values(self, state: State) -> dict[str, Any]:
        """The long-term names that the branch wrote, with their values, beside `state`, where it began."""
        return {name: value for name, value in self.state.values.items()
                if name not in state.values or state.values[name] is not value}

    def unset_names(self, state: State) -> set[str]:
        """The long-term names that a loop of the branch has unset, and nothing in it has written again."""
        return state.values.keys() - self.state.values.keys()


async def run_branches(context: RunContext, state: State, place: Place, optional: Sequence[bool],
                       work: Callable[[int, State], Awaitable[None]]) -> None:
    """Run one branch per entry of `optional`, then join them in order.

    A branch that fails lets its siblings finish the activity they are in (it is paid for) and stops them before the
    next; then the first error in declared order is raised. A failing optional branch is only reported.
    """
    halt = Halt(branches=len(optional))
    branches = [BranchRun.fork(state, place.at("branch", n), optional=may_fail)
                for n, may_fail in enumerate(optional, start=1)]
    tasks = [asyncio.create_task(branch.run(work(n, branch.state), halt)) for n, branch in enumerate(branches)]
    await asyncio.gather(*tasks, return_exceptions=True)
    for branch in branches:
        if branch.is_excused:
            context.emit(Noted(branch.place, f"optional branch failed: {branch.failure}", "warning"))
    raise_first([branch.failure for branch in branches if branch.failure and not branch.is_excused])
    await join_branches(state, [branch for branch in branches if not branch.failure],
                        unsets=context.settings.semantics > 3)


def raise_first(failures: Sequence[BaseException]) -> None:
    """The first real failure in declared order; a branch that was only halted comes last."""
    for failure in sorted(failures, key=lambda f: isinstance(f, Halted)):
        raise failure


async def join_branches(state: State, branches: Sequence[BranchRun], *, unsets: bool = True) -> None:
    """Merge finished branches into `state` in the given order; `unsets`: what one of them has unset, too. Raises
    PhaseFailed when two of them wrote one name or one file."""
    _refuse_collisions(state, branches)
    written = {name: value for branch in branches for name, value in branch.changed_values(state).items()}
    for name in {name for branch in branches for name in branch.unset_names(state)} if unsets else ():
        del state.values[name]
    state.values.update(written)
    for branch in branches:
        previous = branch.history.base
        for version, message in branch.history.versions:
            await state.set_software(apply_changes(state.software, changes(previous, version)), message)
            previous = version


def _refuse_collisions(state: State, branches: Sequence[BranchRun]) -> None:
    owners: dict[str, Place] = {}
    for branch in branches:
        names = [f"`{name}`" for name in branch.changed_values(state)]
        for what in [*names, *changes(branch.history.base, branch.state.software)]:
            other = owners.setdefault(what, branch.place)
            if other != branch.place:
                raise PhaseFailed(f"the parallel branches {other} and {branch.place} both wrote {what}; let only one "
                                  "of them write it, or run them one after the other")


def changes(before: Files, after: Files) -> dict[str, bytes | None]:
    """Path by path what differs; None marks a deletion."""
    written = {path: data for path, data in after.items() if before.get(path) != data}
    return {**written, **{path: None for path in before if path not in after}}


def apply_changes(software: Files, difference: Mapping[str, bytes | None]) -> dict[str, bytes]:
    """The software with a difference applied."""
    merged = {**software, **difference}
    return {path: data for path, data in merged.items() if data is not None}
