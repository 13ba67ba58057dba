"""A counterexample made ready to be read: what a variable had after each cycle, and which lines of the source ran."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from chatdev.departments.plc.proof.outcome import Cycle
from chatdev.departments.plc.source_check import EntryVariable
from chatdev.departments.plc.st.core import Section

_ORDER: Mapping[Section, int] = {"input": 0, "in_out": 1, "output": 2}
_ROOT = re.compile(r"\w+")
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
    variable = known.get(root[0]) if root else None
    if variable is None or root is None:
        return SignalHistory(name, "local", tuple(values), tuple(changed))
    return SignalHistory(variable.name + name[root.end():], variable.section, tuple(values), tuple(changed))


def _mark_lines(cycles: Sequence[Cycle], source: str) -> tuple[MarkedLine, ...]:
    ran = [set(cycle.lines) for cycle in cycles]
    near = {number + step for lines in ran for number in lines for step in range(-_AROUND, _AROUND + 1)}
    return tuple(MarkedLine(number, text, tuple(number in lines for lines in ran))
                 for number, text in enumerate(source.splitlines(), 1) if number in near)
