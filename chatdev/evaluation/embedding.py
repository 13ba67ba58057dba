"""Embedders, which turn texts into vectors for the consistency metric: words and letters, or a model of an endpoint."""

from __future__ import annotations

import math
import re
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Protocol

from chatdev.errors import ConfigError, ModelRejected, ModelUnavailable, UnusableReply
from chatdev.evaluation.minilm import MiniLM
from chatdev.llm.connection import OPENAI, Endpoint, withhold_headers
from chatdev.runner.consent import Trusted, allow_strangers, open_models
from chatdev.secrets import scrub

if TYPE_CHECKING:
    from openai import APIStatusError, OpenAI


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

        from chatdev.llm.guarded_answer import PLAIN, guard

        vectors: list[Vector] = []
        transport = openai.DefaultHttpx2Client(timeout=_TIMEOUT, headers=PLAIN, event_hooks={"response": [guard]},
                                                trust_env=not self._endpoint.is_local, auth=self._endpoint.user)
        with openai.OpenAI(api_key=self._endpoint.key or "none", base_url=self._endpoint.address or OPENAI,
                           timeout=_TIMEOUT, max_retries=self._retries, http_client=transport) as client:
            withhold_headers(client, self._endpoint)
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


def _status_error(error: APIStatusError, where: str) -> ModelRejected | ModelUnavailable:
    """What an endpoint said instead of an answer, as an error that is final or may pass."""
    is_final = error.status_code < 500 and error.status_code not in (408, 409, 429)
    kind = ModelRejected if is_final else ModelUnavailable
    text = error.message.removeprefix(f"Error code: {error.status_code} - ")
    return kind(f"{where}: {error.status_code} {scrub(text)[:300]}")
