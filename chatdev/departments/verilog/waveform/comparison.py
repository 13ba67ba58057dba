"""Outputs as benches hold them (`q_ref` of the reference beside `q_dut` of the answer), when the two agree, and two
runs of one bench in a single waveform."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import merge
from itertools import groupby
from pathlib import Path
from string import ascii_letters, punctuation

from chatdev.departments.verilog.waveform.vcd import check_held
from chatdev.departments.verilog.waveform.waves import Waves

REFERENCE, ANSWER = "_ref", "_dut"


@dataclass(frozen=True, slots=True)
class Pair:
    """The two full names of one output."""

    reference: str
    answer: str


def find_pairs(names: Iterable[str]) -> list[Pair]:
    """Those of which both sides are among the names."""
    known = list(names)
    return [Pair(name, other) for name in known if name.endswith(REFERENCE)
            and (other := name.removesuffix(REFERENCE) + ANSWER) in known]


def pair_columns(names: Sequence[str]) -> list[str]:
    """The names, once each, with the answer's side right behind the reference's."""
    behind = {pair.reference: pair.answer for pair in find_pairs(names)}
    ordered = (entry for name in names if name not in behind.values() for entry in (name, behind.get(name)))
    return list(dict.fromkeys(name for name in ordered if name))


def differing_bits(reference: str, answer: str) -> list[int]:
    """The positions, 0 on the right, at which a bench finds two values different, the highest first.

    The rule is `ref === (ref ^ dut ^ ref)`: an `x` in the reference accepts anything, a `z` nothing; all else must be
    equal. The shorter value is filled up with zeros.
    """
    width = max(len(reference), len(answer))
    both = zip(reference.zfill(width), answer.zfill(width), strict=True)
    return [width - 1 - at for at, (wanted, given) in enumerate(both)
            if wanted != "x" and (wanted == "z" or wanted != given)]


def are_different(reference: str, answer: str) -> bool:
    """Whether a bench finds two values different, by the same rule."""
    if len(reference) == len(answer) and "x" not in reference:  # so are most that are compared
        return reference != answer or "z" in reference
    return bool(differing_bits(reference, answer))


def group_bits(bits: Sequence[int]) -> list[list[int]]:
    """Falling positions, those that are neighbours together."""
    found: list[list[int]] = []
    for bit in bits:
        if found and found[-1][-1] == bit + 1:
            found[-1].append(bit)
        else:
            found.append([bit])
    return found


def range_text(bits: Sequence[int]) -> str:
    """Falling positions as Verilog writes them: `[9], [3:0]`."""
    return ", ".join(f"[{run[0]}]" if len(run) == 1 else f"[{run[0]}:{run[-1]}]" for run in group_bits(bits))


def short_names(names: Iterable[str]) -> dict[str, str]:
    """Each full name with the least of its end that no other shares; what cannot be printed is replaced."""
    tails = {name: [".".join(parts[at:]) for at in range(len(parts) - 1, -1, -1)]
             for name in names for parts in [name.split(".")]}
    used = Counter(tail for ends in tails.values() for tail in ends)
    return {name: _printable(next((tail for tail in ends if used[tail] == 1), name)) for name, ends in tails.items()}


def _printable(name: str) -> str:
    return "".join(character if character.isprintable() else "\ufffd" for character in name)


def value_text(bits: str) -> str:
    """A value for people: up to four bits as they are, more in hexadecimal (`h0a`) when all are known, as one `x` or
    `z` when no bit is anything else, and otherwise bit by bit (`b0000x101`)."""
    if len(bits) <= 4:
        return bits
    if bits.strip("01"):
        return bits[0] if len(set(bits)) == 1 else f"b{bits}"
    return f"h{int(bits, 2):0{(len(bits) + 3) // 4}x}"


@dataclass(frozen=True, slots=True)
class Span:
    """`bits` held from `start` until just before `end`."""

    start: int
    end: int
    bits: str


def read_spans(waves: Waves, names: Iterable[str], start: int, end: int) -> dict[str, list[Span]]:
    """For each name the spans that fill the time from `start` to `end`, cut off there. Raises WaveformError."""
    names = list(names)
    since = {name: (start, bits) for name, bits in waves.values_at(names, start + 1).items()}
    found: dict[str, list[Span]] = {name: [] for name in names}
    held = 0
    for moment, name, bits in waves.changes(names, end):
        if moment > start:
            check_held(held := held + len(bits))
            found[name].append(Span(since[name][0], moment, since[name][1]))
            since[name] = (moment, bits)
    for name, (moment, bits) in since.items():
        found[name].append(Span(moment, end, bits))
    return found


def differing_spans(reference: Sequence[Span], answer: Sequence[Span]) -> list[tuple[int, int]]:
    """When two signals differ by the rule of the benches, as (start, end); both fill the same time."""
    found: list[tuple[int, int]] = []
    ours, theirs = iter(reference), iter(answer)
    one, other = next(ours, None), next(theirs, None)
    while one and other:
        start, end = max(one.start, other.start), min(one.end, other.end)
        if are_different(one.bits, other.bits):
            if found and found[-1][1] == start:
                start = found.pop()[0]
            found.append((start, end))
        one, other = (next(ours, None) if one.end == end else one), (next(theirs, None) if other.end == end else other)
    return found


# Two runs of one bench: what the answer did, and the outputs of the reference beside its own.

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
