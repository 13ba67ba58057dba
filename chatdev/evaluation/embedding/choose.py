"""From an embedder's name on the command line to the embedder."""

from __future__ import annotations

from chatdev.config.environ import environ
from chatdev.errors import ConfigError
from chatdev.evaluation.embedding.base import Embedder
from chatdev.evaluation.embedding.lexical import Lexical
from chatdev.evaluation.embedding.minilm import MiniLM
from chatdev.evaluation.embedding.remote import Remote
from chatdev.llm.registry import Models

_ENDPOINT = "endpoint:"


def embedder_of(name: str, base_url: str | None = None) -> Embedder:
    """`lexical`, `minilm`, or `endpoint:MODEL` at `base_url` (unset: OPENAI_BASE_URL, then OpenAI), with the key in
    OPENAI_API_KEY. Raises ConfigError for another name, MissingModel when nothing says where to ask."""
    if name == Lexical.name:
        return Lexical()
    if name == MiniLM.name:
        return MiniLM()
    if name.startswith(_ENDPOINT) and (model := name.removeprefix(_ENDPOINT).strip()):
        return Remote(Models(environ()).endpoint(base_url), model)
    raise ConfigError(f"there is no embedder {name!r}; take `lexical` (needs nothing, knows no meaning), "
                      "`minilm` (on this machine; the extra `embed`) or `endpoint:MODEL`, e.g. "
                      "endpoint:text-embedding-3-small")
