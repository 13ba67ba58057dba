"""A case of a trial: files beside the program, its starts one after another as typed at a shell, and what each has to
do."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Literal, TypeGuard

from chatdev.errors import UnsafePath
from chatdev.workspace.file_tree import safe_path

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


# A command as it is typed at a shell: its words, what is piped into it, and nothing that only a shell could do.

_LONGEST = 2000  # characters of a command that somebody shows
PROMPT = re.compile(r"(?:\$|>|%|[A-Za-z]:\\[^>\n]{0,40}>|[\w.-]{1,20}@[\w.-]{1,20}:[^\s$]{0,40}\$)[ \t]*")
"""What a terminal writes before a command."""
_BETWEEN = ("blank", "operator", "bad")
_SHOW = ("cat", "type", "more")
_ESCAPES = {"n": "\n", "t": "\t", "\\": "\\", '"': '"', "'": "'"}


@dataclass(frozen=True, slots=True)
class TypedCommand:
    """A start of the program: its arguments, and what comes in on its standard input: a text, or a file by its name."""

    arguments: tuple[str, ...]
    stdin: str | None = None
    stdin_file: str | None = None

    @property
    def takes_nothing(self) -> bool:
        """Whether nothing comes in."""
        return self.stdin is None and self.stdin_file is None


@dataclass(frozen=True, slots=True)
class _Word:
    text: str
    operator: bool = False


_BAR, _FROM, _INTO, _HERE = (_Word(sign, operator=True) for sign in ("|", "<", ">", "<<<"))


def read_command(line: str, command: str) -> TypedCommand | None:
    """The start that a line types, whatever prompt stands before it; None for every other line, and for what only a
    shell could tell (variables, patterns, a second command). `command` is the pattern of what stands before the
    arguments."""
    line = line.strip()
    shown = PROMPT.match(line)
    line = line[shown.end():] if shown else line
    words = split_words(line) if len(line) <= _LONGEST else None
    if words is None:
        return None
    return _fed_start(words, command) if _BAR in words else _start_of_command_line(words, command)


def _fed_start(words: Sequence[_Word], command: str) -> TypedCommand | None:
    """The start of `FEEDER | COMMAND ARGUMENTS`."""
    bar = words.index(_BAR)
    fed, start = _piped_text(words[:bar]), _start_of_command_line(words[bar + 1:], command)
    return TypedCommand(start.arguments, *fed) if fed and start and start.takes_nothing else None


def split_command(line: str, command: str, *, bare: bool = False) -> Sequence[str] | None:
    """The arguments of a command; with `bare`, also of a text that has only the arguments. None where a shell would
    have a say."""
    if start := read_command(line, command):
        return start.arguments if start.takes_nothing else None
    words = split_words(line) if bare and len(line) <= _LONGEST else None
    return None if words is None or any(word.operator for word in words) else [word.text for word in words]


def _start_of_command_line(words: Sequence[_Word], command: str) -> TypedCommand | None:
    """The start without what is piped into it: `COMMAND ARGUMENTS`, and `< FILE` or `<<< TEXT` at its end."""
    if not (found := re.match(rf"(?:{command})(?=\s|$)", " ".join(word.text for word in words))):
        return None
    rest, text, file = words[len(found[0].split()):], None, None
    if rest[-2:-1] == [_FROM]:
        rest, file = rest[:-2], rest[-1].text
    elif rest[-2:-1] == [_HERE]:
        rest, text = rest[:-2], f"{rest[-1].text}\n"
    if any(word.operator for word in rest):
        return None
    return TypedCommand(tuple(word.text for word in rest), text, file)


def _piped_text(words: Sequence[_Word]) -> tuple[str | None, str | None] | None:
    """What `echo`, `printf` or `cat` gives on: a text or a file; None for any other command."""
    match [word.text for word in words if not word.operator], [word.text for word in words if word.operator]:
        case ["cat", text], ["<<<"]:
            return f"{text}\n", None
        case ["cat", file], []:
            return None, file
        case ["printf", text], [] if "%" not in text:
            return _unescape(text), None
        case ["echo", "-e", *rest], []:
            return _unescape(" ".join(rest)) + "\n", None
        case ["echo", *rest], [] if not re.search(r"^-|\\", " ".join(rest)):
            return " ".join(rest) + "\n", None
    return None


def read_shell(line: str) -> tuple[list[str], str, str | None]:
    """The words behind a prompt, and the file that they show, or make with a text."""
    shown = PROMPT.match(line)
    words = split_words(line[shown.end() if shown else 0:][:_LONGEST])
    if words is None:
        return ["?"], "", None
    plain = [word.text for word in words]
    match [word.text if word.operator else "" for word in words]:
        case ["", ""] if plain[0] in _SHOW:
            return plain, plain[1], None
        case [*_, ">", ""] | ["", ">", "", "<<<", ""]:
            into = words.index(_INTO)
            text, _ = _piped_text([*words[:into], *words[into + 2:]]) or (None, None)
            return plain, plain[into + 1] if text else "", text
    return plain, "", None


def _unescape(text: str) -> str:
    return re.sub(r"\\(.)", lambda found: _ESCAPES.get(found[1], found[0]), text)


_TOKEN = re.compile(r"""(?P<blank>\s+)|'(?P<single>[^']*)'|"(?P<double>(?:[^"\\`$]|\\.)*)"|\\(?P<escaped>.)"""
                    r"""|(?P<operator>[|&;<>]+)|(?P<plain>[^\s'"\\|&;<>`$]+)|(?P<bad>.)""", re.DOTALL)


