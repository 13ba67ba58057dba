"""Which outputs a bench found wrong, when, and in which bits: from its report and the waveform."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain

from chatdev.tools.verilog.answer import TOP
from chatdev.tools.verilog.bench import BenchReport
from chatdev.tools.verilog.design.records import Part
from chatdev.tools.verilog.waveform.pairs import ANSWER, REFERENCE, differing, runs
from chatdev.tools.verilog.waveform.vcd import Waves

_INSTANCE = re.compile(rf"\b{TOP}\s*(?:#\s*\([^;]*?\)\s*)?(?P<name>\w+)\s*\(")
_TIMESCALE = re.compile(r"`timescale\s+(?P<unit>\d+\s*[munpf]?s)")
_TIME = re.compile(r"(?P<count>\d+)\s*(?P<unit>[munpf]?s)")
_SECONDS = {unit: Fraction(1, 1000 ** power) for power, unit in enumerate(["s", "ms", "us", "ns", "ps", "fs"])}


@dataclass(frozen=True, slots=True)
class Wrong:
    """An output's first mismatch. `time` is in units of the bench, `sampled` the same in those of the waveform; `parts`
    are the wrong bits there, of the outputs that are wrong first, as far as the waveform holds both sides."""

    output: str
    count: int
    time: int
    sampled: int
    parts: tuple[Part, ...]


def wrong_outputs(report: BenchReport, waves: Waves, bench: str) -> tuple[Wrong, ...]:
    """The outputs with mismatches, the one that differs first at the front."""
    factor = _units(bench, waves)
    found = [Wrong(name, mismatch.count, mismatch.first_time, int(mismatch.first_time * factor), ())
             for name, mismatch in report.outputs.items() if mismatch.count and mismatch.first_time is not None]
    found.sort(key=lambda wrong: wrong.time)
    first = [wrong for wrong in found if wrong.time == found[0].time]
    return (*_with_parts(first, waves), *found[len(first):])


def scope_of(bench: str) -> str:
    """The scope in which the waveform has the answer's signals: that of its instance in the bench."""
    found = _INSTANCE.search(bench)
    return f"tb.{found['name'] if found else 'top_module1'}"


def columns_of(output: str, waves: Waves) -> list[str]:
    """The two sides of an output, as far as the waveform has them."""
    return [name for name in (f"tb.{output}{REFERENCE}", f"tb.{output}{ANSWER}") if name in waves.signals]


def _with_parts(some: Sequence[Wrong], waves: Waves) -> Iterator[Wrong]:
    """Outputs that are wrong at the same time with their wrong bits; the waveform is read once for all of them."""
    columns = {wrong.output: columns_of(wrong.output, waves) for wrong in some}
    values = waves.values_at(chain.from_iterable(columns.values()), some[0].sampled) if some else {}
    for wrong in some:
        sides = [values[column] for column in columns[wrong.output]]
        places = runs(differing(*sides)) if len(sides) == 2 else []
        yield replace(wrong, parts=tuple(Part(wrong.output, place[-1], len(place)) for place in places))


def _units(bench: str, waves: Waves) -> Fraction:
    """How many units of the waveform one of the bench is; 1 where neither names any."""
    named = _TIMESCALE.search(bench)
    unit, precision = _seconds(named["unit"] if named else ""), _seconds(waves.timescale)
    return unit / precision if unit and precision else Fraction(1)


def _seconds(text: str) -> Fraction | None:
    found = _TIME.search(text)
    return int(found["count"]) * _SECONDS[found["unit"]] if found else None
