"""Budgets on the command line: the exit code, what is said and left, and the prices that a cost needs."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from chatdev import Company, ConfigError
from chatdev.config.settings import user_settings
from chatdev.journal import read_journal
from chatdev.llm.base import count_tokens
from chatdev.paths import settings_file
from chatdev.runner.resources import sum_past_spending
from tests.support.chat_server import Scripted
from tests.support.shop import BETTER, FIRST, HELLO, SECOND, Outcome, Shop

PRICE = "models:\n- match: [mine]\n  price: {prompt: 1.0, completion: 2.0}\n"


def write_settings(text: str) -> None:
    settings_file().parent.mkdir(parents=True)
    settings_file().write_text(text, encoding="utf-8")


def journal(outcome: Outcome) -> Path:
    assert outcome.folder is not None
    return outcome.folder / "run" / "journal.jsonl"


def test_a_run_that_reaches_its_budget_stops_and_says_how_to_go_on(shop: Shop) -> None:
    shop.replies()
    outcome = shop.run("--max-calls", "1", "--max-tokens", "9000")
    assert outcome.status == 6, outcome.out + outcome.err
    assert "the budget of 1 call is used up (spent so far: 1 call, 12 tokens" in outcome.err
    assert f"chatdev resume {outcome.folder} --max-calls N" in outcome.err
    assert "– Stopped by its budget after " in outcome.out
    assert "budget    1 of 1 calls, 12 of 9000 tokens" in outcome.out
    assert "Of the budget: 1 of 1 calls, 12 of 9000 tokens." in outcome.report
    assert "**stopped**" in outcome.report
    assert outcome.events("RunFinished")[-1]["status"] == "stopped"
    assert outcome.software.text("main.py") == "print('hello')\n"
    assert [r["place"] for r in outcome.records if r["kind"] == "Activity" and "/" in r["place"]] == [FIRST]
    assert len(shop.server.requests) == 1


def test_what_was_spent_of_a_budget_is_shown_when_the_run_is_done(shop: Shop) -> None:
    shop.replies()
    outcome = shop.run("--max-cost", "0.5", "--max-minutes", "10", "--model", "gpt-4o-mini")
    outcome.assert_succeeded()
    assert "budget    $0.0000 of $0.5000, 0.0 of 10 minutes" in outcome.out


def test_minutes_end_the_call_under_way(shop: Shop) -> None:
    shop.replies(second=Scripted(BETTER, delay=30))
    started = time.monotonic()
    outcome = shop.run("--max-minutes", "0.02")
    assert time.monotonic() - started < 15
    assert outcome.status == 6
    assert "the budget of 0.02 minutes is used up" in outcome.err


def test_a_cost_without_a_price_is_refused_before_anything_is_made(shop: Shop) -> None:
    outcome = shop.run("--max-cost", "1", "--model", "mine")
    assert outcome.status == 2
    for word in ("--max-cost needs the price of every model", "'mine' is unknown", str(settings_file()), "price: {"):
        assert word in outcome.err
    assert outcome.folder is None
    assert shop.server.requests == []


def test_a_price_in_the_settings_file_is_used(shop: Shop) -> None:
    write_settings(PRICE)
    shop.replies(second=Scripted(BETTER, usage=(1_000_000, 500_000)))
    outcome = shop.run("--max-cost", "3", "--model", "mine")
    outcome.assert_succeeded()
    assert "$2.0000 of $3.0000" in outcome.out


def test_a_run_beyond_its_budget_is_no_success(shop: Shop) -> None:
    write_settings(PRICE)
    shop.replies(second=Scripted(BETTER, usage=(1_000_000, 500_000)))
    outcome = shop.run("--max-cost", "1", "--model", "mine")
    assert outcome.status == 6
    assert "$2.0000 of $1.0000" in outcome.out
    assert "the budget of $1.0000 is exceeded" in outcome.err
    assert outcome.software.text("main.py") == "print('hello')\n"


def test_the_cost_of_a_phase_needs_its_price_too(shop: Shop) -> None:
    outcome = shop.run("--model", "mine", "--set", "phases.change.budget.cost=1.0")
    assert outcome.status == 2
    assert "phases.change.budget.cost needs the price" in outcome.err


@pytest.mark.parametrize(("option", "value"), [
    ("--max-calls", "0"), ("--max-calls", "2.5"), ("--max-tokens", "-1"), ("--max-cost", "-0.5"),
    ("--max-minutes", "0"), ("--max-cost", "nan"), ("--max-minutes", "inf"), ("--max-cost", "much"),
])
def test_what_is_no_budget_is_refused(shop: Shop, option: str, value: str) -> None:
    outcome = shop.run(option, value)
    assert outcome.status == 2
    assert option.replace("--max-", "") in outcome.err
    assert outcome.folder is None


@pytest.mark.parametrize("options", [{"max_calls": 0}, {"max_tokens": "many"}, {"max_minutes": -1.0}])
def test_the_library_refuses_it_too(shop: Shop, options: dict[str, Any]) -> None:
    (name,) = options
    with pytest.raises(ConfigError, match=name):
        Company.load(shop.company).run("TASK", base_url=shop.server.url, sandbox="none", warehouse=shop.warehouse,
                                       **options)


def test_repeated_requests_count_by_the_server_or_else_by_us(shop: Shop) -> None:
    shop.route({FIRST: HELLO, SECOND: [Scripted("", usage=(100, 3)), Scripted("", usage=None), BETTER]})
    outcome = shop.run("--max-tokens", "9000")
    outcome.assert_succeeded()
    prompt = sum(count_tokens(message["content"]) + 4 for message in shop.server.requests[-1].body["messages"])
    assert prompt > 50
    assert f"2 calls (failed attempts: 2), {114 + prompt} tokens in, 13 out (partly estimated)" in outcome.report
    assert f"2 calls (2 repeated) · {127 + prompt} tokens (partly estimated)" in outcome.out
    assert f"{127 + prompt} of 9000 tokens" in outcome.out


def test_a_call_that_failed_for_good_counts_as_far_as_its_cost_is_known(shop: Shop) -> None:
    shop.replies(second=Scripted("", usage=(100, 3)))
    outcome = shop.run("--max-tokens", "9000")
    assert outcome.status == 3
    assert f"{12 + 3 * 103} of 9000 tokens" in outcome.out
    assert sum_past_spending(read_journal(journal(outcome))).tokens == 12 + 3 * 103


def test_a_journal_says_what_was_spent_and_a_price_learned_later_counts(shop: Shop) -> None:
    shop.replies()
    outcome = shop.run("--model", "mine", "--max-calls", "1")
    write_settings(PRICE)
    records = list(read_journal(journal(outcome)))
    spent = sum_past_spending(records, user_settings().models)
    assert (spent.calls, spent.tokens, spent.cost) == (1, 12, (7 * 1 + 5 * 2) / 1e6)
    assert sum_past_spending(records, []).cost is None
    assert spent.seconds == outcome.events("RunFinished")[-1]["seconds"]


CALL: dict[str, Any] = {"kind": "ModelCalled", "place": "a#1", "prompt_tokens": 7, "completion_tokens": 5, "cost": 0.5,
                        "model": "m", "seconds": 2.0, "replayed": False}
TOOL: dict[str, Any] = {"kind": "ToolCalled", "place": "b#1", "seconds": 3.0, "replayed": False}
BEGUN: dict[str, Any] = {"kind": "RunStarted"}
ENDED: dict[str, Any] = {"kind": "RunFinished", "seconds": 10.0}
ACTIVITY: dict[str, Any] = {"kind": "Activity", "place": "a#1", "request": {"sampling": {"model": "gpt-4o"}},
                            "result": {"text": "", "tool_calls": [], "finish": "stop", "retries": 0, "model": "",
                                       "usage": {"prompt_tokens": 1_000_000, "completion_tokens": 0}, "seconds": 4.0}}


def test_a_session_that_was_killed_counts_with_the_time_of_its_calls() -> None:
    spent = sum_past_spending([BEGUN, CALL, ENDED, BEGUN, {**CALL, "replayed": True}, CALL, TOOL, {"kind": "Noted"}])
    assert (spent.calls, spent.tokens, spent.cost, spent.seconds) == (2, 24, 1.0, 15.0)
    assert sum_past_spending([BEGUN, CALL, TOOL, BEGUN, CALL, ENDED]).seconds == 15.0


def test_a_call_is_counted_though_its_session_was_killed() -> None:
    for told in ([], [BEGUN, {**CALL, "replayed": True}]):
        spent = sum_past_spending([BEGUN, ACTIVITY, *told])
        assert (spent.calls, spent.tokens, spent.cost, spent.seconds) == (1, 1_000_000, 2.5, 4.0)
    assert sum_past_spending([ACTIVITY, CALL]) == sum_past_spending([CALL])
    assert sum_past_spending([{**ACTIVITY, "copied": True}]).calls == 0
