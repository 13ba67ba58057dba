"""`memory: {fresh: true}`: every round begins anew with what stands, and nothing of the rounds before."""

from __future__ import annotations

from typing import Any

import pytest

import chatdev
from chatdev.events import DraftJudged
from tests.engine.studio import CHANGE, TALK, WRITE, Studio, program

STUB = program("def save():\n    pass")
LOST = program("# here\ndef save():\n    pass")
DONE = program("def save():\n    return 1")
REPAIR = {**CHANGE, "feedback": "software.complete", "memory": {"fresh": True},
          "opening": "FIX {{ feedback.report }} IN\n{{ software | listing }}"}


def repair(studio: Studio, replies: dict[str, Any], **phase: Any) -> None:
    scripted = {f"fix#1/{place}": text for place, text in replies.items()}
    studio.run(studio.company({"write": WRITE, "fix": {**REPAIR, **phase}}),
               {"write#1/round-1/assistant": f"<SOLUTION>\n{STUB}", **scripted})
    assert studio.endings()["fix#1"] == "feedback"


def test_an_assistant_alone_reads_what_stands_and_not_what_it_said(studio: Studio) -> None:
    repair(studio, {"round-1/assistant": f"FIRST {LOST}", "round-2/assistant": DONE}, instructor=None)
    _, (role, text) = studio.messages("fix#1/round-2/assistant")
    assert role == "user"
    assert text.startswith("FIX main.py:2: `save` has no body yet IN\nmain.py")
    assert "# here" in text
    assert "FIRST" not in text
    assert "REPORT" not in text


def test_a_pair_instructs_each_round_on_what_stands(studio: Studio) -> None:
    repair(studio, {"round-1/instructor": "SAY ONE", "round-1/assistant": LOST, "round-2/instructor": "SAY TWO",
                    "round-2/assistant": DONE}, opens="instructor")
    assert [role for role, _ in studio.messages("fix#1/round-2/instructor")] == ["system", "user"]
    assert "main.py:2" in studio.said("fix#1/round-2/instructor")
    assistant = studio.said("fix#1/round-2/assistant")
    assert "SAY TWO" in assistant
    assert "SAY ONE" not in assistant


def test_where_the_opening_is_the_first_instruction_the_next_is_one(studio: Studio) -> None:
    repair(studio, {"round-1/assistant": LOST, "round-2/instructor": "AGAIN", "round-2/assistant": DONE})
    assert studio.said("fix#1/round-2/assistant").startswith("FIX main.py:2")
    assert studio.said("fix#1/round-2/assistant").endswith("AGAIN")


def test_feedback_that_the_opening_does_not_name_is_told_beside_it(studio: Studio) -> None:
    repair(studio, {"round-1/assistant": LOST, "round-2/assistant": "No.", "round-2/assistant/retry-1": "Not.",
                    "round-2/assistant/retry-2": "Never.", "round-3/assistant": DONE}, instructor=None, opening="FIX")
    assert studio.said("fix#1/round-2/assistant") == "FIX\n\nREPORT main.py:2: `save` has no body yet"
    last = studio.said("fix#1/round-3/assistant")
    assert "UNREADABLE" in last
    assert last.endswith("REPORT main.py:2: `save` has no body yet")
    assert "Never." not in last


def test_the_attempts_of_one_round_know_each_other(studio: Studio) -> None:
    repair(studio, {"round-1/assistant": LOST, "round-2/assistant": "I cannot.", "round-2/assistant/retry-1": DONE},
           instructor=None)
    assert [role for role, _ in studio.messages("fix#1/round-2/assistant/retry-1")] == [
        "system", "user", "assistant", "user"]


def test_questions_and_answers_are_known_in_their_round_alone(studio: Studio) -> None:
    repair(studio, {"round-1/assistant/ask-1": "<QUESTION> How?", "round-1/instructor/answer-1": "So.",
                    "round-1/assistant": LOST, "round-2/instructor": "AGAIN", "round-2/assistant/ask-1": DONE},
           dehallucination=True)
    assert "So." in studio.said("fix#1/round-1/assistant")
    assert "So." not in studio.said("fix#1/round-2/assistant/ask-1")


