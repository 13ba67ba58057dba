"""A command as it is typed at a shell: its words, what is piped into it, and nothing that only a shell could do."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_LONGEST = 2000  # characters of a command that somebody shows
PROMPT = re.compile(r"(?:\$|>|%|[A-Za-z]:\\[^>\n]{0,40}>|[\w.-]{1,20}@[\w.-]{1,20}:[^\s$]{0,40}\$)[ \t]*")
"""What a terminal writes before a command."""
_OPERATORS = "|&;<>"
_ESCAPES = {"n": "\n", "t": "\t", "\\": "\\", '"': '"', "'": "'"}


@dataclass(frozen=True, slots=True)
class TypedCommand:
    """A start of the program: its arguments, and what comes in on its standard input: a text, or a file by its name."""

    arguments: tuple[str, ...]
    stdin: str | None = None
    stdin_file: str | None = None


@dataclass(frozen=True, slots=True)
class _Word:
    text: str
    quoted: bool = False
    operator: bool = False


def read_command(line: str, command: str) -> TypedCommand | None:
    """The start that a line types, whatever prompt stands before it; None for every other line, and for what only a
    shell could tell (variables, patterns, a second command). `command` is the pattern of what stands before the
    arguments."""
    line = line.strip()
    shown = PROMPT.match(line)
    line = line[shown.end():] if shown else line
    if len(line) > _LONGEST or (words := split_words(line)) is None:
        return None
    bars = [place for place, word in enumerate(words) if word.operator and word.text == "|"]
    if not bars:
        return _start(line, words, command)
    if len(bars) > 1 or not (fed := _piped_text(words[:bars[0]])):
        return None
    rest = line.partition("|")[2] if line.count("|") == 1 else ""
    start = _start(rest.strip(), words[bars[0] + 1:], command)
    return TypedCommand(start.arguments, *fed) if start and (start.stdin, start.stdin_file) == (None, None) else None


def split_command(line: str, command: str, *, bare: bool = False) -> Sequence[str] | None:
    """The arguments of a command; with `bare`, also of a text that has only the arguments. None where a shell would
    have a say."""
    if start := read_command(line, command):
        return start.arguments if (start.stdin, start.stdin_file) == (None, None) else None
    words = split_words(line) if bare and len(line) <= _LONGEST else None
    return None if words is None or any(word.operator for word in words) else [word.text for word in words]


def _start(line: str, words: Sequence[_Word], command: str) -> TypedCommand | None:
    """The start without what is piped into it: `COMMAND ARGUMENTS`, and `< FILE` at its end."""
    if not (found := re.match(rf"(?:{command})(?=\s|$)", line)):
        return None
    rest = list(words[len(found[0].split()):])
    file = None
    if len(rest) >= 2 and (rest[-2].operator, rest[-2].text) == (True, "<"):
        file, rest = rest[-1].text, rest[:-2]
    if any(word.operator for word in rest):
        return None
    return TypedCommand(tuple(word.text for word in rest), stdin_file=file)


def _piped_text(words: Sequence[_Word]) -> tuple[str | None, str | None] | None:
    """What `echo`, `printf` or `cat` gives on: a text or a file; None for any other command."""
    texts = [word.text for word in words]
    if not texts or any(word.operator for word in words):
        return None
    name, rest = texts[0], texts[1:]
    if name == "cat" and len(rest) == 1:
        return None, rest[0]
    if name == "printf" and len(rest) == 1 and "%" not in rest[0]:
        return _unescape(rest[0]), None
    if name == "echo" and rest[:1] == ["-e"]:
        return _unescape(" ".join(rest[1:])) + "\n", None
    if name == "echo" and not any(word.startswith("-") for word in rest[:1]) and not any("\\" in word for word in rest):
        return " ".join(rest) + "\n", None
    return None


def _unescape(text: str) -> str:
    return re.sub(r"\\(.)", lambda found: _ESCAPES.get(found[1], found[0]), text)


_TOKEN = re.compile(r"""(?P<blank>\s+)|'(?P<single>[^']*)'|"(?P<double>(?:[^"\\`$]|\\.)*)"|\\(?P<escaped>.)"""
                    r"""|(?P<operator>[|&;<>]+)|(?P<plain>[^\s'"\\|&;<>`$]+)|(?P<bad>.)""", re.DOTALL)


def split_words(line: str) -> list[_Word] | None:
    """The words of a command line, without a comment at its end; None when a quote is left open, or when a shell would
    put something else in the place of a word."""
    words: list[_Word] = []
    text, quoted, begun = "", False, False
    for token in _TOKEN.finditer(line):
        kind, part = str(token.lastgroup), token[str(token.lastgroup)]
        if kind == "bad":
            return None
        if kind in ("blank", "operator"):
            words += [_Word(text, quoted)] if begun else []
            words += [_Word(part, operator=True)] if kind == "operator" else []
            text, quoted, begun = "", False, False
            continue
        if kind == "plain" and not begun and part.startswith("#"):
            break
        text += re.sub(r'\\(["\\$`])', r"\1", part) if kind == "double" else part
        quoted, begun = quoted or kind in ("single", "double"), True
    words += [_Word(text, quoted)] if begun else []
    return None if any(word.text == "*" and not word.quoted for word in words) else words
