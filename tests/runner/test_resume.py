"""Going on: nothing paid for is paid again, and the software is that of a run that never stopped."""

from __future__ import annotations

import os
import signal
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

import chatdev
from chatdev import Company, ScriptedModel
from tests.support import slogans
from tests.support.chat_server import Scripted
from tests.support.durable import (
    GUIDE,
    PAGE,
    REPLIES,
    TITLE,
    activities,
    answered,
    asked,
    git,
    resume,
    software,
    stopped_at,
    uninterrupted,
    versions,
)
from tests.support.shop import Outcome, Shop


def assert_same(resumed: Outcome, whole: Outcome) -> None:
    """The two runs made the same, in the same steps."""
    resumed.assert_succeeded()
    assert software(resumed.folder) == software(whole.folder)
    assert versions(resumed.folder) == versions(whole.folder)
    assert git(resumed.folder, "rev-parse", "HEAD^{tree}") == git(whole.folder, "rev-parse", "HEAD^{tree}")
    assert git(resumed.folder, "status", "--porcelain") == ""
    assert sorted(activities(resumed)) == sorted(activities(whole))


@pytest.mark.parametrize("place", REPLIES)
def test_after_an_outage_the_run_ends_as_if_there_had_been_none(workshop: Shop, place: str) -> None:
    whole = uninterrupted(workshop)
    stopped = stopped_at(workshop, place)
    assert f"resume {stopped.folder}" in stopped.out
    paid = set(activities(stopped))
    resumed = resume(workshop, stopped.folder)
    assert_same(resumed, whole)
    assert set(asked(workshop.server)) == set(REPLIES) - paid
    assert len(workshop.server.requests) == len(REPLIES) - len(paid & set(REPLIES))
    assert [event["status"] for event in resumed.events("RunFinished")] == ["error", "success"]


def test_after_a_wrong_key_the_run_goes_on_with_the_right_one(workshop: Shop) -> None:
    whole = uninterrupted(workshop)
    answered(workshop, {GUIDE: Scripted(status=401)})
    stopped = workshop.run("--name", "stopped")
    answered(workshop)
    assert_same(resume(workshop, stopped.folder), whole)


def test_a_run_may_stop_and_go_on_as_often_as_it_must(workshop: Shop) -> None:
    whole = uninterrupted(workshop)
    stopped = workshop.run("--name", "stopped", "--max-calls", "1")
    for number in range(2, 7):
        assert stopped.status == 6
        stopped = resume(workshop, stopped.folder, "--max-calls", str(number))
    resumed = resume(workshop, stopped.folder, "--no-budget")
    assert_same(resumed, whole)
    assert len(workshop.server.requests) == 7


def stop(workshop: Shop, number: signal.Signals, after: Callable[[], bool], *arguments: str) -> Outcome:
    """A command that gets a signal as soon as `after` holds."""
    process = workshop.start(*arguments)
    deadline = time.monotonic() + 30
    while not after() and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(number)
    return workshop.finish(process)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_after_ctrl_c_and_after_a_kill_the_run_goes_on(workshop: Shop, number: signal.Signals) -> None:
    whole = uninterrupted(workshop)
    answered(workshop, {GUIDE: Scripted("too late", delay=60)})

    def waiting() -> bool:
        journals = workshop.warehouse.glob("stopped-*/run/journal.jsonl")
        return GUIDE in asked(workshop.server) and any(f'"Activity", "place": "{TITLE}"' in journal.read_text()
                                                       for journal in journals)

    stopped = stop(workshop, number, waiting, *workshop.arguments("--name", "stopped"))
    assert stopped.status == {signal.SIGINT: 130, signal.SIGKILL: -signal.SIGKILL}[number]
    workshop.server.requests.clear()
    answered(workshop)
    assert_same(resume(workshop, stopped.folder), whole)
    assert asked(workshop.server) == [GUIDE, PAGE]


def test_a_resumed_run_may_be_stopped_again(workshop: Shop) -> None:
    whole = uninterrupted(workshop)
    stopped = stopped_at(workshop, TITLE)
    answered(workshop, {PAGE: Scripted("too late", delay=60)})
    again = stop(workshop, signal.SIGKILL, lambda: PAGE in asked(workshop.server), "resume", str(stopped.folder))
    assert again.status == -signal.SIGKILL
    answered(workshop)
    assert_same(resume(workshop, stopped.folder), whole)


def cut(folder: Path | None, size: int) -> None:
    """A journal as a crash of the machine leaves it."""
    assert folder is not None
    os.truncate(folder / "run" / "journal.jsonl", size)


