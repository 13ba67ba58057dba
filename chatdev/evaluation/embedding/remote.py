"""Embeddings by any endpoint that speaks `/v1/embeddings`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from chatdev.errors import ModelRejected, ModelUnavailable, UnusableReply
from chatdev.evaluation.embedding.base import Vector
from chatdev.llm.endpoint import Endpoint
from chatdev.secrets import scrubbed

if TYPE_CHECKING:
    from openai import OpenAI

_TIMEOUT = 120.0  # seconds
_AT_ONCE = 32  # texts in one request
_LONGEST = 24_000  # characters of a text: about the 8,000 tokens that such models read


class Remote:
    """The embeddings of one model of an endpoint; failures that may pass are tried again `retries` times."""

    def __init__(self, endpoint: Endpoint, model: str, retries: int = 5) -> None:
        self.name = model
        self._endpoint = endpoint
        self._retries = retries

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        """One vector a text. Raises ModelRejected, ModelUnavailable or UnusableReply."""
        import openai

        vectors: list[Vector] = []
        with openai.OpenAI(api_key=self._endpoint.key or "none", base_url=self._endpoint.address, timeout=_TIMEOUT,
                           max_retries=self._retries) as client:
            for start in range(0, len(texts), _AT_ONCE):
                vectors += self._asked(client, [text[:_LONGEST] or " " for text in texts[start:start + _AT_ONCE]])
        return vectors

    def _asked(self, client: OpenAI, texts: Sequence[str]) -> list[Vector]:
        import openai

        where = f"embeddings by {self.name!r} at {self._endpoint.shown}"
        try:
            answer = client.embeddings.create(model=self.name, input=list(texts), encoding_format="float")
            vectors = [item.embedding for item in sorted(answer.data, key=lambda item: item.index)]
        except openai.APIStatusError as error:
            refused = error.status_code < 500 and error.status_code not in (408, 409, 429)
            kind = ModelRejected if refused else ModelUnavailable
            said = error.message.removeprefix(f"Error code: {error.status_code} - ")
            raise kind(f"{where}: {error.status_code} {scrubbed(said)[:300]}") from None
        except openai.APIConnectionError as error:
            raise ModelUnavailable(f"{where}: no connection ({type(error.__cause__ or error).__name__}); what is "
                                   "measured so far is kept, try again later") from None
        except (openai.APIError, AttributeError, TypeError, ValueError) as error:
            raise UnusableReply(f"{where}: the reply is none ({type(error).__name__})") from None
        if len(vectors) != len(texts) or len({len(vector) for vector in vectors}) != 1 or not vectors[0]:
            raise UnusableReply(f"{where}: {len(vectors)} vectors came for {len(texts)} texts, or of several lengths")
        return list(vectors)
