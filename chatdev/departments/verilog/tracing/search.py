"""From wrong outputs back over what drives them, level by level (VerilogCoder, arXiv 2408.08927, §3.3); and such a
trace as reports show it, followed in the child of this process and given as plain data."""

from __future__ import annotations

import math
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

from chatdev.departments.verilog.design.design import Design, read_once
from chatdev.departments.verilog.design.elaborate import DesignError, Misfit
from chatdev.departments.verilog.design.records import Kind
from chatdev.departments.verilog.target import USUAL, Target
from chatdev.departments.verilog.tracing.drivers import Drivers
from chatdev.departments.verilog.tracing.trace import History, Level, Past, SignalReport, Trace, Watch, signal_reports
from chatdev.errors import MissingProgram, ToolError
from chatdev.isolation.isolate import isolate

_WIRES: tuple[Kind, ...] = ("port", "continuous")
_OUTPUTS = 8  # that are followed for the one that leads to the fewest lines
_LEAPING = 8  # runs of processes for what was set by lines that were shown, from one signal to others, in all levels
_MOST_RUNS = 250  # of processes for one output


def trace_outputs(design: Design, outputs: Iterable[str | Watch], levels: int = 2,
                  history: History | None = None) -> Trace:
    """Follow the outputs back, `levels` deep. Wires of instances, calls of functions and an `assign` that only makes an
    output of other signals count for no level. With a history no `assign` does, nor what was set by the same lines as
    something nearer to the output, such as a counter at each edge: a level leads back over one `always` block, or two
    where one makes the next value of the other's register, to the last other cause.

    Without a history all drivers are named. With one, and for outputs that have a time, only those that were active:
    of a clocked block at its last edges, of anything else just before; a signal further back at the time at which its
    reader took it. Raises ToolError for an output that the design does not have.
    """
    wrong = [Watch(design.part(one)) if isinstance(one, str) else one for one in outputs]
    return _Search(design, history, wrong, {}).trace_back(levels)


class _Behind(NamedTuple):
    """What is behind a watch: a level of its own and the lines of that, what to watch in the same level and in the next
    one, and the runs of processes that were needed to find it."""

    level: Level
    lines: set[int]
    here: list[Watch]
    after: list[Watch]
    runs: int


