"""Two runs of one bench in a single waveform: what the answer did, and the outputs of the reference beside its own.

Both saw the same inputs up to the first difference, since until then the bench saw the same outputs of both.
"""

from __future__ import annotations

from collections.abc import Iterator
from heapq import merge
from itertools import groupby
from pathlib import Path

from chatdev.tools.verilog.waveform.comparison import ANSWER, REFERENCE
from chatdev.tools.verilog.waveform.waves import Waves

Change = tuple[int, str, str]


def merge_reference(answer: Path, reference: Path, scope: str, root: str, merged: Path) -> Path:
    """Write a waveform with the signals below `scope` as the answer had them, and for each signal right in it that both
    have `root.NAME_ref` and `root.NAME_dut`, as benches that compare have them. Raises WaveformError."""
    ours, theirs = Waves.open(answer), Waves.open(reference)
    below = [name for name in ours.signals if name.startswith(f"{scope}.")]
    ports = [name for name in below if "." not in name.removeprefix(f"{scope}.") and name in theirs.signals
             and ours.signals[name].width == theirs.signals[name].width]
    short = {name: name.removeprefix(f"{scope}.") for name in ports}
    right = ((time, f"{root}.{short[name]}{REFERENCE}", bits) for time, name, bits in theirs.changes(ports))
    widths = {name: ours.signals[name].width for name in below}
    widths |= {f"{root}.{short[name]}{side}": widths[name] for name in ports for side in (REFERENCE, ANSWER)}
    with merged.open("w", encoding="utf-8") as file:
        file.writelines(_header(ours.timescale, widths))
        codes = {name: str(number) for number, name in enumerate(widths)}
        for time, changes in groupby(merge(_with_sides(ours, below, short, root), right), key=lambda change: change[0]):
            file.write(f"#{time}\n")
            file.writelines(f"b{bits} {codes[name]}\n" for _, name, bits in changes)
    return merged


def _with_sides(waves: Waves, below: list[str], short: dict[str, str], root: str) -> Iterator[Change]:
    """The changes of the answer's signals, those right in its scope a second time under the names of benches."""
    for time, name, bits in waves.changes(below):
        yield time, name, bits
        if name in short:
            yield time, f"{root}.{short[name]}{ANSWER}", bits


def _header(timescale: str, widths: dict[str, int]) -> Iterator[str]:
    yield f"$timescale {timescale} $end\n"
    for number, (name, width) in enumerate(widths.items()):
        *scopes, last = name.split(".")
        yield from (f"$scope module {scope} $end\n" for scope in scopes)
        yield f"$var wire {width} {number} {last} [{width - 1}:0] $end\n"
        yield "$upscope $end\n" * len(scopes)
    yield "$enddefinitions $end\n"
