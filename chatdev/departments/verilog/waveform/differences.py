"""What the outputs of a module did otherwise than those of the reference in its place, in two waveforms of one bench.

They are compared where they have settled: just before an input changes, and at the end. So neither glitches nor delays
that are over by then count. Where the bench answers to an output the inputs go other ways; there the comparison ends.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import merge
from itertools import groupby
from operator import itemgetter
from pathlib import Path

from chatdev.departments.verilog.waveform.lookback import Step
from chatdev.departments.verilog.waveform.vcd import WaveformError
from chatdev.departments.verilog.waveform.waves import Waves

_HEADER_END = b"$enddefinitions"
_TIME = re.compile(rb"^#(\d{1,20})$", re.MULTILINE)
_TAIL = 1 << 16  # bytes in which the last time of a file is looked for


@dataclass(frozen=True, slots=True)
class Difference:
    """How often an output differs, and the time just before which it does so first, in units of the waveform."""

    count: int
    first_time: int


@dataclass(frozen=True, slots=True)
class Differences:
    """Outputs with other values than the reference's (`other`), and without one where the reference has one: at any
    time (`unknown`), and at a time after they had one, or for good (`lost`). `open_` may be `z` in the reference."""

    other: Mapping[str, Difference] = field(default_factory=dict)
    unknown: Mapping[str, Difference] = field(default_factory=dict)
    lost: Mapping[str, Difference] = field(default_factory=dict)
    open_: frozenset[str] = frozenset()
    never: Mapping[str, Difference] = field(default_factory=dict)
    """Those of the unknown ones of which no bit ever has a value."""

    @property
    def beside_the_bench(self) -> dict[str, Difference]:
        """Those that are worth a remark where the bench does not look: what has no value yet at the start is not."""
        return {**self.lost, **self.other}


def find_differences(answer: Path, reference: Path, inputs: Sequence[str], outputs: Sequence[str]) -> Differences:
    """Compare the outputs by their full names, which are the same in both files; none where a file cannot be read, or
    lacks one of them."""
    if _body_of(answer) == _body_of(reference):
        return Differences()
    try:
        return _compare(Waves.open(answer), Waves.open(reference), inputs, outputs)
    except WaveformError:
        return Differences()


def _compare(answer: Waves, reference: Waves, inputs: Sequence[str], outputs: Sequence[str]) -> Differences:
    names, end = [*inputs, *outputs], min(_last_time(answer.path), _last_time(reference.path)) + 1
    ours, theirs = dict[str, str](), dict[str, str]()
    seen = {output: _Output() for output in outputs}
    both = merge(_with_side(ours, answer.steps(names, end)), _with_side(theirs, reference.steps(names, end)),
                 key=itemgetter(0))
    for time, changes in groupby(both, key=itemgetter(0)):
        steps = [(side, step) for _, side, step in changes]
        if any(not step.keys().isdisjoint(inputs) for _, step in steps):
            _look(seen, ours, theirs, time)
        if not _take(steps, seen, ours, theirs, inputs):
            break
    else:
        _look(seen, ours, theirs, end)
    return _as_differences(seen)


@dataclass(slots=True)
class _Output:
    """What was seen of an output: its differences by kind, the bits that ever had a value, when one that never had one
    was first missing, and whether it differs now, and how."""

    other: Difference | None = None
    unknown: Difference | None = None
    lost: Difference | None = None
    known: set[int] = field(default_factory=set)
    missing: dict[int, int] = field(default_factory=dict)
    is_open: bool = False
    differs: bool = False

    def change(self, ours: str, theirs: str) -> None:
        self.differs = ours != theirs
        self.is_open = self.is_open or "z" in theirs
        if len(self.known) < len(ours):
            self.known |= {at for at, bit in enumerate(ours) if bit in "01"}

    def look(self, ours: str, theirs: str, time: int) -> None:
        pairs = [(at, mine, right) for at, (mine, right) in enumerate(zip(ours, theirs, strict=False)) if mine != right]
        without = [at for at, mine, right in pairs if right in "01" and mine not in "01"]
        if without:
            self._miss(without, time)
        if any(right != "x" and at not in without for at, _, right in pairs):
            self.other = _once_more(self.other, time)

    def _miss(self, bits: Iterable[int], time: int) -> None:
        self.unknown = _once_more(self.unknown, time)
        if not self.known.isdisjoint(bits):
            self.lost = _once_more(self.lost, time)
        for at in bits:
            self.missing.setdefault(at, time)

    @property
    def lost_for_good(self) -> Difference | None:
        """The differences after it had a value, or those of bits that never had one."""
        never = [time for at, time in self.missing.items() if at not in self.known]
        return self.lost or (Difference(self.unknown.count, min(never)) if never and self.unknown else None)


def _as_differences(seen: Mapping[str, _Output]) -> Differences:
    def found(kind: Callable[[_Output], Difference | None]) -> dict[str, Difference]:
        return {name: difference for name, one in seen.items() if (difference := kind(one))}

    return Differences(found(lambda one: one.other), found(lambda one: one.unknown),
                       found(lambda one: one.lost_for_good), frozenset(name for name in seen if seen[name].is_open),
                       found(lambda one: None if one.known else one.unknown))


def _take(steps: Iterable[tuple[dict[str, str], Mapping[str, str]]], seen: Mapping[str, _Output],
          ours: Mapping[str, str], theirs: Mapping[str, str], inputs: Iterable[str]) -> bool:
    """Take over what changed at a time; whether both still have the same inputs."""
    changed = set[str]()
    for side, step in steps:
        side.update(step)
        changed |= step.keys()
    for name in changed & seen.keys():
        seen[name].change(ours.get(name, ""), theirs.get(name, ""))
    return all(ours.get(name) == theirs.get(name) for name in inputs)


def _look(seen: Mapping[str, _Output], ours: Mapping[str, str], theirs: Mapping[str, str], time: int) -> None:
    for name, output in seen.items():
        if output.differs:
            output.look(ours.get(name, ""), theirs.get(name, ""), time)


def _once_more(found: Difference | None, time: int) -> Difference:
    return Difference(found.count + 1, found.first_time) if found else Difference(1, time)


def _with_side(side: dict[str, str], steps: Iterable[Step]) -> Iterator[tuple[int, dict[str, str], Mapping[str, str]]]:
    return ((time, side, step) for time, step in steps)


def _last_time(path: Path) -> int:
    """The last time of a file, which may have been cut off."""
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - _TAIL))
        times = _TIME.findall(file.read())
    return int(times[-1]) if times else 0


def _body_of(path: Path) -> bytes:
    """What comes behind the header, which has the date."""
    return path.read_bytes().partition(_HEADER_END)[2]
