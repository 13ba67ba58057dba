"""Which draft is chosen, whatever the order in which replies arrive: the rule by itself, without a server."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatdev.config.profiles import ModelProfile
from chatdev.engine.context import RoleModel, Utterance, branches_at_work
from chatdev.engine.delivery import Assessment
from chatdev.engine.drafts import Draft, Drafts, vary
from chatdev.engine.model_calls import Agent, PhaseBudgetExhausted
from chatdev.errors import BudgetExhausted, ModelUnavailable
from chatdev.events import DraftJudged, Place
from chatdev.llm.base import Sampling
from chatdev.tools.base import Verdict
from tests.support.virtual_time import run

TURN = Place("write#1/round-1/assistant")
AGENT = Agent("assistant", "maker", "Maker", "", RoleModel(cast(Any, None), Sampling("m", 0.2, None, None, 7),
                                                           ModelProfile(match=["m"])))


@dataclass
class Author:
    """Writes draft after draft: of each it is known what it is worth, and how long it takes; a failure is raised."""

    worth: list[Assessment | Exception]
    seconds: list[int]
    begun: list[int] = field(default_factory=list)
    events: list[DraftJudged] = field(default_factory=list)
    kept: list[Place] = field(default_factory=list)
    together: set[int] = field(default_factory=set)

    async def draw(self, agent: Agent, place: Place) -> Utterance:
        self.begun.append(place.draft)
        self.together.add(branches_at_work())
        await asyncio.sleep(self.seconds[place.draft - 1])
        worth = self.worth[place.draft - 1]
        if isinstance(worth, Exception):
            raise worth
        return Utterance("assistant", str(place.draft))

    async def assess(self, text: str, place: Place) -> Assessment:
        assert place.draft == int(text)
        worth = self.worth[int(text) - 1]
        assert isinstance(worth, Assessment)
        return worth

    async def keep(self, draft: Assessment, place: Place) -> None:
        self.kept.append(place)

    def emit(self, event: DraftJudged) -> None:
        self.events.append(event)

    def choose(self, at_once: int) -> Draft:
        drafts = Drafts(cast(Any, self), cast(Any, self), self.draw, self.assess, len(self.worth), at_once)
        return run(drafts.choose(AGENT, TURN))


def verdict(held: int, score: float, passed: bool) -> Assessment:
    return Assessment(Verdict(passed, "", score, examples=(held, 3) if held >= 0 else None))


worths = st.one_of(
    st.just(Assessment(is_readable=False)), st.just(Assessment(problem="a fragment")),
    st.builds(verdict, st.integers(-1, 3), st.sampled_from([0.0, 0.5, 1.0]), st.booleans()))
lists = st.lists(st.tuples(worths, st.integers(0, 4)), min_size=1, max_size=9)


@given(lists, st.integers(1, 5))
def test_the_best_up_to_the_first_complete_one_is_chosen(drafts: list[tuple[Assessment, int]], at_once: int) -> None:
    worth, seconds = [list(column) for column in zip(*drafts, strict=True)]
    author = Author(worth, seconds)
    chosen = author.choose(at_once)
    judged = next((n for n, one in enumerate(worth, start=1) if one.is_complete), len(worth))
    best = max(range(judged), key=lambda n: (worth[n].rank, -n)) + 1
    assert (chosen.place.draft, chosen.utterance.text) == (best, str(best))
    assert [event.number for event in author.events] == list(range(1, judged + 1))
    assert [event.number for event in author.events if event.chosen][-1] == best
    assert author.begun == list(range(1, min(len(worth), -(-judged // at_once) * at_once) + 1))
    assert max(author.together) <= at_once
    assert author.kept == []


@given(lists, st.integers(1, 5), st.data())
def test_a_failure_keeps_the_best_that_came_before_it(drafts: list[tuple[Assessment, int]], at_once: int,
                                                       data: st.DataObject) -> None:
    worth, seconds = [list(column) for column in zip(*drafts, strict=True)]
    failing = data.draw(st.integers(0, len(worth) - 1))
    worth[failing] = data.draw(st.sampled_from([BudgetExhausted("spent", "calls"), ModelUnavailable("gone")]))
    author = Author(worth, seconds)
    done = [n for n, one in enumerate(worth[:failing - failing % at_once]) if isinstance(one, Assessment)]
    if any(worth[n].is_complete for n in done):
        author.choose(at_once)
        assert author.kept == []
        return
    with pytest.raises((BudgetExhausted, ModelUnavailable)):
        author.choose(at_once)
    assert [place.draft for place in author.kept] == [event.number for event in author.events if event.chosen][-1:]


@given(lists, st.integers(1, 5), st.integers(0, 9))
def test_a_spent_budget_of_the_phase_ends_the_drawing(drafts: list[tuple[Assessment, int]], at_once: int,
                                                       room: int) -> None:
    worth, seconds = [list(column) for column in zip(*drafts, strict=True)]
    author = Author([*worth[:room], *[PhaseBudgetExhausted("spent")] * len(worth[room:])], seconds)
    if room == 0:
        with pytest.raises(PhaseBudgetExhausted):
            author.choose(at_once)
        return
    assert author.choose(at_once).place.draft <= room
    assert author.kept == []
    assert len(author.begun) <= -(-(room + 1) // at_once) * at_once


@given(st.integers(1, 40), st.none() | st.floats(0, 2), st.none() | st.integers(0, 9))
def test_no_draft_is_colder_than_the_first(number: int, own: float | None, seed: int | None) -> None:
    model = replace(AGENT.role_model, sampling=Sampling("m", own, None, None, seed))
    agent = replace(AGENT, role_model=model)
    varied = vary(agent, number).role_model.sampling
    assert (varied.temperature is None) == (own is None)
    assert own is None or varied.temperature is None or varied.temperature >= own
    assert varied.seed == (None if seed is None else seed + number - 1)
    assert vary(agent, 1) is agent
