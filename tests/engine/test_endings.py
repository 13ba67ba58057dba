"""Deliveries, consensus and the four endings of a phase."""

from typing import Any

import pytest

from chatdev.events import ToolCalled
from tests.engine.studio import CHANGE, CHECK, TALK, WRITE, Studio, program

STUB = "def save():\n    pass"
DONE = "def save():\n    return 1"


def test_the_assistants_marker_concludes_with_the_text_after_it(studio: Studio) -> None:
    run = studio.run(studio.company({"talk": TALK}), {"talk#1/round-1/assistant": "**<Solution>**: Ada Lovelace"})
    assert run.values["title"] == "Ada Lovelace"
    assert studio.endings() == {"talk#1": "consensus"}


def test_the_instructors_marker_accepts_the_last_delivery(studio: Studio) -> None:
    run = studio.run(studio.company({"talk": TALK}), {
        "talk#1/round-1/assistant": "Ada", "talk#1/round-2/instructor": "<SOLUTION> fine"})
    assert run.values["title"] == "Ada"
    assert studio.places[-1] == "talk#1/round-2/instructor"


def test_an_instructor_with_nothing_to_say_accepts_the_software_as_it_was(studio: Studio) -> None:
    review = {**CHANGE, "opens": "instructor", "concludes": "instructor"}
    run = studio.run(studio.company({"write": WRITE, "review": review}), {
        "write#1/round-1/assistant": "<SOLUTION>\n" + program(), "review#1/round-1/instructor": "<SOLUTION>"})
    assert run.software["main.py"] == b"print('hello')\n"
    assert studio.places == ["write#1/round-1/assistant", "review#1/round-1/instructor"]


@pytest.mark.parametrize(("concludes", "speaker"), [("instructor", "assistant"), ("assistant", "instructor")])
def test_the_marker_of_one_who_may_not_conclude_is_ordinary_text(studio: Studio, concludes: str,
                                                                             speaker: str) -> None:
    replies = {"talk#1/round-1/assistant": "Ada", "talk#1/round-2/instructor": "Shorter.",
               "talk#1/round-2/assistant": "<SOLUTION> Al", "talk#1/round-3/instructor": "<SOLUTION>"}
    if speaker == "instructor":
        replies["talk#1/round-2/instructor"] = "<SOLUTION> Ada is fine."
    studio.run(studio.company({"talk": {**TALK, "concludes": concludes}}), replies)
    assert ("talk#1/round-3/instructor" in studio.places) == (concludes == "instructor")
    assert "talk#1/round-2/assistant" in studio.places


def test_every_delivery_is_applied_and_committed_at_once(studio: Studio) -> None:
    run = studio.run(studio.company({"write": WRITE}), {
        "write#1/round-1/assistant": program("x = 1"), "write#1/round-2/instructor": "Print it.",
        "write#1/round-2/assistant": "<SOLUTION>\n" + program("x = 1\nprint(x)")})
    assert (run.software_folder / "main.py").read_text() == "x = 1\nprint(x)\n"
    log = studio.git_log(run)
    assert [line.split(":")[0] for line in log] == [
        "write#1/round-1/assistant", "write#1/round-2/assistant", "write#1"]


def test_two_consecutive_deliveries_that_change_nothing_end_the_phase(studio: Studio) -> None:
    replies = {f"write#1/round-{n}/assistant": program() for n in (1, 2, 3)}
    replies |= {f"write#1/round-{n}/instructor": "Better, please." for n in (2, 3)}
    run = studio.run(studio.company({"write": WRITE}), replies)
    assert studio.endings() == {"write#1": "unchanged"}
    assert studio.places[-1] == "write#1/round-3/assistant"
    assert "SAME AGAIN 1" in studio.said("write#1/round-3/instructor")
    assert run.software["main.py"]


