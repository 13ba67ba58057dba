"""Verdicts and counterexamples as plain text, for terminals and for agents, in the words of `phrases.yaml`."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from chatdev.departments.plc.proof.outcomes import RUN_TIME, Cycle, Outcome, Property
from chatdev.departments.plc.source_check import EntryVariable, SourceProof
from chatdev.departments.plc.st.core import Section
from chatdev.departments.plc.st.diagnostics import messages
from chatdev.paths import bundled_table
from chatdev.tools.base import template

WIDTH = 110
"""Characters of a line, if the texts allow it."""
_SECTIONS = {"input": "input", "in_out": "in-out", "output": "output"}
_SAME = "·"


LineName = Callable[[int], str]
"""What a line of the text is called: its number, or that in the file where it stands."""


def list_verdicts(proof: SourceProof, name_line: LineName = str) -> str:
    """A table with a line for each property: number, verdict, k, seconds, what is asked; below it, what else is to be
    known."""
    is_shared = any(one.opinion for one in proof.outcomes)
    rows = [["", "verdict", *(["second opinion"] if is_shared else []), "k", "seconds", "property"]]
    rows += [[str(number), one.verdict, *([_show_opinion(one)] if is_shared else []), str(one.k), f"{one.seconds:.2f}",
              describe_property(one.asked, name_line)] for number, one in enumerate(proof.outcomes, 1)]
    notes = [f"{number}: {note}" for number, one in enumerate(proof.outcomes, 1) for note in _notes(one)]
    return show_safely("\n".join([*_align(rows, last_is_free=True), *([""] if notes else []), *notes]))


def list_explanation(number: int, outcome: Outcome, proof: SourceProof, name_line: LineName = str) -> str:
    """The run that an outcome shows: its cycles with what changed in each, then the source with what ran in each."""
    run = explain_run(outcome.cycles, proof.source, proof.check.variables)
    head = f"{number}: {outcome.verdict}  {describe_property(outcome.asked, name_line)}"
    return show_safely("\n".join([head, *([f"   {outcome.asked.description}"] if outcome.asked.description else []),
                                  "", *_cycle_table(run), "", *_marked_source(run, name_line)]))


def _show_opinion(outcome: Outcome) -> str:
    return f"{outcome.opinion.by}: {outcome.opinion.verdict}" if outcome.opinion else ""


def _notes(outcome: Outcome) -> Iterator[str]:
    """What a verdict, and another verifier's, means where that is more than its word."""
    if outcome.verdict in ("BOUNDED", "UNKNOWN"):
        yield f"{describe_verdict(outcome)}{f': {outcome.reason}' if outcome.reason else ''}"
    elif note := outcome.reason or describe_vacuity(outcome):
        yield note
    if (opinion := describe_opinion(outcome)) != _show_opinion(outcome):
        yield opinion
    if contradiction := describe_contradiction(outcome):
        yield contradiction


def _cycle_table(run: Explanation) -> Iterator[str]:
    """Variables below each other, cycles side by side, as many as there is room for."""
    heads = [["", "cycle"], ["", "ms since the one before"],
             *([_SECTIONS.get(signal.section, ""), signal.name] for signal in run.signals)]
    columns = [[str(number + 1), str(milliseconds), *(_show_cell(signal, number) for signal in run.signals)]
               for number, milliseconds in enumerate(run.milliseconds)]
    room = WIDTH - sum(max(len(row[side]) for row in heads) + 2 for side in (0, 1))
    for block in _split(columns, room):
        yield from _align([[*head, *cells] for head, cells in zip(heads, zip(*block, strict=True), strict=True)])
        yield ""
    yield f"{_SAME} unchanged{f'; the last cycle ends with a fault: {run.fault}' if run.fault else ''}"


def _show_cell(signal: SignalHistory, cycle: int) -> str:
    return signal.values[cycle] if signal.changed[cycle] else _SAME


def _split(columns: Sequence[Sequence[str]], room: int) -> Iterator[list[Sequence[str]]]:
    """Columns in blocks that fit into the room, at least one in each."""
    block: list[Sequence[str]] = []
    left = room
    for column in columns:
        width = max(map(len, column)) + 2
        if block and width > left:
            yield block
            block, left = [], room
        block.append(column)
        left -= width
    if block:
        yield block


def _marked_source(run: Explanation, name_line: LineName) -> Iterator[str]:
    """The lines that ran with a mark for each cycle."""
    cycles = len(run.milliseconds)
    names = {line.number: name_line(line.number) for line in run.lines}
    width = max([4, *map(len, names.values())])
    yield f"lines that ran in cycles 1 to {cycles}:" if cycles > 1 else "lines that ran:"
    before = None
    for line in run.lines:
        if before is not None and line.number > before + 1:
            yield f"{'':{cycles}}    …"
        before = line.number
        yield f"{''.join('#' if one else '.' for one in line.ran)} {names[line.number]:>{width}} {line.text}".rstrip()