class _Search:
    """The way back from the wrong outputs. `trace` is what was found so far; `_runs` of processes were needed for it,
    `_leaping` of them to leap over what lines that were shown had set. `behind` holds what was found behind a watch,
    for other searches in the same history as well; `_seen` are the bits that were followed, `_known` the lines found
    so far."""

    def __init__(self, design: Design, history: History | None, wrong: Sequence[Watch],
                 behind: dict[Watch, _Behind]) -> None:
        self._history, self._wrong, self._behind = history, wrong, behind
        self._seen, self._runs, self._leaping = defaultdict[tuple[str, int | None], int](int), 0, 0
        self._known, self._most = set[int](), math.inf
        self.trace = Trace(design, (), tuple(wrong))

    def trace_back(self, levels: int) -> Trace:
        """Go so many levels back."""
        for _ in range(levels):
            self._add_level()
        return self.trace

    def narrower_than(self, best: Trace, levels: int) -> Trace | None:
        """The trace if it is narrower than the best one so far; it is given up as soon as it cannot be."""
        if best.is_cut:
            found = self.trace_back(levels)
            return found if _breadth(found) < _breadth(best) else None
        self._most = len(best.lines())
        for _ in range(levels):
            self._add_level()
            if self._is_too_wide or self.trace.is_cut:
                return None
        return self.trace if len(self.trace.lines()) < self._most else None

    @property
    def _is_too_wide(self) -> bool:
        return len(self._known) >= self._most

    @property
    def _is_over(self) -> bool:
        """Whether nothing more is followed: it takes too long, or is no narrower than what is known."""
        return self._runs > _MOST_RUNS or self._is_too_wide

    def _add_level(self) -> None:
        """Go one level further back. What only leads to lines that are there already is followed last, the latest of
        it first: in a tree of equal instances this is the way to its leaves, where there is no time for all."""
        level, following = Level(), dict[Watch, None]()
        fresh, stale, shown = deque(self.trace.next), list[Watch](), set(self.trace.lines())
        self._known |= shown
        while fresh or stale:
            watch = fresh.popleft() if fresh else stale.pop()
            if not self._is_new(watch):
                continue
            if self._is_over:
                following[watch] = None
                continue
            self._seen[watch.part.signal, watch.time] |= watch.part.mask
            here, after = self._follow(watch, level, shown)
            for one in here:
                (stale if self.trace.design.lines_to(one.part) <= self._known else fresh).append(one)
            following.update(dict.fromkeys(after))
        self.trace = Trace(self.trace.design, (*self.trace.levels, level),
                           tuple(filter(self._is_new, following)), self._runs > _MOST_RUNS)

    def _is_new(self, watch: Watch) -> bool:
        """Whether any of its bits was not followed from that time yet."""
        return bool(watch.part.mask & ~self._seen[watch.part.signal, watch.time])

    def _wires_of(self, watch: Watch) -> tuple[Kind, ...]:
        """What costs no level behind this."""
        return _WIRES if self._history or watch in self._wrong else _WIRES[:1]

    def _follow(self, watch: Watch, level: Level, shown: set[int]) -> tuple[list[Watch], list[Watch]]:
        """Add what drives this to the level; returns what to watch in the same level, and in the next one."""
        if watch not in self._behind:
            self._behind[watch] = self._look_behind(watch)
        one, lines, here, after, runs = self._behind[watch]
        self._runs += runs
        if self._history and self._leaping < _LEAPING and lines and lines <= shown:
            further = [*here, *after]
            further += chain.from_iterable(map(self._since_change, further[:]))
            level.leapt.append(watch)
            if self._are_earlier(watch, further):
                return self._as_whole(one, further), []
            self._leaping += runs
            return further, []
        level.add(one)
        self._known |= lines
        return here, after

    def _since_change(self, watch: Watch) -> Iterator[Watch]:
        """The bits of a register that kept their value at its last edge, when they had just got it."""
        history, design, time = self._history, self.trace.design, watch.time
        change = history.last_change(watch.part, time) if history and time is not None else None
        if history is None or time is None or change is None:
            return
        processes = {one.process: design.process_of(one) for one in design.drivers(watch.part)}.values()
        edges = (next(history.samples_at_triggers(one.triggers, time), None) for one in processes if one.is_clocked)
        if any(edge and edge.until > change for edge in edges):
            yield watch._replace(time=change + 1)

    def _are_earlier(self, watch: Watch, further: Iterable[Watch]) -> bool:
        """Whether these are but earlier values of the same signal, as of a counter, and inputs."""
        return all(one.part.signal == watch.part.signal or not self.trace.design.drivers(one.part.signal)
                   for one in further)

    def _as_whole(self, level: Level, further: Sequence[Watch]) -> list[Watch]:
        """The same with all bits of a register where each step set all of them at once: one run for each edge."""
        wholes = {step.of.part.signal: self.trace.design.part(step.of.part.signal) for step in level.steps}
        if not all(wholes[step.of.part.signal] in step.assignment.targets for step in level.steps):
            return [*further]
        return [*dict.fromkeys(one._replace(part=wholes.get(one.part.signal, one.part)) for one in further)]

    def _look_behind(self, watch: Watch) -> _Behind:
        design, one = self.trace.design, Level([watch])
        drivers = Drivers(design, watch, one, self._wires_of(watch))
        here, after = drivers.find(self._history)
        return _Behind(one, one.lines(design), here, after, drivers.runs)


def narrowest_trace(design: Design, outputs: Sequence[Watch], levels: int, history: History) -> Trace:
    """The trace of the one output that leads to the fewest lines: were there a single fault, all of them held it. Of
    many outputs some are followed, from the first to the last; traces that were broken off come last."""
    first, *others = outputs[::math.ceil(len(outputs) / _OUTPUTS)]
    behind = dict[Watch, _Behind]()
    best = _Search(design, history, [first], behind).trace_back(levels)
    for output in others:
        best = _Search(design, history, [output], behind).narrower_than(best, levels) or best
    return best


def _breadth(trace: Trace) -> tuple[bool, int]:
    """How few lines there are; of traces that were broken off, those with more lines got further."""
    return trace.is_cut, -len(trace.lines()) if trace.is_cut else len(trace.lines())


# A trace as reports show it, followed in the child of this process and given as plain data.


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
    trace = narrowest_trace(read_once(text, target), outputs, levels, history)
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