def split_words(line: str) -> list[_Word] | None:
    """The words of a command line, without a comment at its end; None when a quote is left open, or when a shell would
    put something else in the place of a word."""
    words: list[_Word] = []
    parts: list[tuple[str, str]] = []  # of the word that has begun
    for kind, part in _tokens(line):
        if not parts and kind == "plain" and part.startswith("#"):
            break
        if kind not in _BETWEEN:
            parts.append((kind, part))
            continue
        words += [_Word("".join(map(_plain_part, parts)))] if parts else []
        words += [_Word(part, operator=True)] if kind == "operator" else []
        if kind == "bad" or parts == [("plain", "*")]:
            return None
        parts = []
    return words


def _tokens(line: str) -> Iterator[tuple[str, str]]:
    """What a line is made of, by its kind, with a blank at the end."""
    for token in _TOKEN.finditer(f"{line} "):
        kind = str(token.lastgroup)
        yield kind, token[kind]


def _plain_part(part: tuple[str, str]) -> str:
    kind, text = part
    return re.sub(r'\\(["\\$`])', r"\1", text) if kind == "double" else text


# Lines of a terminal that belong together, as single lines: a here-document with the command that gets it, and a
# start of the program whose output goes into a file with the command that shows this file.

_DOCUMENT = re.compile(r"(?<!<)<<(?P<tabs>-?)[ \t]*(?P<mark>['\"]?)(?P<end>\w{1,40})(?P=mark)(?![\w<'\"])")
_CONTINUED = re.compile(r"[ \t]*>(?: |$)")
"""What a terminal writes before the lines of a here-document."""
_EXPANDED = re.compile(r"[$`\\]")
_INTO_FILE = re.compile(r"(?P<command>[^|&;<>#]*[^|&;<>#\s])\s*>\s*(?P<file>[\w.-]{1,60})$")


def join_lines(lines: Sequence[str], is_start: Callable[[str], bool]) -> list[str]:
    """The lines, with those that belong together as one: a here-document stands as a word behind `<<<`, which does the
    same, and output that goes through a file needs no more than its command. `is_start` knows one of the program."""
    return list(_join_files(list(_join_documents(lines)), is_start)) if len(lines) > 1 else list(lines)


def _join_documents(lines: Sequence[str]) -> Iterator[str]:
    place = 0
    while place < len(lines):
        line, place = lines[place], place + 1
        begin = _DOCUMENT.search(line)
        end = next((n for n in range(place, len(lines)) if begin and _without_mark(lines[n]) == begin["end"]), None)
        text = _text_of(lines[place:end + 1], begin) if begin and end is not None else None
        if begin and end is not None and text is not None:
            line, place = f"{line[:begin.start()]}<<< {shlex.quote(text)}{line[begin.end():]}", end + 1
        yield line


def _without_mark(line: str) -> str:
    return _CONTINUED.sub("", line, count=1).strip()


def _text_of(lines: Sequence[str], begin: re.Match[str]) -> str | None:
    """What a document holds, the last line being its end; None where a shell puts something else in it, or where it is
    empty."""
    if lines[-1].strip() != begin["end"]:
        lines = [_CONTINUED.sub("", line, count=1) for line in lines]
    text = "\n".join(line.lstrip("\t") if begin["tabs"] else line for line in lines[:-1])
    return None if not text or (_EXPANDED.search(text) and not begin["mark"]) else text


def _join_files(lines: Sequence[str], is_start: Callable[[str], bool]) -> Iterator[str]:
    shown = False
    for line, below in pairwise([*lines, ""]):
        into = _INTO_FILE.fullmatch(line.strip())
        goes_on = into is not None and is_start(into["command"]) and _shows(below, into["file"])
        if not shown:
            yield into["command"] if into and goes_on else line
        shown = goes_on


def _shows(line: str, file: str) -> bool:
    """Whether a line of a terminal shows a file."""
    prompt = PROMPT.match(line.strip())
    return line.strip()[prompt.end() if prompt else 0:].split() == ["cat", file]
