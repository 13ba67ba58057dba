"""Failing feedback outranks the assistant's marker, and an answer that changed nothing is told and forgotten."""

from __future__ import annotations

import pytest

from tests.engine.studio import CHANGE, TALK, WRITE, Studio, program

STUB = program("def save():\n    pass")
OTHER = program("def save():\n    raise NotImplementedError")
DONE = program("def save():\n    return 1")
COMPLETE = {**CHANGE, "feedback": "software.complete", "opening": "FIX"}


def repair(studio: Studio, *answers: str, **phase: object) -> list[str]:
    """What is asked in a repair by the pair after a program that fails; the last answer is due in the last round."""
    replies = {f"complete#1/round-{n}/assistant": answer for n, answer in enumerate(answers, start=1)}
    replies |= {f"complete#1/round-{n}/instructor": f"INSTRUCTION {n}" for n in range(1, len(answers) + 1)}
    studio.run(studio.company({"write": WRITE, "complete": {**COMPLETE, **phase}}),
               {"write#1/round-1/assistant": f"<SOLUTION>\n{STUB}", **replies})
    return [place.removeprefix("complete#1/") for place in studio.places[1:]]


def test_a_pair_goes_on_to_the_third_repair_whatever_the_assistant_claims(studio: Studio) -> None:
    tries = [OTHER, program("# wait\ndef save():\n    pass"), program("# well\n\ndef save():\n    pass"), DONE]
    repair(studio, *(f"<SOLUTION>\n{text}" for text in tries))
    assert studio.endings()["complete#1"] == "feedback"


def test_two_claims_in_a_row_against_the_feedback_end_a_pair(studio: Studio) -> None:
    places = repair(studio, OTHER, "<SOLUTION>", "<SOLUTION>")
    assert studio.endings()["complete#1"] == "unchanged"
    assert places[-1] == "round-3/assistant"
    assert "SAME AGAIN 1 STILL main.py:1" in studio.said("complete#1/round-3/instructor")


def test_an_assistant_alone_may_keep_what_fails_without_reflection(studio: Studio) -> None:
    places = repair(studio, "<SOLUTION>", "<SOLUTION>", instructor=None, on_no_solution="keep")
    assert places == ["round-1/assistant", "round-2/assistant"]
    assert studio.endings()["complete#1"] == "unchanged"


def test_an_unchanged_answer_is_told_and_dropped_from_the_assistants_view(studio: Studio) -> None:
    repair(studio, f"HERE IT IS {STUB}", DONE)
    assistant = studio.said("complete#1/round-2/assistant")
    assert "HERE IT IS" not in assistant
    assert "REPORT main.py:1" in assistant
    assert "UNCHANGED software" in assistant
    assert [role for role, _ in studio.messages("complete#1/round-2/assistant")] == ["system", "user"]
    assert "UNCHANGED" not in studio.said("complete#1/round-2/instructor")


@pytest.mark.parametrize("answer", ["I would rather not.", program("def save(:")])
def test_an_unusable_answer_that_comes_again_is_dropped_both_times(studio: Studio, answer: str) -> None:
    place = "complete#1/round-1/assistant"
    studio.run(studio.company({"write": WRITE, "complete": COMPLETE}), {
        "write#1/round-1/assistant": f"<SOLUTION>\n{STUB}", place: answer, f"{place}/retry-1": answer,
        f"{place}/retry-2": DONE})
    assert answer.strip() in studio.said(f"{place}/retry-1")
    assert answer.strip() not in studio.said(f"{place}/retry-2")
    assert "UNCHANGED software" in studio.said(f"{place}/retry-2")


def test_a_value_that_comes_again_is_told_in_its_own_word(studio: Studio) -> None:
    studio.run(studio.company({"talk": TALK}), {
        "talk#1/round-1/assistant": "Ada", "talk#1/round-2/instructor": "Shorter.", "talk#1/round-2/assistant": "Ada",
        "talk#1/round-3/instructor": "Shorter!", "talk#1/round-3/assistant": "<SOLUTION> Al"})
    assert [text for role, text in studio.messages("talk#1/round-3/assistant") if role == "assistant"] == []
    assert "UNCHANGED title" in studio.said("talk#1/round-3/assistant")
