"""Test benches as VerilogEval has them: top module `tb`, a report per output, a last line with all mismatches.

What a bench reports, and with the waveform which outputs were wrong, when, and in which bits.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import chain
from typing import Any, Self

from chatdev.tools.verilog.answer import TOP
from chatdev.tools.verilog.design.records import Part
from chatdev.tools.verilog.icarus import WAVES
from chatdev.tools.verilog.waveform.comparison import ANSWER, REFERENCE, differing_bits, group_bits
from chatdev.tools.verilog.waveform.waves import Waves

_DUMP = f'$dumpfile("{WAVES}"); $dumpvars(0, tb);'
_DUMPVARS = re.compile(r"\$dumpvars\s*+(?:\((?:[^;$]|\$(?!dump))*?\)\s*+)?;", re.DOTALL)
_DUMPFILE = re.compile(r"\$dumpfile\s*+\((?:[^;$]|\$(?!dump))*?\)\s*+;", re.DOTALL)
_PRINT = re.compile(r'\$(?:display|write|strobe|monitor)[bho]?\s*+\(\s*+"')
_OTHER_PRINT = re.compile(r'\$(?:display|write|strobe|monitor)[bho]?\b(?!\s*+(?:\(\s*+["),]|;))')
_HEADER = re.compile(r"^[ \t]*+module\s++tb\b(?:[^;m]|m(?!odule\b))*+;", re.MULTILINE)
_OUTPUT = re.compile(r"^Hint: Output '(?P<name>[^']+)' has (?:no mismatches"
                     r"|(?P<count>\d{1,20}) mismatches\. First mismatch occurred at time (?P<time>\d{1,20}))\.",
                     re.MULTILINE)
_TOTAL = re.compile(r"^Mismatches: (\d{1,20}) in (\d{1,20}) samples\s*$", re.MULTILINE)
_FINISHED = re.compile(r"^Simulation finished at (\d{1,20})\b", re.MULTILINE)
_INSTANCE = re.compile(rf"\b{TOP}\s*(?:#\s*\((?:[^;T]|T(?!opModule))*?\)\s*)?(?P<name>\w++)\s*+\(")
_TIMESCALE = re.compile(r"`timescale\s+(?P<unit>\d{1,9}\s*[munpf]?s)")
_TIME = re.compile(r"(?P<count>\d{1,9})\s*(?P<unit>[munpf]?s)")
_SECONDS = {unit: Fraction(1, 1000 ** power) for power, unit in enumerate(["s", "ms", "us", "ns", "ps", "fs"])}


@dataclass(frozen=True, slots=True)
class HiddenBench:
    """What agents never see: the text of the test bench, and of the reference that it compares the answer with. `mark`
    is what its prints begin with; with `other_draws` it gets other random numbers than usual."""

    text: str
    reference: str | None = None
    mark: str = ""
    other_draws: bool = False

    @classmethod
    def of(cls, inputs: Mapping[str, Any]) -> Self | None:
        """From the inputs of a run; None when there is no bench."""
        bench = inputs.get("bench")
        return cls(bench, inputs.get("reference")) if bench else None


def can_be_marked(bench: str) -> bool:
    """Whether all that a bench prints begins with a text of its own, before which a mark can be put."""
    return _OTHER_PRINT.search(bench) is None


def mark_prints(bench: str, mark: str) -> str:
    """The bench's text, changed so that each of its prints begins with a mark: what an answer prints has none."""
    return _PRINT.sub(lambda found: found[0] + mark, bench)


def marked_lines(printed: str, mark: str) -> str:
    """The lines of the bench in what a simulation printed, without their marks; all lines without a mark."""
    if not mark:
        return printed
    return "\n".join(line.replace(mark, "") for line in printed.split("\n") if line.startswith(mark))


