"""A trace as reports show it, followed in the child of this process and given as plain data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from chatdev.departments.verilog.design.design import Design
from chatdev.departments.verilog.design.elaborate import DesignError, Misfit
from chatdev.departments.verilog.target import USUAL, Target
from chatdev.departments.verilog.tracing.search import narrowest_trace
from chatdev.departments.verilog.tracing.trace import History, Past, SignalReport, Trace, Watch, signal_reports
from chatdev.errors import MissingProgram, ToolError
from chatdev.isolation.isolate import isolate


@dataclass(frozen=True, slots=True)
class TraceFindings:
    """`output` is the one that the trace is about; `signals` are those of the trace, inputs first, then what is nearest
    to the output; `leapt` are for each level the signals that were left out before it, as lines that were shown had set
    them;
    `goes_on` says that further levels would show more. Of signals of which only some bits were followed, or that more
    than one block writes, `beside` are the lines that write them besides. `shared` are the lines of edges that most
    blocks wait for; they are left out elsewhere. `cone` are the lines of all that may lead to the wrong bits at any
    time."""

    output: str
    lines: tuple[int, ...]
    levels: tuple[tuple[SignalReport, ...], ...]
    leapt: tuple[tuple[str, ...], ...]
    misfits: tuple[Misfit, ...]
    signals: tuple[str, ...]
    goes_on: bool
    beside: tuple[tuple[str, tuple[int, ...]], ...]
    shared: tuple[int, ...]
    cone: tuple[int, ...]


@isolate(DesignError, MissingProgram, ToolError)
def find_causes(text: str, outputs: tuple[Watch, ...], levels: int, past: Past,
                target: Target = USUAL) -> TraceFindings:
    """The trace of the wrong output that leads to the fewest lines. Raises DesignError, also for a source that takes
    too much to be read."""
    history = History(past)
    trace = narrowest_trace(Design.of(text, target), outputs, levels, history)
    reports = tuple(map(tuple, signal_reports(trace, history)))
    return TraceFindings(trace.levels[0].watched[0].part.signal, trace.lines(), reports,
                         tuple(_leapt_signals(trace)), _misfits(trace),
                         _traced_signals(trace), bool(trace.next), tuple(_lines_beside(trace)), _shared_edges(trace),
                         tuple(sorted(trace.design.cone_of(trace.levels[0].watched[0].part))))


def _misfits(trace: Trace) -> tuple[Misfit, ...]:
    signals = trace.doubtful_signals()
    return tuple(misfit for misfit in trace.design.misfits if misfit.signal in signals)


def _lines_beside(trace: Trace) -> Iterator[tuple[str, tuple[int, ...]]]:
    """A mistake may be that the wrong bits are written, or that another block writes them: further assignments of a
    signal that was followed in part, or that several blocks write."""
    shown, design = set(trace.lines()), trace.design
    watched = dict.fromkeys(watch.part for level in trace.levels for watch in level.watched)
    for signal in dict.fromkeys(part.signal for part in watched
                                if part != design.part(part.signal) or len(design.writing_blocks(part.signal)) > 1):
        lines = {line for one in design.drivers(signal) for line in one.lines} - shown
        if lines:
            yield signal, tuple(sorted(lines))


def _shared_edges(trace: Trace) -> tuple[int, ...]:
    """The lines of the edges that blocks of the trace wait for and that it leaves out, as most blocks share them."""
    steps = [trace.design.process_of(step.assignment).triggers for level in trace.levels for step in level.steps]
    waits = [wait.triggers for level in trace.levels for wait in level.waits]
    edges = {trigger.line for triggers in (*steps, *waits) for trigger in triggers}
    return tuple(sorted(edges & trace.design.usual_edges - set(trace.lines())))


def _leapt_signals(trace: Trace) -> Iterator[tuple[str, ...]]:
    """For each level the names of what was left out before it."""
    for level in trace.levels:
        yield tuple(dict.fromkeys(watch.part.signal for watch in level.leapt))


def _traced_signals(trace: Trace) -> tuple[str, ...]:
    """What was traced and what is read there."""
    directions = {port.name: port.direction for port in trace.design.ports}
    watched = [*(watch for level in trace.levels for watch in (*level.watched, *level.leapt)), *trace.next]
    signals = [watch.part.signal for watch in watched]
    return tuple(sorted((signal for signal in signals if directions.get(signal) != "out"),
                        key=lambda signal: directions.get(signal) != "in"))
