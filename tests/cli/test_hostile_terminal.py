"""A model must not steer the terminal it is shown on: no control code, no change of direction, no unseen letter."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from chatdev.events import Noted, ToolCalled, Uttered
from chatdev.runner.report import sanitize_event
from chatdev.safe_text import sanitize
from tests.engine.studio import CHECK, TALK, Studio
from tests.support.chat_server import Received, Scripted
from tests.support.shop import FIRST, SECOND, Shop

CODES = {
    "clears the screen": "\x1b[2J\x1b[H", "sets the title": "\x1b]0;owned\x07",
    "writes the clipboard": "\x1b]52;c;b3duZWQ=\x1b\\",
    "makes a link": "\x1b]8;;file:///etc/passwd\x1b\\x\x1b]8;;\x1b\\", "answers for the user": "\x1b[6n\x1b[c",
    "begins in one byte": "\x9b2J\x9d0;owned\x9c", "overwrites the line": "good\rbad", "rubs out": "bad\x08\x08\x08",
    "rings": "\x07" * 50, "turns the writing": "\u202euser\u2066\u2069\u200f\u061c",
    "hides letters": "a\U000e0061\U000e0062",
    "half a character": "\ud83d", "NUL": "a\0b", "feeds forms": "\x0c\x0b", "escapes twice": "\x1b\x1b[2J",
}
FORBIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200f\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]")


@pytest.mark.parametrize("name", CODES)
def test_nothing_of_it_is_left(name: str) -> None:
    text = f"before {CODES[name]} after\n\tand more"
    assert not FORBIDDEN.search(sanitize(text))
    assert sanitize(text).startswith("before ")
    assert sanitize(text).endswith(" after\n\tand more")


def test_letters_of_all_scripts_stay() -> None:
    text = "naïve Ελλάδα שלום مرحبا 日本語 👩\u200d💻 e\u0301 ⇄"
    assert sanitize(text) == text


def test_every_text_of_an_event_is_made_harmless() -> None:
    assert sanitize_event(Noted("a\x1bb", "c\x1bd")) == Noted("ab", "cd")
    event = ToolCalled("place", "tool", 1.0, None, "fine")
    assert sanitize_event(event) is event


def everywhere(request: Received) -> Any:
    """Codes in all that a model can say: talk, names of files, files, refusals."""
    codes = "".join(CODES.values())
    place = request.headers["X-ChatDev-Activity"]
    if place == FIRST:
        return f"{codes}\n\n<SOLUTION>\n{codes}.py\n```python\nprint(1)\n```\n"
    if place == SECOND:
        return Scripted(None, message={"refusal": f"no {codes}"})
    return f"<SOLUTION>\n{codes}\nmain.py\n```python\nprint('{codes.encode('ascii', 'replace').decode()}')\n```\n"


@pytest.mark.parametrize("flags", [(), ("--verbose",), ("--stream", "--verbose"), ("--json",), ("--quiet",)])
def test_no_code_of_a_model_reaches_the_terminal_or_the_report(shop: Shop, flags: tuple[str, ...]) -> None:
    shop.server.route(everywhere)
    outcome = shop.run(*flags)
    assert outcome.status == 3
    assert "no " in outcome.err
    for text in (outcome.out, outcome.err, outcome.report):
        assert not FORBIDDEN.search(text)
    if "--json" in flags:
        said = [json.loads(line) for line in outcome.out.splitlines()]
        assert any("\x1b[2J" in event.get("text", "") for event in said), "JSON holds what was said, escaped"


def test_neither_do_places_that_a_model_named(shop: Shop) -> None:
    plan = {**TALK, "writes": "plan", "solution": {"form": "list"}}
    item = {**TALK, "instructor": None, "reads": ["item"], "writes": "note", "opening": "DO IT"}
    chain = [{"phase": "plan"}, {"foreach": {"over": "plan", "as": "item", "steps": [{"phase": "item"}]}}, CHECK]
    Studio(shop.folder, shop.server).company({"plan": plan, "item": item}, chain)
    ids = json.dumps([{"id": code} for code in CODES.values() if "\ud83d" not in code])
    shop.server.route(lambda request: f"<SOLUTION> {ids if request.headers['X-ChatDev-Phase'] == 'plan' else 'done'}")
    outcome = shop.run()
    assert outcome.status == 0, outcome.err
    for text in (outcome.out, outcome.err, outcome.report):
        assert not FORBIDDEN.search(text)


def test_what_is_said_is_journaled_as_it_was(shop: Shop) -> None:
    shop.route({FIRST: f"{CODES['clears the screen']}\n<SOLUTION>\nmain.py\n```python\nprint(1)\n```\n",
                SECOND: "<SOLUTION>"})
    events = [record["text"] for record in shop.run().events("Uttered")]
    assert any("\x1b[2J" in text for text in events)
    assert Uttered.__name__ in {record["kind"] for record in shop.run().records}
