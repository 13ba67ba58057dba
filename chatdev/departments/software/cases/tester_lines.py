"""What a Tester writes down as lines, to try a program: commands that start it, and lines typed into it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import islice

from chatdev.departments.software.cases.case import MOST_STARTS, Start

_MOST_EXAMPLES = 200  # lines; each is looked for in the whole request
PYTHON_COMMAND = r"(?:python[\d.]*|py)\s+(?:-m\s+[\w.]+|[\w./-]+\.py)"
"""How a person starts a Python program, as a pattern."""
_OPERATOR = re.compile(r"[|&;<>]+")
_TYPED = {"command", "commands", "cmd", "run", "type", "typed", "types", "input", "inputs", "stdin", "line", "lines",
          "keys", "steps"}
_PRINTED = {"prints", "printed", "output", "expected", "expects", "result", "stdout"}
"""What models call the fields of an object that stands where a line was asked for."""


def plan_lines(plan: object) -> Iterator[str]:
    """The lines of a plan as a model wrote it: texts and numbers, also in further lists, and objects that have a
    command or what is typed under a usual name. Whatever else stands there is no line."""
    waiting = [plan]
    while waiting:  # no recursion: a model may nest them beyond reason
        part = waiting.pop()
        if isinstance(part, str):
            yield part
        elif isinstance(part, int | float) and not isinstance(part, bool):
            yield str(part)
        elif isinstance(part, list | tuple):
            waiting += reversed(part)
        elif isinstance(part, Mapping):
            waiting += reversed(_fields(part, _TYPED))


def example_lines(plan: object) -> Iterator[str]:
    """The same of examples, in which an object may have the command and what it prints: `COMMAND => OUTPUT`."""
    for part in plan if isinstance(plan, list | tuple) else [plan]:
        typed, printed = (list(plan_lines(_fields(part, names))) for names in (_TYPED, _PRINTED))
        yield from [f"{typed[0]} => {printed[0]}"] if len(typed) == len(printed) == 1 else plan_lines(part)


def _fields(plan: object, names: set[str]) -> list[object]:
    entries = plan.items() if isinstance(plan, Mapping) else ()
    return [value for name, value in entries if str(name).casefold() in names]


def examples(lines: Iterable[str], request: str, command: str = PYTHON_COMMAND) -> list[Start]:
    """The starts of lines such as `python main.py 3 4 => 7`, of which both halves stand in the request letter by
    letter, each between backticks where it has any: what somebody made up, or worked out, is no promise. The first line
    about a command counts."""
    found = dict[str, Start]()
    spans, plain = {*map(plain_text, re.findall("`([^`]+)`", request))}, plain_text(request)
    for line in islice(lines, _MOST_EXAMPLES):
        start, arrow, printed = map(plain_text, line.partition("=>"))
        if arrow and start not in found and all(_is_quoted(part, spans, plain) for part in (start, printed)):
            first, *_ = starts_of([start], command)
            found[start] = replace(first, prints=printed)
    return [start for start in found.values() if not start.stdin][:MOST_STARTS]


def plain_text(text: str) -> str:
    """A text without the quotes that are put around code, with single blanks."""
    return " ".join(text.replace("`", " ").split())


def _is_quoted(part: str, spans: Collection[str], plain: str) -> bool:
    if spans:
        return part in spans
    return bool(part and re.search(rf"(?<!\w){re.escape(part)}(?!\w)", plain))


def starts_of(lines: Iterable[str], command: str = PYTHON_COMMAND) -> list[Start]:
    """The starts of a plan. A line such as `python main.py add "Buy milk"` starts the program, whatever its file is
    called (`command` is the pattern of what stands before the arguments); each other line is typed into the program
    started last, or into a start without arguments before any.

    What a shell would do with a command (pipes, redirections, a second command) is left out: no shell runs it.
    """
    pattern = re.compile(rf"(?:\$\s*)?(?:{command})(?=\s|$)(?P<rest>.*)", re.DOTALL)
    found: list[tuple[tuple[str, ...], list[str]]] = []
    for line in map(_quoted_code, lines):
        start = pattern.fullmatch(line)
        if start:
            found.append((_arguments(start["rest"]), []))
        elif line:
            if not found:
                found.append(((), []))
            found[-1][1].append(line.removeprefix("> "))
    return [Start(arguments, "".join(f"{line}\n" for line in typed) or None)
            for arguments, typed in found[:MOST_STARTS]]


def _quoted_code(line: str) -> str:
    """The line, without the quotes that are put around code and what is said after them."""
    quoted = re.match("`([^`]+)`", line.strip())
    return (quoted[1] if quoted else line.strip().strip("`")).strip()


def _arguments(text: str) -> tuple[str, ...]:
    """The words of a command up to the first shell operator or comment; a quote that is never closed is a character."""
    for posix in (True, False):
        words = shlex.shlex(text, posix=posix, punctuation_chars="|&;<>")
        words.whitespace_split = True
        try:
            return tuple(_words_before_operator(words))
        except ValueError:
            continue
    return tuple(text.split())


def _words_before_operator(words: Iterable[str]) -> Iterable[str]:
    for word in words:
        if _OPERATOR.fullmatch(word):
            return
        yield word
