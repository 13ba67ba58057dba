"""The first mismatch: which outputs were wrong, the lines behind it (`verilog.trace`), a picture (`verilog.draw`)."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from chatdev.departments.verilog.answer import Answer, NoAnswer
from chatdev.departments.verilog.bench import BenchLayout, HiddenBench, add_parameters
from chatdev.departments.verilog.bench_report import BenchReport, PrintedLine
from chatdev.departments.verilog.complaint import outputs_spoken_of
from chatdev.departments.verilog.design.elaborate import DesignError
from chatdev.departments.verilog.design.facts import DesignFacts, read_design
from chatdev.departments.verilog.design.records import Part
from chatdev.departments.verilog.equivalence import SeenDifferences, find_minded
from chatdev.departments.verilog.judge import simulate, verdict_of
from chatdev.departments.verilog.simulation import SimulationResult, simulate_answer
from chatdev.departments.verilog.specification import identifiers
from chatdev.departments.verilog.submission import read_submission
from chatdev.departments.verilog.target import Target
from chatdev.departments.verilog.trace_report import LONGEST, fit_report
from chatdev.departments.verilog.tracing.search import TraceFindings, find_causes
from chatdev.departments.verilog.tracing.trace import Past, Watch
from chatdev.departments.verilog.waveform.comparison import (
    ANSWER,
    REFERENCE,
    DifferingStep,
    cut_dump,
    differing_bits,
    group_bits,
    last_time,
)
from chatdev.departments.verilog.waveform.picture import TimeUnit, draw_diagram, render_tables, viewer_files
from chatdev.departments.verilog.waveform.recorded import window
from chatdev.departments.verilog.waveform.vcd import WaveformError
from chatdev.departments.verilog.waveform.waves import Waves
from chatdev.errors import ToolError
from chatdev.tools.base import ToolArgumentsError, ToolContext, Verdict, throwaway_copy, tool
from chatdev.workspace.file_tree import write_file

if TYPE_CHECKING:
    from chatdev.web.views import RunView

# Which outputs were wrong, when, and in which bits: what the bench reports, with the waveform.

_TIMESCALE = re.compile(r"`timescale\s+(?P<unit>\d{1,9}\s*[munpf]?s)")
_TIME = re.compile(r"(?P<count>\d{1,9})\s*(?P<unit>[munpf]?s)")
_SECONDS = {unit: Fraction(1, 1000 ** power) for power, unit in enumerate(["s", "ms", "us", "ns", "ps", "fs"])}


@dataclass(frozen=True, slots=True)
class WrongOutput:
    """An output's first mismatch. `time` is in units of the bench; the bench saw what held just before `sampled`, in
    units of the waveform; `parts` are the wrong bits there, of the outputs that are wrong first, as far as the waveform
    holds both sides. It may differ `since` a time before, which the bench does not mind by itself."""

    output: str
    count: int
    time: int
    sampled: int
    parts: tuple[Part, ...]
    since: int | None = None


def wrong_outputs(report: BenchReport, waves: Waves, bench: HiddenBench, minded: int | None = None,
                  differing: Sequence[DifferingStep] | None = None, reacted: int | None = None
                  ) -> tuple[WrongOutput, ...]:
    """The outputs with mismatches, the one that differs first at the front. Where the bench names none, those that the
    waveform shows to differ since the time that is `minded` (`find_minded`), or last before the bench `reacted` to one,
    or else where they most likely began to; `differing` are all steps at which they do, where these are known."""
    root, factor = bench.layout.root, _unit_factor(bench.text, waves)
    found = [WrongOutput(name, mismatch.count, mismatch.first_time, int(mismatch.first_time * factor), ())
             for name, mismatch in report.outputs.items() if mismatch.count and mismatch.first_time is not None]
    found.sort(key=lambda wrong: wrong.time)
    first = [wrong for wrong in found if wrong.time == found[0].time]
    if not found:
        return tuple(_differing_outputs(report, waves, root, differing, minded, reacted))
    return (*_find_wrong_bits(first, waves, root), *found[len(first):])


def output_columns(output: str, waves: Waves, root: str) -> list[str]:
    """The two sides of an output, as far as the waveform has them."""
    return [name for name in (f"{root}.{output}{REFERENCE}", f"{root}.{output}{ANSWER}") if name in waves.signals]


def _differing_outputs(report: BenchReport, waves: Waves, root: str, differing: Sequence[DifferingStep] | None,
                       minded: int | None, reacted: int | None) -> Iterator[WrongOutput]:
    """The outputs that differ from the reference's since the time that is `minded`, those that the bench `reacted` to,
    or else those that begin the likeliest difference up to the first complaint, or of all; behind them the others that
    differ at the complaint."""
    complaint = report.first_complaint
    until = complaint.time if complaint and complaint.time is not None else math.inf
    found = SeenDifferences.find(waves, root, until, differing)
    found = found if found.every else SeenDifferences.find(waves, root, known=differing)
    first = found.likely_first if minded is None else found.begun_at(minded)
    if reacted is not None and reacted <= until:
        first = SeenDifferences.find(waves, root, reacted - 1, differing).last_begun or first
    if first is None:
        return
    begin = [WrongOutput(output, 1, first.time, first.time + 1, (),
                         since if (since := found.lasting.get(output, first.time)) < first.time else None)
             for output in first.outputs]
    yield from _find_wrong_bits(begin, waves, root)
    yield from (WrongOutput(output, 1, start, start + 1, ()) for output, start in found.lasting.items()
                if output not in first.outputs)


def scope_with(waves: Waves, ports: Mapping[str, int]) -> str:
    """The first scope that has all these ports, in their widths. Raises WaveformError where none has."""
    scopes = dict.fromkeys(name.rpartition(".")[0] for name in waves.signals)
    for scope in scopes:
        found = (waves.signals.get(f"{scope}.{port}") for port in ports)
        if all(signal and signal.width == width for signal, width in zip(found, ports.values(), strict=True)):
            return scope
    raise WaveformError(f"{waves.path.name}: no scope has the ports {', '.join(ports)} in their widths; name that of "
                        f"the module, one of {', '.join([*scopes][:8])}")


def first_difference(waves: Waves, scope: str) -> int:
    """The time just after the likeliest first difference between `NAME_ref` and `NAME_dut` in the bench that the scope
    is in. Raises WaveformError where there is none."""
    found = SeenDifferences.find(waves, scope.partition(".")[0]).likely_first
    if found is None:
        raise WaveformError(f"{waves.path.name}: no NAME_ref in {scope.partition('.')[0]} differs from its NAME_dut; "
                            "give the time of the mismatch")
    return found.time + 1


def _find_wrong_bits(some: Sequence[WrongOutput], waves: Waves, root: str) -> list[WrongOutput]:
    """The outputs with their wrong bits. Where both sides agree before the time of the report and differ at it, the
    bench compared after that change."""
    before = list(_add_wrong_bits(some, waves, root))
    if any(wrong.parts for wrong in before):
        return before
    after = list(_add_wrong_bits([replace(wrong, sampled=wrong.sampled + 1) for wrong in some], waves, root))
    return after if any(wrong.parts for wrong in after) else before


def _add_wrong_bits(some: Sequence[WrongOutput], waves: Waves, root: str) -> Iterator[WrongOutput]:
    """Outputs that are wrong at the same time with their wrong bits; the waveform is read once for all of them."""
    columns = {wrong.output: output_columns(wrong.output, waves, root) for wrong in some}
    values = waves.values_at(chain.from_iterable(columns.values()), some[0].sampled) if some else {}
    for wrong in some:
        sides = [values[column] for column in columns[wrong.output]]
        places = group_bits(differing_bits(*sides)) if len(sides) == 2 else []
        yield replace(wrong, parts=tuple(Part(wrong.output, place[-1], len(place)) for place in places))


def _unit_factor(bench: str, waves: Waves) -> Fraction:
    """How many units of the waveform one of the bench is; 1 where neither names any."""
    named = _TIMESCALE.search(bench)
    unit, precision = _seconds(named["unit"] if named else ""), _seconds(waves.timescale)
    return unit / precision if unit and precision else Fraction(1)


def _unit_of(bench: str, waves: Waves) -> TimeUnit:
    """The unit in which the bench tells times, or else that of the waveform."""
    named, factor = _TIMESCALE.search(bench), _unit_factor(bench, waves)
    if named is None or factor.denominator > 1:
        return TimeUnit(waves.timescale)
    return TimeUnit(re.sub(r"\A1(?=\D)|\s", "", named["unit"]), int(factor))


def _seconds(text: str) -> Fraction | None:
    found = _TIME.search(text)
    return int(found["count"]) * _SECONDS[found["unit"]] if found else None


# The tools `verilog.trace` and `verilog.draw`.

_DEEPEST = 12  # levels
_COLUMNS, _ROWS = 14, (16, 8, 4)  # of the table; fewer rows where signals of the trace would be left out
_MOST_DRAWN = 12  # inputs, inner signals, and outputs
_DRAWN_LEVELS = 3  # of the trace whose signals are drawn
_MOST_KEPT = 16 << 20  # bytes of a waveform in a run's folder
_ENDLESS = ("waits", "timed_out", "too_much_written")  # of which a waveform tells what the bench waits for


@tool(reads=("software",))
def trace(context: ToolContext, *,
          levels: Annotated[int, Field(ge=1, le=_DEEPEST, description="how far to go back: 3 is a good start")] = 3,
          outputs: Annotated[list[str] | None, Field(description="only these outputs; by default those that are wrong "
                                                                 "first")] = None) -> Verdict:
    """Simulate the Verilog module `TopModule` with the test bench and trace a wrong output back: the lines that gave it
    its value, and a table of the signals before the first mismatch.

    What does not compile or has no mismatch is reported as `verilog.simulate` does.
    """
    return trace_software(context, levels, outputs)


def trace_software(context: ToolContext, levels: int, outputs: Sequence[str] | None,
                   longest: float = LONGEST) -> Verdict:
    """The same with reports of other lengths. Raises ToolArgumentsError when none of the `outputs` is wrong."""
    try:
        answer, _, bench = read_submission(context)
    except NoAnswer:
        bench = None
    if bench is None:
        verdict: Verdict = simulate.call(context, {})
        return verdict
    with throwaway_copy(context.scratch, {}) as folder:
        result = simulate_answer(answer.text, bench, context.sandbox, folder, dump=True)
        minded = find_minded(result, answer, bench, context.sandbox, folder)
        return explain_result(answer, bench, result, levels, outputs, minded, longest)


def explain_result(answer: Answer, bench: HiddenBench, result: SimulationResult, levels: int,
                   outputs: Sequence[str] | None = None, minded: int | None = None,
                   longest: float = LONGEST) -> Verdict:
    """The verdict of a simulation, with the trace of its first mismatch if there is one, which is at the time that is
    `minded` (`find_minded`) where that is known; raises ToolArgumentsError when none of the `outputs` is wrong."""
    plain = verdict_of(result, answer)
    if result.outcome in _ENDLESS and result.waves and cut_dump(result.waves):
        result = replace(result, report=BenchReport())
    is_traced = result.outcome in ("mismatches", *_ENDLESS)
    waveform = _Waveform.of(result, bench, answer, minded) if is_traced else None
    return _trace_back(answer, waveform, outputs, levels, plain, longest) if waveform else plain


@tool(reads=("software",))
def draw(context: ToolContext) -> dict[str, Any]:
    """Draw how the inputs and outputs of the Verilog module `TopModule` change in the test bench, and the signals
    behind the first mismatch, with reference and answer of each output next to each other and mismatches marked.

    The picture is a file of the run folder, and stands in its report; there is none without a bench, and for a module
    that cannot be simulated. Beside it lies the waveform, unless it is too large, with what GTKWave and Surfer read to
    show the same signals.
    """
    with record_simulation(context) as recorded:
        if recorded is None or not recorded.has_verdict:
            return {"pictures": {}}
        stem = f"waves-{hashlib.sha256(recorded.answer.text.encode()).hexdigest()[:8]}"
        names = recorded.names_to_draw()
        title, picture = recorded.draw(names)
        write_file(context.run_folder, f"{stem}.svg", picture.encode())
        if recorded.dump.stat().st_size <= _MOST_KEPT:
            write_file(context.run_folder, f"{stem}.vcd", recorded.dump.read_bytes())
            for ending, text in recorded.viewer_files(f"{stem}.vcd", names).items():
                write_file(context.run_folder, f"{stem}{ending}", text.encode())
    return {"pictures": {title: f"{stem}.svg"}}


@contextmanager
def record_simulation(context: ToolContext) -> Iterator[RecordedSimulation | None]:
    """Run the bench, and record it; None without a bench or an answer, or where there is no waveform."""
    try:
        answer, _, bench = read_submission(context)
    except NoAnswer:
        bench = None
    if bench is None:
        yield None
        return
    with throwaway_copy(context.scratch, {}) as folder:
        result = simulate_answer(answer.text, bench, context.sandbox, folder, dump=True)
        has_verdict, result = result.report is not None, replace(result, report=result.report or BenchReport())
        minded = find_minded(result, answer, bench, context.sandbox, folder) if has_verdict else None
        waveform = _Waveform.of(result, bench, answer, minded)
        yield RecordedSimulation(answer, waveform, has_verdict) if waveform else None


@dataclass(frozen=True, slots=True)
class RecordedSimulation:
    """An answer in its bench, as it was recorded; `has_verdict` says that the bench came to one."""

    answer: Answer
    waveform: _Waveform
    has_verdict: bool

    @property
    def dump(self) -> Path:
        """The waveform, which is there as long as `record_simulation`."""
        return self.waveform.waves.path

    def draw(self, names: Sequence[str]) -> tuple[str, str]:
        """The title and SVG of a picture of these signals. Raises WaveformError for one that was not recorded."""
        waveform, wrong, unit = self.waveform, self.waveform.wrong, self.waveform.unit
        start, end = window(names, waveform.waves, wrong[0].sampled if wrong else None)
        times = [waveform.began(one) for one in wrong]
        title = f"Waveforms up to the first mismatch, at {unit.text(times[0])} {unit.name}" if wrong else "Waveforms"
        return title, draw_diagram(waveform.waves, names, times, start=start, end=end, unit=unit)

    def viewer_files(self, dump: str, names: Sequence[str]) -> dict[str, str]:
        """What viewers read to show these signals in the file `dump`, by the endings of the files; where nothing is
        wrong, with all others of the answer behind them."""
        waves, wrong = self.waveform.waves, self.waveform.wrong
        if wrong:
            return viewer_files(waves, dump, names, self.waveform.began(wrong[0]))
        others = sorted(name for name in waves.signals if name.startswith(f"{self.waveform.layout.scope}."))
        return viewer_files(waves, dump, [*dict.fromkeys((*names, *others))], None)

    def names_to_draw(self, signals: Sequence[str] = ()) -> list[str]:
        """The full names of inputs, of these inner signals, by default those of the trace, and of both sides of each
        output, the wrong ones first."""
        waveform, design = self.waveform, self._design
        inputs, others = (design.input_names, design.output_names) if design else ([], [])
        outputs = [*dict.fromkeys((*(one.output for one in waveform.wrong), *waveform.report.outputs, *others))]
        sides = chain.from_iterable(_sides(name, waveform) for name in outputs[:_MOST_DRAWN])
        inner = [waveform.full_name(one) for one in signals] if signals or not design else self._traced_names(design)
        return [*dict.fromkeys((*waveform.known_names(inputs)[:_MOST_DRAWN], *inner, *sides))]

    @property
    def _design(self) -> DesignFacts | None:
        """None of a source that cannot be read."""
        try:
            return read_design(self.answer.text, self.waveform.target)
        except DesignError:
            return None

    def _traced_names(self, design: DesignFacts) -> list[str]:
        """The full names of the inner signals behind the first mismatch."""
        waveform = self.waveform.with_suspects(design.output_names)
        if not waveform.wrong:
            return []
        try:
            traced = _find_trace(self.answer, waveform, design, _DRAWN_LEVELS).signals
        except (DesignError, ToolError):
            return []
        ports = {port.name for port in design.ports}
        return waveform.known_names(one for one in traced if one not in ports)[:_MOST_DRAWN]


@dataclass(frozen=True, slots=True)
class _Waveform:
    """What was recorded of a simulation that came to its end. `layout` says where the answer's signals are; `wrong` are
    the outputs with a mismatch, the first one first. Where nobody knows which these are, `is_guess` says that they are
    those that the bench speaks of, or all. `end` is the last time of a bench that came to none by itself, and `bench`
    its text."""

    report: BenchReport
    waves: Waves
    layout: BenchLayout
    target: Target
    wrong: tuple[WrongOutput, ...]
    unit: TimeUnit
    is_guess: bool = False
    end: int | None = None
    bench: str = ""

    @classmethod
    def of(cls, result: SimulationResult, bench: HiddenBench, answer: Answer,
           minded: int | None = None) -> _Waveform | None:
        """None when there is no report or no waveform."""
        if result.report is None or result.waves is None:
            return None
        waves = Waves.open(result.waves)
        target = add_parameters(bench, answer.text)
        wrong = wrong_outputs(result.report, waves, bench, minded, result.differing, result.reacted)
        end = last_time(waves.path) if result.outcome in _ENDLESS else None
        return cls(result.report, waves, bench.layout, target, wrong, _unit_of(bench.text, waves), end=end,
                   bench=bench.text)

    def with_suspects(self, outputs: Sequence[str], asked: Sequence[str] | None = None) -> _Waveform:
        """With those wrong outputs that the design has, or else a guess: its `outputs` that are `asked` for, or that
        the bench speaks of."""
        known = tuple(one for one in self.wrong if one.output in outputs)
        complaint = self.report.first_complaint or PrintedLine("")
        time = self.wrong[0].sampled if self.wrong else self.end if complaint.time is None else complaint.time
        if known or time is None:
            return replace(self, wrong=known)
        named = ({*(asked or ())}.intersection(outputs) or identifiers(complaint.text).intersection(outputs)
                 or outputs_spoken_of(self.bench, complaint.text, outputs) or {*outputs})
        guess = tuple(WrongOutput(name, 0, time, time, ()) for name in outputs if name in named)
        return replace(self, wrong=guess, is_guess=True)

    def restrict_to(self, outputs: Sequence[str] | None) -> _Waveform:
        """With these of the wrong outputs alone; raises ToolArgumentsError when none of them is wrong."""
        wrong = tuple(one for one in self.wrong if outputs is None or one.output in outputs)
        if not wrong:
            raise ToolArgumentsError(f"outputs: none of {', '.join(outputs or ()) or 'those'} has a mismatch; "
                                     f"those that have one: {', '.join(one.output for one in self.wrong)}")
        return replace(self, wrong=wrong)

    def began(self, one: WrongOutput) -> int:
        """When an output was wrong first, in units of the waveform: when the bench saw it, or else when it changed."""
        return one.sampled if one.output in self.report.outputs else one.time

    def full_name(self, signal: str) -> str:
        """The full name of a signal of the module, or of the bench."""
        inner = f"{self.layout.scope}.{signal}"
        return signal if signal in self.waves.signals and inner not in self.waves.signals else inner

    def known_names(self, signals: Iterable[str]) -> list[str]:
        """The full names of the answer's signals that were recorded, each once."""
        names = dict.fromkeys(f"{self.layout.scope}.{signal}" for signal in signals)
        return [name for name in names if name in self.waves.signals]


