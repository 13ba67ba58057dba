"""`chatdev process`, whole: five tasks through three rounds over a real server, and each stage by itself."""

from __future__ import annotations

import json
import os
import re
import signal
import sqlite3
import subprocess
import time
from contextlib import closing
from pathlib import Path

import pytest

from chatdev.departments.process.bpmn import write_bpmn
from chatdev.departments.process.chart import draw_flow
from chatdev.departments.process.pool import NOT_DEVELOPED
from chatdev.departments.process.process_tree import phase, sequence
from tests.departments.process.office import SHORT, TAUGHT, TESTED, WRONG, Department
from tests.support.chat_server import ChatServer
from tests.support.copies import start_module

pytestmark = pytest.mark.tool


@pytest.fixture
def department(tmp_path: Path, chat_server: ChatServer, here: Path) -> Department:
    return Department(tmp_path, chat_server)


def propose_by_text(prompt: str) -> str:
    """A generator that learns from its prompt alone: where the text says that tests succeed, it tests."""
    return TESTED if "TestModification" in prompt.partition(TAUGHT)[2].partition("Examples")[0] else SHORT


def test_a_cycle_grows_the_pool_mines_it_and_teaches_it_back(department: Department) -> None:
    proposals = iter([TESTED, SHORT, SHORT, "DemandAnalysis → UsernameSet", SHORT, SHORT])
    department.propose = lambda prompt: next(proposals, None) or propose_by_text(prompt)
    department.replies = {"Coding": WRONG}  # only who tests succeeds
    said = department.done("cycle", "--rounds", "3", "--replays", "2", "--at-once", "1")
    first, later = department.prompts[:6], department.prompts[6:]
    assert all(TAUGHT not in prompt for prompt in first)
    assert all(TAUGHT in prompt for prompt in later)
    assert len(later) == 10
    assert 'Then run "TestErrorSummary". Finally run "TestModification".' in later[0]
    outcomes = department.outcomes
    assert len(outcomes) == 3 * 5 + 2 * 2 + 1  # the proposal that could not be run is one, too
    assert [one.failure for one in outcomes if one.starts is None] == ["unknown phase"]
    assert {one.instance for one in outcomes if one.success} == {tuple(TESTED.split(" → "))}
    assert all(one.temperature == (None if "replay" in one.run else 0.6) and one.area == "Words" for one in outcomes)
    assert re.search(r"round 1 +6 +0.83 +2 .* 5  0.20", said)
    assert re.search(r"round 3 +5 +1.00 +1 .* 5  1.00", said)

    asked = len(department.server.requests)
    again = department.done("cycle", "--rounds", "3", "--replays", "2", "--at-once", "1")
    assert len(department.server.requests) == asked
    assert again.splitlines()[-5:] == said.splitlines()[-5:]
    assert len(department.outcomes) == len(outcomes)


def test_an_interrupted_cycle_is_gone_on_with_and_counts_nothing_twice(department: Department) -> None:
    """The server is away after some calls; what has ended until then is counted."""
    department.calls_left = 14
    stopped = department.run("cycle", "--rounds", "2", "--replays", "1", "--at-once", "1")
    assert stopped.exit_code == 1
    assert "the same command with --retry-failed goes on" in stopped.output
    assert 0 < len(department.outcomes) < 5
    department.calls_left = 1000
    wrong = department.run("cycle", "--rounds", "2", "--replays", "2", "--at-once", "1")
    assert wrong.exit_code == 2
    assert "was begun with other options" in wrong.output
    department.done("cycle", "--rounds", "2", "--replays", "1", "--at-once", "1", "--retry-failed")
    assert len(department.outcomes) == 11
    assert len({one.run for one in department.outcomes}) == 11


