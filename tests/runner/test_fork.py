"""Doing a run again from one of its activities: in a new folder, with the old one as it was."""

from __future__ import annotations

import pytest

from chatdev.journal import read_journal
from tests.engine.studio import program
from tests.support.durable import (
    GUIDE,
    OUTAGE,
    PAGE,
    PASS_1,
    PASS_2,
    REPLIES,
    SLOGAN,
    TITLE,
    WRITTEN,
    activities,
    answered,
    asked,
    contents,
    resume,
    software,
    stopped_at,
    uninterrupted,
    versions,
)
from tests.support.shop import Shop

OTHER_PAGE = "<SOLUTION>\n" + program("Another page.", "README.md")

FROM: dict[str, list[str]] = {
    PAGE: [PAGE],
    "page#1": [PAGE],
    "page": [PAGE],
    "software.complete#1": [],
    "repeat#1/pass-2": [PASS_2, TITLE, SLOGAN, GUIDE, PAGE],
    "repeat#1": [PASS_1, PASS_2, TITLE, SLOGAN, GUIDE, PAGE],
    "repeat": [PASS_1, PASS_2, TITLE, SLOGAN, GUIDE, PAGE],
    "write#1": list(REPLIES),
}


@pytest.mark.parametrize("place", FROM)
def test_a_fork_goes_on_live_from_its_activity(workshop: Shop, place: str) -> None:
    whole = uninterrupted(workshop)
    before = contents(whole.folder)
    fork = resume(workshop, whole.folder, "--from", place, "--name", "fork")
    fork.assert_succeeded()
    assert fork.folder != whole.folder
    assert sorted(asked(workshop.server)) == sorted(FROM[place])
    assert software(fork.folder) == software(whole.folder)
    assert versions(fork.folder) == versions(whole.folder)
    assert sorted(activities(fork)) == sorted(activities(whole))
    assert contents(whole.folder) == before


def test_what_comes_out_differently_changes_the_fork_alone(workshop: Shop) -> None:
    whole = uninterrupted(workshop)
    answered(workshop, {PAGE: OTHER_PAGE})
    fork = resume(workshop, whole.folder, "--from", "page")
    fork.assert_succeeded()
    assert software(fork.folder).text("README.md") == "Another page.\n"
    assert software(whole.folder).text("README.md") == "Greeter says hello.\n"
    assert fork.folder is not None
    assert fork.folder.name.startswith("a-whole-")


def test_a_fork_is_beside_its_run_unless_a_warehouse_is_named(workshop: Shop) -> None:
    whole = uninterrupted(workshop)
    elsewhere = workshop.folder / "elsewhere"
    done = resume(workshop, whole.folder, "--from", "page", "--name", "fork", "--warehouse", str(elsewhere))
    assert done.status == 0
    (folder,) = elsewhere.iterdir()
    assert software(folder) == software(whole.folder)
    assert len(list(workshop.warehouse.iterdir())) == 1


def test_a_fork_can_be_resumed_and_replayed(workshop: Shop) -> None:
    whole = uninterrupted(workshop)
    answered(workshop, {PAGE: OUTAGE})
    fork = resume(workshop, whole.folder, "--from", GUIDE, "--name", "fork")
    assert fork.status == 3
    workshop.server.requests.clear()
    answered(workshop, {PAGE: OTHER_PAGE})
    resumed = resume(workshop, fork.folder)
    resumed.assert_succeeded()
    assert asked(workshop.server) == [PAGE]
    workshop.server.requests.clear()
    assert workshop.command("replay", str(fork.folder)).status == 0
    assert workshop.server.requests == []


def test_a_fork_has_a_budget_of_its_own(workshop: Shop) -> None:
    whole = uninterrupted(workshop)
    fork = resume(workshop, whole.folder, "--from", GUIDE, "--name", "fork", "--max-calls", "1")
    assert fork.status == 6
    assert "spent so far: 1 call, " in fork.err
    again = resume(workshop, fork.folder, "--max-calls", "2")
    again.assert_succeeded()
    assert "2 of 2 calls" in again.out


@pytest.mark.parametrize(("place", "near"), [("pages#1", PAGE), ("guide", GUIDE), ("page#2", PAGE)])
def test_an_unknown_activity_is_refused_with_those_near_it(workshop: Shop, place: str, near: str) -> None:
    whole = uninterrupted(workshop)
    refused = resume(workshop, whole.folder, "--from", place)
    assert refused.status == 2
    assert f"there is no activity {place!r}" in refused.err
    assert near in refused.err
    assert len(list(workshop.warehouse.iterdir())) == 1


def test_a_fork_of_a_changed_company_is_refused_and_leaves_nothing(workshop: Shop) -> None:
    whole = uninterrupted(workshop)
    file = workshop.company / "company.yaml"
    file.write_text(file.read_text().replace("makes things", "makes other things"))
    refused = resume(workshop, whole.folder, "--from", "page", "--company", str(workshop.company))
    assert refused.status == 2
    assert f"{WRITTEN} would not be asked what it was asked before" in refused.err
    assert len(list(workshop.warehouse.iterdir())) == 1
    fork = resume(workshop, whole.folder, "--from", "page", "--name", "fork", "--as-it-was")
    fork.assert_succeeded()
    assert asked(workshop.server) == [PAGE]


def test_a_fork_by_another_model_pays_from_its_activity_only(workshop: Shop) -> None:
    stopped = stopped_at(workshop, PAGE, "--model", "gpt-4o")
    fork = resume(workshop, stopped.folder, "--from", GUIDE, "--model", "gpt-4.1-mini", "--name", "x-fork")
    fork.assert_succeeded()
    assert [(request.headers["X-ChatDev-Activity"], request.body["model"]) for request in workshop.server.requests] == [
        (GUIDE, "gpt-4.1-mini"), (PAGE, "gpt-4.1-mini")]


def test_a_fork_takes_the_newer_of_two_results(workshop: Shop) -> None:
    stopped = stopped_at(workshop, PAGE)
    file = workshop.company / "company.yaml"
    file.write_text(file.read_text().replace("WRITE README.md", "WRITE THE README.md"))
    answered(workshop, {PAGE: OTHER_PAGE})
    resume(workshop, stopped.folder, "--from-here", "--company", str(workshop.company)).assert_succeeded()
    fork = resume(workshop, stopped.folder, "--from", "software.complete#1", "--name", "x-fork")
    fork.assert_succeeded()
    assert software(fork.folder).text("README.md") == "Another page.\n"
    assert fork.folder is not None
    kinds = [record["kind"] for record in read_journal(fork.folder / "run" / "journal.jsonl")]
    assert kinds[0] == "Order"
