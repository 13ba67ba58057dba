"""A model that answers from a script: for tests and demonstrations of companies, without a server."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from chatdev.errors import ModelRejected
from chatdev.llm.base import Reply, Request

Answer = str | Reply


class ScriptedModel:
    """Gives `answers` in order, or what a function makes of each request; remembers every request."""

    def __init__(self, answers: Iterable[Answer] | Callable[[Request], Answer]) -> None:
        self.requests: list[Request] = []
        self._function = answers if callable(answers) else None
        self._left = [] if callable(answers) else list(answers)

    async def complete(self, request: Request) -> Reply:
        """The next answer. Raises ModelRejected, naming the place, when the script has run dry."""
        self.requests.append(request)
        if self._function is not None:
            answer = self._function(request)
        elif self._left:
            answer = self._left.pop(0)
        else:
            place = request.headers.get("X-ChatDev-Activity", "an unnamed place")
            raise ModelRejected(f"the script has no answer left for call {len(self.requests)}, at {place}")
        reply = Reply(answer) if isinstance(answer, str) else answer
        if request.on_text:
            request.on_text(reply.text)
        return replace(reply, model=reply.model or "scripted")

    async def close(self) -> None:
        """Nothing to release."""

    def assert_done(self) -> None:
        """Raise AssertionError when answers are left that nobody asked for."""
        if self._left:
            raise AssertionError(f"{len(self._left)} scripted answers were never asked for: {self._left[:3]!r}")
