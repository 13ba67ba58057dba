"""A further request to a finished run: a new run with its software, its long-term memory and both requests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.engine.studio import CHANGE, CHECK, WRITE, Studio, program
from tests.support.durable import OUTAGE, asked, contents, git, resume, software, text, versions
from tests.support.shop import Outcome, Shop

NAME, WRITTEN, SHOWN = (f"{phase}#1/round-1/assistant" for phase in ("name", "write", "show"))
REPLIES = {NAME: "<SOLUTION> Greeter", WRITTEN: "<SOLUTION>\n" + program("print('hello')"),
           SHOWN: "<SOLUTION>\n" + program("Greeter", "README.md")}
MORE = {WRITTEN: "<SOLUTION>\n" + program("print('hello, you')")}


@pytest.fixture
def shop(shop: Shop) -> Shop:
    """The shop with a company that gives its software a name, once."""
    phases: dict[str, Any] = {
        "name": {**text("title", "task"), "once": True},
        "write": {**CHANGE, "reads": ["task", "software?", "title"], "opening": "{{ task }} {{ title }}"},
        "show": {**WRITE, "solution": {"form": "files", "only": ["README.md"]}}}
    Studio(shop.folder, shop.server).company(phases, [{"phase": "name"}, {"phase": "write"}, {"phase": "show"}, CHECK],
                                             success="test.passed")
    return shop


@pytest.fixture
def finished(shop: Shop) -> Outcome:
    shop.route(REPLIES)
    outcome = shop.run("--name", "a-first")
    outcome.assert_succeeded()
    shop.server.requests.clear()
    shop.route({**REPLIES, **MORE})
    return outcome


def add(shop: Shop, folder: Path | None, *more: str) -> Outcome:
    return resume(shop, folder, "--task", "greet me by name", *more)


def test_a_follow_up_starts_from_the_software_and_the_memory(shop: Shop, finished: Outcome) -> None:
    before = contents(finished.folder)
    added = add(shop, finished.folder, "--name", "added")
    added.assert_succeeded()
    assert asked(shop.server) == [WRITTEN, SHOWN]
    request = str(shop.server.requests[0].body["messages"])
    assert request.index("TASK") < request.index("the customer adds") < request.index("greet me by name")
    assert "Greeter" in request
    assert software(added.folder).text("main.py") == "print('hello, you')\n"
    assert versions(added.folder)[0] == "the software to start from"
    assert git(added.folder, "show", f"{git(added.folder, 'rev-list', '--max-parents=0', 'HEAD').strip()}:main.py") \
        == "print('hello')\n"
    assert contents(finished.folder) == before


def test_a_further_request_may_stand_in_a_file(shop: Shop, finished: Outcome) -> None:
    (shop.folder / "more.txt").write_text("greet everybody\n")
    resume(shop, finished.folder, "--task", f"@{shop.folder}/more.txt").assert_succeeded()
    assert "greet everybody" in str(shop.server.requests[0].body)
    refused = resume(shop, finished.folder, "--task", "@nowhere.txt")
    assert refused.status == 2
    assert "the further task: cannot read nowhere.txt" in refused.err


def test_a_phase_whose_solution_is_known_is_skipped_and_said_so(shop: Shop, finished: Outcome) -> None:
    added = add(shop, finished.folder, "--verbose")
    assert "name#1 is skipped: `title` is known from the run before" in added.out
    assert "> Greeter" in added.report


def test_a_follow_up_of_a_follow_up_holds_all_requests(shop: Shop, finished: Outcome) -> None:
    second = add(shop, finished.folder, "--name", "b-second")
    third = resume(shop, second.folder, "--task", "in French", "--name", "c-third")
    third.assert_succeeded()
    request = str(shop.server.requests[-2].body["messages"])
    assert request.index("TASK") < request.index("greet me by name") < request.index("in French")


def test_a_follow_up_can_be_stopped_resumed_and_replayed(shop: Shop, finished: Outcome) -> None:
    shop.route({**REPLIES, **MORE, SHOWN: OUTAGE})
    stopped = add(shop, finished.folder, "--name", "added")
    assert stopped.status == 3
    shop.server.requests.clear()
    shop.route({**REPLIES, **MORE})
    added = resume(shop, stopped.folder)
    added.assert_succeeded()
    assert asked(shop.server) == [SHOWN]
    replayed = shop.command("replay", str(added.folder), "--verbose")
    assert replayed.status == 0
    assert "name#1 is skipped" in replayed.out


def test_what_was_changed_by_hand_is_where_a_follow_up_starts(shop: Shop, finished: Outcome) -> None:
    assert finished.folder is not None
    (finished.folder / "software" / "notes.txt").write_text("mine\n")
    added = add(shop, finished.folder, "--name", "added")
    added.assert_succeeded()
    assert software(added.folder).text("notes.txt") == "mine\n"


def test_an_unfinished_run_takes_no_further_request(shop: Shop) -> None:
    shop.route({**REPLIES, SHOWN: OUTAGE})
    stopped = shop.run()
    before = contents(stopped.folder)
    refused = add(shop, stopped.folder)
    assert refused.status == 2
    assert f"is not finished (error), so nothing can be added to it; finish it first: chatdev resume {stopped.folder}" \
        in refused.err
    assert contents(stopped.folder) == before
    assert len(list(shop.warehouse.iterdir())) == 1


def test_a_run_that_failed_its_check_takes_one(shop: Shop, finished: Outcome) -> None:
    shop.route({**REPLIES, WRITTEN: "<SOLUTION>\n" + program("def f():\n    pass")})
    failed = shop.run("--name", "b-failed")
    assert failed.status == 1
    shop.route({**REPLIES, WRITTEN: "<SOLUTION>\n" + program("def f():\n    return 1")})
    add(shop, failed.folder, "--name", "c-added").assert_succeeded()


def test_a_company_that_changed_is_taken_as_it_is_now_or_as_it_was(shop: Shop, finished: Outcome) -> None:
    file = shop.company / "company.yaml"
    company = yaml.safe_load(file.read_text())
    company["phases"]["write"]["opening"] = "ANEW {{ task }}"
    file.write_text(yaml.safe_dump(company, sort_keys=False))
    add(shop, finished.folder, "--name", "b-now", "--company", str(shop.company)).assert_succeeded()
    assert "ANEW" in str(shop.server.requests[0].body)
    shop.server.requests.clear()
    add(shop, finished.folder, "--name", "c-then", "--as-it-was").assert_succeeded()
    assert "ANEW" not in str(shop.server.requests[0].body)


def test_a_company_without_a_task_takes_none(shop: Shop, finished: Outcome) -> None:
    file = shop.company / "company.yaml"
    file.write_text(file.read_text().replace("task", "wish"))
    refused = add(shop, finished.folder, "--company", str(shop.company))
    assert refused.status == 2
    assert "takes no `task`" in refused.err


@pytest.mark.parametrize("request_", ["", "  \n"])
def test_an_empty_request_is_refused(shop: Shop, finished: Outcome, request_: str) -> None:
    refused = resume(shop, finished.folder, "--task", request_)
    assert refused.status == 2
    assert "empty" in refused.err
    assert len(list(shop.warehouse.iterdir())) == 1