def dump_everything(bench: str) -> str:
    """The bench's text, changed so that it writes all signals below `tb`, those inside the modules included, to
    `wave.vcd`; lines stay where they are. A bench that writes none is made to; one without a module `tb` stays as it
    is."""
    if _DUMPVARS.search(bench):
        dump = "$dumpvars(0, tb);" if _DUMPFILE.search(bench) else f"begin {_DUMP} end"
        patched, _ = _DUMPVARS.subn(_replacement(dump), bench, count=1)
        return _DUMPFILE.sub(_replacement(f'$dumpfile("{WAVES}");'), patched)
    return _HEADER.sub(lambda header: f"{header[0]} initial begin {_DUMP} end", bench, count=1)


def _replacement(statement: str) -> Callable[[re.Match[str]], str]:
    """Puts a statement in place of another, over as many lines."""
    return lambda found: statement + "\n" * found[0].count("\n")


@dataclass(frozen=True, slots=True)
class Mismatch:
    """How often an output differs, and the time of the first difference, in the bench's units; None when it never
    does."""

    count: int
    first_time: int | None


@dataclass(frozen=True, slots=True)
class BenchReport:
    """What a bench printed at its end: mismatches per output, and in all (None: it printed no such line)."""

    outputs: Mapping[str, Mismatch] = field(default_factory=dict)
    mismatches: int | None = None
    samples: int | None = None
    finished_at: int | None = None

    @classmethod
    def read(cls, stdout: str) -> Self:
        """The report in what a simulation printed. The last line of a kind counts: what a module prints itself comes
        before the bench's own."""
        outputs = {found["name"]: Mismatch(int(found["count"] or 0), int(found["time"]) if found["time"] else None)
                   for found in _OUTPUT.finditer(stdout)}
        totals, ends = _TOTAL.findall(stdout), _FINISHED.findall(stdout)
        mismatches, samples = map(int, totals[-1]) if totals else (None, None)
        return cls(outputs, mismatches, samples, int(ends[-1]) if ends else None)

    @property
    def passed(self) -> bool:
        """Whether samples were compared and all of them match."""
        return self.mismatches == 0 and bool(self.samples)

    @property
    def share(self) -> float:
        """The share of matching samples; 0 when none was compared."""
        return 1 - (self.mismatches or 0) / self.samples if self.samples else 0.0


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


def wrong_outputs(report: BenchReport, waves: Waves, bench: str) -> tuple[WrongOutput, ...]:
    """The outputs with mismatches, the one that differs first at the front."""
    factor = _unit_factor(bench, waves)
    found = [WrongOutput(name, mismatch.count, mismatch.first_time, int(mismatch.first_time * factor), ())
             for name, mismatch in report.outputs.items() if mismatch.count and mismatch.first_time is not None]
    found.sort(key=lambda wrong: wrong.time)
    first = [wrong for wrong in found if wrong.time == found[0].time]
    return (*_find_wrong_bits(first, waves), *found[len(first):])


def answer_scope(bench: str) -> str:
    """The scope in which the waveform has the answer's signals: that of its instance in the bench."""
    found = _INSTANCE.search(bench)
    return f"tb.{found['name'] if found else 'top_module1'}"


def output_columns(output: str, waves: Waves) -> list[str]:
    """The two sides of an output, as far as the waveform has them."""
    return [name for name in (f"tb.{output}{REFERENCE}", f"tb.{output}{ANSWER}") if name in waves.signals]


def _find_wrong_bits(some: Sequence[WrongOutput], waves: Waves) -> list[WrongOutput]:
    """The outputs with their wrong bits. Where both sides agree before the time of the report and differ at it, the
    bench compared after that change."""
    before = list(_add_wrong_bits(some, waves))
    if any(wrong.parts for wrong in before):
        return before
    after = list(_add_wrong_bits([replace(wrong, sampled=wrong.sampled + 1) for wrong in some], waves))
    return after if any(wrong.parts for wrong in after) else before


def _add_wrong_bits(some: Sequence[WrongOutput], waves: Waves) -> Iterator[WrongOutput]:
    """Outputs that are wrong at the same time with their wrong bits; the waveform is read once for all of them."""
    columns = {wrong.output: output_columns(wrong.output, waves) for wrong in some}
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
