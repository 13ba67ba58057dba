"""Phases that go in circles: each rule, its reason, and what still counts."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatdev.engine.stop import LoopDetector
from chatdev.events import Noted
from tests.engine.studio import CHANGE, ROLES, TALK, WRITE, Studio, action, program, with_tools
from tests.support.chat_server import Scripted

NOTHING = {"form": "files", "retries": 0}
TALKER = "I would rather talk."


def pair(name: str, rounds: int, instruction: Any, response: Any) -> dict[str, Any]:
    """Replies of so many rounds; both sides are functions of the round's number."""
    return {**{f"{name}#1/round-{n}/instructor": instruction(n) for n in range(2, rounds + 1)},
            **{f"{name}#1/round-{n}/assistant": response(n) for n in range(1, rounds + 1)}}


def version(number: int) -> str:
    return program(f"print({number})")


def notes(studio: Studio) -> list[str]:
    return [event.text for event in studio.events if isinstance(event, Noted)]


def test_both_sides_repeating_themselves_end_the_phase_with_the_reason(studio: Studio) -> None:
    replies = pair("write", 9, lambda n: "Go  on,\n please." if n % 2 else "Go on, please.", lambda n: TALKER)
    replies["write#1/reflection-1"] = program()
    run = studio.run(studio.company({"write": {**WRITE, "solution": NOTHING}}), replies)
    assert studio.places[-3:] == ["write#1/round-2/assistant", "write#1/round-3/instructor", "write#1/reflection-1"]
    assert notes(studio) == ["stuck: the instructor repeats its instruction, and the answer to it was the one before "
                             "it; the phase ends here"]
    assert run.notes == notes(studio)
    assert "write#1: stuck: the instructor repeats" in (run.folder / "run/report.md").read_text()
    assert run.software.text("main.py") == "print('hello')\n"


def test_the_same_words_on_both_sides_end_the_phase(studio: Studio) -> None:
    replies = pair("write", 3, lambda n: "Go on.", lambda n: TALKER if n > 1 else "Later.")
    studio.run(studio.company({"write": {**WRITE, "solution": NOTHING, "on_no_solution": "keep"}}),
               {**replies, **{f"write#1/reflection-{n}": TALKER for n in (1, 2)}})
    assert "both sides repeat what they said in the round before" in notes(studio)[0]


def test_the_same_delivery_to_the_same_words_counts_as_unchanged(studio: Studio) -> None:
    replies = pair("write", 4, lambda n: "Count.", lambda n: version(min(n, 2)))
    studio.run(studio.company({"write": WRITE}), replies)
    assert studio.endings() == {"write#1": "unchanged"}


def test_the_same_answer_to_another_instruction_is_not_stuck(studio: Studio) -> None:
    replies = pair("write", 3, lambda n: f"Instruction {n}.", lambda n: TALKER)
    replies |= {"write#1/round-3/assistant": program(), "write#1/round-4/instructor": "<SOLUTION>"}
    studio.run(studio.company({"write": {**WRITE, "solution": NOTHING}}), replies)
    assert studio.endings() == {"write#1": "consensus"}


def test_an_assistant_alone_is_stuck_when_it_repeats_what_cannot_be_used(studio: Studio) -> None:
    phase = {**CHANGE, "instructor": None, "feedback": "software.complete", "solution": NOTHING}
    run = studio.run(studio.company({"write": WRITE, "complete": phase}), {
        "write#1/round-1/assistant": "<SOLUTION>\n" + program("def save():\n    pass"),
        "complete#1/round-1/assistant": TALKER, "complete#1/round-2/assistant": f"  {TALKER} \n",
        "complete#1/reflection-1": program("def save():\n    return 1")})
    assert studio.endings()["complete#1"] == "reflection"
    assert "the assistant repeats an answer that cannot be used" in notes(studio)[0]
    assert run.software.text("main.py") == "def save():\n    return 1\n"


def test_two_versions_in_turn_end_the_phase_and_the_last_one_stands(studio: Studio) -> None:
    replies = pair("write", 9, lambda n: f"Change {n}.", lambda n: version(n % 2))
    run = studio.run(studio.company({"write": WRITE}), replies)
    assert studio.endings() == {"write#1": "stuck"}
    assert studio.places[-1] == "write#1/round-4/assistant"
    assert notes(studio) == ["stuck: the solution goes back and forth between two versions; the phase ends here"]
    assert run.software.text("main.py") == "print(0)\n"


