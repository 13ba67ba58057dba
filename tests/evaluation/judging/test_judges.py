"""A model as the judge, over a real connection."""

from __future__ import annotations

import json
from typing import Any

import pytest

from chatdev.config.profiles import profile_for
from chatdev.errors import ContextOverflow, JournalError, ModelRejected, ModelUnavailable
from chatdev.evaluation.judging.judgements import read_judgements
from chatdev.evaluation.judging.judges import judge_wording
from tests.evaluation.judging.arena import BAD, Arena, asked, better, verdict
from tests.support.chat_server import Received, Scripted


def test_every_pair_is_seen_in_both_orders(arena: Arena) -> None:
    arena.judged(better)
    assert arena.orders() == [(f"Requirement {n}", order) for n in (1, 2) for order in ("good first", "bad first")]


def test_a_consistent_judge_makes_wins(arena: Arena) -> None:
    standing = arena.standing(arena.judged(better))
    assert (standing.one, standing.wins, standing.losses, standing.ties) == ("alpha", 2, 0, 0)
    assert (standing.agreed, standing.first_preferred) == (1, 0.5)


def test_a_judge_that_always_prefers_the_first_makes_ties(arena: Arena) -> None:
    standing = arena.standing(arena.judged(lambda _: verdict("first")))
    assert (standing.wins, standing.losses, standing.ties) == (0, 0, 2)
    assert (standing.agreed, standing.first_preferred) == (0, 1)


def test_a_preference_in_one_order_and_a_tie_in_the_other_is_a_tie(arena: Arena) -> None:
    standing = arena.standing(arena.judged(lambda r: "```json\n" + verdict("tie") + "\n```"
                                           if asked(r).index(BAD) < 200 else better(r)))
    assert (standing.wins, standing.ties) == (0, 2)


def test_a_verdict_is_kept_with_its_reason_and_its_tokens(arena: Arena) -> None:
    arena.judged(lambda _: "<think>Hm. {}</think>" + verdict("second", "It\nadds."))
    first, turned, *_ = read_judgements(arena.file)
    assert (first.task, first.judge, first.first, first.second) == ("task 1", "judge-1", "alpha", "beta")
    assert (first.verdict, first.winner, first.why, first.tokens, first.cost) == (
        "second", "beta", "It adds.", 12, None)
    assert (turned.first, turned.winner) == ("beta", "alpha")
    assert first.pair == turned.pair
    assert first.key != turned.key


@pytest.mark.parametrize("answer", ["I like both.", '{"verdict": "third", "why": "x"}', '{"verdict": "first"}',
                                    '{"verdict": "first", "why": ""}', "first", '["first"]'])
def test_an_unreadable_answer_is_asked_for_again_once_and_then_counted(arena: Arena, answer: str) -> None:
    made = arena.judged(lambda _: answer)
    standing = arena.standing(made)
    assert (standing.unreadable, standing.decided_pairs, standing.rate(0)) == (2, 0, None)
    assert len(arena.server.requests) == 8
    assert [m["role"] for m in arena.server.requests[1].body["messages"]] == ["system", "user", "assistant", "user"]
    assert made[0].tokens == 24
    assert made[0].why


def test_what_is_read_at_the_second_time_counts(arena: Arena) -> None:
    def first_mumbles(request: Received) -> str:
        return better(request) if len(request.body["messages"]) > 2 else "Well …"

    assert arena.standing(arena.judged(first_mumbles)).wins == 2


def test_a_judge_without_a_usable_reply_gives_no_verdict(arena: Arena) -> None:
    assert arena.standing(arena.judged(lambda _: "")).unreadable == 2


def test_nothing_is_paid_twice(arena: Arena) -> None:
    before = arena.judged(better)
    assert arena.judged(better) == before
    assert len(arena.server.requests) == 4
    arena.pairs = 3
    assert arena.standing(arena.judged(better)).wins == 3
    assert len(arena.server.requests) == 6


def test_an_unreadable_verdict_is_not_paid_twice_either(arena: Arena) -> None:
    arena.judged(lambda _: "?")
    arena.judged(lambda _: "?")
    assert len(arena.server.requests) == 8


def test_changed_software_is_judged_again(arena: Arena) -> None:
    arena.judged(better)
    arena.matches[0].one.folder.joinpath("software", "lib.py").write_text("x = 1", encoding="utf-8")
    arena.judged(better)
    assert len(arena.server.requests) == 6


@pytest.mark.parametrize(("parallel", "failing"), [(1, 3), (3, 4)])
def test_an_outage_loses_nothing(arena: Arena, parallel: int, failing: int) -> None:
    arena.pairs = 4

    def dies(request: Received) -> Any:
        return better(request) if len(arena.server.requests) < failing else Scripted(status=503)

    with pytest.raises(ModelUnavailable):
        arena.judged(dies, parallel=parallel)
    kept = read_judgements(arena.file)
    assert kept == arena.seen
    assert len(kept) == failing - 1
    arena.server.requests.clear()
    assert arena.standing(arena.judged(better, parallel=parallel)).wins == 4
    assert len(arena.server.requests) == 8 - len(kept)


def test_a_line_torn_by_a_crash_is_judged_again(arena: Arena) -> None:
    arena.judged(better)
    arena.file.write_bytes(arena.file.read_bytes()[:-20])
    arena.judged(better)
    assert len(arena.server.requests) == 5


def test_a_file_of_something_else_is_refused(arena: Arena) -> None:
    arena.file.write_text('{"v": 1, "kind": "Order", "place": ""}\n', encoding="utf-8")
    with pytest.raises(JournalError, match="line 1: no judgement"):
        arena.judged(better)


def test_a_wrong_key_is_an_error_at_once(arena: Arena) -> None:
    with pytest.raises(ModelRejected):
        arena.judged(lambda _: Scripted(status=401, body={"error": {"message": "no"}}))
    assert len(arena.server.requests) == 1


def test_software_that_does_not_fit_says_what_to_do(arena: Arena) -> None:
    with pytest.raises(ContextOverflow, match="--characters"):
        arena.judged(lambda _: Scripted(status=400, body={"error": {"code": "context_length_exceeded"}}))


def test_names_of_companies_are_not_in_what_is_asked(arena: Arena) -> None:
    made = arena.made("alpha", 1, "print('the good one')  # (c) ChatDev, alpha build")
    made.folder.joinpath("software", "manual.md").write_text("Written by us.", encoding="utf-8")
    arena.judged(lambda _: verdict("tie"))
    text = json.dumps([request.body for request in arena.server.requests])
    assert "the good one" in text
    assert not [name for name in ("alpha/", "beta", "ChatDev", "Written by us") if name in text]


def test_a_constrained_model_is_given_the_form(arena: Arena) -> None:
    profile = profile_for("judge-1").model_copy(update={"constrained": True, "max_tokens": 99})
    arena.judged(better, profile=profile)
    body = arena.server.requests[0].body
    assert body["response_format"]["json_schema"]["schema"] == judge_wording().schema_
    assert (body["temperature"], body["seed"], body["max_tokens"]) == (0, 0, 99)


def test_of_long_software_the_judge_sees_the_beginning_and_is_told_so(arena: Arena) -> None:
    arena.judged(better, judge_wording().model_copy(update={"characters": 30}))
    assert "more characters" not in asked(arena.server.requests[0])
    arena.judged(lambda _: verdict("tie"), judge_wording().model_copy(update={"characters": 10}))
    assert "(11 more characters of this file are not shown.)" in asked(arena.server.requests[-1])
