"""People in a run, as a library has them: a function answers, or a file in the folder of the run."""

from __future__ import annotations

import asyncio
import json
import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import chatdev
from chatdev import Run
from chatdev.engine.people import read_answer
from chatdev.errors import ConfigError
from chatdev.events import Noted, PersonAsked
from chatdev.journal import read_journal
from chatdev.runner.people import PersonAnswer, answer, waiting
from tests.engine.studio import CHECK, Studio, program, talk
from tests.runner.asked_people import (
    ACCEPT,
    ALONE,
    REPLIES,
    REVIEW,
    REVIEWED,
    WRITTEN,
    Person,
    play_again,
    said_the_same,
)
from tests.support.chat_server import ChatServer, Scripted


@pytest.fixture
def studio(chat_server: ChatServer, tmp_path: Path) -> Studio:
    return Studio(tmp_path, chat_server)


def reviewed(studio: Studio, **fields: Any) -> Path:
    """A company that writes a program and reviews it."""
    return studio.company({"write": ALONE, "review": REVIEW}, **fields)


# Turns.


def test_a_function_plays_a_role_and_a_replay_asks_nobody(studio: Studio) -> None:
    person = Person("Say hello to the world.", ACCEPT)
    run = studio.run(reviewed(studio), REPLIES, human=["chief"], answer=person)
    assert run.success
    assert run.software.text("main.py") == "print('hello world')\n"
    assert "You play the Chief; the other side is the Maker." in person.asked[0].text
    assert "print('hello')" in person.asked[0].text
    assert "You play" not in person.asked[1].text
    assert "print('hello world')" in person.asked[1].text
    assert "Say hello to the world." in studio.said(REVIEWED)
    again, events = play_again(run)
    assert again.success
    assert said_the_same(studio.events, events)


def test_a_person_takes_no_call_no_token_and_no_money(studio: Studio) -> None:
    run = studio.run(reviewed(studio), REPLIES, human=["chief"], answer=Person("More.", ACCEPT), max_calls=2)
    assert run.success
    assert run.usage.calls == run.spent.calls == 2
    assert {event.role for event in studio.events if event.kind == "ModelCalled"} == {"maker"}  # type: ignore[attr-defined]


def test_people_count_no_cost_where_it_is_limited(studio: Studio) -> None:
    company = studio.company({"name": talk("title")})
    run = studio.run(company, {}, human=["chief", "maker"], answer=Person("Todo", ACCEPT), max_cost=0.01)
    assert run.success, run.reason
    assert run.usage.cost == 0.0
    assert run.values["title"] == "Todo"


@pytest.mark.parametrize("model", ["human", {"name": "human"}])
def test_a_company_names_its_people(studio: Studio, model: Any) -> None:
    roles = {"chief": {"title": "Chief", "model": model}, "maker": {"title": "Maker"}}
    person = Person(ACCEPT)
    assert studio.run(reviewed(studio, roles=roles), REPLIES, answer=person).success
    assert person.asked[0].role == "chief"


def test_a_person_plays_their_role_whatever_model_the_phase_has(studio: Studio) -> None:
    company = studio.company({"write": ALONE, "review": {**REVIEW, "model": {"name": "other", "temperature": 0.1}}})
    person = Person(ACCEPT)
    assert studio.run(company, REPLIES, human=["chief"], answer=person).success
    assert len(person.asked) == 1


def test_an_assistant_who_is_a_person_delivers_files(studio: Studio) -> None:
    person = Person("no code here", program("print('by hand')"))
    run = studio.run(studio.company({"write": ALONE}), {}, human=["maker"], answer=person)
    assert run.software.text("main.py") == "print('by hand')\n"
    assert "WHOLE FILES" in person.asked[0].text
    assert "UNREADABLE" in person.asked[1].text


def test_a_person_has_one_draft_and_no_tools(studio: Studio) -> None:
    company = studio.company({"write": {**ALONE, "drafts": 3, "guard": "software.complete"}},
                             roles={"chief": {"title": "Chief"}, "maker": {"title": "Maker",
                                                                           "tools": ["software.run"]}})
    person = Person(program("def f():\n    pass\n\n\nf()"))
    studio.run(company, {}, human=["maker"], answer=person)
    assert len(person.asked) == 1
    assert "software.run" not in person.asked[0].text


