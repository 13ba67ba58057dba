"""Test benches as VerilogEval has them: top module `tb`, a report per output, a last line with all mismatches."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Self

from chatdev.tools.verilog.icarus import WAVES

_DUMP = f'$dumpfile("{WAVES}"); $dumpvars(0, tb);'
_DUMPVARS = re.compile(r"\$dumpvars\s*(?:\([^;]*?\)\s*)?;", re.DOTALL)
_DUMPFILE = re.compile(r"\$dumpfile\s*\([^;]*?\)\s*;", re.DOTALL)
_HEADER = re.compile(r"^\s*module\s+tb\b[^;]*;", re.MULTILINE)
_OUTPUT = re.compile(r"^Hint: Output '(?P<name>[^']+)' has (?:no mismatches"
                     r"|(?P<count>\d+) mismatches\. First mismatch occurred at time (?P<time>\d+))\.", re.MULTILINE)
_TOTAL = re.compile(r"^Mismatches: (\d+) in (\d+) samples\s*$", re.MULTILINE)
_FINISHED = re.compile(r"^Simulation finished at (\d+)\b", re.MULTILINE)


def dump_everything(bench: str) -> str:
    """The bench's text, changed so that it writes all signals below `tb`, those inside the modules included, to
    `wave.vcd`; lines stay where they are. A bench that writes none is made to; one without a module `tb` stays as it
    is."""
    if _DUMPVARS.search(bench):
        dump = "$dumpvars(0, tb);" if _DUMPFILE.search(bench) else f"begin {_DUMP} end"
        patched, _ = _DUMPVARS.subn(_in_place(dump), bench, count=1)
        return _DUMPFILE.sub(_in_place(f'$dumpfile("{WAVES}");'), patched)
    return _HEADER.sub(lambda header: f"{header[0]} initial begin {_DUMP} end", bench, count=1)


def _in_place(statement: str) -> Callable[[re.Match[str]], str]:
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
