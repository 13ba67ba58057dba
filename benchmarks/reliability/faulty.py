"""A model that fails: by a seed, at some calls, in every way that servers, proxies and networks do."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

from benchmarks.reliability import small
from tests.support.chat_server import Received, Scripted

SHARE = 0.3
"""Of the requests that fail."""
LONGEST = 2.0
"""Seconds that a reply may take (CHATDEV_REPLY_SECONDS)."""

_STREAM = {"Content-Type": "text/event-stream"}
_PAGE = b"<html><body><h1>502 Bad Gateway</h1></body></html>"


@dataclass(frozen=True, slots=True)
class Call:
    """A reply that is to fail: what would have been said, whether it is streamed, and the chance that is left."""

    text: str
    streamed: bool
    chance: random.Random


def _refused(status: int, message: str, **headers: str) -> Scripted:
    return Scripted(status=status, headers={name.replace("_", "-"): value for name, value in headers.items()},
                    body={"error": {"message": message}})


def _told_to_wait(call: Call) -> Scripted:
    soon = format_datetime(datetime.now(UTC) + timedelta(seconds=1), usegmt=True)
    return _refused(429, "too many requests", Retry_After=call.chance.choice(["0", "0.5", "7", soon, "soon"]))


def _half(call: Call) -> Scripted:
    """Cut before the end of the text: behind it a stream is complete but for its farewell."""
    longest = 150 * (1 + len(call.text) // 8) if call.streamed else len(call.text)
    return Scripted(call.text, cut=call.chance.randint(0, longest))


def _garbage(call: Call) -> Scripted:
    """What no server that is well would send; a stream that is well and only too short cannot be told from a reply."""
    half = json.dumps({"choices": [{"index": 0, "delta": {"content": call.text[:20]}}]}).encode()
    empty = {"choices": [{"message": {"content": ""}, "finish_reason": "stop"}]}
    bodies = [call.chance.randbytes(300), _PAGE, b"", b"null", b"[]", b'{"choices": []}', b'{"choices": [{}]}',
              half[:40], json.dumps(empty).encode()]
    if not call.streamed:
        return Scripted(body=call.chance.choice(bodies))
    lines = [b"data: " + half + b"\n\ndata: " + body.replace(b"\n", b"") + b"\n\n" for body in bodies[:-1]]
    return Scripted(body=call.chance.choice([*bodies, *lines]), headers=_STREAM)


def _reported(call: Call) -> Scripted:
    """An error inside a reply that began well."""
    error = {"error": {"message": "overloaded", "code": call.chance.choice([429, 500, 503, "busy", None])}}
    if not call.streamed:
        return Scripted(body=error)
    begun = {"choices": [{"index": 0, "delta": {"content": call.text[:20]}}]}
    return Scripted(body=f"data: {json.dumps(begun)}\n\ndata: {json.dumps(error)}\n\n".encode(), headers=_STREAM)


def _ended_by_an_error(call: Call) -> Scripted:
    """Half a text that a gateway ends with 200 and an error (OpenRouter)."""
    choice = {"index": 0, "finish_reason": "error", "error": {"message": "upstream broke", "code": 502}}
    part = {"content": call.text[:len(call.text) // 2]}
    if not call.streamed:
        return Scripted(body={"choices": [{**choice, "message": part}]})
    lines = [{"choices": [{"index": 0, "delta": part}]}, {"choices": [{**choice, "delta": {}}]}, "[DONE]"]
    return _events(*lines)


def _thoughts(call: Call) -> Scripted:
    """A model that thinks until its limit, and says nothing."""
    thought = {"reasoning_content": "hm, " * 50}
    if not call.streamed:
        return Scripted(None, message=thought, finish_reason="length", usage=(700, 200))
    return _events({"choices": [{"index": 0, "delta": thought, "finish_reason": "length"}]}, "[DONE]")


def _events(*chunks: Any) -> Scripted:
    lines = "".join(f"data: {chunk if isinstance(chunk, str) else json.dumps(chunk)}\n\n" for chunk in chunks)
    return Scripted(body=lines.encode(), headers=_STREAM)


KINDS: Mapping[str, Callable[[Call], Scripted]] = {
    "429 with Retry-After": _told_to_wait,
    "429": lambda _: _refused(429, "too many requests"),
    "500": lambda _: _refused(500, "internal error"),
    "502": lambda _: Scripted(status=502, headers={"Content-Type": "text/html"}, body=_PAGE),
    "503": lambda _: _refused(503, "overloaded"),
    "no answer": lambda call: Scripted(call.text, delay=2 * LONGEST),
    "reset": lambda call: Scripted(reset=True, delay=call.chance.choice([0, 0.01])),
    "half an answer": _half,
    "garbage": _garbage,
    "error inside an answer": _reported,
    "half a text, ended by an error": _ended_by_an_error,
    "thoughts only": _thoughts,
    "slow drip": lambda call: Scripted(call.text, drip=LONGEST / 2),
}
"""How a call fails, by name."""


@dataclass(slots=True)
class Faulty:
    """Answers as the small company's model, but for a share of the requests, and for outages.

    Whether and how a request fails depends on the seed, the run, the place and how often that was asked before, and on
    nothing else.
    """

    seed: int
    share: float = SHARE
    outages: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Place and kind of fault by the name of a run: there every request fails, until the entry is removed."""
    struck: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Faults by run and kind."""
    asked: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Requests by run and place."""
    answered: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Whole replies by run and place."""

    def __call__(self, request: Received) -> Scripted:
        name, place = small.name_of(request.headers), request.headers["X-ChatDev-Activity"]
        self.asked[name, place] += 1
        chance = random.Random(f"{self.seed} {name} {place} {self.asked[name, place]}")
        text = small.answer(request.headers)
        kind = self._kind(name, place, chance)
        if kind is None:
            self.answered[name, place] += 1
            return Scripted(text)
        self.struck[name, kind] += 1
        return KINDS[kind](Call(text, bool(request.body.get("stream")), chance))

    def _kind(self, name: str, place: str, chance: random.Random) -> str | None:
        where, kind = self.outages.get(name, ("", ""))
        if where == place:
            return kind
        return chance.choice(list(KINDS)) if chance.random() < self.share else None
