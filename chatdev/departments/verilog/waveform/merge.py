"""Two runs of one bench in a single waveform: what the answer did, and the outputs of the reference beside its own.

Both saw the same inputs up to the first difference, since until then the bench saw the same outputs of both.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import merge
from itertools import groupby
from pathlib import Path
from string import ascii_letters, punctuation

from chatdev.departments.verilog.waveform.comparison import ANSWER, REFERENCE
from chatdev.departments.verilog.waveform.waves import Waves

Change = tuple[int, str, str]
_LETTERS = "".join(sorted({*ascii_letters, *punctuation} - {*"#$bxz"}))


def merge_reference(answer: Path, reference: Path, scope: str, outputs: Iterable[str], merged: Path) -> Path:
    """Write a waveform with the signals below `scope` as the answer had them, and for each of its outputs that both
    have `tb.NAME_ref` and `tb.NAME_dut`, as benches that compare have them, in the root that the scope is in. Raises
    WaveformError."""
    ours, theirs = Waves.open(answer), Waves.open(reference)
    below = {name: ours.signals[name].width for name in ours.readable(ours.signals) if name.startswith(f"{scope}.")}
    root, both = scope.partition(".")[0], dict[str, str]()
    for output in outputs:
        name = f"{scope}.{output}"
        if name in below and theirs.readable([name]) and theirs.signals[name].width == below[name]:
            both[name] = f"{root}.{output}"
    widths = below | {f"{side}{end}": below[name] for name, side in both.items() for end in (REFERENCE, ANSWER)}
    right = ((time, both[name] + REFERENCE, bits) for time, name, bits in theirs.changes(both))
    with merged.open("w", encoding="utf-8") as file:
        file.writelines(_header(ours.timescale, widths))
        file.writelines(_changes(merge(_both_names(ours, below, both), right), list(widths)))
    return merged


def _both_names(waves: Waves, below: Iterable[str], both: Mapping[str, str]) -> Iterator[Change]:
    """The changes of the answer's signals, those right in its scope a second time under the names of benches."""
    for time, name, bits in waves.changes(below):
        yield time, name, bits
        if name in both:
            yield time, both[name] + ANSWER, bits


def _changes(changes: Iterable[Change], names: Sequence[str]) -> Iterator[str]:
    """The lines of the file for changes in the order of time."""
    codes = {name: _code(number) for number, name in enumerate(names)}
    for time, some in groupby(changes, key=lambda change: change[0]):
        yield f"#{time}\n"
        yield from (f"b{_without_filling(bits)} {codes[name]}\n" for _, name, bits in some)


def _without_filling(bits: str) -> str:
    """The value without what a reader fills in on its left."""
    first, rest = bits[0], bits.lstrip(bits[0])
    if first == "1":
        return bits
    return rest if first == "0" and rest[:1] == "1" else first + rest


def _header(timescale: str, widths: dict[str, int]) -> Iterator[str]:
    yield f"$timescale {timescale} $end\n"
    for number, (name, width) in enumerate(widths.items()):
        *scopes, last = name.split(".")
        yield from (f"$scope module {scope} $end\n" for scope in scopes)
        yield f"$var wire {width} {_code(number)} {last} [{width - 1}:0] $end\n"
        yield "$upscope $end\n" * len(scopes)
    yield "$enddefinitions $end\n"


def _code(number: int) -> str:
    """A code that begins with what stands in no value or time and in few other codes, so that it is found fast."""
    turn, at = divmod(number, len(_LETTERS))
    return f"{_LETTERS[at]}{turn or ''}"
