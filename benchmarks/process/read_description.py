"""The process model that a text describes: `describe` the other way round.

It reads exactly the sentences that `describe` writes, so a text that somebody has edited is either understood or
refused with its line; nothing is guessed. That both directions give the same process proves that a text says what the
model says (`tests/departments/process/test_describe.py`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass

from chatdev.departments.process import process_tree as forms
from chatdev.departments.process.process_tree import (
    MOST_DEPTH,
    ProcessTree,
    exclusive,
    loop,
    normalise,
    optional,
    parallel,
    phase,
    sequence,
)
from chatdev.errors import ConfigError

_NAME = r'"(?:[^"\\]|\\.)*"'
_SENTENCE = re.compile(rf'((?:[^".:]|{_NAME})*[.:])(?: |$)')
_PLACE = re.compile(r"(?:First|Then|Finally),? ")


@dataclass(frozen=True, slots=True)
class _Line:
    """One line of the text: where it stands, how deep, whether a list's item begins there, and its words."""

    number: int
    indent: int
    is_item: bool
    words: str


def read_description(text: str) -> ProcessTree:
    """The model, in normal form. Raises ConfigError, with the line, for what `describe` does not write."""
    lines = [line for number, words in enumerate(text.split("\n"), start=1) for line in _read_line(number, words)]
    if not lines:
        raise ConfigError("the description of the process is empty")
    if [line.words for line in lines] == [forms.NOTHING]:
        return ProcessTree("silent")
    reader = _Reader(lines)
    tree = reader.read_block(0)
    if reader.left:
        raise _refuse(reader.left[0], "stands at the wrong depth")
    return normalise(tree)


def _read_line(number: int, words: str) -> list[_Line]:
    """The line, with one more for each list item that begins in it; nothing for an empty one."""
    indent, found = len(words) - len(words.lstrip(" ")), []
    words = words.strip(" \r")
    while words.startswith("- "):
        found.append(_Line(number, indent, True, ""))
        indent, words = indent + 2, words[2:]
    return [*found, _Line(number, indent, False, words)] if words else found


def _refuse(line: _Line, why: str) -> ConfigError:
    return ConfigError(f"line {line.number} of the description of the process {why}: {line.words[:80]!r}")


class _Reader:
    def __init__(self, lines: list[_Line]) -> None:
        self.left = lines

    def read_block(self, indent: int) -> ProcessTree:
        """The steps that stand at this depth, with their lists."""
        if indent > 2 * MOST_DEPTH:
            raise _refuse(self.left[0], "stands too deep")
        steps: list[ProcessTree] = []
        while self.left and self.left[0].indent == indent and not self.left[0].is_item:
            line = self.left.pop(0)
            place = 0
            while place < len(line.words):
                found = _SENTENCE.match(line.words, place)
                if not found:
                    raise _refuse(line, "is no sentence of ours")
                place = found.end()
                steps.append(self._read_sentence(found[1], line))
        if not steps:
            raise _refuse(self.left[0], "stands at the wrong depth") if self.left else ConfigError(
                "the description of the process ends where a list should stand")
        return steps[0] if len(steps) == 1 else sequence(*steps)

    def _read_sentence(self, text: str, line: _Line) -> ProcessTree:
        words = _PLACE.sub("", text, count=1) if _PLACE.match(text) else text[0].lower() + text[1:]
        if words == forms.LEFT_OUT:
            return optional(self._read_list(line))
        if words == forms.REPEAT:
            return self._read_loop(line)
        for form, make in ((forms.WAYS, exclusive), (forms.STRANDS, parallel)):
            if counted := re.fullmatch(_pattern(form, r"(\d{1,6})"), words):
                return make(*(self._read_list(line) for _ in range(int(counted[1]))))
        needed = re.fullmatch(_pattern(forms.IF_NEEDED, "(.*)") + r"\.", words, re.DOTALL)
        found = _read_phases(needed[1] if needed else words.removesuffix("."))
        if found is None:
            raise _refuse(line, "is no sentence of ours")
        return optional(found) if needed else found

    def _read_loop(self, line: _Line) -> ProcessTree:
        body = self._read_list(line)
        if self.left and self.left[0].words.startswith(forms.REDO) and self.left[0].indent == line.indent:
            redo = self.left.pop(0)
            if redo.words != forms.REDO:
                raise _refuse(redo, "should end after the colon")
            return loop(body, self._read_list(redo))
        return loop(body)

    def _read_list(self, line: _Line) -> ProcessTree:
        """The next item of the list below a line."""
        if not self.left or not self.left[0].is_item or self.left[0].indent != line.indent:
            raise _refuse(line, "needs a list below it, with as many items as it says")
        self.left.pop(0)
        return self.read_block(line.indent + 2)


def _read_phases(words: str) -> ProcessTree | None:
    """A sentence about phases alone; None if it is another one."""
    names = rf"({_NAME}(?:, {_NAME})*) {{}} ({_NAME})"
    makers: tuple[tuple[str, str, Callable[..., ProcessTree]], ...] = (
        (forms.RUN, f"({_NAME})", sequence), (forms.REPEAT_ONE, f"({_NAME})", loop),
        (forms.ONE_OF, names.format("or"), exclusive), (forms.ANY_ORDER, names.format("and"), parallel))
    for form, pattern, make in makers:
        if found := re.fullmatch(_pattern(form, pattern), words):
            quoted = [name for group in found.groups() for name in re.findall(_NAME, group)]
            try:
                return make(*(phase(json.loads(name)) for name in quoted))
            except ValueError:  # what is no string of JSON, such as an unknown escape
                return None
    return None


def _pattern(form: str, value: str) -> str:
    """A regular expression for a form of sentence with `value` in its place."""
    before, after = form.split("{}")
    return re.escape(before) + value + re.escape(after)