def _trace_back(answer: Answer, waveform: _Waveform, outputs: Sequence[str] | None, levels: int,
                plain: Verdict, longest: float) -> Verdict:
    """The verdict `plain` with the report of the trace, and the lines as evidence; itself where nobody knows when
    something was wrong."""
    trace, problem = None, ""
    try:
        design = read_design(answer.text, waveform.target)
        waveform = waveform.with_suspects(design.output_names, outputs)
        if waveform.wrong:
            waveform = waveform.restrict_to(outputs)
            trace = _find_trace(answer, waveform, design, levels)
    except DesignError as error:
        problem = str(error)
    if not waveform.wrong:
        return plain
    focus = _focus(trace, waveform)
    source = answer.number_lines(waveform.target)
    text = fit_report(
        trace, source, _tables(trace, focus, waveform), longest,
        report=waveform.report, focus=focus, wrong=waveform.wrong, path=answer.path, problem=problem,
        is_guess=waveform.is_guess, ended="" if waveform.end is None else plain.report.partition("\n")[0],
        deepest=_DEEPEST, asked=levels)
    last, traced = len(answer.text.splitlines()), trace.lines if trace else ()
    evidence = {**plain.evidence, "lines": [line for line in traced if line <= last],
                "places": [source[line - 1][0] for line in traced], "output": focus.output, "time": focus.time}
    return Verdict(plain.passed, text, plain.score, evidence, judged=plain.judged)


