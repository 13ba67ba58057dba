"""An embedder of words and letters: deterministic, needs nothing, knows no meaning."""

from __future__ import annotations

import math
import re
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence

from chatdev.evaluation.embedding.base import Vector

_SIZE = 4096
_LETTERS = 4
_WORD = re.compile(r"[A-Za-z][a-z]+|[A-Z]+(?![a-z])|[^\W\d_]{2,}|\d+")


class Lexical:
    """Hashed counts of words and of their sequences of four letters, damped by the square root.

    Names in code are taken apart (`add_task`, `addTask`: add, task), so that they meet the words of a requirement.
    """

    name = "lexical"

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        """One vector of 4,096 numbers a text."""
        return [_vector(text) for text in texts]


def _vector(text: str) -> Vector:
    vector = [0.0] * _SIZE
    for feature, count in Counter(_features(text)).items():
        vector[zlib.crc32(feature.encode()) % _SIZE] += math.sqrt(count)
    return vector


def _features(text: str) -> Iterator[str]:
    for word in map(str.lower, _WORD.findall(text)):
        yield f" {word} "
        for start in range(len(word) - _LETTERS + 1):
            yield word[start:start + _LETTERS]