def test_the_same_option_again_ends_the_phase_at_once(studio: Studio) -> None:
    """Asked for something that is not there yet, a small model takes another option."""
    choose = {**TALK, "concludes": "instructor", "solution": {"form": "choice", "options": ["Python", "Java"]}}
    run = studio.run(studio.company({"talk": choose}), {
        "talk#1/round-1/assistant": "Python", "talk#1/round-2/instructor": "Python",
        "talk#1/round-2/assistant": "Python"})
    assert run.values["title"] == "Python"
    assert studio.endings() == {"talk#1": "unchanged"}


@pytest.mark.parametrize(("solution", "answer", "value"), [
    ({"form": "choice", "options": ["Python", "Java"]}, "Java", "Java"),
    ({"form": "json", "schema": {"type": "array"}}, "[1]", [1]), ({"form": "list"}, "- a\n- b", ["a", "b"])])
def test_an_answer_whose_form_is_the_solution_needs_no_marker(studio: Studio, solution: Any, answer: str,
                                                              value: Any) -> None:
    run = studio.run(studio.company({"talk": {**TALK, "solution": solution}}), {"talk#1/round-1/assistant": answer})
    assert run.values["title"] == value
    assert studio.endings() == {"talk#1": "consensus"}


def test_a_response_that_does_not_parse_is_neither_delivered_nor_same(studio: Studio) -> None:
    phase = {**WRITE, "solution": {"form": "files", "retries": 0}, "rounds": 4}
    replies = {"write#1/round-1/assistant": program(), "write#1/round-2/assistant": program(),
               "write#1/round-3/assistant": "I would rather not.", "write#1/round-4/assistant": program()}
    replies |= {f"write#1/round-{n}/instructor": "Better, please." for n in (2, 3, 4)}
    studio.run(studio.company({"write": phase}), replies)
    assert studio.endings() == {"write#1": "unchanged"}
    assert len(studio.places) == 7


def test_after_the_last_round_the_last_delivery_stands(studio: Studio) -> None:
    run = studio.run(studio.company({"talk": {**TALK, "rounds": 2}}), {
        "talk#1/round-1/assistant": "Ada", "talk#1/round-2/instructor": "Shorter.", "talk#1/round-2/assistant": "Al"})
    assert run.values["title"] == "Al"
    assert studio.endings() == {"talk#1": "rounds"}
    assert studio.places[-1] == "talk#1/round-2/assistant"


def test_feedback_that_passes_at_the_start_ends_the_phase_with_no_call(studio: Studio) -> None:
    phase = {**CHANGE, "feedback": "software.complete"}
    studio.run(studio.company({"write": WRITE, "complete": phase}), {
        "write#1/round-1/assistant": "<SOLUTION>\n" + program(DONE)})
    assert studio.endings()["complete#1"] == "feedback"
    assert len(studio.places) == 1


def test_the_pair_reads_feedback_before_the_opening_and_after_deliveries(studio: Studio) -> None:
    phase = {**CHANGE, "feedback": "software.complete", "opening": "FIX {{ feedback.report }}"}
    studio.run(studio.company({"write": WRITE, "complete": phase}), {
        "write#1/round-1/assistant": "<SOLUTION>\n" + program(STUB),
        "complete#1/round-1/assistant": program("def save():\n    raise NotImplementedError"),
        "complete#1/round-2/instructor": "Write save.",
        "complete#1/round-2/assistant": program(DONE)})
    assert "FIX main.py:1: `save` has no body yet" in studio.said("complete#1/round-1/assistant")
    assert "REPORT main.py:1" in studio.said("complete#1/round-2/instructor")
    assert "REPORT main.py:1" in studio.said("complete#1/round-2/assistant")
    assert studio.endings()["complete#1"] == "feedback"
    assert studio.tool_calls("complete#1") == ["complete#1/feedback-0", "complete#1/round-1/assistant/feedback",
                                               "complete#1/round-2/assistant/feedback"]


