"""What holds of a program before there is any, so that nobody fits it to the code: its interface (from a file of the
user, from the skeleton in the task, or as the company declared it), and the requirements that must be proved."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from chatdev.departments.plc.proof.checks import ProofStopped, doubt_properties
from chatdev.departments.plc.proof.outcomes import Property
from chatdev.departments.plc.proof.properties import PATTERNS, PropertyError, read_properties
from chatdev.departments.plc.source_check import EntryVariable, SourceCheck, check_source
from chatdev.errors import ToolError
from chatdev.tools.base import ToolContext, Verdict, render_file, tool

ANSWER = "main.st"
"""Where a company writes its program."""
OUTSIDE = ("input", "output", "in_out")
"""The sections of a program that others see."""

_FENCE = re.compile(r"^[ \t]*```.*$", re.MULTILINE)
_BEGIN = re.compile(r"^[ \t]*(?:TYPE|FUNCTION_BLOCK|FUNCTION|PROGRAM)\b", re.MULTILINE)
_END = re.compile(r"^[ \t]*END_(?:FUNCTION_BLOCK|FUNCTION|PROGRAM)\b[ \t]*;?", re.MULTILINE)
_LONGEST, _MOST_TRIED = 100_000, 20  # characters of a task that are looked through, and skeletons in it


@tool(reads=("proposed_interface?",), pure=True)
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


# What must be proved of the program: fixed before there is any, so that nobody fits the requirements to the code.

WORDING = Path(__file__).parent / "wording"
"""The templates of what is said to agents."""
MOST_PROPOSED = 12
_SHORTEST_QUOTE = 3  # words
_WORD = re.compile(r"\w+")


@tool(reads=("program_interface?", "proposed_properties?"), pure=True)
def properties(context: ToolContext) -> dict[str, Any]:
    """Fix the properties that the program must have: those of the user, else the proposed ones that are of use.

    Returns `given` (whether they are the user's), `properties` and `dropped`, each of which says `why`.
    """
    if (given := context.inputs.get("properties")) is not None:
        return {"given": True, "properties": _as_plain(_read_given(given)), "dropped": []}
    proposals = _sift(context)
    return {"given": False, "properties": _as_plain([one.asked for one in proposals if not one.why]),
            "dropped": _list_dropped(proposals)}


@tool(reads=("program_interface?", "proposed_properties?"))
def propose(context: ToolContext) -> Verdict:
    """Are the proposed properties of use? Each quotes the task, can be read over the interface, and can both be broken
    and be kept."""
    proposals = _sift(context)
    dropped = _list_dropped(proposals)
    kept = len(proposals) - len(dropped)
    return Verdict(kept > 0 and not dropped, render_file(WORDING / "proposed.j2", kept=kept, dropped=dropped),
                   kept / max(1, len(proposals)), {"kept": kept, "dropped": dropped})


def properties_of(value: Mapping[str, Any] | None) -> list[Property]:
    """The properties that `plc.properties` fixed."""
    return [Property(one["pattern"], tuple(one["parameters"]), one["description"])
            for one in (value or {}).get("properties", [])]


def _as_plain(properties: Sequence[Property]) -> list[dict[str, Any]]:
    return [{**asdict(one), "says": say(one)} for one in properties]


def _read_given(given: Any) -> list[Property]:
    """Raises ToolError."""
    try:
        return read_properties(given.decode("utf-8", "replace") if isinstance(given, bytes) else given)
    except PropertyError as error:
        raise ToolError(f"the input `properties`: {error}") from None


@dataclass
class _Proposal:
    """A property that an agent proposed, and why it is of no use, or ""."""

    asked: Property
    why: str


def _list_dropped(proposals: Sequence[_Proposal]) -> list[dict[str, str]]:
    return [{"property": one.asked.description or say(one.asked), "why": one.why} for one in proposals if one.why]


def _sift(context: ToolContext) -> list[_Proposal]:
    """What was proposed, and why what is of no use is not."""
    proposed = context.values.get("proposed_properties")
    interface = context.values.get("program_interface") or {}
    if not isinstance(proposed, list) or not interface.get("found"):
        return []
    proposals = _read_proposals(proposed[:MOST_PROPOSED], _split_words(str(context.inputs.get("task") or "")))
    _doubt_sense(interface, [one for one in proposals if not one.why])
    return proposals


def _read_proposals(items: Sequence[Any], task: Sequence[str]) -> list[_Proposal]:
    """What is of no use by its form alone is marked."""
    found: list[_Proposal] = []
    for item in items:
        asked = _read_proposed(item)
        is_there = any(asked == before.asked for before in found)
        why = _doubt_source(item, task) or _doubt_form(asked) or ("it is there already" if is_there else "")
        found.append(_Proposal(asked, why))
    return found


def say(asked: Property) -> str:
    """What a property means, in words."""
    return render_file(WORDING / "requirement.j2", asked=asked)


def _read_proposed(item: Any) -> Property:
    """What an agent wrote; the engine has held it to its schema."""
    fields: Mapping[str, Any] = item if isinstance(item, Mapping) else {}
    conditions = fields.get("conditions")
    texts = [str(one) for one in conditions] if isinstance(conditions, list) else []
    return Property(f"pattern-{fields.get('pattern')}", tuple(texts), str(fields.get("about") or ""))


def _doubt_source(item: Any, task: Sequence[str]) -> str:
    """Why it is not to be seen in the task, or ""."""
    quote = _split_words(str(item.get("source") or "")) if isinstance(item, Mapping) else []
    stands = f" {' '.join(quote)} " in f" {' '.join(task)} "
    return "" if len(quote) >= _SHORTEST_QUOTE and stands else "its source does not stand in the task word for word"


def _split_words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def _doubt_form(asked: Property) -> str:
    """Why it is no property, or ""."""
    pattern = PATTERNS.get(asked.pattern)
    if pattern is None:
        return f"there is no pattern {asked.pattern.removeprefix('pattern-')!r}"
    wanted, given = pattern.parameters, len(asked.parameters)
    return "" if given == wanted else f"its pattern takes {wanted} conditions, not {given}"


def _doubt_sense(interface: Mapping[str, Any], proposals: Sequence[_Proposal]) -> None:
    """Mark those that say nothing."""
    try:
        doubts = doubt_properties(interface["source"], interface["entry"], [one.asked for one in proposals])
    except ProofStopped as stopped:
        doubts = (f"it cannot be looked at: {stopped}",) * len(proposals)
    for one, doubt in zip(proposals, doubts, strict=True):
        one.why = doubt
