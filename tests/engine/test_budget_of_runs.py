"""Budgets at work: a whole run that stops, and a phase that ends as its last round would end it."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from chatdev.errors import BudgetExhausted
from chatdev.events import Noted
from tests.engine.studio import CHECK, TALK, WRITE, Studio, program, talk
from tests.support.chat_server import Scripted


def chatting(rounds: int) -> dict[str, Any]:
    """Replies of a pair that says something new in every round."""
    return {**{f"talk#1/round-{n}/assistant": f"Ada {n}" for n in range(1, rounds + 1)},
            **{f"talk#1/round-{n}/instructor": f"Not {n}." for n in range(2, rounds + 1)}}


def notes(studio: Studio) -> list[str]:
    return [event.text for event in studio.events if isinstance(event, Noted)]


def test_a_run_stops_before_the_call_that_is_too_many(studio: Studio) -> None:
    run = studio.run(studio.company({"talk": TALK}), chatting(10), max_calls=3)
    assert run.status == "stopped"
    assert len(studio.server.requests) == 3
    assert isinstance(run.error, BudgetExhausted)
    assert run.error.limit == "calls"
    assert "the budget of 3 calls is used up (spent so far: 3 calls, 36 tokens, cost unknown, " in run.reason
    assert f"chatdev resume {run.folder} --max-calls N" in run.reason
    assert (run.limits.calls, run.spent.calls, run.spent.tokens) == (3, 3, 36)


def test_a_budget_that_is_not_reached_changes_nothing(studio: Studio) -> None:
    run = studio.run(studio.company({"talk": TALK}), {"talk#1/round-1/assistant": "<SOLUTION> Ada"}, max_calls=1,
                     max_tokens=5000, max_minutes=1)
    assert run.success


def test_the_next_call_must_fit_the_tokens_with_its_longest_reply(studio: Studio) -> None:
    phase = {**TALK, "model": {"max_tokens": 100}}
    replies = {place: Scripted(text, usage=(10, 90)) for place, text in chatting(10).items()}
    run = studio.run(studio.company({"talk": phase}), replies, max_tokens=400)
    assert run.status == "stopped"
    assert run.spent.tokens == 300
    assert "does not fit the budget of 400 tokens" in run.reason


def test_the_cost_is_limited_by_the_prices_of_the_models(studio: Studio) -> None:
    phase = {**TALK, "model": {"name": "gpt-4o", "max_tokens": 100}}
    replies = {place: Scripted(text, usage=(10, 100)) for place, text in chatting(10).items()}
    run = studio.run(studio.company({"talk": phase}), replies, max_cost=0.004)
    assert run.status == "stopped"
    assert run.spent.cost == pytest.approx(3 * (10 * 2.5 + 100 * 10) / 1e6)
    assert "does not fit the budget of $0.0040" in run.reason


def test_parallel_branches_cannot_exceed_the_calls_together(studio: Studio) -> None:
    phases = {f"p{n}": talk(f"v{n}") for n in range(6)}
    company = studio.company(phases, [{"parallel": [{"phase": name} for name in phases]}, CHECK])
    replies = {f"parallel#1/branch-{n + 1}/p{n}#1/round-1/assistant": Scripted("<SOLUTION> x", delay=0.1)
               for n in range(6)}
    run = studio.run(company, replies, max_calls=4)
    assert run.status == "stopped"
    assert len(studio.server.requests) == run.spent.calls == 4
    journal = (run.folder / "run/journal.jsonl").read_text()
    assert journal.count('"kind": "Activity"') == 4


def test_minutes_end_a_call_under_way_without_recording_it(studio: Studio) -> None:
    started = time.monotonic()
    run = studio.run(studio.company({"talk": TALK}), {"talk#1/round-1/assistant": Scripted("late", delay=20)},
                     max_minutes=0.3 / 60)
    assert run.status == "stopped"
    assert time.monotonic() - started < 10
    assert "the budget of 0.005 minutes is used up" in run.reason
    assert '"kind": "Activity"' not in (run.folder / "run/journal.jsonl").read_text()


def test_an_optional_branch_does_not_hide_that_the_run_stops(studio: Studio) -> None:
    company = studio.company({"one": talk("a")}, [{"parallel": [{"phase": "one", "optional": True}]}, CHECK])
    run = studio.run(company, {"parallel#1/branch-1/one#1/round-1/assistant": Scripted("late", delay=20)},
                     max_minutes=0.2 / 60)
    assert run.status == "stopped"


def test_the_budget_of_a_phase_ends_it_as_its_last_round_does(studio: Studio) -> None:
    run = studio.run(studio.company({"talk": {**TALK, "budget": {"calls": 3}}}), chatting(10))
    assert run.success
    assert run.values["title"] == "Ada 2"
    assert studio.endings() == {"talk#1": "budget"}
    assert studio.places[-1] == "talk#1/round-2/assistant"
    (note,) = notes(studio)
    assert note.startswith("the phase ends here: the budget of 3 calls is used up (spent so far: 3 calls, 36 tokens")


def test_every_execution_of_a_phase_has_its_budget_anew(studio: Studio) -> None:
    phase = {**talk("title"), "budget": {"calls": 1}}
    company = studio.company({"talk": phase}, [{"phase": "talk"}, {"phase": "talk"}, CHECK])
    run = studio.run(company, {"talk#1/round-1/assistant": "Ada", "talk#2/round-1/assistant": "Bob"})
    assert run.values["title"] == "Bob"
    assert studio.endings() == {"talk#1": "budget", "talk#2": "budget"}


def test_a_phase_without_a_solution_reflects_beyond_the_budget(studio: Studio) -> None:
    phase = {**WRITE, "budget": {"calls": 1}, "solution": {"form": "files", "retries": 0}}
    run = studio.run(studio.company({"write": phase}), {
        "write#1/round-1/assistant": "I would rather not.", "write#1/reflection-1": program()})
    assert run.software.text("main.py") == "print('hello')\n"
    assert studio.endings() == {"write#1": "reflection"}
    assert len(notes(studio)) == 1


def test_the_best_version_stands_when_the_phases_budget_is_spent(studio: Studio) -> None:
    phase = {**WRITE, "feedback": "software.complete", "budget": {"calls": 3}}
    studio.run(studio.company({"write": phase}), {
        "write#1/round-1/assistant": program("def a():\n    pass\ndef b():\n    pass"),
        "write#1/round-2/instructor": "Write a.",
        "write#1/round-2/assistant": program("def a():\n    return 1\ndef b():\n    pass")})
    assert studio.endings() == {"write#1": "budget"}


def test_minutes_of_a_phase_end_its_call_under_way_and_the_chain_goes_on(studio: Studio) -> None:
    phase = {**TALK, "budget": {"minutes": 0.3 / 60}}
    run = studio.run(studio.company({"talk": phase}), {
        "talk#1/round-1/assistant": "Ada", "talk#1/round-2/instructor": Scripted("late", delay=20)})
    assert run.success
    assert run.values["title"] == "Ada"
    assert studio.endings() == {"talk#1": "budget"}


def test_a_resumed_run_ends_a_phase_where_its_budget_ended(studio: Studio) -> None:
    run = studio.run(studio.company({"talk": {**TALK, "budget": {"calls": 1}}}), chatting(3))
    records = [json.loads(line) for line in (run.folder / "run/journal.jsonl").read_text().splitlines()]
    refused = [r for r in records if r["kind"] == "Activity" and "spent" in r["result"]]
    assert [record["place"] for record in refused] == ["talk#1/round-2/instructor"]
