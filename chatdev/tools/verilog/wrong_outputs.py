"""Which outputs were wrong in a simulation, when, and in which bits: what the bench reports, with the waveform."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain

from chatdev.tools.verilog.bench import HiddenBench
from chatdev.tools.verilog.bench_report import BenchReport
from chatdev.tools.verilog.design.records import Part
from chatdev.tools.verilog.waveform.comparison import (
    ANSWER,
    REFERENCE,
    Pair,
    are_different,
    differing_bits,
    find_pairs,
    group_bits,
)
from chatdev.tools.verilog.waveform.waves import Waves

_FEW_ROWS = 16, 256  # in which to look for the beginning of a difference
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


def wrong_outputs(report: BenchReport, waves: Waves, bench: HiddenBench) -> tuple[WrongOutput, ...]:
    """The outputs with mismatches, the one that differs first at the front. Where the bench names none, those that the
    waveform shows to differ when it first complains, or else those that differ before all others."""
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
    """The outputs that differ from the reference's at the time of the first complaint, or else those that differ
    first."""
    complaint = report.first_complaint
    found = _differences_at(waves, root, complaint.time) if complaint and complaint.time is not None else {}
    if not found:
        found = _find_differences(waves, _pairs_of(waves, root), None)
    late = complaint.time if complaint and complaint.time is not None else 0
    first = [WrongOutput(output, 1, sampled, sampled, ()) for output, start in found.items()
             for sampled in [max(start + 1, late)]]
    yield from _find_wrong_bits(first, waves, root)


def _differences_at(waves: Waves, root: str, time: int) -> dict[str, int]:
    """The outputs that differ at a time, each since when, the first one first. Of a single one it only tells whether
    that was before the time. The whole waveform is read only for differences that are older than some rows."""
    partners = _pairs_of(waves, root)
    for count in _FEW_ROWS:
        rows, since = waves.rows_before(partners, time + 1, count), dict[str, int]()
        for row in rows:
            for pair in dict.fromkeys(partners.values()):
                _note_difference(pair, row.values, since, row.time)
        is_whole = len(rows) < count or (rows[0].time < time and len(since) < 2)
        if is_whole or rows[0].time not in since.values():
            return since
    return _find_differences(waves, {name: pair for name, pair in partners.items() if _output_of(pair) in since}, time)


def _find_differences(waves: Waves, partners: Mapping[str, Pair], until: int | None) -> dict[str, int]:
    """The outputs that differ at a time, each since when; without a time, those that differ before all others do."""
    values, since = dict[str, str](), dict[str, int]()
    for time, changed in waves.steps(partners, math.inf if until is None else until + 1):
        values |= changed
        for name in changed:
            _note_difference(partners[name], values, since, time)
        if since and until is None:
            break
    return since


def _pairs_of(waves: Waves, root: str) -> dict[str, Pair]:
    """Both sides of each output, by the name of either."""
    pairs = [pair for pair in find_pairs(waves.signals) if pair.reference.rpartition(".")[0] == root]
    return {name: pair for pair in pairs for name in (pair.reference, pair.answer)}


def _note_difference(pair: Pair, values: Mapping[str, str], since: dict[str, int], time: int) -> None:
    """Keep since when an output differs, as long as it does."""
    output = _output_of(pair)
    if are_different(values.get(pair.reference, "x"), values.get(pair.answer, "x")):
        since.setdefault(output, time)
    else:
        since.pop(output, None)


def _output_of(pair: Pair) -> str:
    return pair.reference.rpartition(".")[2].removesuffix(REFERENCE)


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