def test_an_unknown_role_is_refused_with_the_nearest_name(studio: Studio) -> None:
    with pytest.raises(ConfigError, match=r"--human chef: company 'stage' has no such role.*'chief'"):
        studio.run(reviewed(studio), {}, human=["chef"])


def test_a_later_session_does_not_say_who_plays(studio: Studio) -> None:
    run = studio.run(reviewed(studio), REPLIES, human=["chief"], answer=Person(ACCEPT))
    with pytest.raises(ConfigError, match="said when a run begins"):
        chatdev.resume(run.folder, human=["maker"])


def test_what_nobody_answers_is_skipped_with_a_note(studio: Studio) -> None:
    run = studio.run(reviewed(studio), REPLIES, human=["chief"])
    assert run.success
    assert studio.endings()["review#1"] == "skipped"
    assert any("nobody answers" in note for note in run.notes)
    again, events = play_again(run)
    assert again.success
    assert said_the_same(studio.events, events)


def test_a_phase_without_solution_fails_where_nobody_answers(studio: Studio) -> None:
    run = studio.run(studio.company({"name": talk("title")}), {}, human=["chief", "maker"])
    assert (run.status, studio.endings()["name#1"]) == ("error", "failed")
    assert "ended without a solution" in run.reason


def test_answers_that_cannot_be_used_go_back_to_the_function(studio: Studio) -> None:
    person = Person(" ", PersonAnswer("edit", files={"main.py": "x"}), "Good \x1b[31m", ACCEPT)
    run = studio.run(reviewed(studio), REPLIES, human=["chief"], answer=person)
    assert run.status == "error"
    assert "3 answers that cannot be used" in run.reason
    assert "U+001B" in run.reason
    assert [question.problem != "" for question in person.asked] == [False, True, True]


def test_a_function_that_fails_is_the_error_of_the_run(studio: Studio) -> None:
    def fall(_: PersonAsked) -> str:
        raise ValueError("no time")

    run = studio.run(reviewed(studio), REPLIES, human=["chief"], answer=fall)
    assert run.status == "error"
    assert "ValueError: no time" in run.reason
    assert chatdev.resume(run.folder, answer=Person(ACCEPT), base_url=studio.server.url, sandbox="none").success


# Answers in the folder.


class Attendant:
    """Answers, from another thread, the questions of the one run in a warehouse."""

    def __init__(self, warehouse: Path, act: Callable[[Path, PersonAsked], None]) -> None:
        self.seen: list[PersonAsked] = []
        self._warehouse, self._act = warehouse, act
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._work, daemon=True)

    def __enter__(self) -> Attendant:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _work(self) -> None:
        while not self._over.wait(0.02):
            for journal in self._warehouse.glob("*/run/journal.jsonl"):
                if journal.stat().st_size:
                    for question in waiting(journal.parents[1]):
                        self.seen.append(question)
                        self._act(journal.parents[1], question)


def test_a_run_waits_for_answers_that_are_left_in_its_folder(studio: Studio) -> None:
    def act(folder: Path, question: PersonAsked) -> None:
        given = ACCEPT if question.place.startswith("review#1/round-2") else PersonAnswer("say", "More.")
        assert answer(folder, question.id, given)
        assert not answer(folder, question.id, ACCEPT)

    with Attendant(studio.folder / "warehouse", act):
        run = studio.run(reviewed(studio), REPLIES, human=["chief"], wait=True)
    assert run.success
    assert run.software.text("main.py") == "print('hello world')\n"
    assert waiting(run.folder) == []


def test_the_first_answer_counts_and_the_second_is_told(studio: Studio) -> None:
    def slow(question: PersonAsked) -> PersonAnswer:
        answer(next((studio.folder / "warehouse").iterdir()), question.id, ACCEPT)
        return PersonAnswer("say", "Too late.")

    run = studio.run(reviewed(studio), REPLIES, human=["chief"], answer=slow)
    assert run.success
    assert studio.endings()["review#1"] == "consensus"
    assert "Too late." not in (run.folder / "run" / "journal.jsonl").read_text()


def test_a_function_that_leaves_a_question_leaves_it_to_others(studio: Studio) -> None:
    with Attendant(studio.folder / "warehouse", lambda folder, asked: assert_first(folder, asked)):
        run = studio.run(reviewed(studio), REPLIES, human=["chief"], answer=Person(None), wait=True)
    assert run.success


def assert_first(folder: Path, asked: PersonAsked) -> None:
    assert answer(folder, asked.id, ACCEPT)


