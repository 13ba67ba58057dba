"""Software as a judge sees it: a listing that does not say who made it, cut to a size."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

PROSE = {".md", ".markdown", ".rst"}
"""Suffixes of documents. They are not shown: a manual that only one of the companies writes tells who made it."""
MOST_FILES = 60
"""Files that are shown of one software; of the others there is only the number."""


@dataclass(frozen=True, slots=True)
class ShownFile:
    """A file, or its beginning; `left_out` characters follow. Bytes where it is not text."""

    path: str
    content: str | bytes
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class ShownSoftware:
    """A listing; so many `more` files are not in it."""

    files: Sequence[ShownFile]
    more: int = 0


def shown(software: Mapping[str, bytes], characters: int, hidden: Sequence[str] = ()) -> ShownSoftware:
    """The software without documents, at most so many `characters` of text, and without the words `hidden`.

    Short files stay whole; what is left is shared evenly among the long ones, of which the beginning is shown.
    """
    code = without_prose(software)
    paths = sorted(code)[:MOST_FILES]
    texts = {path: blind(text, hidden) for path in paths if (text := _text(code[path])) is not None}
    share = _share([len(text) for text in texts.values()], characters)
    files = [_beginning(blind(path, hidden), texts[path], share) if path in texts else
             ShownFile(blind(path, hidden), code[path]) for path in paths]
    return ShownSoftware(files, len(code) - len(paths))


def without_prose(software: Mapping[str, bytes]) -> dict[str, bytes]:
    """The software without its documents."""
    return {path: data for path, data in software.items() if PurePosixPath(path).suffix.lower() not in PROSE}


def blind(text: str, hidden: Sequence[str]) -> str:
    """The text with the words `hidden`, in any case, replaced by `Company`."""
    if not hidden:
        return text
    words = "|".join(map(re.escape, hidden))
    return re.sub(rf"(?<![^\W_])(?:{words})(?![^\W_])", "Company", text, flags=re.IGNORECASE)


def _text(data: bytes) -> str | None:
    try:
        return None if b"\0" in data else data.decode("utf-8")
    except UnicodeDecodeError:
        return None


def _share(sizes: Sequence[int], characters: int) -> int:
    """The greatest number that each file may have so that all together have at most `characters`."""
    left = characters
    for done, size in enumerate(sorted(sizes)):
        share = left // (len(sizes) - done)
        if size > share:
            return share
        left -= size
    return characters


def _beginning(path: str, text: str, characters: int) -> ShownFile:
    """The file up to the last whole line within so many characters; a single long line is cut."""
    if len(text) <= characters:
        return ShownFile(path, text)
    end = text.rfind("\n", 0, characters) + 1 or characters
    return ShownFile(path, text[:end], len(text) - end)
