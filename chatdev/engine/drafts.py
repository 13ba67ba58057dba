"""Drafts: a delivery is drawn several times, each draft is tried on the same version, and the best one stands.

They are drawn in waves, as many at once as the model's profile allows, and judged one after another in the order of
their numbers; so what is chosen does not depend on which reply arrives first. Drawing stops at the first draft that
cannot be improved on. Each request and each verdict is an activity, so that a resumed run goes on with the draft that
is missing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace

from chatdev.engine.activity import HALTS, Halt, Halted
from chatdev.engine.context import RunContext
from chatdev.engine.delivery import Assessment, Deliveries
from chatdev.engine.memory import Utterance
from chatdev.engine.model_calls import Agent, PhaseBudgetExhausted
from chatdev.engine.parallel import raise_first
from chatdev.errors import BudgetExhausted, ModelError, RecordEnds, ToolError
from chatdev.events import DraftJudged
from chatdev.place import Place

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