def test_the_version_from_before_the_phase_is_the_first_of_them(studio: Studio) -> None:
    replies = pair("change", 9, lambda n: f"Change {n}.", lambda n: version(n % 2))
    replies["write#1/round-1/assistant"] = "<SOLUTION>\n" + version(0)
    studio.run(studio.company({"write": WRITE, "change": CHANGE}), replies)
    assert studio.endings()["change#1"] == "stuck"
    assert studio.places[-1] == "change#1/round-3/assistant"


def test_going_back_once_is_no_circle(studio: Studio) -> None:
    replies = pair("write", 4, lambda n: f"Change {n}.", lambda n: version({1: 1, 2: 2, 3: 1, 4: 3}[n]))
    replies["write#1/round-5/instructor"] = "<SOLUTION>"
    studio.run(studio.company({"write": WRITE}), replies)
    assert studio.endings() == {"write#1": "consensus"}


def test_values_that_alternate_are_two_versions_too(studio: Studio) -> None:
    replies = pair("talk", 9, lambda n: f"No, thing {n}.", lambda n: "Ada" if n % 2 else "Bob")
    run = studio.run(studio.company({"talk": TALK}), replies)
    assert studio.endings() == {"talk#1": "stuck"}
    assert run.values["title"] == "Bob"


def test_the_best_version_by_feedback_stands_in_a_phase_that_is_stuck(studio: Studio) -> None:
    halves = {0: "def a():\n    pass\n\n\ndef b():\n    pass", 1: "def a():\n    return 1\n\n\ndef b():\n    pass"}
    phase = {**WRITE, "feedback": "software.complete", "solution": NOTHING}
    replies = pair("write", 9, lambda n: f"Change {n}.",
                   lambda n: "main.py\n```python whole\n" + halves[n % 2] + "\n```\n")
    run = studio.run(studio.company({"write": phase}), replies)
    assert studio.endings() == {"write#1": "stuck"}
    assert "return 1" in str(run.software.text("main.py"))


def test_the_third_equal_tool_call_is_not_performed_but_is_answered(studio: Studio) -> None:
    company = studio.company({"talk": TALK}, **with_tools())
    at = "talk#1/round-1/assistant"
    run = studio.run(company, {at: action(), f"{at}/act-1": action(), f"{at}/act-2": action(), f"{at}/act-3": "Ada",
                               "talk#1/round-2/instructor": "<SOLUTION>"})
    assert len(studio.tool_calls("talk#1")) == 2
    assert studio.said(f"{at}/act-3").endswith("OBSERVATION software.complete: SAME CALL software.complete 3")
    assert studio.endings() == {"talk#1": "consensus"}
    assert run.values["title"] == "Ada"


def test_a_tool_loop_of_which_no_delivery_comes_ends_the_phase(studio: Studio) -> None:
    company = studio.company({"write": {**WRITE, "solution": {"form": "files", "retries": 0}}}, **with_tools())
    at = "write#1/round-1/assistant"
    studio.run(company, {at: action(), f"{at}/act-1": action(), f"{at}/act-2": action(), f"{at}/act-3": "Hm.",
                         "write#1/reflection-1": program()})
    assert studio.endings() == {"write#1": "reflection"}
    assert notes(studio) == ["stuck: software.complete was called 3 times with the same arguments, and no delivery "
                             "came of it; the phase ends here"]


def test_a_tool_loop_does_not_stand_against_a_consensus(studio: Studio) -> None:
    at = "talk#1/round-1/assistant"
    studio.run(studio.company({"talk": TALK}, **with_tools()), {
        at: action(), f"{at}/act-1": action(), f"{at}/act-2": action(), f"{at}/act-3": "<SOLUTION> Ada"})
    assert studio.endings() == {"talk#1": "consensus"}


def test_no_more_tools_are_offered_in_a_turn_that_loops(studio: Studio) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "software__complete", "arguments": "{}"}}
    at = "talk#1/round-1/assistant"
    company = studio.company({"talk": {**TALK, "model": {"name": "gpt-4o"}}}, **with_tools())
    studio.run(company, {at: Scripted("", tool_calls=[call]), f"{at}/act-1": Scripted("", tool_calls=[call]),
                         f"{at}/act-2": Scripted("", tool_calls=[call]), f"{at}/act-3": "<SOLUTION> Ada"})
    assert "tools" in studio.request(f"{at}/act-2").body
    assert "tools" not in studio.request(f"{at}/act-3").body
    assert studio.request(f"{at}/act-3").body["messages"][-1]["content"] == "SAME CALL software.complete 3"