def _align(rows: Sequence[Sequence[str]], *, last_is_free: bool = False) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    if last_is_free:
        widths[-1] = 0
    for row in rows:
        yield "  ".join(f"{cell:{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()


# Properties and verdicts in words (`phrases.yaml`).

_PARAMETER = re.compile(r"\{\{ p\[(\d)\] \}\}")
_BRANCH, _VALUE = re.compile(r"\{%.*?%\}"), re.compile(r"\{\{\s*(\w+).*?\}\}")  # in sentences: their conditions, values
_INSTANCE = re.compile(r"(?<![\w.])instance\.", re.IGNORECASE)  # PLCverif's name for the program, before variables
_GOALS = ("pattern-reachability", "pattern-repeatability")


def describe_property(asked: Property, name_line: LineName = str) -> str:
    """What is asked, in a clause: `never: Red AND Green`, `line 8: no division by zero`."""
    if asked.pattern != RUN_TIME:
        plain = [_INSTANCE.sub("", text) for text in asked.parameters]
        return _render(_phrases()["patterns"][asked.pattern], p=plain)
    faults = _phrases()["faults"]
    kind, place, *_ = asked.parameters
    return _render(faults.get(kind, faults["other"]), p=asked.parameters, line=name_line(int(place.partition(":")[0])))


def describe_rule(name: str) -> str:
    """What a pattern, a fault at run time or a finding of the checker with this name is about, whatever the program."""
    phrases = _phrases()
    told = phrases["patterns"].get(name) or phrases["faults"].get(name) or messages().get(name, {}).get("says", name)
    told = _PARAMETER.sub(lambda found: "ABC"[int(found[1])], told.removeprefix("line {{ line }}: "))
    return _VALUE.sub(lambda found: found[1], _BRANCH.sub("", told))


def describe_verdict(outcome: Outcome) -> str:
    """What the verdict means, in a clause whose subject is the property."""
    which = "goals" if outcome.asked.pattern in _GOALS else "verdicts"
    return _render(_phrases()[which][outcome.verdict], k=outcome.k)


def describe_vacuity(outcome: Outcome) -> str:
    """Why a proof says nothing, in a sentence; empty where it says something."""
    return _render(_phrases()["vacuous"], why=outcome.vacuous) if outcome.vacuous else ""


def describe_opinion(outcome: Outcome) -> str:
    """What another verifier says, as `PLCverif: SATISFIED`; empty where none was asked."""
    return _render(_phrases()["opinion"], **asdict(outcome.opinion)) if outcome.opinion else ""


def describe_contradiction(outcome: Outcome) -> str:
    """That another verifier says the contrary; empty where it does not."""
    if not outcome.opinion or not outcome.is_contradicted:
        return ""
    return _render(_phrases()["contradiction"], verdict=outcome.verdict, by=outcome.opinion.by,
                   other=outcome.opinion.verdict)


def show_safely(text: str) -> str:
    """The text without characters that steer a terminal or hide from its reader."""
    return "".join(one if one.isprintable() or one in "\n\t" else "\N{REPLACEMENT CHARACTER}" for one in text)


def _render(source: str, **facts: Any) -> str:
    return str(template(source).render(facts)).strip()


@functools.cache
def _phrases() -> dict[str, Any]:
    found: dict[str, Any] = bundled_table(Path(__file__).with_name("phrases.yaml"))
    return found


# A counterexample to be read: what a variable had after each cycle, and which lines of the source ran.

_ORDER: Mapping[Section, int] = {"input": 0, "in_out": 1, "output": 2}
_ROOT = re.compile(r"\w+(?:\(\))?")  # TIME() and RESTART() are inputs, too
_AROUND = 1  # lines that are shown before and behind one that ran


@dataclass(frozen=True, slots=True)
class SignalHistory:
    """A variable that changed, by its name as its author wrote it. `values` has one text for each cycle, empty before
    its first change; `changed` says in which cycles it changed."""

    name: str
    section: Section
    values: tuple[str, ...]
    changed: tuple[bool, ...]


@dataclass(frozen=True, slots=True)
class MarkedLine:
    """A line of the source, and in which cycles it ran."""

    number: int
    text: str
    ran: tuple[bool, ...]


@dataclass(frozen=True, slots=True)
class Explanation:
    """The run of a counterexample: signals (inputs first), the lines that ran with their neighbours, and the run-time
    fault that ended it, if one did."""

    milliseconds: tuple[int, ...]
    signals: tuple[SignalHistory, ...]
    lines: tuple[MarkedLine, ...]
    fault: str = ""


def explain_run(cycles: Sequence[Cycle], source: str, variables: Sequence[EntryVariable]) -> Explanation:
    """What happened in the cycles of an outcome. `variables` are those of the entry, `source` its text."""
    known = {variable.name.lower(): variable for variable in variables}
    names = list(dict.fromkeys(name for cycle in cycles for name, _ in cycle.changed))
    changes = [dict(cycle.changed) for cycle in cycles]
    signals = [_follow(name, changes, known) for name in names]
    signals.sort(key=lambda signal: _ORDER.get(signal.section, len(_ORDER)))
    return Explanation(tuple(cycle.milliseconds for cycle in cycles), tuple(signals), _mark_lines(cycles, source),
                       next((cycle.fault for cycle in cycles if cycle.fault), ""))


def _follow(name: str, changes: Sequence[Mapping[str, str]], known: Mapping[str, EntryVariable]) -> SignalHistory:
    values, changed, value = [], [], ""
    for now in changes:
        value = now.get(name, value)
        values.append(value)
        changed.append(name in now)
    root = _ROOT.match(name)
    variable = known.get(root[0].lower()) if root else None
    if variable is None or root is None:
        return SignalHistory(name, "local", tuple(values), tuple(changed))
    return SignalHistory(variable.name + name[root.end():], variable.section, tuple(values), tuple(changed))


def _mark_lines(cycles: Sequence[Cycle], source: str) -> tuple[MarkedLine, ...]:
    ran = [set(cycle.lines) for cycle in cycles]
    near = {number + step for lines in ran for number in lines for step in range(-_AROUND, _AROUND + 1)}
    return tuple(MarkedLine(number, text, tuple(number in lines for lines in ran))
                 for number, text in enumerate(source.splitlines(), 1) if number in near)
