"""What a run was asked is in its journal: inputs, images, software to start from, options; and no key."""

from __future__ import annotations

import asyncio
from base64 import b64decode
from pathlib import Path

import pytest

import chatdev
from chatdev.events import Event, RunFinished, RunResumed, RunStarted
from chatdev.runner.api import resume_session
from tests.engine.studio import CHANGE, Studio
from tests.support.durable import OUTAGE, asked, resume, software, text, versions
from tests.support.planted import KEY, PLANTED, Plantation
from tests.support.shop import BETTER, FIRST, HELLO, SECOND, Shop

PIXEL = b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg==")
READ, SHOWN = "read#1/round-1/assistant", "show#1/round-1/assistant"


def test_inputs_are_those_of_the_beginning_whatever_became_of_their_files(shop: Shop) -> None:
    files = {"notes": b"remember the milk", "picture": PIXEL}
    for name, content in files.items():
        (shop.folder / f"{name}.png").write_bytes(content)
    inputs = {"task": {"required": True}, "notes": {"kind": "file", "required": True},
              "picture": {"kind": "image", "required": True}, "secret": {"hidden": True}}
    show = {**text("shown", "notes", "picture", "read"), "opening": "{{ notes }} {{ read }}"}
    Studio(shop.folder, shop.server).company({"read": text("read", "task"), "show": show}, inputs=inputs)
    shop.route({READ: "<SOLUTION> yes", SHOWN: OUTAGE})
    stopped = shop.run("--input", f"notes={shop.folder / 'notes.png'}", "--input", "secret=golden",
                       "--input", f"picture={shop.folder / 'picture.png'}")
    assert stopped.status == 3, stopped.err
    first = shop.server.requests[-1].body["messages"]
    for name in files:
        (shop.folder / f"{name}.png").unlink()
    shop.server.requests.clear()
    shop.route({READ: "<SOLUTION> yes", SHOWN: "<SOLUTION> seen"})
    resume(shop, stopped.folder).assert_succeeded()
    assert asked(shop.server) == [SHOWN]
    assert shop.server.requests[0].body["messages"] == first
    assert "remember the milk" in str(first)
    assert "image/png;base64" in str(first)
    assert "golden" not in str(first)
    assert shop.command("replay", str(stopped.folder)).status == 0


def test_software_to_start_from_is_not_read_again(shop: Shop) -> None:
    old = shop.folder / "old"
    old.mkdir()
    (old / "main.py").write_text("print('old')\n")
    Studio(shop.folder, shop.server).company({"change": CHANGE})
    place = "change#1/round-1/assistant"
    shop.route({place: OUTAGE})
    stopped = shop.run("--path", str(old))
    (old / "main.py").unlink()
    old.rmdir()
    shop.route({place: BETTER})
    resumed = resume(shop, stopped.folder)
    resumed.assert_succeeded()
    assert software(resumed.folder).text("main.py") == "print('better')\n"
    assert versions(resumed.folder)[0] == "the software to start from"


def test_options_are_those_of_the_beginning_unless_given_anew(shop: Shop) -> None:
    shop.replies(second=OUTAGE)
    stopped = shop.run("--model", "first-choice", "--language", "French", "--sandbox", "none")
    shop.replies()
    shop.server.requests.clear()
    resume(shop, stopped.folder).assert_succeeded()
    (request,) = shop.server.requests
    assert request.body["model"] == "first-choice"
    assert "write in French" in str(request.body)


def test_another_address_is_taken_from_then_on(shop: Shop) -> None:
    shop.environment["OPENAI_BASE_URL"] = "http://127.0.0.1:9/v1"
    stopped = shop.run()
    assert stopped.status == 3
    shop.replies()
    del shop.environment["OPENAI_BASE_URL"]
    resume(shop, stopped.folder, "--base-url", shop.server.url).assert_succeeded()


def test_no_key_is_in_what_a_journal_says_of_the_order(shop: Shop, tmp_path: Path) -> None:
    plantation = Plantation(shop, tmp_path / "home")
    shop.environment["HOME"] = str(plantation.home)
    shop.environment["XDG_CONFIG_HOME"] = str(plantation.home / "config")
    shop.replies(second=OUTAGE)
    outcome = plantation.run("--base-url", plantation.address, task=f"a task with {KEY}")
    assert outcome.status == 3, outcome.err
    (order,) = [record for record in outcome.records if record["kind"] == "Order"]
    assert not [key for key in PLANTED if key in str(order)]
    assert order["inputs"]["task"] == "a task with [secret]"
    shop.replies()
    refused = resume(shop, outcome.folder)  # without the password, which no journal keeps
    assert "[secret]" not in refused.err
    plantation.assert_clean(refused.out, refused.err)


def test_the_library_goes_on_too(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    shop.replies(second=OUTAGE)
    stopped = shop.run()
    shop.replies()
    for name, value in shop.environment.items():
        monkeypatch.setenv(name, value)
    assert stopped.folder is not None
    run = chatdev.resume(stopped.folder, max_calls=2)
    assert run.success
    assert (run.spent.calls, run.usage.calls) == (2, 2)
    with pytest.raises(chatdev.ConfigError, match="give only one"):
        chatdev.resume(stopped.folder, task="more", since=SECOND)


def test_the_events_of_a_resumed_session_come_as_they_happen(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    shop.replies(second=OUTAGE)
    stopped = shop.run()
    assert stopped.folder is not None
    shop.route({FIRST: HELLO, SECOND: BETTER})
    for name, value in shop.environment.items():
        monkeypatch.setenv(name, value)

    async def listen(folder: Path) -> list[Event]:
        return [event async for event in resume_session(folder).events()]

    events = asyncio.run(listen(stopped.folder))
    assert isinstance(events[0], RunStarted)
    assert [event.calls for event in events if isinstance(event, RunResumed)] == [1]
    assert isinstance(events[-1], RunFinished)
    assert events[-1].status == "success"
