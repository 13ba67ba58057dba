"""Calls capped by what a budget leaves: servers that keep to it, ignore it or do not count, and what is kept of it."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from chatdev import Run, resume
from chatdev.errors import BudgetExhausted
from chatdev.llm.base import count_tokens
from tests.engine.studio import CHECK, OVERFLOW, TALK, Studio, talk
from tests.support.chat_server import Scripted

BRANCHES = 8
FIRST = "talk#1/round-1/assistant"
WORDS = "one more word for the list and then another "  # 9 tokens


def varied(count: int) -> str:
    """So many of these words that do not go in circles, which would cut them before any cap."""
    return " ".join(random.Random(count).choices(WORDS.split(), k=9 * count))


def asked_for(body: Mapping[str, Any]) -> int | None:
    return body.get("max_tokens")


def obedient(tokens: int, text: str = "<SOLUTION> x") -> Callable[[dict[str, Any]], Scripted]:
    """A server whose replies have so many tokens, and fewer where it is asked for fewer."""
    def reply(body: dict[str, Any]) -> Scripted:
        prompt = sum(count_tokens(message["content"]) + 4 for message in body["messages"])
        most = asked_for(body)
        cut = most is not None and most < tokens
        return Scripted(text, usage=(prompt, most or 0 if cut else tokens), finish_reason="length" if cut else "stop")
    return reply


def branches(studio: Studio, reply: object, **options: Any) -> Run:
    """Eight branches at once, each with a call."""
    phases = {f"p{n}": talk(f"v{n}") for n in range(1, BRANCHES + 1)}
    company = studio.company(phases, [{"parallel": [{"phase": name} for name in phases]}, CHECK])
    places = {f"parallel#1/branch-{n}/p{n}#1/round-1/assistant": reply for n in range(1, BRANCHES + 1)}
    return studio.run(company, places, **options)


def activities(run: Run) -> list[dict[str, Any]]:
    records = map(json.loads, (run.folder / "run/journal.jsonl").read_text().splitlines())
    return [record for record in records if record["kind"] == "Activity"]


def test_branches_keep_to_the_tokens_on_an_obedient_server(studio: Studio) -> None:
    run = branches(studio, obedient(50_000), max_tokens=10_000)
    assert (run.status, len(studio.server.requests)) == ("stopped", 1)
    assert 9_900 < run.spent.tokens <= 10_000
    assert studio.places == ["parallel#1/branch-1/p1#1/round-1/assistant"]
    assert "a reply was cut at" in run.reason


def test_branches_share_the_tokens_when_their_replies_are_short(studio: Studio) -> None:
    run = branches(studio, obedient(500), max_tokens=10_000)
    assert run.success
    assert run.spent.tokens < 10_000


def test_a_server_that_ignores_the_cap_is_asked_once_and_stops_the_run(studio: Studio) -> None:
    run = branches(studio, Scripted("<SOLUTION> x", usage=(50, 50_000)), max_tokens=10_000)
    assert run.status == "stopped"
    assert (run.spent.calls, run.spent.tokens) == (1, 50_050)
    assert "the budget of 10000 tokens is exceeded" in run.reason


@pytest.mark.parametrize("usage", [(0, 0), (60, 1), None])
def test_a_server_that_does_not_count_is_counted_by_us(studio: Studio, usage: tuple[int, int] | None) -> None:
    run = branches(studio, Scripted(f"<SOLUTION> {WORDS * 400}", usage=usage), max_tokens=10_000)
    assert run.status == "stopped"
    assert run.usage.estimated
    assert run.spent.calls == len(studio.server.requests) == 3
    assert 3 * 3600 < run.spent.tokens < 3 * 3600 + 1000


def test_a_stream_that_goes_on_past_the_cap_is_cut(studio: Studio) -> None:
    run = studio.run(studio.company({"talk": TALK}), {FIRST: Scripted(varied(3000))}, max_tokens=3000, stream=True)
    assert run.status == "stopped"
    assert 2700 < run.spent.tokens < 3050
    assert activities(run) == []


def test_thoughts_that_go_on_past_the_cap_are_cut_too(studio: Studio) -> None:
    thinking = [{"index": 0, "delta": {"reasoning_content": WORDS}, "finish_reason": None}]
    chunks = b"".join(b"data: " + json.dumps({"choices": thinking}).encode() + b"\n\n" for _ in range(3000))
    reply = Scripted(body=chunks, headers={"Content-Type": "text/event-stream"})
    run = studio.run(studio.company({"talk": TALK}), {FIRST: reply}, max_tokens=3000, stream=True)
    assert run.status == "stopped"
    assert run.spent.tokens < 3300


def test_dollars_cap_a_reply_by_its_price(studio: Studio) -> None:
    phase = {**TALK, "model": {"name": "gpt-4o"}}
    run = studio.run(studio.company({"talk": phase}), {FIRST: obedient(16_000)}, max_cost=0.1)
    assert run.status == "stopped"
    assert run.spent.cost is not None
    assert 0.099 < run.spent.cost <= 0.1
    assert "of $0.1000 had left for it" in run.reason


def test_branches_keep_to_the_dollars(studio: Studio) -> None:
    phases = {f"p{n}": talk(f"v{n}", model={"name": "gpt-4o"}) for n in range(1, BRANCHES + 1)}
    company = studio.company(phases, [{"parallel": [{"phase": name} for name in phases]}, CHECK])
    run = studio.run(company, {f"parallel#1/branch-{n}/p{n}#1/round-1/assistant": obedient(3000)
                               for n in range(1, BRANCHES + 1)}, max_cost=0.1)
    assert run.status == "stopped"
    assert run.spent.cost is not None
    assert 0.08 < run.spent.cost <= 0.1


def test_a_cut_reply_is_paid_kept_out_and_asked_for_anew(studio: Studio) -> None:
    run = studio.run(studio.company({"talk": TALK}), {FIRST: obedient(3000)}, max_tokens=2000)
    assert isinstance(run.error, BudgetExhausted)
    assert run.error.limit == "tokens"
    assert activities(run) == []
    assert studio.places == [FIRST]
    paid = run.spent.tokens
    again = resume(run.folder, base_url=studio.server.url, max_tokens=9000)
    assert again.success
    assert studio.places == [FIRST, FIRST]
    assert again.spent.tokens == paid + 3000 + (paid - (asked_for(studio.server.requests[0].body) or 0))


def test_no_cap_is_part_of_a_requests_digest(studio: Studio) -> None:
    company, replies = studio.company({"talk": TALK}), {FIRST: "<SOLUTION> Ada"}
    free, limited = studio.run(company, replies), studio.run(company, replies, max_tokens=5000)
    assert [one["digest"] for one in activities(free)] == [one["digest"] for one in activities(limited)]
    bodies = [request.body for request in studio.server.requests]
    assert "max_tokens" not in bodies[0]
    assert 4000 < bodies[1].pop("max_tokens") < 5000
    assert bodies[0] == bodies[1]


def test_a_last_reply_beyond_the_budget_is_no_success_until_it_may_be(studio: Studio) -> None:
    run = studio.run(studio.company({"talk": TALK}), {FIRST: Scripted("<SOLUTION> Ada", usage=(50, 9000))},
                     max_tokens=5000)
    assert run.status == "stopped"
    assert run.spent.tokens == 9050
    assert resume(run.folder, base_url=studio.server.url, max_tokens=9000).status == "stopped"
    again = resume(run.folder, base_url=studio.server.url, max_tokens=9100)
    assert again.success
    assert again.values["title"] == "Ada"
    assert len(studio.server.requests) == 1
    assert resume(run.folder, base_url=studio.server.url, max_tokens=10).success  # it was over before


def test_a_finished_run_stays_finished_under_a_smaller_budget(studio: Studio) -> None:
    run = studio.run(studio.company({"talk": TALK}), {FIRST: "<SOLUTION> Ada"})
    assert resume(run.folder, base_url=studio.server.url, max_tokens=1).success


TOO_LARGE = Scripted(status=400, body={"error": {"message": "max_tokens is too large: this model takes at most 4096"}})


@pytest.mark.parametrize("refusal", [TOO_LARGE, OVERFLOW])
def test_a_cap_that_the_server_refuses_is_left_out(studio: Studio, refusal: Scripted) -> None:
    def answer(body: dict[str, Any]) -> Scripted:
        return refusal if (asked_for(body) or 0) > 4096 else Scripted("<SOLUTION> Ada")
    run = studio.run(studio.company({"talk": TALK}), {FIRST: answer}, max_tokens=100_000)
    assert run.success
    assert [asked_for(request.body) is None for request in studio.server.requests] == [False, True]


def test_unusable_replies_share_what_is_left_for_their_call(studio: Studio) -> None:
    def nothing(body: dict[str, Any]) -> Scripted:
        return Scripted("", usage=(60, asked_for(body) or 0), finish_reason="length")
    run = studio.run(studio.company({"talk": TALK}), {FIRST: nothing}, max_tokens=5000)
    assert run.status == "stopped"
    assert run.spent.tokens <= 5000


def test_empty_replies_are_asked_for_again_within_the_budget(studio: Studio) -> None:
    run = studio.run(studio.company({"talk": {**TALK, "model": {"max_tokens": 1500}}}),
                     {FIRST: Scripted("", usage=(60, 1500))}, max_tokens=4000)
    assert run.status == "stopped"
    assert [asked_for(request.body) for request in studio.server.requests][:2] == [1500, 1500]
    assert run.spent.tokens <= 4000


@pytest.mark.parametrize("limits", [{"max_calls": 1}, {"sets": ["phases.talk.budget.calls=1"]}], ids=["run", "phase"])
def test_a_last_call_that_brings_nothing_is_no_used_up_budget(studio: Studio, limits: dict[str, Any],
                                                              monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHATDEV_RETRY_SECONDS", "0")
    run = studio.run(studio.company({"talk": TALK}), {FIRST: Scripted("", usage=(40, 2))}, **limits)
    assert (run.status, "no usable reply" in run.reason) == ("error", True)


def test_a_cut_by_the_budget_of_a_phase_ends_it_as_its_last_round_does(studio: Studio) -> None:
    phase = {**TALK, "budget": {"tokens": 3000}}
    run = studio.run(studio.company({"talk": phase}), {
        FIRST: obedient(500, "Ada"), "talk#1/round-2/instructor": obedient(100, "Shorter, please."),
        "talk#1/round-2/assistant": obedient(9000, "Adelaide and so on")})
    assert run.success
    assert studio.endings() == {"talk#1": "budget"}
    assert run.values["title"] == "Ada"
    assert run.spent.tokens <= 3000
    again = resume(run.folder, base_url=studio.server.url)
    assert again.success
    assert len(studio.server.requests) == 3


def test_calls_that_wait_are_admitted_in_declared_order(studio: Studio) -> None:
    phases = {f"p{n}": talk(f"v{n}") for n in range(1, 5)}
    company = studio.company(phases, [{"parallel": [{"phase": name} for name in phases]}, CHECK])
    run = studio.run(company, dict.fromkeys(
        (f"parallel#1/branch-{n}/p{n}#1/round-1/assistant" for n in range(1, 5)), obedient(900)), max_tokens=8000)
    assert run.success
    assert [place.split("/")[1] for place in studio.places] == [f"branch-{n}" for n in range(1, 5)]


def test_a_stream_that_breaks_off_is_counted_as_far_as_it_came(studio: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHATDEV_RETRY_SECONDS", "0")
    broken = Scripted(varied(100), cut=60_000)
    run = studio.run(studio.company({"talk": TALK}), {FIRST: broken}, max_tokens=9_000, stream=True)
    assert run.error is not None
    assert run.spent.tokens > 100 * len(studio.server.requests)
    assert run.spent.tokens <= 9_000


def test_streams_that_take_too_long_are_counted_in_budget_and_report(studio: Studio, monkeypatch: pytest.MonkeyPatch,
                                                                     ) -> None:
    monkeypatch.setenv("CHATDEV_RETRY_SECONDS", "0")
    monkeypatch.setenv("CHATDEV_REPLY_SECONDS", "0.3")
    slow, company = Scripted(WORDS * 100, drip=0.02), studio.company({"talk": TALK})
    for limits in ({}, {"max_tokens": 9_000}):
        run = studio.run(company, {FIRST: slow}, stream=True, **limits)
        assert run.error is not None
        assert (run.usage.calls, run.usage.estimated) == (1, True)
        assert run.usage.completion_tokens >= 6
        assert "(partly estimated)" in (run.folder / "run/report.md").read_text(encoding="utf-8")


def in_turn(*answers: Any) -> Callable[[dict[str, Any]], Scripted]:
    """One answer after the other; the last one again and again."""
    left = list(answers)

    def reply(body: dict[str, Any]) -> Scripted:
        found = left.pop(0) if len(left) > 1 else left[0]
        answer: Scripted = found(body) if callable(found) else found
        return answer
    return reply


def test_what_was_lost_before_a_reply_is_no_part_of_it(studio: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
    """The stream that broke off took nearly half of the budget; the reply after it ends where its server ends it."""
    monkeypatch.setenv("CHATDEV_RETRY_SECONDS", "0")
    half = Scripted("<SOLUTION> one half, ", usage=(50, 600), finish_reason="length")
    run = studio.run(studio.company({"talk": TALK}), {
        FIRST: in_turn(Scripted(varied(600), cut=500_000), half), f"{FIRST}/more-1": "and another"},
        max_tokens=10_000, stream=True)
    assert run.success, run.reason
    assert run.values["title"] == "one half, and another"


def test_a_reply_that_the_rest_of_a_budget_cuts_is_not_used(studio: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHATDEV_RETRY_SECONDS", "0")
    run = studio.run(studio.company({"talk": TALK}), {
        FIRST: in_turn(Scripted("", usage=(50, 3_000)), obedient(50_000))}, max_tokens=10_000)
    assert run.status == "stopped"
    assert "a reply was cut at" in run.reason
    assert activities(run) == []
    assert 9_800 < run.spent.tokens <= 10_000
