"""Where the program stands, and the interface that it must have, known before it is written: from a file of the user,
from the skeleton in the task, or as the company declared it. Properties speak of its variables."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from chatdev.departments.plc.source_check import EntryVariable, SourceCheck, check_source
from chatdev.errors import ToolError
from chatdev.tools.base import ToolContext
from chatdev.tools.function import tool

ANSWER = "main.st"
"""Where a company writes its program."""
OUTSIDE = ("input", "output", "in_out")
"""The sections of a program that others see."""

_FENCE = re.compile(r"^[ \t]*```.*$", re.MULTILINE)
_BEGIN = re.compile(r"^[ \t]*(?:TYPE|FUNCTION_BLOCK|FUNCTION|PROGRAM)\b", re.MULTILINE)
_END = re.compile(r"^[ \t]*END_(?:FUNCTION_BLOCK|FUNCTION|PROGRAM)\b[ \t]*;?", re.MULTILINE)
_LONGEST, _MOST_TRIED = 100_000, 20  # characters of a task that are looked through, and skeletons in it


@tool(reads=("proposed_interface?",))
def interface(context: ToolContext) -> dict[str, Any]:
    """Find the interface that the program must have: name, inputs and outputs with their types.

    Returns `found`; then also `source` (it, without statements), `entry` and `variables` (name, section, type). It is
    the input `interface`, or a skeleton that the task shows, or what the company itself declared.
    """
    if (given := context.inputs.get("interface")) is not None:
        return _describe(_text_of(given), _check_given(_text_of(given)))
    proposed = str(context.values.get("proposed_interface") or "")
    for source in (*_skeletons(str(context.inputs.get("task") or "")), *_skeletons(proposed)):
        if not (check := check_source(source)).errors:
            return _describe(source, check)
    return {"found": False}


def read_answer(software: Mapping[str, bytes]) -> str | None:
    """The text of `main.st`, or of the only file that ends with `.st`; None if there is none, or it is no text."""
    sources = [path for path in software if path.lower().endswith(".st")]
    path = ANSWER if ANSWER in software else sources[0] if len(sources) == 1 else None
    try:
        return software[path].decode("utf-8") if path else None
    except UnicodeDecodeError:
        return None


def entry_of(interface: Mapping[str, Any] | None) -> str | None:
    """The name of the routine that is run in every scan, where an interface says it."""
    return interface["entry"] if interface and interface.get("found") else None


def differences(interface: Mapping[str, Any] | None, check: SourceCheck) -> list[dict[str, str]]:
    """The variables of an interface that a program lacks or declares otherwise: `name`, what is `wanted` and what is
    there (`found`, or "")."""
    if not interface or not interface.get("found"):
        return []
    there = {one.name.lower(): one for one in check.variables}
    return [{"name": wanted["name"], "wanted": _words(wanted["section"], wanted["type"]), "found": found}
            for wanted in interface["variables"]
            if (found := _find_words(there.get(wanted["name"].lower()))) != _words(wanted["section"], wanted["type"])]


def _find_words(variable: EntryVariable | None) -> str:
    return _words(variable.section, variable.type) if variable else ""


def _words(section: str, type_: str) -> str:
    return f"VAR_{section.upper()} of type {type_}"


def _check_given(source: str) -> SourceCheck:
    """Raises ToolError: a run should not begin with an interface that nobody can keep."""
    check = check_source(source)
    if check.errors:
        first = check.errors[0]
        raise ToolError(f"the input `interface` is no Structured Text: line {first.span.line}: {first.message}"
                        f"{f' ({first.hint})' if first.hint else ''}; give a FUNCTION_BLOCK or PROGRAM with its "
                        "variables, and without statements")
    return check


def _describe(source: str, check: SourceCheck) -> dict[str, Any]:
    return {"found": True, "source": source.strip(), "entry": check.entry,
            "variables": [{"name": one.name, "section": one.section, "type": one.type}
                          for one in check.variables if one.section in OUTSIDE]}


def _skeletons(task: str) -> Iterator[str]:
    """The units that a task shows: from the first to the last, then each alone."""
    text = _FENCE.sub("", task[:_LONGEST])
    begins, ends = [one.start() for one in _BEGIN.finditer(text)], [one.end() for one in _END.finditer(text)]
    if begins and ends and ends[-1] > begins[0]:
        yield text[begins[0]:ends[-1]]
        yield from (text[begin:ends[-1]] for begin in begins[:0:-1][:_MOST_TRIED] if begin < ends[-1])


def _text_of(given: Any) -> str:
    return given.decode("utf-8", "replace") if isinstance(given, bytes) else str(given)
