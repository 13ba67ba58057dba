"""Which outputs were wrong in a simulation, when, and in which bits: what the bench reports, with the waveform."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain

from chatdev.departments.verilog.bench import HiddenBench
from chatdev.departments.verilog.bench_report import BenchReport
from chatdev.departments.verilog.design.records import Part
from chatdev.departments.verilog.first_difference import SeenDifferences
from chatdev.departments.verilog.waveform.comparison import ANSWER, REFERENCE, differing_bits, group_bits
from chatdev.departments.verilog.waveform.waves import Waves

_TIMESCALE = re.compile(r"`timescale\s+(?P<unit>\d{1,9}\s*[munpf]?s)")
_TIME = re.compile(r"(?P<count>\d{1,9})\s*(?P<unit>[munpf]?s)")
_SECONDS = {unit: Fraction(1, 1000 ** power) for power, unit in enumerate(["s", "ms", "us", "ns", "ps", "fs"])}


@dataclass(frozen=True, slots=True)
class WrongOutput:
    """An output's first mismatch. `time` is in units of the bench; the bench saw what held just before `sampled`, in
    units of the waveform; `parts` are the wrong bits there, of the outputs that are wrong first, as far as the waveform
    holds both sides."""

    output: str
    count: int
    time: int
    sampled: int
    parts: tuple[Part, ...]


def wrong_outputs(report: BenchReport, waves: Waves, bench: HiddenBench,
                  minded: int | None = None) -> tuple[WrongOutput, ...]:
    """The outputs with mismatches, the one that differs first at the front. Where the bench names none, those that the
    waveform shows to differ since the time that is `minded` (`find_minded`), or else where they most likely began to.
    """
    root, factor = bench.layout.root, _unit_factor(bench.text, waves)
    found = [WrongOutput(name, mismatch.count, mismatch.first_time, int(mismatch.first_time * factor), ())
             for name, mismatch in report.outputs.items() if mismatch.count and mismatch.first_time is not None]
    found.sort(key=lambda wrong: wrong.time)
    first = [wrong for wrong in found if wrong.time == found[0].time]
    if not found:
        return tuple(_differing_outputs(report, waves, root, minded))
    return (*_find_wrong_bits(first, waves, root), *found[len(first):])


def output_columns(output: str, waves: Waves, root: str) -> list[str]:
    """The two sides of an output, as far as the waveform has them."""
    return [name for name in (f"{root}.{output}{REFERENCE}", f"{root}.{output}{ANSWER}") if name in waves.signals]


def _differing_outputs(report: BenchReport, waves: Waves, root: str, minded: int | None) -> Iterator[WrongOutput]:
    """The outputs that differ from the reference's since the time that is `minded`, or else those that begin the
    likeliest difference up to the first complaint, or of all; behind them the others that differ at the complaint."""
    complaint = report.first_complaint
    found = SeenDifferences.find(waves, root, complaint.time if complaint and complaint.time is not None else math.inf)
    found = found if found.every else SeenDifferences.find(waves, root)
    first = found.likely_first if minded is None else found.begun_at(minded)
    if first is None:
        return
    begin = [WrongOutput(output, 1, first.time, first.time + 1, ()) for output in first.outputs]
    yield from _find_wrong_bits(begin, waves, root)
    yield from (WrongOutput(output, 1, start, start + 1, ()) for output, start in found.lasting.items()
                if output not in first.outputs)


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


def _seconds(text: str) -> Fraction | None:
    found = _TIME.search(text)
    return int(found["count"]) * _SECONDS[found["unit"]] if found else None
