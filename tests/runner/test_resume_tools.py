"""Failed activities in a run that goes on: what agents saw stays as it was, what ended the run is tried again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.engine.studio import CHECK, OVERFLOW, ROLES, WRITE, Studio, action
from tests.support.chat_server import Scripted
from tests.support.durable import activities, asked, contents, resume, text
from tests.support.shelf import EMPTY, plug_in
from tests.support.shop import FIRST, HELLO, Outcome, Shop

LOOK = "parallel#1/branch-2/look#1/round-1/assistant"
LOOKED = f"{LOOK}/act-1"
TELL = "tell#1/round-1/assistant"
REPLIES: dict[str, Any] = {
    LOOK: action("shelf.fetch"), LOOKED: "<SOLUTION> nothing there", FIRST: HELLO, TELL: "<SOLUTION> done"}


@pytest.fixture
def shelf(shop: Shop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A company that fetches from the shelf in an optional branch, by an agent, and in a step that must succeed."""
    monkeypatch.syspath_prepend(plug_in(tmp_path / "plugged"))
    chain: list[Any] = [{"parallel": [{"tool": "shelf.fetch", "writes": "extra", "optional": True}, {"phase": "look"}]},
                        {"phase": "write"}, {"tool": "shelf.fetch", "writes": "goods"}, {"phase": "tell"}, CHECK]
    phases = {"look": text("seen", "task"), "write": WRITE, "tell": text("told", "goods", "seen", "extra?")}
    phases["tell"]["opening"] = "{{ goods }} {{ seen }} {{ extra }}"
    inputs = {"task": {"required": True}, "shelf": {"hidden": True, "required": True}}
    roles = {**ROLES, "maker": {**ROLES["maker"], "tools": ["shelf.fetch"]}}
    Studio(shop.folder, shop.server).company(phases, chain, roles=roles, inputs=inputs, success="test.passed")
    shop.route(REPLIES)
    return tmp_path / "shelf"


def stopped(shop: Shop, shelf: Path) -> Outcome:
    outcome = shop.run("--input", f"shelf={shelf}")
    assert outcome.status == 4, outcome.out + outcome.err
    assert EMPTY in outcome.err
    shop.server.requests.clear()
    return outcome


def test_only_the_failure_that_ended_the_run_is_tried_again(shop: Shop, shelf: Path) -> None:
    first = stopped(shop, shelf)
    assert first.events("RunFinished")[-1]["place"] == "shelf.fetch#1"
    shelf.write_text("A LAMP")
    resumed = resume(shop, first.folder)
    resumed.assert_succeeded()
    assert asked(shop.server) == [TELL]
    assert "A LAMP nothing there None" in str(shop.server.requests[0].body["messages"])
    assert activities(resumed).count("shelf.fetch#1") == 2
    assert activities(resumed).count("parallel#1/branch-1/shelf.fetch#1") == 1
    assert activities(resumed).count(f"{LOOK}/call-1") == 1


def test_while_nothing_is_fixed_the_run_stops_again_and_pays_nothing(shop: Shop, shelf: Path) -> None:
    first = stopped(shop, shelf)
    again = resume(shop, first.folder)
    assert again.status == 4
    assert "nothing is left to do" not in again.out
    assert shop.server.requests == []
    shelf.write_text("A LAMP")
    resume(shop, first.folder).assert_succeeded()


def test_a_replay_fails_where_the_run_failed(shop: Shop, shelf: Path) -> None:
    first = stopped(shop, shelf)
    before = contents(first.folder)
    shelf.write_text("A LAMP")
    replayed = shop.command("replay", str(first.folder))
    assert replayed.status == 4
    assert EMPTY in replayed.err
    assert contents(first.folder) == before


def test_a_hidden_input_reaches_tools_after_a_resume_and_no_model(shop: Shop, shelf: Path) -> None:
    first = stopped(shop, shelf)
    shelf.write_text("A LAMP")
    resume(shop, first.folder).assert_succeeded()
    assert str(shelf) not in str([request.body for request in shop.server.requests])


def test_a_request_that_was_too_long_is_tried_again(shop: Shop, shelf: Path) -> None:
    shelf.write_text("A LAMP")
    shop.route({**REPLIES, TELL: OVERFLOW})
    first = shop.run("--input", f"shelf={shelf}", "--model", "gpt-4o")
    assert first.status == 3
    shop.server.requests.clear()
    shop.route(REPLIES)
    resumed = resume(shop, first.folder, "--model", "gpt-4.1")
    resumed.assert_succeeded()
    assert asked(shop.server) == [TELL]


def test_unusable_replies_are_asked_for_again(shop: Shop, shelf: Path) -> None:
    shelf.write_text("A LAMP")
    shop.route({**REPLIES, LOOKED: Scripted("")})
    first = shop.run("--input", f"shelf={shelf}")
    assert first.status == 3
    shop.server.requests.clear()
    shop.route(REPLIES)
    resume(shop, first.folder).assert_succeeded()
    assert asked(shop.server) == [LOOKED, FIRST, TELL]
