"""A case of a trial: files that lie beside the program, its starts one after another, and what each has to do."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeGuard

from chatdev.departments.software.cases.command_line import split_command
from chatdev.errors import UnsafePath
from chatdev.workspace.snapshot import safe_path

MOST_CASES = 20  # of a trial; a list that goes on for ever must not hold up the run
MOST_STARTS = 20  # of a case
UNKNOWN = "zq7"
"""What nobody knows: no command, no number, in no table, and nothing that was added."""
_MOST_TEXT = 20_000  # characters of what one start types, prints or writes
_MOST_WORDS, _MOST_TYPED = 500, 20_000  # of a command, and bytes of it: a user types less than any system takes
Unfit = Literal["", "words", "length", "signs"]
"""Why nobody does what a start says: too many words, too long, or signs of no keyboard (NUL, half a character)."""
_MOST_FILES = 20
Origin = Literal["request", "tester", "program"]
"""Where a case stands: in the request itself, in what the Tester wrote down, or in the commands of the program."""


@dataclass(frozen=True, slots=True)
class Start:
    """One start of the program. None is what is left open: `stdin` (nothing is typed), `prints`, `status`."""

    arguments: tuple[str, ...] = ()
    stdin: str | None = None
    prints: str | None = None
    writes: Mapping[str, str] = field(default_factory=dict)
    status: int | None = None

    @property
    def act(self) -> tuple[object, ...]:
        """What a user does."""
        return self.arguments, self.stdin

    @property
    def unfit(self) -> Unfit:
        """Why no user does this; empty for what one may do."""
        texts = (*self.arguments, self.stdin or "")
        if any(re.search("[\0\ud800-\udfff]", text) for text in texts):
            return "signs"
        if len(self.arguments) > _MOST_WORDS:
            return "words"
        return "length" if sum(len(text.encode()) for text in texts) > _MOST_TYPED else ""

    @property
    def expects(self) -> bool:
        """Whether anything is said of what it does."""
        return self.prints is not None or bool(self.writes) or self.status is not None

    @property
    def refuses(self) -> bool:
        """Whether the program has to end with an error."""
        return self.status not in (None, 0)

    def to_dict(self) -> dict[str, Any]:
        """The start as plain JSON values, without what is left open."""
        fields = {"arguments": list(self.arguments), "stdin": self.stdin, "prints": self.prints,
                  "writes": dict(self.writes) or None, "status": self.status}
        return {name: value for name, value in fields.items() if value is not None}


@dataclass(frozen=True, slots=True)
class Case:
    """Starts of one program, one after another in a fresh copy of it in which `files` lie, too."""

    origin: Origin
    starts: tuple[Start, ...]
    files: Mapping[str, str] = field(default_factory=dict)

    @property
    def acts(self) -> list[tuple[object, ...]]:
        """What a user does, one after the other."""
        return [start.act for start in self.starts]

    @property
    def expects(self) -> bool:
        """Whether anything is said of what a start does."""
        return any(start.expects for start in self.starts)

    def to_dict(self) -> dict[str, Any]:
        """The case as plain JSON values."""
        files = {"files": dict(self.files)} if self.files else {}
        return {"from": self.origin, **files, "starts": [start.to_dict() for start in self.starts]}


def cases_from_value(value: object, origin: Origin, command: str) -> Iterator[Case]:
    """The cases in the JSON values that a model wrote: a case, or a list of cases. `command` is the pattern of what
    stands before the arguments. What is no case, or is one only in part, is left out."""
    for one in value if isinstance(value, list | tuple) else [value]:
        if isinstance(one, Mapping) and (case := _case(one, origin, command)):
            yield case


def _case(value: Mapping[Any, Any], origin: Origin, command: str) -> Case | None:
    starts = value.get("starts", [value])
    files = texts_by_path(value.get("files"))
    if files is None or not _is_list(starts) or not 0 < len(starts) <= MOST_STARTS:
        return None
    read = [_start(start, command) for start in starts if isinstance(start, Mapping)]
    whole = [start for start in read if start is not None]
    return Case(origin, tuple(whole), files) if len(whole) == len(starts) else None


def _start(value: Mapping[Any, Any], command: str) -> Start | None:
    arguments = _arguments(value.get("arguments", value.get("command", [])), command)
    writes = texts_by_path(value.get("writes"))
    texts = {name: _text(value.get(name)) for name in ("stdin", "prints")}
    status = value.get("status")
    if arguments is None or writes is None or not (status is None or _is_status(status)):
        return None
    if any(value.get(name) is not None and text is None for name, text in texts.items()):
        return None
    return Start(tuple(arguments), texts["stdin"], texts["prints"], writes, status)


def _arguments(value: object, command: str) -> Sequence[str] | None:
    """The words after the command, given as a list of them, or as they are typed."""
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        return split_command(str(value), command, bare=True)
    if _is_list(value) and all(isinstance(word, str | int | float) for word in value):
        return [str(word) for word in value]
    return None


def _text(value: object) -> str | None:
    """A text, given as one, as a number or as its lines."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    if _is_list(value) and all(isinstance(line, str | int | float) for line in value):
        value = "".join(f"{line}\n" for line in value)
    return value if isinstance(value, str) and len(value) <= _MOST_TEXT else None


def texts_by_path(value: object) -> dict[str, str] | None:
    """The files of JSON values, none for None; None when a name or a text will not do."""
    if not isinstance(value, Mapping | None) or len(value or ()) > _MOST_FILES:
        return None
    found = dict[str, str]()
    for name, content in (value or {}).items():
        text = _text(content)
        if text is None or not isinstance(name, str) or not _is_safe(name):
            return None
        found[safe_path(name)] = text
    return found


def _is_safe(name: str) -> bool:
    try:
        return bool(safe_path(name))
    except UnsafePath:
        return False


def _is_list(value: object) -> TypeGuard[Sequence[Any]]:
    return isinstance(value, list | tuple)


def _is_status(value: object) -> TypeGuard[int]:
    return type(value) is int and 0 <= value <= 255