@pytest.mark.parametrize("share", [0.5, 0.6, 0.9])
def test_a_journal_that_lost_its_end_is_gone_on_with(workshop: Shop, share: float) -> None:
    whole = uninterrupted(workshop)
    assert whole.folder is not None
    size = (whole.folder / "run" / "journal.jsonl").stat().st_size
    before, activities_before = software(whole.folder), set(activities(whole))
    cut(whole.folder, int(size * share))
    resumed = resume(workshop, whole.folder)
    resumed.assert_succeeded()
    assert software(resumed.folder) == before
    assert set(activities(resumed)) == activities_before


def test_a_finished_run_has_nothing_left_to_do(workshop: Shop) -> None:
    whole = uninterrupted(workshop)
    before = versions(whole.folder)
    resumed = resume(workshop, whole.folder)
    assert_same(resumed, whole)
    assert "everything is recorded; nothing is left to do" in resumed.out
    assert workshop.server.requests == []
    assert versions(resumed.folder) == before


def test_spending_sums_over_sessions_so_the_same_budget_stops_at_once(workshop: Shop) -> None:
    answered(workshop)
    stopped = workshop.run("--max-calls", "3")
    assert stopped.status == 6
    workshop.server.requests.clear()
    again = resume(workshop, stopped.folder, "--max-calls", "3")
    assert again.status == 6
    assert "the budget of 3 calls is used up (spent so far: 3 calls, 36 tokens" in again.err
    assert workshop.server.requests == []
    done = resume(workshop, stopped.folder, "--max-calls", "7", "--max-tokens", "100000")
    done.assert_succeeded()
    assert "budget    7 of 7 calls, 84 of 100000 tokens" in done.out


def test_a_budget_binds_the_sessions_after_it_until_another_is_given(workshop: Shop) -> None:
    answered(workshop)
    stopped = workshop.run("--max-calls", "1", "--max-minutes", "30")
    asked = len(workshop.server.requests)
    again = resume(workshop, stopped.folder)
    assert again.status == 6
    assert len(workshop.server.requests) == asked
    assert ("the run keeps its budget of 1 call, 30 minutes; --max-calls N or --max-minutes N gives another one, "
            "--no-budget none") in " ".join(again.out.split())
    more = resume(workshop, stopped.folder, "--max-calls", "2")
    assert more.status == 6
    assert "2 of 2 calls, 0.0 of 30 minutes" in more.out
    free = resume(workshop, stopped.folder, "--no-budget")
    free.assert_succeeded()
    assert "the run keeps its budget" not in free.out
    assert "budget  " not in free.out


def test_a_library_lifts_a_budget_or_gives_another(here: Path) -> None:
    company = Company.from_yaml(slogans.COMPANY)
    stopped = company.run("a list", model=ScriptedModel(slogans.REPLIES), sandbox="none", max_calls=1)
    assert stopped.status == "stopped"
    again = chatdev.resume(stopped.folder, model=ScriptedModel(slogans.REPLIES))
    assert (again.status, again.limits.calls) == ("stopped", 1)
    done = chatdev.resume(stopped.folder, model=ScriptedModel({"slogan": slogans.REPLIES["slogan"]}), keep_budget=False)
    assert (done.status, done.limits.calls) == ("success", None)


def kinds_by_branch(records: Sequence[Mapping[str, Any]]) -> dict[str, list[str]]:
    """What happened in each branch, in its order; those of a parallel step go on beside each other."""
    found = defaultdict(list)
    for record in records:
        if record["kind"] in {"ModelCalled", "ToolCalled", "PhaseFinished", "DeliveryApplied"}:
            branch = "/".join(record["place"].split("/")[:2]) if "/branch-" in record["place"] else ""
            found[branch].append(record["kind"])
    return found


def test_the_events_of_a_resumed_session_are_those_of_the_whole_run(workshop: Shop) -> None:
    whole = uninterrupted(workshop)
    stopped = stopped_at(workshop, PAGE)
    resumed = resume(workshop, stopped.folder)
    session = resumed.records[-next(n for n, record in enumerate(reversed(resumed.records), start=1)
                                    if record["kind"] == "RunStarted"):]
    assert kinds_by_branch(session) == kinds_by_branch(whole.records)
    replayed = [record["replayed"] for record in session if record["kind"] in ("ModelCalled", "ToolCalled")]
    assert replayed == [True] * 8 + [False] * 2
    assert next(record["calls"] for record in session if record["kind"] == "RunResumed") == 8


def test_the_report_tells_of_the_whole_run(workshop: Shop) -> None:
    stopped = stopped_at(workshop, PAGE)
    report = resume(workshop, stopped.folder).report
    assert "| write#1 | consensus |" in report
    assert "7 calls, 49 tokens in, 35 out" in report
