"""Which outputs were wrong in a simulation, when, and in which bits: what the bench reports, with the waveform."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain
from typing import NamedTuple

from chatdev.tools.verilog.bench import HiddenBench
from chatdev.tools.verilog.bench_report import BenchReport
from chatdev.tools.verilog.design.records import Part
from chatdev.tools.verilog.waveform.comparison import (
    ANSWER,
    REFERENCE,
    Pair,
    differing_bits,
    differing_spans,
    find_pairs,
    group_bits,
    read_spans,
)
from chatdev.tools.verilog.waveform.waves import Waves

_TIMESCALE = re.compile(r"`timescale\s+(?P<unit>\d{1,9}\s*[munpf]?s)")
_FOR_EVER = 1 << 62
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


def wrong_outputs(report: BenchReport, waves: Waves, bench: HiddenBench) -> tuple[WrongOutput, ...]:
    """The outputs with mismatches, the one that differs first at the front. Where the bench names none, those that the
    waveform shows to differ when it first complains, or else before all others."""
    root, factor = bench.layout.root, _unit_factor(bench.text, waves)
    found = [WrongOutput(name, mismatch.count, mismatch.first_time, int(mismatch.first_time * factor), ())
             for name, mismatch in report.outputs.items() if mismatch.count and mismatch.first_time is not None]
    found.sort(key=lambda wrong: wrong.time)
    first = [wrong for wrong in found if wrong.time == found[0].time]
    if not found:
        return tuple(_differing_outputs(report, waves, root))
    return (*_find_wrong_bits(first, waves, root), *found[len(first):])


def output_columns(output: str, waves: Waves, root: str) -> list[str]:
    """The two sides of an output, as far as the waveform has them."""
    return [name for name in (f"{root}.{output}{REFERENCE}", f"{root}.{output}{ANSWER}") if name in waves.signals]


def _differing_outputs(report: BenchReport, waves: Waves, root: str) -> Iterator[WrongOutput]:
    """The outputs that differ from the reference's, the one at the front that differs at the time of the first
    complaint, if one does, or else the one that differs first."""
    complaint = report.first_complaint
    found = [_difference_of(pair, times, complaint.time if complaint else None)
             for pair, times in _differing_times(waves, root)]
    found.sort(key=lambda one: (not one.is_seen, one.output.sampled))
    first = [one.output for one in found if one.output.sampled == found[0].output.sampled]
    yield from _find_wrong_bits(first, waves, root)
    yield from (one.output for one in found if one.output not in first)


def _differing_times(waves: Waves, root: str) -> Iterator[tuple[Pair, Sequence[tuple[int, int]]]]:
    """The outputs that differ, and when."""
    pairs = [pair for pair in find_pairs(waves.signals) if pair.reference.rpartition(".")[0] == root]
    spans = read_spans(waves, [name for pair in pairs for name in (pair.reference, pair.answer)], 0, _FOR_EVER)
    for pair in pairs:
        if times := differing_spans(spans[pair.reference], spans[pair.answer]):
            yield pair, times


class _Difference(NamedTuple):
    """An output that is not what the reference has, and whether it is so when the bench complains."""

    output: WrongOutput
    is_seen: bool


def _difference_of(pair: Pair, times: Sequence[tuple[int, int]], complaint: int | None) -> _Difference:
    """The difference of an output in these times."""
    begun = next((start for start, end in times if complaint is not None and start <= complaint <= end), None)
    is_before = complaint is not None and begun is not None and begun < complaint
    sampled = complaint if complaint is not None and is_before else times[0][0] + 1
    output = pair.reference.rpartition(".")[2].removesuffix(REFERENCE)
    return _Difference(WrongOutput(output, len(times), sampled, sampled, ()), begun is not None)


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
