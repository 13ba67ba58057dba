"""The report of a trace: as many signals as fit into it, the nearest to the wrong output first, with their lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from itertools import accumulate
from typing import Any

from chatdev.departments.verilog.compilation import render_report
from chatdev.departments.verilog.tracing.search import TraceFindings
from chatdev.departments.verilog.tracing.trace import SignalReport

LONGEST = 6000
"""Characters of a report that agents read."""
_MISFITS, _BESIDE = 6, 4  # widths that may be wrong, and other lines that write a signal, of which it tells
_MOST_RANGES = 40  # of lines that are only numbered
_CUT = "(the rest is left out, as this report has an end)"
Source = Sequence[tuple[str, str]]
"""Each line with what it is called (`12`, `fifo.sv:3`)."""


def fit_report(trace: TraceFindings | None, source: Source, tables: Iterator[str], longest: float = LONGEST,
               **facts: Any) -> str:
    """The report with as many signals of the trace as fit into `longest` characters, the nearest to the output first,
    and the first of ever smaller `tables` that leaves room for all of them, else the last. Without a trace, `facts`
    have the `problem`."""
    facts |= {"source": source}
    if trace is None:
        return render_report("trace", table=next(tables), **facts)
    facts |= {"leapt": trace.leapt, "deeper": trace.goes_on, "misfits": trace.misfits[:_MISFITS],
              "more_misfits": len(trace.misfits) - _MISFITS, "beside": trace.beside[:_BESIDE], "shared": trace.shared}
    report, fitting = _Report(trace, source, longest), 0
    for table in tables:
        facts["table"] = table
        fitting = report.count_fitting(facts)
        if fitting == report.every:
            break
    return _cut_lines(report.text(max(1, fitting), facts), longest)


class _Report:
    """The reports of one trace, of which each has another number of signals; `every` is that of all."""

    def __init__(self, trace: TraceFindings, source: Source, longest: float) -> None:
        self._trace, self._source, self._longest = trace, source, longest
        self._signals = [*_signal_texts(trace.levels, source)]
        self._lines = [*map(_lines_of, (signal for level in trace.levels for signal in level))]
        self.every = len(self._signals)

    def count_fitting(self, facts: Mapping[str, Any]) -> int:
        """How many of all the signals fit, found by halves."""
        if len(self.text(self.every, facts)) <= self._longest:
            return self.every
        fitting, too_many = 0, self.every
        while too_many - fitting > 1:
            count = (fitting + too_many) // 2
            if len(self.text(count, facts)) <= self._longest:
                fitting = count
            else:
                too_many = count
        return fitting

    def text(self, count: int, facts: Mapping[str, Any]) -> str:
        """The report with the first `count` signals of the levels."""
        ends = accumulate(map(len, self._trace.levels))
        levels = [self._signals[end - len(level):min(end, count)]
                  for end, level in zip(ends, self._trace.levels, strict=True)]
        seen = set[int]().union(*self._lines[:count])
        told = seen.union(self._trace.shared, *(numbers for _, numbers in facts["beside"]))
        unseen = set[int]().union(*self._lines) - told
        return render_report("trace", levels=levels, left_out=max(0, self.every - count),
                             unseen=_join_ranges(sorted(unseen), self._source),
                             elsewhere=_join_ranges(sorted({*self._trace.cone} - told - unseen), self._source), **facts)


def _signal_texts(levels: Iterable[Sequence[SignalReport]], source: Source) -> Iterator[str]:
    """What a report says of each signal; lines that were shown before are only named."""
    known: set[int] = set()

    def divide(lines: Sequence[int]) -> dict[str, list[int]]:
        divided = {"fresh": [line for line in lines if line not in known],
                   "shown": [line for line in lines if line in known]}
        known.update(lines)
        return divided

    for signal in (signal for level in levels for signal in level):
        facts = {field.name: getattr(signal, field.name) for field in fields(signal)}
        facts["causes"] = [(cause, divide(cause.lines)) for cause in signal.causes]
        yield render_report("signal", **{**facts, "wait_lines": divide(signal.wait_lines)}, source=source)


def _lines_of(signal: SignalReport) -> set[int]:
    """All lines that it shows."""
    return {*signal.wait_lines}.union(*(cause.lines for cause in signal.causes))


def _cut_lines(report: str, longest: float) -> str:
    """The report without its last lines where one signal alone has too many."""
    if len(report) <= longest:
        return report
    return report[:report.rfind("\n", 0, int(longest) - len(_CUT)) + 1] + _CUT


def _join_ranges(numbers: Sequence[int], source: Source) -> list[str]:
    """Lines as people write them: `3`, `7–12`, `fifo.sv:3–9`."""
    runs = list[list[int]]()
    for number in numbers:
        if runs and runs[-1][-1] == number - 1 and _is_next_line(*(source[one - 1][0] for one in (number - 1, number))):
            runs[-1].append(number)
        else:
            runs.append([number])
    said = [source[run[0] - 1][0] + (f"–{source[run[-1] - 1][0].rpartition(':')[2]}" if len(run) > 1 else "")
            for run in runs]
    return said if len(said) <= _MOST_RANGES else [*said[:_MOST_RANGES], f"and {len(said) - _MOST_RANGES} more"]


def _is_next_line(one: str, other: str) -> bool:
    """Whether two lines that follow each other stand in the same file."""
    return one.rpartition(":")[0] == other.rpartition(":")[0]
