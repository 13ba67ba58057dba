"""How drafts are asked for: in waves, at which temperatures, with which prompt, how many, and within which budget."""

from __future__ import annotations

from pathlib import Path

import pytest

from chatdev import Company, ConfigError
from tests.engine.drafting import ALONE, TURN, judged, replies, stubs, version
from tests.engine.studio import CHANGE, WRITE, Studio, action, program, with_tools
from tests.support.chat_server import Scripted


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
    chain = [{"phase": "write"}, {"tool": "software.compiles", "writes": "test"}]
    run = studio.run(studio.company({"write": ALONE}, chain), replies(stubs(3), stubs(1), "I will.", stubs(2)))
    report = Path(run.folder / "run" / "report.md").read_text(encoding="utf-8")
    assert "draft 2 of 4 fails (score 0.5), chosen" in report
    assert report.count("chosen") == 1
    assert "draft 3 of 4 cannot be used" in report
    assert f"software.complete: failed ({TURN}/draft-2/feedback)" in report.replace("\\", "")


def test_examples_of_the_request_choose_and_are_counted(studio: Studio) -> None:
    task = "Double a number.\n\n```\n$ python main.py 2\n4\n$ python main.py 5\n10\n```\n"
    double = "import sys\n\n\nprint({})"
    phase = {**ALONE, "feedback": None, "guard": "software.use", "drafts": 2}
    run = studio.run(studio.company({"write": phase}), replies(
        program(double.format("int(sys.argv[1]) + 2")), program(double.format("int(sys.argv[1]) * 2"))), task=task)
    assert [draft.describe() for draft in judged(studio)] == ["draft 1 of 2: 1 of 2 examples",
                                                             "draft 2 of 2: 2 of 2 examples"]
    assert "* 2" in run.software.text("main.py")
