"""What a judge is shown and asked: the words of `judge.yaml`, and software listed without saying whose it is."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any

from pydantic import Field

from chatdev.config.templates import render
from chatdev.config.yaml_nodes import StrictModel, read, validate_node
from chatdev.evaluation.judging.pairs import Pair
from chatdev.llm.base import Message

PROSE = {".md", ".markdown", ".rst"}
"""Suffixes of documents. They are not shown: a manual that only one of the companies writes tells who made it."""
MOST_FILES = 60
"""Files that are shown of one software; of the others there is only the number."""


class JudgeWording(StrictModel):
    """The file `judge.yaml`, whose comments explain the fields."""

    characters: int = Field(gt=0)
    hidden: list[str]
    temperature: float
    seed: int
    system: str
    opening: str
    again: str
    schema_: dict[str, Any] = Field(alias="schema")

    def messages(self, pair: Pair) -> tuple[Message, Message]:
        """What is asked about a pair, in its order."""
        first, second = (blind_listing(each.software, self.characters, self.hidden)
                         for each in (pair.first, pair.second))
        values = {"requirement": pair.requirement, "first": first, "second": second}
        return Message("system", self.system), Message("user", render(self.opening, values, "judge.opening"))

    def complaint(self, problem: str) -> Message:
        """What is said to a judge whose answer could not be read."""
        return Message("user", render(self.again, {"problem": problem}, "judge.again"))


@cache
def judge_wording() -> JudgeWording:
    """The wording that ships with the package."""
    return validate_node(JudgeWording, read(Path(__file__).with_name("judge.yaml")))


@dataclass(frozen=True, slots=True)
class ListedFile:
    """A file, or its beginning; `left_out` characters follow. Bytes where it is not text."""

    path: str
    content: str | bytes
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class BlindListing:
    """A listing; `more`: number of files left out of it."""

    files: Sequence[ListedFile]
    more: int = 0


def blind_listing(software: Mapping[str, bytes], characters: int, hidden: Sequence[str] = ()) -> BlindListing:
    """The software without documents, cut to `characters` characters of text, and without the words `hidden`.

    Short files stay whole; what is left is shared evenly among the long ones, of which the beginning is shown.
    """
    code = code_files(software)
    paths = sorted(code)[:MOST_FILES]
    texts = {path: blind_text(text, hidden) for path in paths if (text := _text(code[path])) is not None}
    share = _share([len(text) for text in texts.values()], characters)
    files = [_beginning(blind_text(path, hidden), texts[path], share) if path in texts else
             ListedFile(blind_text(path, hidden), code[path]) for path in paths]
    return BlindListing(files, len(code) - len(paths))


def code_files(software: Mapping[str, bytes]) -> dict[str, bytes]:
    """The software without its documents."""
    return {path: data for path, data in software.items() if PurePosixPath(path).suffix.lower() not in PROSE}


def blind_text(text: str, hidden: Sequence[str]) -> str:
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


def _beginning(path: str, text: str, characters: int) -> ListedFile:
    """The file up to the last whole line within the limit of characters; a single long line is cut."""
    if len(text) <= characters:
        return ListedFile(path, text)
    end = text.rfind("\n", 0, characters) + 1 or characters
    return ListedFile(path, text[:end], len(text) - end)
