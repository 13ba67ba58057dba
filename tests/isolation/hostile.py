"""Texts of a few hundred bytes that take a parser down when nothing stops them, and a reader with small limits."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from chatdev.isolation import parent

SMALL = parent.ReadingLimits(memory=192 << 20, seconds=1)
"""Enough for any honest file, and for hostile ones to fail soon."""


def nested_finally(depth: int) -> str:
    """A module that CPython compiles in memory of 2 to the power of `depth`: each `finally` is compiled twice."""
    blocks = "".join(f"{' ' * level}try:0\n{' ' * level}finally:\n" for level in range(depth))
    return f"{blocks}{' ' * depth}0\n"


SLOW = f"f'{'{x}' * 140_000}'"
"""CPython 3.11 takes a time for its parts that grows with the square of their number: 40 s and more."""


@contextmanager
def reader_of(monkeypatch: pytest.MonkeyPatch, limits: parent.ReadingLimits = SMALL) -> Iterator[parent.Reader]:
    """A reader with limits of its own, in the place of this process's."""
    reader = parent.Reader(limits)
    monkeypatch.setattr(parent, "ask", reader.ask)
    try:
        yield reader
    finally:
        reader.end()
