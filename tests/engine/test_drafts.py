"""Drafts: the first delivery is drawn several times, and the best one by its verdict stands."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from chatdev import Company, ConfigError, Run
from chatdev.events import DraftJudged
from chatdev.paths import settings_file
from chatdev.tools.base import ToolContext, Verdict
from chatdev.tools.function import tool
from tests.engine.studio import CHANGE, TALK, WRITE, Studio, action, program, with_tools
from tests.support.chat_server import Scripted

TURN = "write#1/round-1/assistant"
ALONE = {**WRITE, "instructor": None, "feedback": "software.complete", "drafts": 4, "rounds": 1,
         "model": {"temperature": 0.2}}
GUARDED = {**ALONE, "feedback": None, "guard": "software.complete"}


def stubs(count: int, version: int = 0) -> str:
    """A delivery with so many functions that have no body yet."""
    return program("\n\n".join([f"VERSION = {version}", *(f"def f{n}():\n    pass" for n in range(count))]))


def judged(studio: Studio, place: str = "write") -> list[DraftJudged]:
    return [event for event in studio.events if isinstance(event, DraftJudged) and event.place.startswith(place)]


def replies(*texts: Any, turn: str = TURN) -> dict[str, Any]:
    """The drafts of a turn by place."""
    return {turn if number == 1 else f"{turn}/draft-{number}": text for number, text in enumerate(texts, start=1)}


def version(run: Run) -> str:
    return run.software.text("main.py").splitlines()[0]


@pytest.fixture
def one_at_a_time() -> None:
    settings_file().parent.mkdir(parents=True)
    settings_file().write_text("models: [{match: [scripted-model], drafts: 3, drafts_at_once: 1}]", encoding="utf-8")


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


def test_drafts_are_asked_for_in_waves_and_their_order_counts(studio: Studio) -> None:
    slow = [Scripted(text, delay=delay) for text, delay in ((stubs(1, 1), 0.4), (stubs(1, 2), 0.2), (stubs(1, 3), 0.1))]
    run = studio.run(studio.company({"write": {**ALONE, "drafts": 6}}), replies(
        *slow, Scripted(stubs(2), delay=0.1), stubs(2), stubs(2)))
    assert studio.server.most_in_flight == 4
    assert [draft.number for draft in judged(studio)] == [1, 2, 3, 4, 5, 6]
    assert version(run) == "VERSION = 1"
    assert set(studio.places[4:]) == {f"{TURN}/draft-5", f"{TURN}/draft-6"}


def test_of_a_wave_that_is_drawn_nothing_behind_the_winner_is_judged(studio: Studio) -> None:
    run = studio.run(studio.company({"write": ALONE}), replies(stubs(1), stubs(0, 2), stubs(0, 3), stubs(0, 4)))
    assert version(run) == "VERSION = 2"
    assert len(studio.places) == 4
    assert [draft.number for draft in judged(studio)] == [1, 2]


def test_drafts_answer_the_same_prompt_at_spread_temperatures(studio: Studio) -> None:
    phase = {**ALONE, "drafts": 6, "model": {"temperature": 0.7, "seed": 40}}
    studio.run(studio.company({"write": phase}), replies(*[stubs(1)] * 6))
    bodies = [studio.request(place).body for place in replies(*range(6))]
    assert [body["temperature"] for body in bodies] == [0.7, 0.7, 0.8, 1.0, 0.7, 0.8]
    assert [body["seed"] for body in bodies] == [40, 41, 42, 43, 44, 45]
    assert all(body["messages"] == bodies[0]["messages"] for body in bodies)


def test_a_temperature_that_is_left_to_the_server_stays_there(studio: Studio) -> None:
    studio.run(studio.company({"write": {**ALONE, "model": {}}}), replies(*[stubs(1)] * 4))
    assert all("temperature" not in request.body for request in studio.server.requests)


def test_memory_keeps_only_the_draft_that_was_chosen(studio: Studio) -> None:
    phase = {**ALONE, "rounds": 2}
    company = studio.company({"write": phase})
    studio.run(company, {**replies(stubs(3, 1), stubs(1, 2), stubs(2, 3), stubs(2, 4)),
                         "write#1/round-2/assistant": program("def f0():\n    return 5")})
    said = studio.said("write#1/round-2/assistant")
    assert "VERSION = 2" in said
    assert [number for number in (1, 3, 4) if f"VERSION = {number}" in said] == []
    assert f"{TURN}/draft-2/feedback" in studio.tool_calls()
    assert [kind for kind, _ in studio.utterances()] == ["opening", "response", "report", "response"]


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


def test_questions_are_asked_once_before_the_first_draft(studio: Studio) -> None:
    phase = {**ALONE, "instructor": "chief", "dehallucination": True, "concludes": "instructor"}
    studio.run(studio.company({"write": phase}), {
        f"{TURN}/ask-1": "<QUESTION> Which?", "write#1/round-1/instructor/answer-1": "That.",
        **replies(stubs(2), stubs(1), stubs(2), stubs(2))})
    assert sorted(studio.places) == sorted([f"{TURN}/ask-1", "write#1/round-1/instructor/answer-1", *replies(*"1234")])
    assert all("That." in studio.said(place) for place in replies(*"1234"))


def test_an_answer_in_place_of_a_question_is_the_first_draft(studio: Studio) -> None:
    phase = {**ALONE, "instructor": "chief", "dehallucination": True, "concludes": "instructor", "drafts": 3}
    run = studio.run(studio.company({"write": phase}), {
        f"{TURN}/ask-1": stubs(2, 1), f"{TURN}/draft-2": stubs(1, 2), f"{TURN}/draft-3": stubs(3)})
    assert version(run) == "VERSION = 2"
    assert studio.messages(f"{TURN}/draft-2") == studio.messages(f"{TURN}/ask-1")


def test_an_agent_with_tools_makes_one_draft_at_a_time(studio: Studio) -> None:
    run = studio.run(studio.company({"write": {**ALONE, "drafts": 2}}, **with_tools()), {
        TURN: action(), f"{TURN}/act-1": stubs(2, 1),
        f"{TURN}/draft-2": action(), f"{TURN}/draft-2/act-1": stubs(1, 2)})
    assert studio.places == [TURN, f"{TURN}/act-1", f"{TURN}/draft-2", f"{TURN}/draft-2/act-1"]
    assert version(run) == "VERSION = 2"


def test_drafts_of_a_value_are_judged_once_each(studio: Studio) -> None:
    phase = {**TALK, "instructor": None, "writes": "plan", "guard": "verilog.plan", "drafts": 3,
             "solution": {"form": "json", "schema": {"type": "object"}}}
    plans = [json.dumps({"subtasks": [{"content": f"do {number}"} for number in range(count)]}) for count in (3, 1, 2)]
    run = studio.run(studio.company({"write": phase}), replies(*plans))
    assert run.values["plan"] == json.loads(plans[1])
    assert studio.tool_calls(TURN) == [f"{TURN}/guard", f"{TURN}/draft-2/guard", f"{TURN}/draft-3/guard"]


@pytest.mark.usefixtures("one_at_a_time")
def test_the_profile_says_how_many_drafts_a_model_needs(studio: Studio) -> None:
    studio.run(studio.company({"write": {**ALONE, "drafts": "model"}}), replies(*[stubs(1)] * 3))
    assert studio.places == [TURN, f"{TURN}/draft-2", f"{TURN}/draft-3"]


def test_without_a_profile_of_its_own_a_model_needs_one(studio: Studio) -> None:
    studio.run(studio.company({"write": {**ALONE, "drafts": "model"}}), replies(stubs(1)))
    assert studio.places == [TURN]
    assert judged(studio) == []


@pytest.mark.usefixtures("one_at_a_time")
def test_a_spent_budget_of_the_phase_lets_the_best_so_far_win(studio: Studio) -> None:
    phase = {**ALONE, "rounds": 5, "budget": {"calls": 2}}
    run = studio.run(studio.company({"write": phase}), replies(stubs(1, 1), stubs(2, 2)))
    assert version(run) == "VERSION = 1"
    assert studio.endings()["write#1"] == "budget"


def test_a_phase_without_budget_for_any_draft_ends_so(studio: Studio) -> None:
    phase = {**ALONE, "budget": {"tokens": 5}, "on_no_solution": "keep"}
    studio.run(studio.company({"write": phase}), {f"write#1/reflection-{n}": "nothing" for n in (1, 2)})
    assert studio.endings()["write#1"] == "kept"
    assert judged(studio) == []


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


def test_an_option_replaces_the_number_of_drafts_where_there_are_any(studio: Studio) -> None:
    folder = studio.company({"write": ALONE, "change": {**CHANGE, "guard": "software.complete"}})
    company = Company.load(folder, drafts=2)
    assert {name: phase.drafts for name, phase in company.config.phases.items()} == {"write": 2, "change": 1}
    assert company.source["drafts"] == 2


@pytest.mark.parametrize(("drafts", "message"), [
    (0, "--drafts 0: phases.write.drafts: input should be greater than or equal to 1"),
    (3, "--drafts 3: no phase of the company draws drafts; choose a phase with a guard or feedback: --set "
        "phases.NAME.drafts=3")])
def test_a_number_of_drafts_that_means_nothing_is_refused(studio: Studio, drafts: int, message: str) -> None:
    phase = ALONE if drafts == 0 else WRITE
    with pytest.raises(ConfigError, match=f"^{message}"):
        Company.load(studio.company({"write": phase}), drafts=drafts)


def test_the_report_lists_the_drafts(studio: Studio) -> None:
    run = studio.run(studio.company({"write": ALONE}), replies(stubs(3), stubs(1), "I will.", stubs(2)))
    report = Path(run.folder / "run" / "report.md").read_text(encoding="utf-8")
    assert "draft 2 of 4 fails (score 0.5), chosen" in report
    assert report.count("chosen") == 1
    assert "draft 3 of 4 cannot be used" in report