@pytest.mark.parametrize("role", ["feedback", "guard"])
def test_a_verdict_on_software_that_is_not_there_yet_is_shown_as_none(studio: Studio, role: str) -> None:
    phase = {**WRITE, role: "software.compiles", "opening": "WRITE"}
    studio.run(studio.company({"write": phase}), {"write#1/round-1/assistant": "<SOLUTION>\n" + program(DONE)})
    verdicts = {e.place: e.passed for e in studio.events if isinstance(e, ToolCalled)}
    assert verdicts == {f"write#1/{role}-0": None, f"write#1/round-1/assistant/{role}": True,
                        "software.complete#1": True}


def test_without_an_instructor_the_assistant_reads_the_feedback(studio: Studio) -> None:
    phase = {**CHANGE, "instructor": None, "feedback": "software.complete"}
    studio.run(studio.company({"write": WRITE, "complete": phase}), {
        "write#1/round-1/assistant": "<SOLUTION>\n" + program(STUB),
        "complete#1/round-1/assistant": program("def save():\n    raise NotImplementedError"),
        "complete#1/round-2/assistant": program(DONE)})
    assert "REPORT main.py:1" in studio.said("complete#1/round-2/assistant")


@pytest.mark.parametrize("claim", ["<SOLUTION>", "<SOLUTION>\n" + program(STUB)])
def test_an_assistant_alone_is_not_done_while_the_feedback_says_otherwise(studio: Studio, claim: str) -> None:
    phase = {**CHANGE, "instructor": None, "feedback": "software.complete", "on_no_solution": "keep"}
    studio.run(studio.company({"write": WRITE, "complete": phase}), {
        "write#1/round-1/assistant": "<SOLUTION>\n" + program(STUB), "complete#1/round-1/assistant": claim,
        "complete#1/round-2/assistant": "<SOLUTION>\n" + program(DONE)})
    assert "SAME AGAIN 1 STILL main.py:1: `save` has no body yet" in studio.said("complete#1/round-2/assistant")
    assert studio.endings()["complete#1"] == "feedback"


def test_an_assistant_that_insists_against_the_feedback_ends_the_phase(studio: Studio) -> None:
    phase = {**CHANGE, "instructor": None, "feedback": "software.complete", "on_no_solution": "keep"}
    studio.run(studio.company({"write": WRITE, "complete": phase}), {
        "write#1/round-1/assistant": "<SOLUTION>\n" + program(STUB),
        "complete#1/round-1/assistant": "<SOLUTION>", "complete#1/round-2/assistant": "<SOLUTION>"})
    assert studio.endings()["complete#1"] == "unchanged"
    assert studio.places[-1] == "complete#1/round-2/assistant"


def test_thoughts_stay_in_the_journal_and_are_never_parsed(studio: Studio) -> None:
    run = studio.run(studio.company({"talk": TALK}), {
        "talk#1/round-1/assistant": "<think>maybe <SOLUTION> Bob</think><SOLUTION> Ada"})
    assert run.values["title"] == "Ada"
    assert "maybe <SOLUTION> Bob" in (run.folder / "run/journal.jsonl").read_text()


def test_the_worked_example_of_the_design(studio: Studio) -> None:
    review = {**CHANGE, "opens": "instructor", "concludes": "instructor", "dehallucination": True}
    studio.run(studio.company({"write": WRITE, "review": review}, [{"phase": "write"}, {"phase": "review"}, CHECK]), {
        "write#1/round-1/assistant": "<SOLUTION>\n" + program(),
        "review#1/round-1/instructor": "X is never saved.",
        "review#1/round-1/assistant/ask-1": "<QUESTION> JSON or SQLite?",
        "review#1/round-1/instructor/answer-1": "JSON.",
        "review#1/round-1/assistant": program("import json"),
        "review#1/round-2/instructor": "Empty input crashes.",
        "review#1/round-2/assistant/ask-1": program("import json\nimport sys"),
        "review#1/round-3/instructor": "<SOLUTION> accepted"})
    finished = studio.finished("review#1")
    assert (finished.rounds, finished.calls, finished.ending) == (2, 7, "consensus")
