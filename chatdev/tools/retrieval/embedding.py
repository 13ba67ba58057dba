"""Finds passages by their meaning: the vectors of a model for texts, compared by their angle.

Whoever opens models (the runner) makes such a retriever and hands it to `retrieval.search`; a tool opens none.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from operator import mul
from typing import Protocol

from chatdev.tools.retrieval.search import Passage


class EmbeddingModel(Protocol):
    """Turns texts into vectors of one length. The embedders of `chatdev.evaluation.embedding` are such models."""

    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """One vector a text. Raises a ModelError when the texts cannot be embedded."""
        ...


class EmbeddingIndex:
    """Passages by the cosine between their vector and that of the query. The first search embeds the passages."""

    def __init__(self, passages: Sequence[Passage], model: EmbeddingModel) -> None:
        self._passages = passages
        self._model = model
        self._vectors: list[Sequence[float]] = []

    def search(self, query: str, k: int) -> list[Passage]:
        """At most `k` passages, nearest first. Raises the ModelErrors of the model."""
        if not self._vectors:
            texts = [f"{passage.title}\n{passage.text}" for passage in self._passages]
            self._vectors = [_unit(vector) for vector in self._model.embed(texts)]
        wanted = _unit(self._model.embed([query])[0])
        nearness = [sum(map(mul, wanted, vector)) for vector in self._vectors]
        order = sorted(range(len(self._passages)), key=lambda place: -nearness[place])
        return [self._passages[place] for place in order[:k]]


def _unit(vector: Sequence[float]) -> list[float]:
    length = math.hypot(*vector) or 1.0
    return [number / length for number in vector]
