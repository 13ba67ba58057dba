"""The program in the software of a run: one source in Structured Text."""

from __future__ import annotations

from collections.abc import Mapping

ANSWER = "main.st"
"""Where a company writes its program."""


def read_answer(software: Mapping[str, bytes]) -> str | None:
    """The text of `main.st`, or of the only file that ends with `.st`; None if there is none, or it is no text."""
    sources = [path for path in software if path.lower().endswith(".st")]
    path = ANSWER if ANSWER in software else sources[0] if len(sources) == 1 else None
    try:
        return software[path].decode("utf-8") if path else None
    except UnicodeDecodeError:
        return None
