"""The words between the engine and any language model; and a model that answers from a script, for tests and
demonstrations of companies without a server."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol

from chatdev.errors import ConfigError, ModelRejected
from chatdev.plain_values import fields_of


@dataclass(frozen=True, slots=True)
class Image:
    """An image part of a message."""

    data: bytes
    media_type: str = "image/png"


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A model's wish to use a tool; `arguments` is the JSON text as the model wrote it."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a request. `tool_call_id` marks the answer to a native tool call."""

    role: Literal["system", "user", "assistant", "tool"]
    content: str
    images: tuple[Image, ...] = ()
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as a model sees it; `parameters` is a JSON schema of an object."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Sampling:
    """How to draw a reply; None leaves a value to the server."""

    model: str = ""
    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    seed: int | None = None
    reasoning_effort: str | None = None
    extra_body: Mapping[str, Any] | None = None
    """Further fields of the request; they decide none of those that are ours."""

    def to_json(self) -> dict[str, Any]:
        """The values as a record holds them; those that came later are in it only where they are set."""
        return {name: value for name, value in fields_of(self).items() if value is not None or name not in _LATER}


_LATER = ("reasoning_effort", "extra_body", "cached_tokens", "reasoning_tokens")
"""Fields that records got when there were many without them."""


@dataclass(frozen=True, slots=True)
class Constraint:
    """Form of the reply, for servers that can enforce it; others ignore it.

    `grammar` is GBNF (llama.cpp); `schema` is a JSON schema.
    """

    grammar: str | None = None
    schema: Mapping[str, Any] | None = None


class Room(Protocol):
    """What a budget has left."""

    def __call__(self, wasted: Usage, longest: int | None = None) -> int | None:
        """Tokens that the reply of another attempt may have when those before it took so much; 0: there is none, None:
        any number. `longest`: what is asked for, where it is more than the request says."""
        ...


@dataclass(frozen=True, slots=True)
class Request:
    """One model call. `headers` attribute it to its place in the run (design §7) and are not part of its digest, and
    neither are the limits of a budget: `most` is the maximum of reply tokens, beside that of `sampling`, and `room`
    gives the maximum for another attempt after failed ones.

    With `on_text` the reply is streamed: `on_text` hears its pieces, `on_begin` every attempt at it, so that what was
    heard of one that broke off can be forgotten. With `stop_when` it is streamed, too, and cut as by the length limit
    as soon as that is true of its text so far (of the end of it, where it is long).
    """

    messages: tuple[Message, ...]
    sampling: Sampling = Sampling()
    tools: tuple[ToolSpec, ...] = ()
    constraint: Constraint | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    on_text: Callable[[str], None] | None = None
    on_begin: Callable[[], None] | None = None
    stop_when: Callable[[str], bool] | None = None
    most: int | None = None
    room: Room | None = None

    @property
    def shows_pictures(self) -> bool:
        """Whether the model is to look at something."""
        return any(message.images for message in self.messages)

    @property
    def streams(self) -> bool:
        """Whether the reply is read as it comes."""
        return self.on_text is not None or self.stop_when is not None

    @property
    def longest_reply(self) -> int | None:
        """The tokens that the server is asked to keep to; None where it is told no number."""
        return min((most for most in (self.sampling.max_tokens, self.most) if most is not None), default=None)


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call; `estimated` when the server did not count them. `cached_tokens` are those of the prompt that
    the server had kept from earlier calls, `reasoning_tokens` those of the completion that are thoughts."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    estimated: bool = False
    cached_tokens: int = 0
    reasoning_tokens: int = 0

    def to_json(self) -> dict[str, Any]:
        """The counts as a record holds them; those that came later are in it only where there are some."""
        return {name: value for name, value in fields_of(self).items() if value or name not in _LATER}

    def __add__(self, other: Usage) -> Usage:
        return Usage(self.prompt_tokens + other.prompt_tokens, self.completion_tokens + other.completion_tokens,
                     self.estimated or other.estimated, self.cached_tokens + other.cached_tokens,
                     self.reasoning_tokens + other.reasoning_tokens)


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back. `finish` is `stop`, `length` or `tool_calls`; `retries` counts failed attempts before it, and
    `usage` has the tokens of those that the server counted."""

    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    usage: Usage = Usage()
    finish: str = "stop"
    model: str = ""
    retries: int = 0


class Model(Protocol):
    """Anything that completes a request. Raises a `ModelError` when it finally cannot.

    It may have a `name: str`, by which settings, prices and journals know it (`model_name`).
    """

    async def complete(self, request: Request) -> Reply:
        """The reply to `request`."""
        ...

    async def close(self) -> None:
        """Release connections and child processes."""
        ...


def model_name(model: str | Model) -> str:
    """Name of a model in settings and journals: the given name, or an object's `name`, else its class's name.

    Raises ConfigError for other values.
    """
    if isinstance(model, str):
        return model
    if isinstance(model, type) or not callable(getattr(model, "complete", None)):
        raise ConfigError(f"model={model!r} is neither the name of a model nor a model: an object with the method "
                          "`async complete(request) -> Reply` (see chatdev.llm.base.Model)")
    if _is_plain_function(model.complete):
        raise ConfigError(f"model={model!r:.80}: its method `complete` is a plain function, and a run awaits it; write "
                          "`async def complete(self, request)` (work that blocks goes into `await "
                          "asyncio.to_thread(…)`)")
    return str(getattr(model, "name", "") or type(model).__name__)


def _is_plain_function(method: Callable[..., Any]) -> bool:
    """Whether it is a function of Python that gives nothing to await; of other callables only a call tells."""
    function = inspect.unwrap(method)
    is_function = inspect.ismethod(function) or inspect.isfunction(function)
    return is_function and not inspect.iscoroutinefunction(function)


# A model that answers from a script: for tests and demonstrations of companies, without a server.

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