@pytest.mark.parametrize("instructor", [None, "chief"])
def test_an_unchanged_answer_is_told_in_the_next_round(studio: Studio, instructor: str | None) -> None:
    replies = {"round-1/assistant": STUB, "round-2/assistant": DONE}
    repair(studio, {**replies, **({"round-2/instructor": "AGAIN"} if instructor else {})}, instructor=instructor)
    text = studio.said("fix#1/round-2/assistant")
    assert "UNCHANGED software" in text
    assert text.count("has no body yet") == (1 if instructor else 2)  # `same_again` has it, too


def test_the_form_and_the_roles_are_told_as_they_are_by_then(studio: Studio) -> None:
    phase = {**WRITE, "instructor": None, "feedback": "software.complete", "memory": {"fresh": True},
             "guidance": {"assistant": "{{ 'REPAIR' if software else 'BEGIN' }}"}, "reads": ["task", "software?"]}
    studio.run(studio.company({"write": phase}), {"write#1/round-1/assistant": STUB, "write#1/round-2/assistant": DONE})
    first, second = (studio.system(f"write#1/round-{n}/assistant") for n in (1, 2))
    assert ("WHOLE FILES" in first, "BEGIN" in first) == (True, True)
    assert ("CHANGED PARTS" in second, "REPAIR" in second) == (True, True)


def test_a_value_is_read_as_it_stands(studio: Studio) -> None:
    phase = {**TALK, "reads": ["title?"], "opening": "NOW {{ title }}", "memory": {"fresh": True}}
    studio.run(studio.company({"talk": phase}), {
        "talk#1/round-1/assistant": "Ada", "talk#1/round-2/instructor": "Shorter.", "talk#1/round-2/assistant": "Al",
        "talk#1/round-3/instructor": "<SOLUTION>"})
    assert studio.said("talk#1/round-2/instructor") == "NOW Ada"
    assert studio.said("talk#1/round-3/instructor") == "NOW Al"


def test_a_reflection_reads_the_last_round(studio: Studio) -> None:
    solution = {"form": "json", "retries": 0, "schema": {"type": "object"}}
    phase = {**TALK, "solution": solution, "rounds": 2, "memory": {"fresh": True}}
    studio.run(studio.company({"talk": phase}), {
        "talk#1/round-1/assistant": "ONE", "talk#1/round-2/instructor": "In JSON.", "talk#1/round-2/assistant": "TWO",
        "talk#1/reflection-1": "{}"})
    said = studio.said("talk#1/reflection-1")
    assert "TWO" in said
    assert "ONE" not in said


def test_each_round_may_have_its_drafts(studio: Studio) -> None:
    repair(studio, {"round-1/assistant": STUB, "round-1/assistant/draft-2": LOST, "round-2/assistant": LOST,
                    "round-2/assistant/draft-2": DONE}, instructor=None, drafts=2)
    judged = [(event.place.split("/")[1], event.number) for event in studio.events if isinstance(event, DraftJudged)]
    assert judged == [("round-1", 1), ("round-1", 2), ("round-2", 1), ("round-2", 2)]


def test_a_run_that_stops_between_rounds_goes_on_with_the_same_requests(studio: Studio) -> None:
    company = studio.company({"write": WRITE, "fix": {**REPAIR, "instructor": None}})
    replies = {"write#1/round-1/assistant": f"<SOLUTION>\n{STUB}", "fix#1/round-1/assistant": LOST,
               "fix#1/round-2/assistant": DONE}
    folder = studio.run(company, replies, max_calls=2).folder
    run = chatdev.resume(folder, keep_budget=False, base_url=studio.server.url, sandbox="none")
    assert run.success
    assert studio.places == list(replies)
    assert chatdev.replay(folder).software == run.software
