"""Whether a program prints what is wanted: letter by letter, but for the ends of lines, the prompts that it writes
while it waits for input, and what its request leaves open."""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from chatdev.departments.software.cases.case import Start
from chatdev.errors import WorkspaceError
from chatdev.sandbox.base import lines_of, printed_lines
from chatdev.workspace.file_tree import read_tree

_ASKS = ":>?…：？"
_PROMPTS = re.compile(rf"(?:[^{_ASKS}]{{0,80}}[{_ASKS}])+[ \t$€£]*")
_CONTROLS = re.compile(r"\x1b(?:\[[0-9;?]*[A-Za-z]|c)")  # colours and places on a terminal


@dataclass(frozen=True, slots=True)
class Tolerance:
    """What may differ from an expected text. `silent` is what a program that writes prompts says when nobody answers
    them, None for one that writes none: prompts may stand before a text, and its greeting, menu and farewell around
    it. `coloured`: the request wants colours, and cannot show them. `any_layout`: it does not say how JSON is laid
    out."""

    silent: str | None = None
    coloured: bool = False
    any_layout: bool = False

    def seen(self, text: str) -> str:
        """What the request can show of a text."""
        return without_colours(text) if self.coloured else text


def without_colours(text: str) -> str:
    """A text as it is read at a terminal."""
    return _CONTROLS.sub("", text)


def is_prompt(text: str) -> bool:
    """Whether the text can be what a program writes before it waits for input, once or several times."""
    return _PROMPTS.fullmatch(text) is not None


def prints_what_is_wanted(start: Start, streams: tuple[str, str], status: int | None, allowed: Tolerance) -> bool:
    """Whether standard output, or standard error beside a failure, holds what the start has to print."""
    if start.prints is None:
        return True
    stdout, stderr = map(allowed.seen, streams)
    wanted, seen = lines_of(start.prints), lines_of(stdout)
    if printed_lines(stdout, stderr, status) == wanted or (status != 0 and seen == wanted):
        return True
    if allowed.silent is not None and start.stdin is not None:
        silent = lines_of(allowed.seen(allowed.silent))
        if _matches_between_prompts(seen, wanted, silent):
            return True
    return allowed.any_layout and _are_same_data(stdout, start.prints)


def _are_same_data(text: str, wanted: str) -> bool:
    """Whether both are JSON that holds the same objects, however it is laid out."""
    if "{" in wanted:
        with suppress(ValueError, RecursionError):
            return bool(json.loads(text) == json.loads(wanted))
    return False


def _matches_between_prompts(printed: Sequence[str], wanted: Sequence[str], silent: Collection[str]) -> bool:
    """Whether the wanted lines come one after another, with nothing but prompts before each, and nothing around them
    but lines that are said even when nobody answers; the last line may be prompts alone."""
    rest = deque(wanted)
    for number, line in enumerate(printed, 1):
        if rest and _is_behind_prompts(line, rest[0]):
            rest.popleft()
        elif line not in silent and not (number == len(printed) and is_prompt(line)):
            return False
    return not rest


def _is_behind_prompts(line: str, text: str) -> bool:
    return line == text or (line.endswith(text) and is_prompt(line[:len(line) - len(text)]))


def wrong_files(start: Start, folder: Path, allowed: Tolerance) -> Mapping[str, str | None]:
    """The files that are not as the start has to write them, and what they hold; None for one that is not there."""
    if not start.writes:
        return {}
    there = _files_in(folder)
    held = {name: there[name].decode("utf-8", "replace") if name in there else None for name in start.writes}
    return {name: text for name, text in held.items() if text is None or not _holds(text, start.writes[name], allowed)}


def _holds(text: str, wanted: str, allowed: Tolerance) -> bool:
    return lines_of(text) == lines_of(wanted) or (allowed.any_layout and _are_same_data(text, wanted))


def written_text(folder: Path, names: Iterable[str]) -> str:
    """What the first of these files holds that is there, and something in it."""
    there = _files_in(folder)
    return next((text for name in names if (text := there.get(name, b"").decode("utf-8", "replace")).strip()), "")


def _files_in(folder: Path) -> Mapping[str, bytes]:
    """What a program left; nothing where that is something which no software has."""
    try:
        return read_tree(folder)
    except WorkspaceError:
        return {}
