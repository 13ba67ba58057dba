"""Stop rules: small, composable, and each right on its own; whole dialogues are in test_endings."""

from __future__ import annotations

import pytest

from chatdev.engine.stop import (
    AFTER_INSTRUCTION,
    AFTER_RESPONSE,
    BEFORE_NEXT_ROUND,
    DialogueProgress,
    LoopDetector,
    StopRule,
    consensus,
    feedback_passes,
    last_round,
)


def progress(*, rounds: int = 3, is_judged: bool = False, is_alone: bool = False, same_again: int = 2,
             watches: bool = True, semantics: int = 2) -> DialogueProgress:
    return DialogueProgress(rounds, LoopDetector(watches), is_judged, is_alone, same_again, semantics=semantics)


def deliver(dialogue: DialogueProgress, version: str, *, unchanged: bool = False, concludes: bool = False,
            passed: bool = False) -> str | None:
    dialogue.begin_round()
    dialogue.see_answer(version, unchanged=unchanged)
    dialogue.see_delivery(version, version, unchanged=unchanged, concludes=concludes, passed=passed)
    return AFTER_RESPONSE(dialogue)


def test_of_rules_that_are_joined_the_first_that_holds_ends() -> None:
    never, always = StopRule(lambda _: None), StopRule(lambda _: "rounds")
    assert (never | always)(progress()) == "rounds"
    assert (never | never)(progress()) is None
    assert (feedback_passes | always)(progress(is_judged=True)) == "rounds"


def test_passing_feedback_goes_before_a_consensus() -> None:
    assert deliver(progress(is_judged=True), "a", concludes=True, passed=True) == "feedback"
    assert deliver(progress(is_judged=True, semantics=1), "a", concludes=True) == "consensus"
    assert deliver(progress(is_judged=True), "a", concludes=True) is None


def test_two_deliveries_in_a_row_that_change_nothing_end() -> None:
    dialogue = progress()
    assert deliver(dialogue, "a", unchanged=True) is None
    assert deliver(dialogue, "b") is None
    assert deliver(dialogue, "b", unchanged=True) is None
    assert deliver(dialogue, "b", unchanged=True) == "unchanged"


def test_of_a_choice_the_same_answer_ends_at_once() -> None:
    assert deliver(progress(same_again=1), "a", unchanged=True) == "unchanged"


def test_an_assistant_alone_that_nobody_judges_is_done_with_a_delivery() -> None:
    assert deliver(progress(is_alone=True), "a") == "delivered"
    assert deliver(progress(is_alone=True, is_judged=True), "a") is None


@pytest.mark.parametrize(("is_alone", "semantics", "endings"), [
    (True, 1, [None, "consensus"]), (False, 1, ["consensus"]),
    (True, 2, [None, "unchanged"]), (False, 2, [None, "unchanged"]),
])
def test_failing_feedback_outranks_an_assistant_until_it_insists(is_alone: bool, semantics: int,
                                                                 endings: list[str | None]) -> None:
    dialogue = progress(is_alone=is_alone, is_judged=True, semantics=semantics)
    for ending in endings:
        dialogue.see_agreement("done", passed=False)
        assert AFTER_RESPONSE(dialogue) == ending


def test_an_instructor_concludes_against_failing_feedback() -> None:
    dialogue = progress(is_judged=True)
    assert deliver(dialogue, "a") is None
    dialogue.see_instruction("good enough", agrees=True)
    assert consensus(dialogue) == "consensus"


def test_a_claim_that_leaves_the_report_as_it_was_counts_as_unchanged() -> None:
    dialogue, said = progress(is_judged=True, rounds=9), []
    for version, report in (("a", "line 3"), ("b", "line 5"), ("c", "line 5"), ("d", "line 7"), ("e", "line 7"),
                            ("f", "line 7")):
        dialogue.see_delivery(version, version, unchanged=False, concludes=True, passed=False, report=report)
        said.append(AFTER_RESPONSE(dialogue))
    assert said == [None] * 5 + ["unchanged"]


def test_two_refused_rounds_end_and_unreadable_ones_do_not() -> None:
    dialogue = progress()
    dialogue.see_failed_round("worse", refused=True)
    assert AFTER_RESPONSE(dialogue) is None
    dialogue.see_failed_round("odd", refused=False)
    assert AFTER_RESPONSE(dialogue) is None
    dialogue.see_failed_round("worse still", refused=True)
    assert AFTER_RESPONSE(dialogue) == "unchanged"


@pytest.mark.parametrize(("agrees", "ending"), [(True, "consensus"), (False, None)])
def test_an_instructor_that_may_conclude_ends_by_agreeing(agrees: bool, ending: str | None) -> None:
    dialogue = progress()
    dialogue.see_instruction("fine", agrees=agrees)
    assert AFTER_INSTRUCTION(dialogue) == ending


def test_circles_go_before_the_last_round_and_both_end() -> None:
    dialogue = progress(rounds=1)
    dialogue.begin_round()
    assert last_round(dialogue) == BEFORE_NEXT_ROUND(dialogue) == "rounds"
    for version in "abab":
        dialogue.loops.see_version(version)
    assert BEFORE_NEXT_ROUND(dialogue) == "stuck"


def test_answers_that_come_again_are_counted_in_a_row() -> None:
    dialogue = progress()
    for text, unchanged, repeats in [("a", False, 0), ("a", False, 1), ("b", True, 2), ("c", False, 0)]:
        dialogue.see_answer(text, unchanged=unchanged)
        assert dialogue.repeats == repeats
