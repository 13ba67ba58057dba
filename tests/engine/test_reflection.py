"""Reflection, retries and what stands when there is no solution."""

import json
from typing import Any

import pytest

from tests.engine.studio import ROLES, TALK, Studio, action, with_tools

CHOICE: dict[str, Any] = {"form": "choice", "options": ["Website", "Game"], "retries": 0}
CHOOSE = {**TALK, "solution": CHOICE, "rounds": 1}


def test_a_phase_without_a_delivery_reflects_on_the_dialogue_once(studio: Studio) -> None:
    run = studio.run(studio.company({"talk": CHOOSE}), {
        "talk#1/round-1/assistant": "Hard to say.", "talk#1/reflection-1": "Game"})
    assert run.values["title"] == "Game"
    assert studio.endings() == {"talk#1": "reflection"}
    assert "REFLECT ON Maker: Hard to say." in studio.said("talk#1/reflection-1")


def test_reflection_reads_what_tools_said_and_no_empty_words(studio: Studio) -> None:
    company, at = studio.company({"talk": {**CHOOSE, "tool_calls": 1}}, **with_tools()), "talk#1/round-1/assistant"
    studio.run(company, {at: action(), f"{at}/act-1": action(), f"{at}/act-1/answer": action(),
                         "talk#1/reflection-1": "Game"})
    said = studio.said("talk#1/reflection-1")
    assert "REFLECT ON OBSERVATION software.complete: " in said
    assert "There are no files yet." in said
    assert "Maker:" not in said


def test_after_two_reflections_the_phase_fails_with_what_to_do(studio: Studio) -> None:
    run = studio.run(studio.company({"talk": CHOOSE}), {
        "talk#1/round-1/assistant": "Hard to say.", "talk#1/reflection-1": "Hm.", "talk#1/reflection-2": "Well."})
    assert not run.success
    assert run.status == "error"
    assert "talk#1 ended without a solution in the form 'choice'" in run.reason
    assert "on_no_solution" in run.reason


@pytest.mark.parametrize(("choice", "ending", "value"), [
    ({"value": "Game"}, "value", "Game"), ("keep", "kept", None)])
def test_on_no_solution_may_keep_the_entry_value_or_name_one(studio: Studio, choice: Any, ending: str,
                                                             value: str | None) -> None:
    run = studio.run(studio.company({"talk": {**CHOOSE, "on_no_solution": choice}}), {
        "talk#1/round-1/assistant": "Hard to say.", "talk#1/reflection-1": "Hm.", "talk#1/reflection-2": "Well."})
    assert studio.endings() == {"talk#1": ending}
    assert run.values.get("title") == value


def test_what_tools_said_may_stand_in_place_of_a_reflection(studio: Studio) -> None:
    at, phase = "talk#1/round-1/assistant", {**TALK, "on_no_solution": "observed",
                                             "solution": {"form": "text", "retries": 0}}
    calls = [action(), action("software.packages"), action(), action(), action()]
    run = studio.run(studio.company({"talk": phase}, roles={
        **ROLES, "maker": {**ROLES["maker"], "tools": ["software.complete", "software.packages"]}}), {
        at: calls[0], f"{at}/act-4/answer": action(),
        **{f"{at}/act-{n}": reply for n, reply in enumerate(calls) if n}})
    assert studio.endings() == {"talk#1": "observed"}
    complete, packages = run.values["title"].split("\n\n")
    assert json.loads(complete)["score"] <= 0
    assert packages
    assert studio.places[-1] == f"{at}/act-4/answer"


def test_a_parse_error_goes_back_at_most_retries_times(studio: Studio) -> None:
    phase = {**CHOOSE, "solution": {**CHOICE, "retries": 2}}
    studio.run(studio.company({"talk": phase}), {
        "talk#1/round-1/assistant": "Hm.", "talk#1/round-1/assistant/retry-1": "Hm!",
        "talk#1/round-1/assistant/retry-2": "<SOLUTION> Game"})
    retry = studio.said("talk#1/round-1/assistant/retry-2")
    assert retry.count("UNREADABLE") == 2
    assert "Website" in retry


def test_an_instructor_who_names_the_solution_at_once_concludes(studio: Studio) -> None:
    run = studio.run(studio.company({"talk": {**CHOOSE, "opens": "instructor"}}),
                     {"talk#1/round-1/instructor": "<SOLUTION> Website"})
    assert run.values["title"] == "Website"
