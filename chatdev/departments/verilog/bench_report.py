"""What a test bench reports at its end: counts as VerilogEval's benches print them, or what its lines say."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

from chatdev.departments.verilog.bench_words import Checks, breaches_of_plan, checks_of
from chatdev.departments.verilog.compilation import BENCH

_OUTPUT = re.compile(r"^Hint: Output '(?P<name>[^']+)' has (?:no mismatches"
                     r"|(?P<count>\d{1,20}) mismatches\. First mismatch occurred at time (?P<time>\d{1,20}))\.",
                     re.MULTILINE)
_TOTAL = re.compile(r"^Mismatches: (\d{1,20}) in (\d{1,20}) samples\s*$", re.MULTILINE)
_FINISHED = re.compile(r"^Simulation finished at (\d{1,20})\b", re.MULTILINE)
_SEVERE = re.compile(rf"(?P<kind>ERROR|FATAL): (?:\./)?{re.escape(BENCH)}:\d{{1,9}}: ?(?P<text>[^\n]*)\n"
                     r" *Time: (?P<time>\d{1,20})\b", re.MULTILINE)
_DIGITS = re.compile(r"\d+")
_MOST = 1000  # complaints that are kept


@dataclass(frozen=True, slots=True)
class Mismatch:
    """How often an output differs, and the time of the first difference, in the bench's units; None when it never
    does."""

    count: int
    first_time: int | None


@dataclass(frozen=True, slots=True)
class PrintedLine:
    """A line that a bench printed, and its time in units of the waveform; None where that is not known."""

    text: str
    time: int | None = None


@dataclass(frozen=True, slots=True)
class BenchReport:
    """What a bench printed: mismatches per output, and in all (None: it printed nothing of the kind).

    Of a bench without such counts (not `is_counted`), `mismatches` and `samples` are checks that failed and checks in
    all, `complaints` the lines that say what failed, the first one at the front, and `lines` all that it printed.
    """

    outputs: Mapping[str, Mismatch] = field(default_factory=dict)
    mismatches: int | None = None
    samples: int | None = None
    finished_at: int | None = None
    complaints: tuple[PrintedLine, ...] = ()
    lines: tuple[str, ...] = ()
    is_counted: bool = True

    @classmethod
    def read(cls, stdout: str) -> Self:
        """The counts in what a simulation printed. The last line of a kind counts: what a module prints itself comes
        before the bench's own."""
        outputs = {found["name"]: Mismatch(int(found["count"] or 0), int(found["time"]) if found["time"] else None)
                   for found in _OUTPUT.finditer(stdout)}
        totals, ends = _TOTAL.findall(stdout), _FINISHED.findall(stdout)
        mismatches, samples = map(int, totals[-1]) if totals else (None, None)
        return cls(outputs, mismatches, samples, int(ends[-1]) if ends else None)

    @classmethod
    def read_lines(cls, lines: Sequence[PrintedLine], printed: str, *, complains: bool,
                   affirms: bool = False, right: BenchReport | None = None) -> Self:
        """What the lines that a bench printed say, and the errors among all that was `printed`.

        `complains` says that the bench ends with an error where something is wrong, so that silence is a verdict, too;
        not so where it `affirms` what is right, and does that of the reference.
        `right` is its report on the reference: what complains there too is no complaint, and where it gives no verdict,
        all that it prints, if anything, has to be the same. Silence is one of lines that could not mean anything else.
        """
        texts = [line.text for line in lines]
        checks = dict(zip(lines, map(checks_of, texts), strict=True))
        failures = _unusual_failures(checks, right)
        complaints = [*severe_lines(printed), *failures, *map(PrintedLine, breaches_of_plan(texts))]
        passed = sum(checks[line].passed for line in lines)
        if complaints or passed or (complains and _is_silence(checks.values(), affirms, right)):
            return cls._of_checks(passed, max(len(complaints), *failures.values(), 0), complaints, lines)
        if right is not None and (lines or right.lines):
            return cls._of_prints(lines, right)
        return cls(lines=tuple(texts), is_counted=False)

    @classmethod
    def _of_prints(cls, lines: Sequence[PrintedLine], right: BenchReport) -> Self:
        complaints = list(_strangers(lines, right.lines))
        return cls._of_checks(len(lines) - len(complaints), len(complaints), complaints, lines)

    @classmethod
    def _of_checks(cls, passed: int, failed: int, complaints: Sequence[PrintedLine],
                   lines: Sequence[PrintedLine]) -> Self:
        return cls(mismatches=failed, samples=failed + max(passed, not failed),
                   complaints=tuple(sorted(complaints[:_MOST], key=_time_of)), lines=tuple(line.text for line in lines),
                   is_counted=False)

    @property
    def first_complaint(self) -> PrintedLine | None:
        """The first one whose time is known."""
        return next((one for one in self.complaints if one.time is not None), None)

    @property
    def passed(self) -> bool:
        """Whether samples were compared and all of them match."""
        return self.mismatches == 0 and bool(self.samples)

    @property
    def share(self) -> float:
        """The share of matching samples; 0 when none was compared."""
        return 1 - (self.mismatches or 0) / self.samples if self.samples else 0.0


def _is_silence(checks: Iterable[Checks], affirms: bool, right: BenchReport | None) -> bool:
    """Whether no line could mean anything, and the bench does not say it either of a right module that all is well."""
    would_say = affirms and (right is None or any(checks_of(line).passed for line in right.lines))
    return not would_say and not any(found.unclear for found in checks)


def _unusual_failures(checks: Mapping[PrintedLine, Checks], right: BenchReport | None) -> dict[PrintedLine, int]:
    """The lines that tell more failed checks than a line of that form does of a right module, whatever the other
    numbers in it, and how many."""
    usual = dict[str, int]()
    for line in right.lines if right else ():
        usual[_mask(line)] = max(usual.get(_mask(line), 0), checks_of(line).failed)
    return {line: found.failed for line, found in checks.items() if found.failed > usual.get(_mask(line.text), 0)}


def _strangers(lines: Sequence[PrintedLine], expected: Sequence[str]) -> Iterator[PrintedLine]:
    """The lines that are not those that a right module leads to."""
    for number, line in enumerate(lines):
        if number >= len(expected) or line.text != expected[number]:
            yield PrintedLine(f"it prints: {line.text}", line.time)
    if len(lines) < len(expected):
        yield PrintedLine(f"it prints {len(lines)} lines instead of {len(expected)}")


def _mask(text: str) -> str:
    return _DIGITS.sub("#", text)


def _time_of(complaint: PrintedLine) -> float:
    return math.inf if complaint.time is None else complaint.time


def severe_lines(printed: str) -> Iterator[PrintedLine]:
    """What a bench said by `$error`, `$fatal` and failed assertions."""
    for found in _SEVERE.finditer(printed):
        yield PrintedLine(found["text"].strip() or f"{found['kind'].lower()} in the bench", int(found["time"]))
