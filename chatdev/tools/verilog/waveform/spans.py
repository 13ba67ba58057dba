"""What signals were in a stretch of time: spans of one value each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from chatdev.tools.verilog.waveform.pairs import differing
from chatdev.tools.verilog.waveform.vcd import Waves


@dataclass(frozen=True, slots=True)
class Span:
    """`bits` held from `start` until just before `end`."""

    start: int
    end: int
    bits: str


def spans(waves: Waves, names: Iterable[str], start: int, end: int) -> dict[str, list[Span]]:
    """For each name the spans that fill the time from `start` to `end`, cut off there. Raises WaveformError."""
    names = list(names)
    since = {name: (start, bits) for name, bits in waves.values_at(names, start + 1).items()}
    found: dict[str, list[Span]] = {name: [] for name in names}
    for moment, name, bits in waves.changes(names, end):
        if moment > start:
            found[name].append(Span(since[name][0], moment, since[name][1]))
            since[name] = (moment, bits)
    for name, (moment, bits) in since.items():
        found[name].append(Span(moment, end, bits))
    return found


def differences(reference: Sequence[Span], answer: Sequence[Span]) -> list[tuple[int, int]]:
    """When two signals differ by the rule of the benches, as (start, end); both fill the same time."""
    found: list[tuple[int, int]] = []
    ours, theirs = iter(reference), iter(answer)
    one, other = next(ours, None), next(theirs, None)
    while one and other:
        start, end = max(one.start, other.start), min(one.end, other.end)
        if differing(one.bits, other.bits):
            if found and found[-1][1] == start:
                start = found.pop()[0]
            found.append((start, end))
        one, other = (next(ours, None) if one.end == end else one), (next(theirs, None) if other.end == end else other)
    return found
