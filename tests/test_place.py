"""Places: one printer and one parser for the ids of activities and events."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatdev.events import Place

ROUND = Place().step("repeat", 1).at("pass", 2).step("system_test", 1).at("round", 2)


def test_a_place_is_printed_as_journals_hold_it() -> None:
    assert ROUND.at("assistant").at("ask", 1) == "repeat#1/pass-2/system_test#1/round-2/assistant/ask-1"
    assert json.dumps({ROUND: ROUND}) == '{"repeat#1/pass-2/system_test#1/round-2": ' \
                                         '"repeat#1/pass-2/system_test#1/round-2"}'


def test_the_nearest_step_is_the_innermost_with_what_is_around_it() -> None:
    assert ROUND.at("assistant").nearest_step == "repeat#1/pass-2/system_test#1"
    assert ROUND.step_name == "system_test"
    assert Place("").nearest_step == Place("").step_name == ""


@pytest.mark.parametrize("tail", ["", "/act-1", "/act-2/trim-1", "/more-1", "/again-2", "/answer", "/act-1/answer",
                                  "/trim-1/again-1", "/answer/more-2", "/call-3.1"])
@pytest.mark.parametrize("turn", ["instructor", "assistant", "assistant/retry-1", "assistant/ask-2",
                                  "instructor/answer-1"])
def test_every_request_of_a_turn_names_the_turn(turn: str, tail: str) -> None:
    assert Place(f"{ROUND}/{turn}{tail}").turn == f"{ROUND}/{turn}"


@pytest.mark.parametrize(("tail", "second"), [
    ("again-1", True), ("act-1/answer", True), ("trim-1/again-2", True), ("answer/more-1", True), ("act-1", False),
    ("more-1", False), ("trim-1", False), ("retry-1", False)])
def test_a_request_that_replaces_the_one_before_is_told_apart(tail: str, second: bool) -> None:
    assert Place(f"{ROUND}/assistant/{tail}").is_second_attempt is second
    assert not Place("").is_second_attempt


def test_the_speaker_is_read_from_the_place() -> None:
    assert ROUND.at("instructor").at("answer", 1).speaker == "instructor"
    assert ROUND.at("assistant").speaker == "assistant"
    assert ROUND.nearest_step.at("reflection", 1).speaker == "assistant"


def test_a_place_holds_itself_what_is_below_and_its_occurrences() -> None:
    assert Place("coding").holds("coding#1/round-1/assistant")
    assert Place("coding#1").holds("coding#1")
    assert not Place("coding").holds("coding_more#1")


def test_branches_are_told_apart_from_what_follows_one_another() -> None:
    fork = Place().step("parallel", 1)
    first, second = fork.at("branch", 1).step("manual", 1), fork.at("branch", 2).step("manual", 1)
    assert first.in_other_branch(second)
    assert not first.in_other_branch(first.at("round", 1))
    assert not Place("a#1/pass-1").in_other_branch("a#1/pass-2")


def test_either_of_two_drafts_may_come_first() -> None:
    turn = ROUND.at("assistant")
    second, third = turn.at("draft", 2), turn.at("draft", 3)
    for own, other in ((second, third), (second.at("more", 1), third), (turn, third), (turn.at("again", 1), second),
                       (second, turn.at("guard"))):
        assert own.in_other_branch(other)
        assert other.in_other_branch(own)
    assert not second.in_other_branch(second.at("feedback"))
    assert not turn.at("ask", 1).in_other_branch(second)
    assert not turn.at("retry", 1).in_other_branch(second)
    assert (turn.draft, third.at("more", 1).draft, third.first_draft) == (1, 3, turn)


@given(st.text(), st.text())
def test_any_text_of_a_journal_can_be_asked(text: str, other: str) -> None:
    place = Place(text)
    assert place.holds(place.at("round", 1)) or not text
    assert place.nearest_step == "" or place.startswith(place.nearest_step)
    assert place.startswith(place.turn)
    place.in_other_branch(other)
    assert place.draft >= 0
