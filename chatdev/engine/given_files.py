"""Files handed in by the user: a delivery may remove or empty one only if it was asked to."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from chatdev.engine.context import Files
from chatdev.paths import bundled_table
from chatdev.replies import ReplyProblem

_SENTENCE = re.compile(r"(?<=[.!?;])\s|[。！？；\n]")


def unasked_losses(given: Files, before: Files, after: Files, asked: Iterable[str]) -> list[ReplyProblem]:
    """Given files that a delivery removes or empties although none of the texts `asked` of the deliverer requests
    it."""
    lost = [path for path in sorted(given) if before.get(path, b"").strip() and not after.get(path, b"").strip()]
    wishes = _wishes(asked) if lost else []
    return [ReplyProblem("lost_file", {"path": path, "emptied": path in after}) for path in lost
            if not any(_is_meant(path, wish) for wish in wishes)]


def _wishes(asked: Iterable[str]) -> list[str]:
    """The sentences that ask for a removal."""
    return [sentence for text in asked for sentence in _SENTENCE.split(text) if _says("verbs", sentence)]


def _is_meant(path: str, sentence: str) -> bool:
    """Whether a sentence that asks for a removal names the file, its folder, or files at all."""
    pure = PurePosixPath(path)
    names = (path, *pure.parts, pure.stem)
    return _says("files", sentence) or any(
        re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", sentence, re.IGNORECASE) for name in names)


def _says(row: str, text: str) -> bool:
    return any(pattern.search(text) for pattern in _words()[row])


@functools.cache
def _words() -> dict[str, list[re.Pattern[str]]]:
    rows = bundled_table(Path(__file__).with_name("removal.yaml"))
    return {row: [re.compile(pattern, re.IGNORECASE) for pattern in patterns] for row, patterns in rows.items()}
