"""How a difference reads: every field that differs, short, with its name."""

from __future__ import annotations

from typing import Any

import pytest

from chatdev.errors import RunChanged
from chatdev.runner.execute import explain_change

MESSAGES: dict[str, dict[str, Any]] = {
    "s1": {"role": "system", "content": "You write.\nBe brief."},
    "s2": {"role": "system", "content": "You write.\nTake your time."},
    "u1": {"role": "user", "content": "Hello"}, "u2": {"role": "user", "content": "Good morning"},
}


def request(*messages: str, **fields: Any) -> dict[str, Any]:
    return {"messages": list(messages), "sampling": {"model": "m", "temperature": None}, "tools": [],
            "constraint": None, **fields}


def fields(before: dict[str, Any], now: dict[str, Any]) -> list[str]:
    """The lines between the head and the mends."""
    text = str(explain_change(RunChanged("write#1", before, now), MESSAGES))
    assert text.startswith("write#1 would not be asked what it was asked before:\n")
    return text.split("\nDo one of these:")[0].splitlines()[1:]


def test_a_text_is_shown_by_the_lines_that_differ() -> None:
    assert fields(request("s1", "u1"), request("s2", "u1")) == [
        "  messages[0].content:", "    -Be brief.", "    +Take your time."]


@pytest.mark.parametrize(("before", "now", "lines"), [
    (request("u1"), request("u2"), ["  messages[0].content: 'Hello' → 'Good morning'"]),
    (request("s1"), request("s1", "u1"), ["  messages[1]: nothing → {'role': 'user', 'content': 'Hello'}"]),
    (request(), request(sampling={"model": "m", "temperature": 0.2}), ["  sampling.temperature: nothing → 0.2"]),
    (request(), request(tools=["software.run"]), ["  tools: [] → ['software.run']"]),
    (request(constraint={"kind": "json"}), request(), ["  constraint: {'kind': 'json'} → nothing"]),
    ({"tool": "t", "a": "line\n"}, {"tool": "t", "a": "line"}, ["  a: 'line\\n' → 'line'"]),
    ({"tool": "software.run", "values": {"plan": "a"}}, {"tool": "software.run", "values": {"plan": "b", "title": 1}},
     ["  values.plan: 'a' → 'b'", "  values.title: nothing → 1"]),
])
def test_every_field_that_differs_has_its_line(before: dict[str, Any], now: dict[str, Any], lines: list[str]) -> None:
    assert fields(before, now) == lines


def test_a_long_difference_is_cut_and_says_so() -> None:
    before, now = "\n".join(f"old {n}" for n in range(20)), "\n".join(f"new {n}" for n in range(20)) + "x" * 500
    shown = fields({"tool": "t", "values": {"plan": before}}, {"tool": "t", "values": {"plan": now}})
    assert len(shown) == 14
    assert shown[-1] == "    … and 28 more lines"
    (line,) = fields({"tool": "t", "a": "x"}, {"tool": "t", "a": "y" * 500})
    assert len(line) < 200
    assert line.endswith("…")


def test_a_message_that_nobody_knows_is_shown_by_its_hash() -> None:
    assert "  messages[0].content: 'lost' → 'Hello'" in fields(request("lost"), request("u1"))


def test_an_activity_without_a_counterpart_is_only_named() -> None:
    error = explain_change(RunChanged("new#1", {}, request("u1"), "new#1 is new"), MESSAGES)
    assert str(error).startswith("new#1 is new\nDo one of these:")
    assert (error.place, error.before, error.now) == ("new#1", {}, request("u1"))
