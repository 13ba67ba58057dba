"""A command as it is typed at a shell: its words, what is piped into it, and nothing that only a shell could do."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

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
    return _fed_start(words, command) if _BAR in words else _start(words, command)


def _fed_start(words: Sequence[_Word], command: str) -> TypedCommand | None:
    """The start of `FEEDER | COMMAND ARGUMENTS`."""
    bar = words.index(_BAR)
    fed, start = _piped_text(words[:bar]), _start(words[bar + 1:], command)
    return TypedCommand(start.arguments, *fed) if fed and start and start.takes_nothing else None


def split_command(line: str, command: str, *, bare: bool = False) -> Sequence[str] | None:
    """The arguments of a command; with `bare`, also of a text that has only the arguments. None where a shell would
    have a say."""
    if start := read_command(line, command):
        return start.arguments if start.takes_nothing else None
    words = split_words(line) if bare and len(line) <= _LONGEST else None
    return None if words is None or any(word.operator for word in words) else [word.text for word in words]


def _start(words: Sequence[_Word], command: str) -> TypedCommand | None:
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
