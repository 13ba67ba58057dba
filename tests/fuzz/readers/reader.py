"""What a reader is, and what several of them need."""

from __future__ import annotations

import atexit
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from chatdev.safe_text import load_json


@dataclass(frozen=True, slots=True)
class Reader:
    """`read` takes any text; `pieces` are what texts for it are made of, and `frames` what may stand around them."""

    read: Callable[[str], None]
    pieces: Sequence[str]
    frames: Sequence[str] = ("{}",)


@cache
def scratch() -> Path:
    """A folder for readers of files; it goes with the process."""
    folder = tempfile.TemporaryDirectory(prefix="chatdev-fuzz-")
    atexit.register(folder.cleanup)
    return Path(folder.name)


def write(name: str, text: str) -> Path:
    """The text as a file."""
    path = scratch() / name
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    return path


def value_in(text: str) -> Any:
    """The JSON value in a text, or the text itself: models write both."""
    try:
        return load_json(text)
    except ValueError:
        return text


def is_short(told: object) -> None:
    """It goes back to a model, whose context window is small."""
    assert len(str(told)) < 20_000, f"{len(str(told))} characters: {str(told)[:200]}"