def test_equal_calls_of_one_turn_are_a_loop_and_of_several_are_none(studio: Studio) -> None:
    tools = {**ROLES, "maker": {**ROLES["maker"], "tools": ["software.complete", "software.packages"]}}
    calls = [action(), action("software.packages"), action(), action("software.packages"), action()]
    at = "talk#1/round-1/assistant"
    replies = {at if not n else f"{at}/act-{n}": reply for n, reply in enumerate(calls)}
    replies |= {f"{at}/act-5": "Ada", "talk#1/round-2/instructor": "Shorter.", "talk#1/round-2/assistant": action(),
                "talk#1/round-2/assistant/act-1": "<SOLUTION> Al"}
    studio.run(studio.company({"talk": TALK}, roles=tools), replies)
    assert studio.endings() == {"talk#1": "consensus"}
    assert len(studio.tool_calls("talk#1")) == 5


def test_three_equal_results_of_a_tool_are_a_loop_told_in_a_line(studio: Studio) -> None:
    company = studio.company({"write": {**WRITE, "solution": {"form": "files", "retries": 0}}},
                             roles={**ROLES, "maker": {**ROLES["maker"], "tools": ["verilog.minimise"]}})
    at, table = "write#1/round-1/assistant", {"row_variables": ["a"], "row_labels": ["0", "1"], "cells": [[0], [1]]}
    asked = [table, {**table, "column_variables": []}, {**table, "cells": [["0"], ["1"]]}]
    replies = {at if not n else f"{at}/act-{n}": action("verilog.minimise", **one) for n, one in enumerate(asked)}
    studio.run(company, replies | {f"{at}/act-3": "Hm.", "write#1/reflection-1": program()})
    assert len(studio.tool_calls("write#1")) == 3
    assert studio.said(f"{at}/act-2").endswith("SAME RESULT verilog.minimise 2")
    assert studio.said(f"{at}/act-3").endswith("SAME RESULT verilog.minimise 3, NO MORE")
    assert notes(studio) == ["stuck: verilog.minimise said the same 3 times in a row, and no delivery came of it; the "
                             "phase ends here"]


def test_a_company_can_switch_the_rules_off(studio: Studio) -> None:
    replies = pair("write", 4, lambda n: "Go on.", lambda n: version(n % 2))
    studio.run(studio.company({"write": {**WRITE, "rounds": 4, "stuck": False}}), replies)
    assert studio.endings() == {"write#1": "rounds"}


@pytest.mark.parametrize("off", [True, False])
def test_arguments_are_compared_by_what_they_say(off: bool) -> None:
    from chatdev.llm.base import ToolCall

    stuck = LoopDetector(on=not off)
    spellings = ('{"a": 1, "b": 2}', '{"b":2,"a":1}', '{ "b" : 2, "a": 1 }')
    loops = [stuck.see_call(ToolCall(str(n), "look", spelling)) for n, spelling in enumerate(spellings)]
    stuck.see_response("", delivered=False)
    assert loops == [False, False, not off]
    assert bool(stuck.reason) == (not off)


@given(st.lists(st.tuples(st.text(max_size=3), st.text(max_size=3), st.booleans()), max_size=12))
def test_a_pair_that_never_repeats_a_round_is_never_stuck(rounds: list[tuple[str, str, bool]]) -> None:
    stuck = LoopDetector(on=True)
    for number, (instruction, response, delivered) in enumerate(rounds):
        stuck.see_instruction(f"{number} {instruction}")
        stuck.see_response(f"{number} {response}", delivered=delivered)
        stuck.see_version(f"{number} {response}")
    assert not stuck.reason


@given(st.text(alphabet=" \t\nab", max_size=8), st.text(alphabet=" \t\nab", max_size=8))
def test_a_round_that_is_repeated_is_always_found(instruction: str, response: str) -> None:
    stuck = LoopDetector(on=True)
    for blank in (" ", "\n"):
        stuck.see_instruction(instruction + blank)
        stuck.see_response(blank + response, delivered=False)
    assert stuck.reason