def _find_trace(answer: Answer, waveform: _Waveform, design: DesignFacts, levels: int) -> TraceFindings:
    past = Past.of(waveform.waves, waveform.layout.scope, design.widths, waveform.wrong[0].sampled)
    return find_causes(answer.text, _first_wrong_bits(waveform, design), levels, past, waveform.target)


def _first_wrong_bits(waveform: _Waveform, design: DesignFacts) -> tuple[Watch, ...]:
    """The wrong bits of the outputs that are wrong first."""
    first = [one for one in waveform.wrong if one.time == waveform.wrong[0].time]
    return tuple(Watch(part, one.sampled) for one in first for part in one.parts or (design.part(one.output),))


def _focus(trace: TraceFindings | None, waveform: _Waveform) -> WrongOutput:
    """The output that the trace is about."""
    if trace is None:
        return waveform.wrong[0]
    return next(one for one in waveform.wrong if one.output == trace.output)


def _tables(trace: TraceFindings | None, focus: WrongOutput, waveform: _Waveform) -> Iterator[str]:
    """The rows before the mismatch, ever fewer: the signals of the trace, then both sides of the output."""
    names = waveform.known_names(trace.signals if trace else ())[:_COLUMNS]
    return render_tables(waveform.waves, [*names, *_sides(focus.output, waveform)], focus.sampled, _ROWS)


def _sides(output: str, waveform: _Waveform) -> list[str]:
    """The columns of an output: reference and answer, or the answer's alone."""
    return (output_columns(output, waveform.waves, waveform.layout.root)
            or waveform.known_names([output]))


def views(_folder: Path, values: Mapping[str, Any]) -> Iterator[RunView]:
    """What the web view shows beside the waveforms: which outputs are wrong in the test bench, and since when."""
    from chatdev.web.views import RunView  # brings the runner with it, which programs without a run do without

    judged = values.get("verilog.judge") or values.get("verilog.simulate") or {}
    if outputs := judged.get("outputs"):
        rows = [(name, str(one["count"]), str(one["first_time"])) for name, one in outputs.items()]
        yield RunView("Outputs with mismatches", table=[("output", "mismatches", "first at time"), *rows],
                      about=f"{judged['mismatches']} of {judged['samples']} samples do not match.")
