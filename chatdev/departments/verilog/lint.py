"""What a second parser (`slang.py`) says of an answer that Icarus Verilog compiles alone: names from outside, and lint.

A source that takes the parser down, or that it does not understand, is refused: nobody knows what its names refer to.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec

from chatdev.departments.verilog.answer import rule_message
from chatdev.departments.verilog.compilation import Message, word_list
from chatdev.departments.verilog.design.elaborate import DesignError
from chatdev.departments.verilog.design.facts import list_mistakes
from chatdev.departments.verilog.slang import Place, find_escapes, find_names, find_warnings
from chatdev.departments.verilog.target import USUAL, Target
from chatdev.errors import MissingProgram

_OF_INTEGERS = re.compile(r"truncates from 32 to \d+ bits")  # an `int` that counts is put where it fits


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


def lint(text: str, target: Target = USUAL) -> list[Message]:
    """Warnings that tell an engineer something, such as inferred latches and signals with two drivers, by line; each
    once. Raises MissingProgram without pyslang."""
    _require_pyslang()
    try:
        found = {*find_warnings(text, word_list("lint"), target), *list_mistakes(text, target)}
    except DesignError as error:
        return [Message(str(error), severity="warning")]
    return [Message(says, line=line, severity="warning") for line, says in sorted(found)
            if not _OF_INTEGERS.search(says)]


def undriven_signals(text: str, target: Target = USUAL) -> list[Message]:
    """The signals that are read and that nothing ever gives a value, by line; none of a source that cannot be looked
    through. Raises MissingProgram without pyslang."""
    _require_pyslang()
    try:
        found = {*find_warnings(text, word_list("undriven"), target)}
    except DesignError:
        return []
    return [Message(says, line=line) for line, says in sorted(found)]


def _require_pyslang() -> None:
    if find_spec("pyslang") is None:
        raise MissingProgram("pyslang not found, which reads Verilog; install it: pip install "
                             "'chatdev-chain[verilog]'")
