"""What people approve of before it happens: phases, deliveries, tools of steps and of agents."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from chatdev import Company, Run
from chatdev.errors import ConfigError
from chatdev.events import ToolCalled
from chatdev.runner.people import PersonAnswer
from tests.engine.studio import CHECK, Studio, program, talk
from tests.runner.asked_people import ACCEPT, ALONE, REPLIES, REVIEW, WRITTEN, Person, play_again, said_the_same
from tests.support.chat_server import ChatServer


@pytest.fixture
def studio(chat_server: ChatServer, tmp_path: Path) -> Studio:
    return Studio(tmp_path, chat_server)


def approving(studio: Studio, **fields: Any) -> Path:
    """A company whose deliveries of the program are approved."""
    return studio.company({"write": {**ALONE, "solution": {"form": "files", "approve": "before"}, **fields}})


def test_a_delivery_waits_for_its_approval(studio: Studio) -> None:
    person = Person(ACCEPT)
    run = studio.run(approving(studio), REPLIES, answer=person)
    assert run.software.text("main.py") == "print('hello')\n"
    assert person.asked[0].place == f"{WRITTEN}/approve-1"
    assert "+print('hello')" in person.asked[0].text
    assert person.asked[0].edits == {"main.py": "print('hello')\n"}
    again, events = play_again(run)
    assert again.success
    assert said_the_same(studio.events, events)


def test_a_refused_delivery_goes_back_with_the_words(studio: Studio) -> None:
    retried = "write#1/round-1/assistant/retry-1"
    person = Person("No greeting without a name!", ACCEPT)
    run = studio.run(approving(studio), {**REPLIES, retried: program("print('hello Ann')")}, answer=person)
    assert run.software.text("main.py") == "print('hello Ann')\n"
    assert "REFUSED No greeting without a name!" in studio.said(retried)


def test_a_person_edits_a_delivery_before_it_is_applied(studio: Studio) -> None:
    person = Person(PersonAnswer("edit", files={"main.py": "print('edited')\n"}))
    run = studio.run(approving(studio), REPLIES, answer=person)
    assert run.software.text("main.py") == "print('edited')\n"
    assert not list(run.folder.glob("**/*hello*"))
    again, _ = play_again(run)
    assert again.software == run.software


def test_an_edit_that_cannot_be_read_is_given_back(studio: Studio) -> None:
    broken = "print('edited'\n"
    person = Person(PersonAnswer("edit", files={"main.py": broken}),
                    PersonAnswer("edit", files={"main.py": "print('mended')\n"}))
    run = studio.run(approving(studio), REPLIES, answer=person)
    assert run.software.text("main.py") == "print('mended')\n"
    assert person.asked[1].place.endswith("/approve-2")
    assert "main.py" in person.asked[1].problem
    assert person.asked[1].edits == {"main.py": broken}
    again, events = play_again(run)
    assert again.software == run.software
    assert said_the_same(studio.events, events)


def test_after_a_failed_edit_accepting_takes_what_was_delivered(studio: Studio) -> None:
    person = Person(PersonAnswer("edit", files={"main.py": "print('edited'\n"}), ACCEPT)
    run = studio.run(approving(studio), REPLIES, answer=person)
    assert run.software.text("main.py") == "print('hello')\n"


def test_an_edit_is_judged_like_a_delivery(studio: Studio) -> None:
    person = Person(PersonAnswer("edit", files={"main.py": "def f():\n    pass\n"}), ACCEPT)
    company = studio.company({
        "write": ALONE, "review": {**REVIEW, "guard": "software.complete",
                                   "solution": {"form": "files", "approve": "before"}}})
    replies = {**REPLIES, "review#1/round-1/instructor": "Go.", "review#1/round-2/instructor": "<SOLUTION>"}
    run = studio.run(company, replies, answer=person)
    assert run.success, run.reason
    assert "software.complete passes" in person.asked[0].text
    assert person.asked[1].problem
    assert run.software.text("main.py") == "print('hello world')\n"


@pytest.mark.parametrize(("solution", "reply", "shown", "edit", "value"), [
    ({"form": "text"}, "Todo", "Todo", "Diary", "Diary"),
    ({"form": "list"}, "- a\n- b", "- a\n- b", "- c", ["c"]),
    ({"form": "json", "schema": {"type": "object"}}, '{"n": 1}', '{\n "n": 1\n}', '{"n": 2}', {"n": 2}),
    ({"form": "choice", "options": ["red", "blue"]}, "red", "red", "blue", "blue"),
])
def test_values_are_edited_as_texts(studio: Studio, solution: Mapping[str, Any], reply: str, shown: str, edit: str,
                                    value: Any) -> None:
    company = studio.company({"name": talk("title", solution={**solution, "approve": "before"}, instructor=None)})
    person = Person(PersonAnswer("edit", files={"title": edit}))
    run = studio.run(company, {"name#1/round-1/assistant": f"<SOLUTION>\n{reply}"}, answer=person)
    assert person.asked[0].edits == {"title": shown}
    assert run.values["title"] == value


def test_a_value_out_of_its_form_is_given_back(studio: Studio) -> None:
    company = studio.company({"name": talk("title", instructor=None, solution={
        "form": "choice", "options": ["red", "blue"], "approve": "before"})})
    person = Person(PersonAnswer("edit", files={"title": "green"}), PersonAnswer("edit", files={"title": "blue"}))
    run = studio.run(company, {"name#1/round-1/assistant": "red"}, answer=person)
    assert "red" in person.asked[1].problem
    assert run.values["title"] == "blue"


def test_nothing_is_applied_that_nobody_approves(studio: Studio) -> None:
    run = studio.run(approving(studio), REPLIES)
    assert not run.software
    assert run.status == "error"
    assert len(studio.server.requests) == 1


def test_a_phase_begins_when_a_person_says_so_with_their_words(studio: Studio) -> None:
    person = Person(PersonAnswer("accept", "Call it Ann."))
    run = studio.run(studio.company({"write": {**ALONE, "approve": "before"}}), REPLIES, answer=person)
    assert run.success
    assert "WRITE TASK" in person.asked[0].text
    assert "Call it Ann." in studio.said(WRITTEN)
    again, events = play_again(run)
    assert again.success
    assert said_the_same(studio.events, events)


@pytest.mark.parametrize(("said", "ending"), [("Not now.", "refused"), (None, "skipped")])
def test_a_refused_phase_is_left_out(studio: Studio, said: str | None, ending: str) -> None:
    company = studio.company({"write": ALONE, "review": {**REVIEW, "approve": "before"}})
    run = studio.run(company, REPLIES, answer=Person(said))
    assert run.success
    assert studio.endings()["review#1"] == ending
    assert studio.places == [WRITTEN]


def test_a_refused_tool_is_not_called(studio: Studio) -> None:
    chain = [{"phase": "write"}, {**CHECK, "approve": "before"}]
    run = studio.run(studio.company({"write": ALONE}, chain), REPLIES, answer=Person("Too early."))
    assert run.status == "failure"
    assert not [event for event in studio.events if isinstance(event, ToolCalled)]
    assert any("Too early." in note for note in run.notes)


def calling(studio: Studio, *answers: Any, **fields: Any) -> tuple[Run, Person]:
    """A run whose maker wants to call a tool, which people approve of."""
    roles = {"chief": {"title": "Chief"}, "maker": {"title": "Maker", "tools": ["software.complete"],
                                                     "approve": "before"}}
    call = '```json\n{"tool": "software.complete", "arguments": {}}\n```'
    company = studio.company({"write": ALONE, "name": talk("title", ["software"], instructor=None)}, roles=roles)
    place, person = "name#1/round-1/assistant", Person(*answers)
    return studio.run(company, {**REPLIES, place: call, f"{place}/act-1": "<SOLUTION> Todo"}, answer=person), person


def test_a_person_allows_the_tool_call_of_an_agent(studio: Studio) -> None:
    run, person = calling(studio, ACCEPT)
    assert run.values["title"] == "Todo", run.reason
    assert (person.asked[0].about, person.asked[0].edits) == ("maker calls software.complete", {"arguments": "{}"})
    assert "OBSERVATION software.complete: {" in studio.said("name#1/round-1/assistant/act-1")


@pytest.mark.parametrize(("said", "read"), [("Not now.", "did not allow it, and says: Not now."),
                                            (None, "did not allow it")])
def test_an_agent_reads_that_its_call_is_refused(studio: Studio, said: str | None, read: str) -> None:
    run, _ = calling(studio, said)
    assert run.success
    assert read in studio.said("name#1/round-1/assistant/act-1")
    again, events = play_again(run)
    assert again.success
    assert said_the_same(studio.events, events)


def test_edited_arguments_that_are_no_object_are_given_back(studio: Studio) -> None:
    edits = ("{", "[]", '{"x": 1}')
    run, person = calling(studio, *(PersonAnswer("edit", files={"arguments": text}) for text in edits))
    assert [question.problem[:8] for question in person.asked] == ["", "no JSON:", "the argu"]
    assert run.success
    assert "The tool failed" in studio.said("name#1/round-1/assistant/act-1")


def test_approvals_are_asked_for_without_a_change_of_the_company(studio: Studio) -> None:
    person = Person(ACCEPT, ACCEPT, ACCEPT)
    run = studio.run(studio.company({"write": ALONE}), REPLIES, answer=person,
                     approve=["write", "deliveries", "tools"])
    assert run.success
    assert [question.place for question in person.asked] == ["write#1/approve", f"{WRITTEN}/approve-1",
                                                             "software.complete#1/approve"]


def test_tools_are_found_where_phases_are_left_out(studio: Studio) -> None:
    company = studio.company({"write": ALONE, "review": REVIEW})
    loaded = Company.load(company, without=["review"]).with_people([], ["tools"])
    assert loaded.config.chain[-1].approve == "before"  # type: ignore[union-attr]


def test_an_unknown_approval_is_refused_with_the_nearest_name(studio: Studio) -> None:
    with pytest.raises(ConfigError, match=r"--approve writ: company 'stage' has no such phase.*'write'"):
        studio.run(studio.company({"write": ALONE}), {}, approve=["writ"])
