"""The answer: one file of the software with the module `TopModule`, and the rules that it must keep (`rules.yaml`).

Each rule closes a way to make a test bench report success without a right module: to read the reference's signals, to
instantiate it, to print a report of one's own, to drive the inputs of both. The rules here look at the text alone;
`lint.py` adds what needs a parser.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from chatdev.errors import ToolError
from chatdev.tools.verilog.messages import Message, render_text, rules, word_list

TOP = "TopModule"
LONGEST = 200_000  # characters
SUFFIXES = (".sv", ".v")

_TOKEN = re.compile(r"""(?P<comment>//[^\n]*)|(?P<opening>/\*)|"(?:\\.|[^"\\\n])*+"|\\\S+""", re.DOTALL)
_MODULE = re.compile(r"\b(?:macromodule|module)\s+(?:(?:static|automatic)\s+)?(?P<name>\w+)")
_ENDS = re.compile(r"\b(endmodule|macromodule|module)\b")
_DEFINE = re.compile(r"`define\s+(\w+)")
_MACRO = re.compile(r"`(\w+)")


class Answer(NamedTuple):
    """The file that is judged."""

    path: str
    text: str


class NoAnswer(ToolError):
    """There is no answer to look at; `messages` says why, for agents."""

    def __init__(self, message: Message) -> None:
        super().__init__(message.text)
        self.messages = (message,)


def read_answer(software: Mapping[str, bytes]) -> Answer:
    """`top.sv`, or the first of the Verilog files at top level. Raises NoAnswer when there is none, or it is no text
    that can be read."""
    paths = sorted((path for path in software if "/" not in path and path.endswith(SUFFIXES)),
                   key=lambda path: (path.rpartition(".")[0] != "top", path))
    if not paths:
        raise NoAnswer(rule_message("no_file"))
    path = paths[0]
    data = software[path]
    try:
        return normalise(Answer(path, data.decode("utf-8-sig")))
    except UnicodeDecodeError as error:
        raise NoAnswer(rule_message("not_utf8", line=data.count(b"\n", 0, error.start) + 1)) from None


def normalise(answer: Answer) -> Answer:
    """The answer with plain line ends. Raises NoAnswer when it is too long to be looked at."""
    if len(answer.text) > LONGEST:
        raise NoAnswer(rule_message("too_long", found=len(answer.text), limit=LONGEST))
    return Answer(answer.path, answer.text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", " "))


def rule_message(rule: str, line: int = 0, **facts: Any) -> Message:
    """The message on a rule that is broken in this line."""
    return Message(render_text(rules()[rule]["says"], line=line, **{"found": "", **facts}), line=line)


def broken_rules(text: str, hidden: str = "") -> tuple[Message, ...]:
    """The rules that an answer breaks, as far as its text alone shows; `hidden` is the text of bench and reference,
    whose macros may not be redefined."""
    code = blank_comments(text)
    return (*_pattern_messages(code), *_module_messages(code), *_macro_messages(code, hidden))


def blank_comments(text: str) -> str:
    """The text with comments and strings blanked out; lines and columns stay. What could be either counts as code."""
    parts, place, last = list[str](), 0, text.rfind("*/")
    while found := _TOKEN.search(text, place):
        start, end = found.span()
        is_code = found[0][0] == "\\"  # an escaped name
        if found["opening"]:
            is_code = end > last  # nothing closes it
            end = end if is_code else text.index("*/", end) + 2
        parts += [text[place:start], text[start:end] if is_code else re.sub(r"[^\n]", " ", text[start:end])]
        place = end
    return "".join((*parts, text[place:]))


def _pattern_messages(code: str) -> Iterator[Message]:
    """The first place of each thing that a pattern finds."""
    lines = _LineNumbers(code)
    for rule, row in rules().items():
        found: set[str] = set()
        for match in re.finditer(row["pattern"], code, re.MULTILINE) if "pattern" in row else ():
            what = match.groupdict().get("found", "")
            if what in found or (rule == "system_task" and what in word_list("functions") | {""}):
                continue
            found.add(what)
            yield rule_message(rule, lines.at(match.start()), found=what)


def module_names(text: str) -> list[str]:
    """The names of the modules that a text declares."""
    return [found["name"] for found in _MODULE.finditer(blank_comments(text))]


def _module_messages(code: str) -> Iterator[Message]:
    names = module_names(code)
    if TOP not in names:
        yield rule_message("no_top_module", found=", ".join(names))
    count = Counter(found[1] for found in _ENDS.finditer(code))
    opened = count["module"] + count["macromodule"]
    if opened > count["endmodule"]:
        yield rule_message("unclosed_module", found=opened - count["endmodule"])


def _macro_messages(code: str, hidden: str) -> Iterator[Message]:
    theirs, lines = set(_MACRO.findall(hidden)), _LineNumbers(code)
    for found in _DEFINE.finditer(code):
        if found[1] in theirs:
            yield rule_message("bench_macro", lines.at(found.start()), found=found[1])


class _LineNumbers:
    """The numbers of the lines at positions of a text."""

    def __init__(self, text: str) -> None:
        self._ends = [found.start() for found in re.finditer("\n", text)]

    def at(self, position: int) -> int:
        return bisect_left(self._ends, position) + 1
