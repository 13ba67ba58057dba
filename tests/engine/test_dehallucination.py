"""Communicative dehallucination (equation 7): the assistant asks for one missing specific before it answers."""

from tests.engine.studio import TALK, Studio

ASKING = {**TALK, "dehallucination": True}


def test_after_the_answer_to_its_question_the_assistant_must_deliver(studio: Studio) -> None:
    studio.run(studio.company({"talk": ASKING}), {
        "talk#1/round-1/assistant/ask-1": "<QUESTION> A first name?",
        "talk#1/round-1/instructor/answer-1": "Yes.",
        "talk#1/round-1/assistant": "<SOLUTION> Ada"})
    assert studio.said("talk#1/round-1/instructor/answer-1").endswith("<QUESTION> A first name?")
    assert studio.messages("talk#1/round-1/assistant")[1:] == [
        ("user", "OPENING about TASK"), ("assistant", "<QUESTION> A first name?"), ("user", "Yes.\n\nNOW DELIVER")]


def test_an_assistant_who_knows_enough_delivers_at_once(studio: Studio) -> None:
    studio.run(studio.company({"talk": ASKING}), {"talk#1/round-1/assistant/ask-1": "<SOLUTION> Ada"})
    assert len(studio.places) == 1


def test_questions_are_limited_per_round_and_count_as_calls_not_as_rounds(studio: Studio) -> None:
    studio.run(studio.company({"talk": {**ASKING, "questions": 2}}), {
        "talk#1/round-1/assistant/ask-1": "<QUESTION> First?", "talk#1/round-1/instructor/answer-1": "One.",
        "talk#1/round-1/assistant/ask-2": "<QUESTION> Second?", "talk#1/round-1/instructor/answer-2": "Two.",
        "talk#1/round-1/assistant": "<SOLUTION> Ada"})
    finished = studio.finished("talk#1")
    assert (finished.calls, finished.rounds) == (5, 1)
    assert studio.said("talk#1/round-1/assistant").count("NOW DELIVER") == 1


def test_a_question_where_the_solution_is_due_goes_back(studio: Studio) -> None:
    run = studio.run(studio.company({"talk": ASKING}), {
        "talk#1/round-1/assistant/ask-1": "<QUESTION> A first name?", "talk#1/round-1/instructor/answer-1": "Yes.",
        "talk#1/round-1/assistant": "<QUESTION> Really?", "talk#1/round-1/assistant/retry-1": "<SOLUTION> Ada"})
    assert "UNREADABLE a question" in studio.said("talk#1/round-1/assistant/retry-1")
    assert run.values["title"] == "Ada"


def test_the_switch_turns_it_off(studio: Studio) -> None:
    studio.run(studio.company({"talk": ASKING}), {"talk#1/round-1/assistant": "<SOLUTION> Ada"},
               sets=["phases.talk.dehallucination=false"])
    assert studio.places == ["talk#1/round-1/assistant"]
