"""A run keeps the semantics that it began with: older journals go on as they would have gone on then."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import chatdev
from chatdev import ConfigError, JournalError
from chatdev.engine.context import SEMANTICS
from chatdev.journal import read_journal
from tests.engine.studio import CHANGE, ROLES, TALK, WRITE, Studio, program
from tests.support.chat_server import Scripted

STUB = "<SOLUTION>\n" + program("def save():\n    pass")
DONE = program("def save():\n    return 1")
PHASES = {"write": WRITE, "complete": {**CHANGE, "feedback": "software.complete", "opening": "FIX"}}
REPLIES = {"write#1/round-1/assistant": STUB, "complete#1/round-1/assistant": STUB}


def begun(studio: Studio) -> Path:
    """A run that stops before its repair."""
    return studio.run(studio.company(PHASES), REPLIES, max_calls=1).folder


def resumed(studio: Studio, folder: Path) -> chatdev.Run:
    return chatdev.resume(folder, keep_budget=False, base_url=studio.server.url, sandbox="none",
                          on_event=studio.events.append)


def orders(folder: Path) -> list[dict[str, Any]]:
    return [record for record in read_journal(folder / "run/journal.jsonl") if record["kind"] == "Order"]


def rewrite(folder: Path, version: Any) -> None:
    """Let the journal name another version, or none."""
    journal = folder / "run/journal.jsonl"
    records = [json.loads(line) for line in journal.read_text(encoding="utf-8").splitlines()]
    for record in records:
        if record["kind"] == "Order":
            record.pop("semantics")
            record |= {} if version is None else {"semantics": version}
    journal.write_text("".join(f"{json.dumps(record)}\n" for record in records), encoding="utf-8")


def test_a_new_run_has_the_newest_and_its_order_says_so(studio: Studio) -> None:
    assert [order["semantics"] for order in orders(begun(studio))] == [SEMANTICS]


def test_an_unfinished_older_run_goes_on_as_it_would_have(studio: Studio) -> None:
    folder = begun(studio)
    rewrite(folder, None)
    assert resumed(studio, folder).status == "success"
    assert studio.endings()["complete#1"] == "consensus"
    assert all("semantics" not in order for order in orders(folder))
    studio.events.clear()
    assert chatdev.replay(folder, on_event=studio.events.append).success
    assert studio.endings()["complete#1"] == "consensus"


def test_an_unfinished_newer_run_goes_on_as_it_began(studio: Studio) -> None:
    folder = begun(studio)
    replies = {**REPLIES, "complete#1/round-2/instructor": "Write save.", "complete#1/round-2/assistant": DONE}
    studio.server.route(lambda request: replies.get(request.headers["X-ChatDev-Activity"]))
    assert resumed(studio, folder).status == "success"
    assert studio.endings()["complete#1"] == "feedback"


def test_what_is_added_to_an_older_run_goes_by_the_newest(studio: Studio) -> None:
    folder = begun(studio)
    rewrite(folder, None)
    resumed(studio, folder)
    added = chatdev.resume(folder, task="More.", base_url=studio.server.url, sandbox="none", max_calls=1)
    assert orders(added.folder)[-1]["semantics"] == SEMANTICS


def test_a_run_of_a_later_version_is_refused_by_its_number(studio: Studio) -> None:
    folder = begun(studio)
    rewrite(folder, 99)
    with pytest.raises(JournalError, match=f"later version of chatdev .semantics 99; this one knows up to {SEMANTICS}"):
        resumed(studio, folder)


@pytest.mark.parametrize("version", [0, -1, True, "2", 1.5, None])
def test_what_is_no_version_is_damage(studio: Studio, version: Any) -> None:
    folder = begun(studio)
    rewrite(folder, [version])
    with pytest.raises((JournalError, ConfigError), match="the journal is damaged"):
        resumed(studio, folder)


@pytest.mark.parametrize(("version", "mended"), [(2, False), (3, True)])
def test_source_without_a_block_is_a_delivery_from_the_third_on(studio: Studio, version: int, mended: bool) -> None:
    alone = {name: value for name, value in CHANGE.items() if name != "instructor"}
    complete = {**alone, "feedback": "software.complete", "opening": "FIX", "concludes": "assistant",
                "solution": {"form": "files", "only": ["main.py"]}, "on_no_solution": "keep", "rounds": 1}
    replies = {"write#1/round-1/assistant": STUB,
               "complete#1/round-1/assistant": "<SOLUTION>\ndef save():\n    one = 1\n    return one"}
    folder = studio.run(studio.company({"write": WRITE, "complete": complete}), replies, max_calls=1).folder
    rewrite(folder, version)
    studio.server.route(lambda request: replies.get(request.headers["X-ChatDev-Activity"]))
    assert (b"one = 1" in resumed(studio, folder).software["main.py"]) == mended


@pytest.mark.parametrize(("version", "performed"), [(3, 3), (4, 1)])
def test_calls_of_one_reply_are_limited_from_the_fourth_on(studio: Studio, version: int, performed: int) -> None:
    tools = ["software.complete", "software.packages", "software.compiles"]
    talk = {**TALK, "tool_calls": 1, "model": {"name": "gpt-4o"}}
    company = studio.company({"write": WRITE, "talk": talk}, roles={
        **ROLES, "maker": {**ROLES["maker"], "tools": tools}})
    folder = studio.run(company, REPLIES, max_calls=1).folder
    rewrite(folder, version)
    calls = [{"id": name, "type": "function", "function": {"name": name.replace(".", "__"), "arguments": "{}"}}
             for name in tools]
    studio.server.route(lambda request: Scripted("", tool_calls=calls) if "tools" in request.body else "<SOLUTION> Ada")
    assert resumed(studio, folder).values["title"] == "Ada"
    assert len(studio.tool_calls("talk#1")) == performed


@pytest.mark.parametrize(("version", "whole"), [(4, False), (5, True)])
def test_a_fence_within_a_file_ends_no_block_from_the_fifth_on(studio: Studio, version: int, whole: bool) -> None:
    body = 'def save():\n    """Save.\n\n```\nsave()\n```\n    """\n    return 1'
    replies = {"talk#1/round-1/assistant": "<SOLUTION> Ada",
               "write#1/round-1/assistant": f"<SOLUTION>\n{program(body)}"}
    folder = studio.run(studio.company({"talk": TALK, "write": WRITE}), replies, max_calls=1).folder
    rewrite(folder, version)
    studio.server.route(lambda request: replies.get(request.headers["X-ChatDev-Activity"]))
    assert (b"return 1" in resumed(studio, folder).software["main.py"]) == whole