def test_a_killed_cycle_goes_on_and_counts_nothing_twice(department: Department) -> None:
    department.limit = ":3"
    given = department.arguments("cycle", "--rounds", "2", "--replays", "0", "--at-once", "1")
    killed = start_module("chatdev", *given, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
    while len(department.server.requests) < 7 and killed.poll() is None:
        time.sleep(0.02)
    os.killpg(killed.pid, signal.SIGKILL)
    killed.communicate()
    with closing(sqlite3.connect("studies/ledger.sqlite")) as connection, connection:
        connection.execute("update chatdev_jobs set lease_ends = 0")  # as time does, in a minute
    department.done("cycle", "--rounds", "2", "--replays", "0", "--at-once", "1")
    assert len(department.outcomes) == len({one.run for one in department.outcomes}) == 6


def test_a_limit_holds_for_all_stages_together(department: Department) -> None:
    department.limit = ":1"
    department.done("cycle", "--rounds", "1", "--replays", "0")
    refused = department.run("cycle", "--rounds", "2", "--replays", "0", "--max-tokens", "60")
    assert refused.exit_code == 6
    assert "the budget of 60 tokens is used up (spent: 60)" in refused.output
    assert "round 2 " in department.done("cycle", "--rounds", "2", "--replays", "0", "--max-tokens", "100000")


def test_proposals_are_generated_first_and_developed_later(department: Department, tmp_path: Path) -> None:
    file = tmp_path / "proposals.json"
    answers = iter(["Foo → Bar"] * 3)
    department.propose = lambda _: next(answers, SHORT)
    said = department.done("generate", "--output", str(file), "--at-once", "1")
    assert said.count(SHORT) == 4
    assert [line["process"] for line in json.loads(file.read_text())] == [SHORT] * 4
    failures = [one.failure for one in department.outcomes]
    assert [one for one in failures if one != NOT_DEVELOPED] == ["unknown phase"] * 3
    assert failures.count(NOT_DEVELOPED) == 4
    assert "0 of 1 instances" in department.command("filter", "--all").output
    department.done("develop", "--from", str(file))
    assert sum(one.success for one in department.outcomes) == 4
    assert "holds no proposals" in department.run("develop", "--from", str(tmp_path / "data/greetings.yaml")).output


def test_a_proposal_that_is_too_long_is_refused_and_never_replayed(department: Department) -> None:
    """Its beginning could be run, and nobody proposed that."""
    answers = iter(["DemandAnalysis → LanguageChoose → Coding" + " → Manual" * 60])
    department.limit = ":1"
    department.propose = lambda _: next(answers, TESTED)
    department.done("cycle", "--rounds", "2", "--replays", "1", "--at-once", "1")
    refused = [one for one in department.outcomes if not one.was_run]
    assert [(one.instance, one.failure) for one in refused] == [((), "too long")]
    assert {one.instance for one in department.outcomes if one.was_run} == {tuple(TESTED.split(" → "))}


def test_outcomes_of_elsewhere_do_not_stand_for_those_of_here(department: Department) -> None:
    department.limit = ":2"
    department.done("develop", "--process", SHORT)
    file = department.folder / "pool.json"
    file.write_text(department.command("export").output)
    for count in (2, 0):
        assert f"pool more: {count} new outcomes" in department.command("import", str(file), "--pool", "more").output
    department.done("develop", "--process", SHORT, "--pool", "more")
    assert re.search(r"^4 +4 +1.00", department.command("filter", "--pool", "more").output, re.M)


@pytest.mark.parametrize(("arguments", "why"), [
    (("sweep", "--temperature", ""), "--temperature is empty"), (("develop", "--process", " "), "--process is empty")])
def test_empty_options_are_refused(department: Department, arguments: tuple[str, ...], why: str) -> None:
    refused = department.run(*arguments)
    assert (refused.exit_code, why in refused.output) == (2, True)
    assert department.server.requests == []


@pytest.mark.parametrize("name", ["", "../evil", "a/b", "x" * 101])
def test_a_pool_has_a_plain_name(department: Department, name: str) -> None:
    file = department.folder / "pool.json"
    file.write_text("{}")
    refused = department.command("import", str(file), "--pool", name)
    assert (refused.exit_code, "a pool has a name of at most 100" in refused.output) == (2, True)


def test_a_given_process_is_developed_replayed_and_enhanced(department: Department) -> None:
    department.limit = ":2"
    assert "this process cannot be run" in department.run("develop", "--process", "Coding").output
    assert "nothing to replay" in department.run("replay").output
    assert "there is no text to show" in department.run("enhance").output
    department.done("develop", "--process", SHORT)
    department.replies = {"Coding": WRONG}
    department.done("replay", "--count", "3", "--strategy", "uct")
    assert [(one.success, one.failure) for one in department.outcomes[2:]] == [(False, "failure")] * 3
    department.replies = {}
    department.done("enhance")
    assert all(TAUGHT in prompt for prompt in department.prompts)
    assert len(department.outcomes) == 7


def test_the_text_of_a_model_that_was_drawn_is_shown(department: Department) -> None:
    department.limit = ":1"
    file = department.folder / "drawn.bpmn"
    file.write_text(write_bpmn(draw_flow(sequence(phase("DemandAnalysis"), phase("Coding")))))
    department.done("enhance", "--bpmn", str(file))
    assert all('First run "DemandAnalysis". Then run "Coding".' in prompt for prompt in department.prompts)
    file.write_text(write_bpmn(draw_flow(sequence(phase("Dreaming"), phase("Coding")))))
    assert "phases that there are not: Dreaming; the company has DemandAnalysis" in department.run(
        "enhance", "--bpmn", str(file)).output


def test_temperatures_are_swept_and_texts_compared(department: Department) -> None:
    department.limit = ":2"
    said = department.done("sweep", "--temperature", "0,1.2")
    assert re.search(r"^0.0 +2 +1.00", said, re.M)
    assert re.search(r"^1.2 +2 +1.00", said, re.M)
    assert {one.body["temperature"] for one in department.server.requests} == {0, 1.2}
    assert "numbers from 0 to 2" in department.run("sweep", "--temperature", "hot").output
    assert "there is no text to show" in department.run("compare").output
    department.done("develop", "--process", TESTED)
    said = department.done("compare")
    assert re.search(r"^with text +2", said, re.M)
    assert re.search(r"^Words, without text +2", said, re.M)
    assert sum(TAUGHT in prompt for prompt in department.prompts) == 2
