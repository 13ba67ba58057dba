"""A model that answers from a script: for tests and demonstrations of companies, without a server.

    model = ScriptedModel({"coding": ["main.py\n```python\nprint('hello')\n```"], "review": ["<SOLUTION> fine"]})
    run = Company.load("my_company").run("a greeting", model=model)
    model.assert_done()                 # every answer was asked for
    model.requests[0].messages          # what was asked
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from chatdev.errors import ModelRejected
from chatdev.llm.base import Reply, Request

Answer = str | Reply
Script = Iterable[Answer] | Mapping[str, Iterable[Answer]] | Callable[[Request], Answer]

_ANYWHERE = ""


class ScriptedModel:
    """Gives answers in order, and remembers every request in `requests`.

    `script` is a list of answers, or one list for each activity, phase or role (the closest name wins), or a function
    that answers a request. An answer is a text, or a `Reply` with tool calls, usage or an unusual end. `name` is what
    journals call it.
    """

    def __init__(self, script: Script, name: str = "scripted") -> None:
        self.name = name
        self.requests: list[Request] = []
        self._function: Callable[[Request], Answer] | None = script if callable(script) else None
        lists = {} if callable(script) else script if isinstance(script, Mapping) else {_ANYWHERE: script}
        self._left: dict[str, list[Answer]] = {name: list(answers) for name, answers in lists.items()}

    async def complete(self, request: Request) -> Reply:
        """The next answer. Raises ModelRejected, naming the place, when the script has none."""
        self.requests.append(request)
        answer = self._function(request) if self._function else self._next(request)
        reply = Reply(answer) if isinstance(answer, str) else answer
        if request.on_begin:
            request.on_begin()
        if request.on_text:
            request.on_text(reply.text)
        return replace(reply, model=reply.model or self.name)

    def _next(self, request: Request) -> Answer:
        """The next answer of the closest list that was given."""
        places = [request.headers.get(f"X-ChatDev-{name}", _ANYWHERE) for name in ("Activity", "Phase", "Role")]
        answers = next((self._left[name] for name in (*places, _ANYWHERE) if name in self._left), [])
        if not answers:
            where = places[0] or "an unnamed place"
            raise ModelRejected(f"the script has no answer left for call {len(self.requests)}, at {where}")
        return answers.pop(0)

    async def close(self) -> None:
        """Nothing to release."""

    def assert_done(self) -> None:
        """Raise AssertionError if scripted answers are left over."""
        left = [answer for answers in self._left.values() for answer in answers]
        if left:
            raise AssertionError(f"{len(left)} scripted answers were never asked for: {left[:3]!r}")