def test_an_answer_that_was_left_meanwhile_is_taken_on_resume(studio: Studio) -> None:
    def leave(_: PersonAsked) -> str:
        raise ValueError("gone")

    run = studio.run(reviewed(studio), REPLIES, human=["chief"], answer=leave)
    (question,) = waiting(run.folder)
    assert answer(run.folder, question.id, ACCEPT)
    assert waiting(run.folder) == []
    done = chatdev.resume(run.folder, base_url=studio.server.url, sandbox="none")
    assert done.success
    assert studio.places == [WRITTEN]


@pytest.mark.parametrize(("given_answer", "why"), [
    (PersonAnswer("say", ""), "empty"), (PersonAnswer("say", "a\x00b"), r"U\+0000 in line 1"),
    (PersonAnswer("say", "a\nb\x1b[2J"), r"U\+001B in line 2"), (PersonAnswer("say", "x" * (5 << 20)), "million"),
    (PersonAnswer("refuse", "no"), "say or accept or skip"), (PersonAnswer("say", "a\ud800"), r"U\+D800"),
    (PersonAnswer("edit", files={"main.py": "x"}), "say or accept or skip"),
])
def test_an_answer_that_cannot_be_used_is_refused_with_the_reason(studio: Studio, given_answer: PersonAnswer,
                                                                  why: str) -> None:
    run = interrupted(studio)
    (question,) = waiting(run.folder)
    with pytest.raises(ConfigError, match=why):
        answer(run.folder, question.id, given_answer)
    assert waiting(run.folder) == [question]


def interrupted(studio: Studio) -> Run:
    """A run that ended while it asked the reviewer."""
    def fall(_: PersonAsked) -> str:
        raise ValueError("no time")

    return studio.run(reviewed(studio), REPLIES, human=["chief"], answer=fall)


def test_an_unknown_question_is_refused(studio: Studio) -> None:
    run = interrupted(studio)
    with pytest.raises(ConfigError, match="has not asked 'x'"):
        answer(run.folder, "x", ACCEPT)


def garbage(path: Path) -> Iterator[Callable[[], object]]:
    yield lambda: path.write_text("{")
    yield lambda: path.write_text("[1]")
    yield lambda: path.write_text(json.dumps({"action": "say", "text": 3}))
    yield lambda: path.write_text(json.dumps({"action": "say", "text": "x", "files": {"a": []}}))
    yield lambda: path.write_bytes(b"\xff\xfe")
    yield lambda: path.symlink_to("/etc/passwd")
    yield lambda: os.mkfifo(path)
    yield lambda: path.write_text("[" * 100_000)
    yield lambda: path.mkdir()


@pytest.mark.parametrize("number", range(9))
def test_a_file_that_is_no_answer_is_moved_aside_and_noted(studio: Studio, number: int) -> None:
    run = interrupted(studio)
    (question,) = waiting(run.folder)
    path = run.folder / "run" / f"answer-{question.id}.json"
    list(garbage(path))[number]()
    done = chatdev.resume(run.folder, base_url=studio.server.url, sandbox="none", answer=Person(ACCEPT))
    assert done.success, done.reason
    assert any("cannot be used" in note for note in done.notes)
    assert json.loads(path.read_text()) == {"action": "accept", "text": ""}


# Waiting costs nobody else anything.


def test_other_branches_go_on_while_a_person_thinks(studio: Studio) -> None:
    ends = [{**CHECK, "writes": "test"}]
    company = studio.company({"asked": talk("a", instructor=None), "other": talk("b", instructor=None),
                              "more": talk("c", instructor=None)},
                             [{"parallel": [{"phase": "asked"}, {"steps": [{"phase": "other"}, {"phase": "more"}]}]},
                              *ends], roles={"chief": {"title": "Chief"}, "maker": {"title": "Maker"},
                                             "author": {"title": "Author", "model": "human"}})
    text = (company / "company.yaml").read_text().replace("assistant: maker", "assistant: author", 1)
    (company / "company.yaml").write_text(text)

    async def late(_: PersonAsked) -> str:
        while len(studio.places) < 2:
            await asyncio.sleep(0.01)
        return "By hand."

    done = {f"parallel#1/branch-2/{name}#1/round-1/assistant": "<SOLUTION> x" for name in ("other", "more")}
    run = studio.run(company, done, answer=late)
    assert run.success, run.reason
    assert run.values["a"] == "By hand."


