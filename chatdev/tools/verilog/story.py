"""A trace as reports tell it: per level the signals, with their values and the lines that gave them these."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from chatdev.tools.verilog.design.records import Condition, Part
from chatdev.tools.verilog.history import History
from chatdev.tools.verilog.trace import Step, Trace, Watch, lines_of
from chatdev.tools.verilog.waveform.pairs import shown


@dataclass(frozen=True, slots=True)
class Cause:
    """Lines that gave a signal its value. `sampled` is the time of the edge of a clocked block, else None."""

    lines: tuple[int, ...]
    because: tuple[str, ...]
    sampled: int | None
    certain: bool


@dataclass(frozen=True, slots=True)
class Told:
    """A signal of a level, with its value just before `time`, the causes, and the conditions that kept it from getting
    another value, in a clocked block at the edge at `kept`; or the edges for which it waits, when none has come yet.
    `late` are signals that changed at the very edge, and whose new values were seen."""

    name: str
    value: str
    time: int | None
    causes: tuple[Cause, ...]
    waits: tuple[str, ...]
    kept: int | None
    edges: tuple[str, ...]
    wait_lines: tuple[int, ...]
    late: tuple[str, ...]


def told(trace: Trace, history: History) -> list[list[Told]]:
    """The levels; signals without a driver in the design, its inputs above all, are left out."""
    return [list(_level(trace, number, history)) for number in range(len(trace.levels))]


def _level(trace: Trace, number: int, history: History) -> Iterable[Told]:
    level = trace.levels[number]
    for watch in level.watched:
        steps = [step for step in level.steps if step.of == watch]
        waits = [wait for wait in level.waits if wait.of == watch]
        if steps or waits:
            conditions = [condition for wait in waits for condition in wait.conditions]
            triggers = [trigger for wait in waits for trigger in wait.triggers]
            edges = dict.fromkeys(f"{one.edge} of {one.part.signal}" for one in triggers)
            kept = [wait.sampled for wait in waits if wait.conditions
                    and any(trigger.edge != "change" for trigger in wait.triggers)]
            causes = dict.fromkeys(_cause(trace, step) for step in steps)
            yield Told(_name(trace, watch.part), _value(watch, history), watch.time, tuple(causes),
                       tuple(dict.fromkeys(condition.subject for condition in conditions)),
                       max(kept, default=None), () if conditions else tuple(edges),
                       tuple(sorted(set[int]().union(*(wait.lines for wait in waits)))),
                       tuple(sorted({*(late for step in steps for late in step.late),
                                     *(late for wait in waits for late in wait.late)})))


def _cause(trace: Trace, step: Step) -> Cause:
    clocked = trace.design.process_of(step.assignment).clocked
    return Cause(tuple(sorted(lines_of(trace.design, step.assignment))), tuple(map(_words, step.assignment.conditions)),
                 step.sampled if clocked else None, step.certain)


def _words(condition: Condition) -> str:
    return condition.text if condition.holds else f"not ({condition.text})"


def _name(trace: Trace, part: Part) -> str:
    """With its bits where they are not all."""
    if part == trace.design.part(part.signal):
        return part.signal
    high = part.low + part.width - 1
    return f"{part.signal}[{high}]" if part.width == 1 else f"{part.signal}[{high}:{part.low}]"


def _value(watch: Watch, history: History) -> str:
    """The value of these bits, empty when the waveform does not have it."""
    sample = next(history.before(watch.time), None) if watch.time is not None else None
    bits = sample.values.get(watch.part.signal, "") if sample else ""
    end = len(bits) - watch.part.low
    return shown(bits[max(0, end - watch.part.width):end]) if bits else ""
