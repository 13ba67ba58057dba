"""Differences between a request and its record, field by field, in words for the user."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import unified_diff
from itertools import zip_longest
from typing import Any

from chatdev.errors import RunChanged

_LINES = 12  # of one field's difference
_WIDTH = 160  # characters of one line

_CHOICES = """Do one of these:
  - undo the change;
  - `--as-it-was`: go on with the company as it was when the run began;
  - `--from-here`: accept the change, and go on live from there (what comes after it is paid for again);
  - `--from ACTIVITY` with an activity up to there: go on live from it, in a copy of the run."""


def explain_change(change: RunChanged, messages: Mapping[str, Mapping[str, Any]]) -> RunChanged:
    """The same error with a text that names the fields. `messages` are the texts that requests name by hash."""
    if change.before and change.now:
        lines = "\n".join(_compare(_with_texts(change.before, messages), _with_texts(change.now, messages), ""))
        text = f"{change.place} would not be asked what it was asked before:\n{lines}"
    else:
        text = str(change)
    return RunChanged(change.place, change.before, change.now, f"{text}\n{_CHOICES}")


def _with_texts(request: Mapping[str, Any], messages: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The request with its messages in place of their hashes."""
    if "messages" not in request:
        return dict(request)
    return {**request, "messages": [messages.get(digest, {"content": digest}) for digest in request["messages"]]}


def _compare(before: Any, now: Any, name: str) -> Iterator[str]:
    """One or more lines for every field that differs."""
    match (before, now):
        case _ if before == now:
            return
        case (Mapping(), Mapping()):
            for key in dict.fromkeys([*before, *now]):
                yield from _compare(before.get(key), now.get(key), f"{name}.{key}" if name else str(key))
        case (list(), list()) if any(isinstance(value, Mapping) for value in (*before, *now)):
            for number, (one, other) in enumerate(zip_longest(before, now)):
                yield from _compare(one, other, f"{name}[{number}]")
        case (str(), str()) if lines := _differing_lines(before, now):
            yield f"  {name}:"
            yield from (f"    {line}" for line in lines)
        case _:
            yield f"  {name}: {_in_short(before)} → {_in_short(now)}"


def _differing_lines(before: str, now: str) -> list[str]:
    """Differing lines of two texts, at most `_LINES`; empty for texts of one line."""
    if "\n" not in before + now:
        return []
    found = [_cut(line) for line in unified_diff(before.splitlines(), now.splitlines(), lineterm="", n=0)
             if not line.startswith(("---", "+++", "@@"))]
    return found if len(found) <= _LINES else [*found[:_LINES], f"… and {len(found) - _LINES} more lines"]


def _in_short(value: Any) -> str:
    return "nothing" if value is None else _cut(repr(value))


def _cut(text: str) -> str:
    return text if len(text) <= _WIDTH else f"{text[:_WIDTH]}…"