def test_nobody_is_waited_for_when_a_branch_beside_fails(studio: Studio) -> None:
    company = studio.company({"asked": talk("a", instructor=None), "other": talk("b", instructor=None)},
                             [{"parallel": [{"phase": "asked"}, {"phase": "other"}]}, CHECK],
                             roles={"chief": {"title": "Chief"}, "maker": {"title": "Maker"},
                                    "author": {"title": "Author", "model": "human"}})
    text = (company / "company.yaml").read_text().replace("assistant: maker", "assistant: author", 1)
    (company / "company.yaml").write_text(text)
    started = time.monotonic()
    run = studio.run(company, {"parallel#1/branch-2/other#1/round-1/assistant":
                               Scripted(status=400, body={"error": {"message": "no"}})}, wait=True)
    assert run.status == "error"
    assert time.monotonic() - started < 30
    assert len(waiting(run.folder)) == 1


def test_the_minutes_of_a_run_stand_still_while_a_person_thinks(studio: Studio) -> None:
    def slow(question: PersonAsked) -> PersonAnswer:
        time.sleep(1.2)
        return ACCEPT

    run = studio.run(reviewed(studio), REPLIES, human=["chief"], answer=slow, max_minutes=1 / 60)
    assert run.success, run.reason
    assert run.spent.seconds < 1
    assert run.usage.seconds < 1


def test_the_minutes_run_on_when_the_person_has_answered(studio: Studio) -> None:
    def slow(_: PersonAsked) -> str:
        time.sleep(0.5)
        return "More."

    run = studio.run(reviewed(studio), {**REPLIES, REVIEWED: Scripted(program("print(1)"), delay=5)}, human=["chief"],
                     answer=slow, max_minutes=1 / 60)
    assert run.status == "stopped"
    assert "minutes" in run.reason


# Whatever people answer, the journal holds it.


ANSWERS = st.one_of(
    st.none(), st.text(), st.builds(PersonAnswer, st.sampled_from(["say", "accept", "refuse", "edit", "skip", "x"]),
                                    st.text(max_size=50), st.dictionaries(
                                        st.sampled_from(["main.py", "title", "../x"]), st.text(max_size=50))))


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(answers=st.lists(ANSWERS, max_size=8))
def test_no_answers_break_a_run_or_its_journal(studio: Studio, answers: list[Any]) -> None:
    left = iter(answers)
    studio.events.clear()
    company = studio.company({"write": {**ALONE, "approve": "before", "solution": {"form": "files",
                                                                                   "approve": "before"}},
                              "review": REVIEW})
    replies = {**REPLIES, "write#1/round-1/assistant/retry-1": program("print(1)"),
               "write#1/round-1/assistant/retry-2": program("print(2)"), "review#1/round-2/assistant": program("x = 3"),
               **{f"review#1/round-{n}/assistant": program(f"x = {n}") for n in range(3, 11)},
               **{f"write#1/reflection-{n}": program("x = 0") for n in (1, 2)}}
    run = studio.run(company, replies, human=["chief"], answer=lambda _: next(left, None))
    assert run.status in ("success", "error"), run.reason
    assert "Traceback" not in run.reason
    list(read_journal(run.folder / "run" / "journal.jsonl"))
    if run.success:
        again, events = play_again(run)
        assert again.success
        assert again.software == run.software
        assert said_the_same(studio.events, events)


def test_notes_name_what_was_skipped(studio: Studio) -> None:
    studio.run(reviewed(studio), REPLIES, human=["chief"])
    notes = [event.text for event in studio.events if isinstance(event, Noted)]
    assert notes == ["nobody answers, so this is skipped: chief in review"]


VALUES = st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=20),
                      lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
                          st.sampled_from(["action", "text", "files", "main.py", "x"]), inner, max_size=4),
                      max_leaves=12)
FIELDS = st.fixed_dictionaries({"action": st.sampled_from(["say", "accept", "refuse", "edit", "skip"]) | VALUES},
                               optional={"text": VALUES, "files": VALUES})


@given(value=VALUES | FIELDS, asks=st.sampled_from(["turn", "approval"]))
def test_any_json_is_an_answer_or_refused(value: Any, asks: Any) -> None:
    question = PersonAsked("a#1", "0", asks, edits={"main.py": ""} if asks == "approval" else {})
    try:
        found = read_answer(value, question)
    except ConfigError:
        return
    assert read_answer(found.to_json(), question) == found
