"""Drafts: the first delivery is drawn several times, and the best one by its verdict stands."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from chatdev import Company, Run
from chatdev.tools.base import ToolContext, Verdict, tool
from tests.engine.drafting import ALONE, TURN, judged, replies, stubs, version
from tests.engine.studio import CHANGE, TALK, WRITE, Studio, program

GUARDED = {**ALONE, "feedback": None, "guard": "software.complete"}


@tool(reads=("software",))
def tried(ctx: ToolContext) -> Verdict:
    """How many of three examples hold: as many as the program has lines with `ok`."""
    held = sum(line == b"# ok" for line in ctx.software.get("main.py", b"").splitlines())
    return Verdict(b"# fine" in ctx.software.get("main.py", b""), f"{held} hold", held / 10, examples=(held, 3))


def holding(count: int, version: int = 0) -> str:
    """A delivery for which so many examples hold."""
    return program("\n".join([f"VERSION = {version}", *["# ok"] * count]))


def run_tried(studio: Studio, answers: Mapping[str, Any], **fields: Any) -> Run:
    """A run whose drafts are chosen by examples."""
    company = Company.load(studio.company({"write": {**ALONE, "feedback": "engine.tried", **fields}}), tools=[tried])
    studio.server.route(lambda request: answers.get(request.headers["X-ChatDev-Activity"]))
    return company.run("TASK", model="scripted-model", base_url=studio.server.url, sandbox="none",
                       warehouse=studio.folder / "warehouse", on_event=studio.events.append)


def test_the_best_draft_stands_and_of_equals_the_earliest(studio: Studio) -> None:
    run = studio.run(studio.company({"write": ALONE}), replies(stubs(3, 1), stubs(1, 2), stubs(2, 3), stubs(1, 4)))
    assert version(run) == "VERSION = 2"
    assert [(draft.number, draft.of, draft.passed, draft.chosen) for draft in judged(studio)] == [
        (1, 4, False, True), (2, 4, False, True), (3, 4, False, False), (4, 4, False, False)]
    assert judged(studio)[1].describe() == "draft 2 of 4 fails (score 0.5)"


def test_drafts_that_are_all_equal_are_judged_once(studio: Studio) -> None:
    run = studio.run(studio.company({"write": ALONE}), replies(*[stubs(1)] * 4))
    assert [draft.chosen for draft in judged(studio)] == [True, False, False, False]
    assert studio.tool_calls("write") == ["write#1/feedback-0", f"{TURN}/feedback"]
    assert studio.endings()["write#1"] == "rounds"
    assert version(run) == "VERSION = 0"


@pytest.mark.usefixtures("one_at_a_time")
def test_drawing_stops_at_the_first_draft_that_passes(studio: Studio) -> None:
    run = studio.run(studio.company({"write": GUARDED}), replies(stubs(1), stubs(0, 2)))
    assert version(run) == "VERSION = 2"
    assert studio.places == [TURN, f"{TURN}/draft-2"]


@pytest.mark.usefixtures("one_at_a_time")
def test_drawing_stops_at_the_first_for_which_all_examples_hold(studio: Studio) -> None:
    run = run_tried(studio, replies(holding(1), holding(3, 2)))
    assert version(run) == "VERSION = 2"
    assert [draft.describe() for draft in judged(studio)] == ["draft 1 of 4: 1 of 3 examples",
                                                             "draft 2 of 4: 3 of 3 examples"]
    assert studio.endings()["write#1"] == "rounds"


def test_passing_is_not_enough_where_there_are_examples(studio: Studio) -> None:
    fine = program("VERSION = 1\n# ok\n# fine")
    run_tried(studio, replies(fine, holding(2, 2), holding(0), holding(1)))
    assert [draft.number for draft in judged(studio)] == [1, 2, 3, 4]


def test_only_the_first_delivery_of_a_phase_is_drafted(studio: Studio) -> None:
    phase = {**ALONE, "rounds": 3}
    run = studio.run(studio.company({"write": phase}), {
        **replies(*["nothing that can be read"] * 4),
        **{f"{TURN}/retry-{n}": "nor this" for n in (1, 2)},
        "write#1/round-2/assistant": stubs(1), "write#1/round-3/assistant": stubs(0, 3)})
    assert version(run) == "VERSION = 3"
    assert len(judged(studio)) == 4


def test_when_no_draft_can_be_read_the_first_is_tried_again(studio: Studio) -> None:
    run = studio.run(studio.company({"write": ALONE}), {
        **replies("I will.", "<QUESTION> What?", "Soon.", "Later."), f"{TURN}/retry-1": stubs(0, 7)})
    assert version(run) == "VERSION = 7"
    assert [(draft.passed, draft.score) for draft in judged(studio)] == [(None, None)] * 4
    assert judged(studio)[0].describe().startswith("draft 1 of 4 cannot be used: ")
    said = studio.said(f"{TURN}/retry-1")
    assert "I will." in said
    assert "Soon." not in said


def test_a_draft_that_is_objected_to_is_better_than_an_unreadable_one(studio: Studio) -> None:
    phase = {**GUARDED, **{name: CHANGE[name] for name in ("reads", "opening")}}
    run = studio.run(studio.company({"first": WRITE, "write": phase}), {
        "first#1/round-1/assistant": "<SOLUTION>\n" + stubs(1),
        **replies("I will.", program("def f(:", "other.py"), "<QUESTION> What?", stubs(1, 4))})
    assert [draft.chosen for draft in judged(studio)] == [True, True, False, True]
    assert version(run) == "VERSION = 4"


def test_agreeing_with_what_stands_is_worth_what_stands(studio: Studio) -> None:
    phase = {**GUARDED, **{name: CHANGE[name] for name in ("reads", "opening")}, "on_no_solution": "keep"}
    run = studio.run(studio.company({"first": WRITE, "write": phase}), {
        "first#1/round-1/assistant": "<SOLUTION>\n" + stubs(2, 1),
        **replies(stubs(3, 2), "<SOLUTION>", stubs(3, 3), stubs(2, 4))})
    assert version(run) == "VERSION = 1"
    assert [draft.chosen for draft in judged(studio)] == [True, True, False, False]
    assert studio.endings()["write#1"] == "consensus"


def test_a_draft_that_is_worse_than_what_stands_goes_back(studio: Studio) -> None:
    phase = {**GUARDED, **{name: CHANGE[name] for name in ("reads", "opening")}}
    run = studio.run(studio.company({"first": WRITE, "write": phase}), {
        "first#1/round-1/assistant": "<SOLUTION>\n" + stubs(1),
        **replies(*[stubs(3)] * 4), f"{TURN}/retry-1": stubs(0, 9)})
    assert "REFUSED" in studio.said(f"{TURN}/retry-1")
    assert version(run) == "VERSION = 9"


def test_the_guard_chooses_where_there_is_feedback_too(studio: Studio) -> None:
    phase = {**ALONE, "guard": "software.compiles", "drafts": 2}
    run = studio.run(studio.company({"write": phase}), replies(program("def f(:"), stubs(2, 2)))
    assert studio.tool_calls(TURN) == [f"{TURN}/guard", f"{TURN}/draft-2/guard", f"{TURN}/draft-2/feedback"]
    assert version(run) == "VERSION = 2"


@pytest.mark.parametrize("by", ["guard", "feedback"])
def test_drafts_of_a_value_are_judged_once_each(studio: Studio, by: str) -> None:
    phase = {**TALK, "instructor": None, "writes": "plan", by: "verilog.plan", "drafts": 3, "rounds": 1,
             "solution": {"form": "json", "schema": {"type": "object"}}}
    plans = [json.dumps({"subtasks": [{"content": f"do {number}"} for number in range(count)]}) for count in (3, 1, 2)]
    run = studio.run(studio.company({"write": phase}), replies(*plans))
    assert run.values["plan"] == json.loads(plans[1])
    assert studio.tool_calls(TURN) == [f"{TURN}/{by}", f"{TURN}/draft-2/{by}", f"{TURN}/draft-3/{by}"]


def test_repair_drafts_compete_in_every_round_and_are_bounded(studio: Studio) -> None:
    phase = {**ALONE, **{name: CHANGE[name] for name in ("reads", "opening")}, "rounds": 3, "drafts": 2,
             "memory": {"fresh": True}}
    mends = [f"def f{number}():\n    return 1" for number in range(3)]
    run = studio.run(studio.company({"first": WRITE, "write": phase}), {
        "first#1/round-1/assistant": "<SOLUTION>\n" + stubs(6),
        **replies(program(mends[0]), program("\n\n".join(mends[:2]))),
        **replies("I cannot.", program(mends[2]), turn="write#1/round-2/assistant"),
        **replies(program("X = 1"), program("Y = 1"), turn="write#1/round-3/assistant")})
    assert [draft.chosen for draft in judged(studio)] == [True, True, True, True, True, False]
    assert len([place for place in studio.places if place.startswith("write")]) == 3 * 2
    assert studio.endings()["write#1"] == "rounds"
    assert run.software.text("main.py").count("return 1") == 3
