"""The answer: one file of the software with the module that is wanted, the rules that it keeps (`rules.yaml`), and what
a second parser (`slang.py`) says of it where Icarus Verilog compiles it alone: names from outside, and lint."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from importlib.util import find_spec
from typing import Any, Literal, NamedTuple

from chatdev.departments.verilog.compilation import GIVEN, Message, render_text, rules, word_list
from chatdev.departments.verilog.design.elaborate import DesignError
from chatdev.departments.verilog.design.facts import list_mistakes
from chatdev.departments.verilog.design.lint import Depth, list_remarks
from chatdev.departments.verilog.outside_names import PLACED, PRINTS
from chatdev.departments.verilog.slang import Place, find_escapes, find_names, find_warnings
from chatdev.departments.verilog.target import UNIT, USUAL, Target, blank_comments, included_files, module_names
from chatdev.errors import MissingProgram, ToolError

LONGEST = 600_000  # characters
SUFFIXES = (".sv", ".v")

_ENDS = re.compile(r"\b(endmodule|macromodule|module)\b")
_ONCE = re.compile(r"(?:macro)?module\b|primitive\b|package\b")
_BLANKS = re.compile(r"[\x00-\x08\x0b-\x1f]")  # the simulator takes some for blanks, Python others: all are
_NO_ASCII = re.compile(r"[^\x00-\x7f]")
_PLACEHOLDER = "\x7f"
_MEMORY = re.compile(r"\$readmem[bh]\b")
_FILE_NAME = re.compile(r'\s*\(\s*"(?P<name>[^"\n]*)"')
_NAMES_OF_BENCHES = frozenset({"tb", "RefModule", "stimulus_gen"})


class Answer(NamedTuple):
    """The text that is judged. Of several files `pieces` has each path and its first line there."""

    path: str
    text: str
    pieces: tuple[tuple[str, int], ...] = ()

    def locate(self, line: int) -> tuple[str, int]:
        """The file that a line of the text is of, and its number there."""
        path, first = next((one for one in reversed(self.pieces) if one[1] <= line), (self.path, 1))
        return path, line - first + 1

    def place(self, line: int) -> str:
        """The same as `rtl/alu.v:12`."""
        return ":".join(map(str, self.locate(line)))

    def number_lines(self, target: Target) -> list[tuple[str, str]]:
        """Its lines, then those of the given files, each with where it stands: `12`, `fifo.sv:3`."""
        numbered = target.number_lines(self.text)
        own = len(self.text.splitlines()) if self.pieces else 0
        return [*((self.place(number), line) for number, (_, line) in enumerate(numbered[:own], start=1)),
                *numbered[own:]]


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
    """The answer in ASCII with plain line ends, so that the rules and the simulator read the same. What is no ASCII
    becomes a sign that the rules refuse outside of comments. Raises NoAnswer when it is too long to be looked at."""
    if len(answer.text) > LONGEST:
        raise NoAnswer(rule_message("too_long", found=len(answer.text), limit=LONGEST))
    plain = answer.text.replace("\r\n", "\n").replace("\r", "\n")
    return answer._replace(text=_NO_ASCII.sub(_PLACEHOLDER, _BLANKS.sub(" ", plain)))


def rule_message(rule: str, line: int = 0, **facts: Any) -> Message:
    """The message on a rule that is broken in this line."""
    return Message(render_text(rules()[rule]["says"], line=line, **{"found": "", **facts}), line=line)


def broken_rules(text: str, expanded: str, taken: Container[str] = (), may_print: bool = True,
                 target: Target = USUAL) -> tuple[Message, ...]:
    """The rules that an answer breaks, as far as its text alone shows. `expanded` is the text without macros, `taken`
    are names of the bench, and `may_print` says that no print of the answer can be taken for one of the bench."""
    source, code = blank_comments(text), blank_comments(expanded)
    allowed = word_list("functions") | (PRINTS | PLACED if may_print else frozenset())
    has_same_lines = text.count("\n") == expanded.count("\n")
    found = (*_pattern_messages(code, allowed), *_module_messages(code, target), *_name_messages(code, taken, target),
             *_file_messages(expanded, code, target))
    return (*_pattern_messages(source, allowed, "source"), *_include_messages(text, target),
            *(message if has_same_lines else replace(message, line=0) for message in found))


def _pattern_messages(code: str, allowed: Container[str], where: str = "") -> Iterator[Message]:
    """The first place of each thing that a pattern finds."""
    lines = _LineNumbers(code)
    for rule, row in rules().items():
        found: set[str] = set()
        is_asked = "pattern" in row and row.get("in", "") == where
        for match in re.finditer(row["pattern"], code, re.MULTILINE | re.ASCII) if is_asked else ():
            what = match.groupdict().get("found", "")
            if what in found or (rule == "system_task" and (what in allowed or not what)):
                continue
            found.add(what)
            yield rule_message(rule, lines.at(match.start()), found=what)


def _include_messages(text: str, target: Target) -> Iterator[Message]:
    """The included files that were not given."""
    lines = _LineNumbers(text)
    for place, name in included_files(text):
        if name not in target.texts:
            yield rule_message("include", lines.at(place), found=name)


def _file_messages(expanded: str, code: str, target: Target) -> Iterator[Message]:
    """The files that a memory is filled from, and that were not given."""
    lines = _LineNumbers(code)
    for found in _MEMORY.finditer(code):
        name = _FILE_NAME.match(expanded, found.end())
        if name is None or name["name"] not in target.data:
            yield rule_message("memory_file", lines.at(found.start()), found=name["name"] if name else "")


def _module_messages(code: str, target: Target) -> Iterator[Message]:
    names = module_names(code)
    if target.top not in names:
        yield rule_message("no_top_module", found=", ".join(names), top=target.top)
    count = Counter(found[1] for found in _ENDS.finditer(code))
    opened = count["module"] + count["macromodule"]
    if opened > count["endmodule"]:
        yield rule_message("unclosed_module", found=opened - count["endmodule"])


def _name_messages(code: str, taken: Container[str], target: Target) -> Iterator[Message]:
    lines, first = _LineNumbers(code), dict[str, int]()
    for found in UNIT.finditer(code):
        name, line = found["name"], lines.at(found.start())
        if name in first:
            yield rule_message("declared_twice", line, found=name, places=f"in line {first[name]} and line {line}")
        if _ONCE.match(found[0]):
            first.setdefault(name, line)
        if name in target.units:
            yield rule_message("given_name", line, found=name)
        elif name != target.top and (name in _NAMES_OF_BENCHES or name in taken):
            yield rule_message("bench_name", line, found=name)


class _LineNumbers:
    """The numbers of the lines at positions of a text."""

    def __init__(self, text: str) -> None:
        self._ends = [found.start() for found in re.finditer("\n", text)]

    def at(self, position: int) -> int:
        return bisect_left(self._ends, position) + 1


# What a second parser (`slang.py`) says of an answer that Icarus Verilog compiles alone: names from outside, and
# lint.

_MEANT = re.compile(r"truncates from 32 to \d+ bits|changes value from -1 to |'_?unused")
"""An `int` that counts is put where it fits, `-1` stands for ones alone, and a name says that nothing reads it."""


def outside_names(text: str, target: Target = USUAL, beside: Mapping[str, str] | None = None) -> list[Message]:
    """The rules that an answer without macros breaks by names that are not its own, in every branch of it, and by
    statements that wait. `beside` are the bench that makes it and what else is compiled with it, by the names of files.
    Raises MissingProgram without pyslang."""
    _require_pyslang()
    try:
        found = find_names(text, target)
    except DesignError as error:
        return [Message(str(error))]
    strangers = {", ".join(names): line for code, line, names in found.errors if code in word_list("strangers")}
    told = {"unreadable": found.unreadable, "stranger": (strangers | dict(found.unknown)).items(),
            "hierarchical_name": found.hierarchical, "outside_of_modules": found.outside, "waiting": found.waiting,
            "system_task": found.misplaced}
    messages = [rule_message(rule, line, found=name) for rule, places in told.items() for name, line in places]
    return messages or [*_escapes(text, target, beside or {}, found.relative)]


def _escapes(text: str, target: Target, beside: Mapping[str, str], relative: Sequence[Place]) -> Iterator[Message]:
    """What reaches the bench by a name that is the answer's own only with other parameters than those that the bench
    gives it. Where nobody can say what a name leads to, it may be none that stands in the bench."""
    if not (relative and beside):
        return
    try:
        places = find_escapes(text, dict(beside), target)
    except DesignError:
        places = None
    if places is None:
        words = {word for one in beside.values() for word in re.findall(r"\w+", one)}
        yield from (rule_message("bench_name", line, found=name) for name, line in relative if name in words)
    else:
        yield from (rule_message("hierarchical_name", line, found=name) for name, line in places)


def lint(text: str, target: Target = USUAL, depth: Depth = "certain", *, everywhere: bool = False) -> list[Message]:
    """Warnings that tell an engineer something, such as inferred latches and signals with two drivers, by line; each
    once; `everywhere` of the given files, too. Raises MissingProgram without pyslang."""
    _require_pyslang()
    codes = word_list("lint") | (word_list("strict") if depth == "strict" else frozenset())
    try:
        found = {*find_warnings(text, codes, target), *list_mistakes(text, target), *list_remarks(text, target, depth)}
    except DesignError as error:
        return [Message(str(error), severity="warning")]
    told = (one for one in sorted(found) if not _MEANT.search(one[1]))
    return [*_at_places(told, "warning", text, target, everywhere)]


def _at_places(found: Iterable[tuple[int, str]], severity: Literal["error", "warning"], text: str, target: Target,
               everywhere: bool) -> Iterator[Message]:
    """What is found, with the given file that a line behind the text is of."""
    own, places = len(text.splitlines()), target.number_lines(text)
    for line, says in found:
        if line <= own:
            yield Message(says, line=line, severity=severity)
        elif everywhere:
            file, _, number = places[line - 1][0].rpartition(":")
            yield Message(says, GIVEN + file, int(number), severity)


def undriven_signals(text: str, target: Target = USUAL, *, everywhere: bool = False) -> list[Message]:
    """The signals that are read and that nothing ever gives a value, by line; none of a source that cannot be looked
    through; `everywhere` as for `lint`. Raises MissingProgram without pyslang."""
    _require_pyslang()
    try:
        found = {*find_warnings(text, word_list("undriven"), target)}
    except DesignError:
        return []
    return [*_at_places(sorted(found), "error", text, target, everywhere)]


def _require_pyslang() -> None:
    if find_spec("pyslang") is None:
        raise MissingProgram("pyslang not found, which reads Verilog; install it: pip install "
                             "'chatdev-chain[verilog]'")
