"""What the consistency metric asks of an embedder."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

Vector = Sequence[float]


class Embedder(Protocol):
    """Turns texts into vectors. Values by different embedders cannot be compared: `name` stands with every one."""

    name: str

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        """One vector a text, all of one length. Raises a ModelError when the texts cannot be embedded."""
        ...
