"""Outputs as benches hold them (`q_ref` of the reference beside `q_dut` of the answer), when the two agree, two runs of
one bench in a single waveform, and what the outputs did otherwise there."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from heapq import merge
from itertools import count, groupby, islice
from operator import itemgetter
from pathlib import Path
from string import ascii_letters, punctuation

from chatdev.departments.verilog.waveform.vcd import Signal, WaveformError, check_held
from chatdev.departments.verilog.waveform.waves import Step, Waves

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


# Where the two sides of an output differ, step by step.


@dataclass(frozen=True, slots=True)
class DifferingStep:
    """At `time` these outputs got values, on one side at least: those that differ then, `is_known` where one of them
    has no unknown bit, and those that are `equal` again."""

    time: int
    outputs: tuple[str, ...]
    is_known: bool
    equal: tuple[str, ...]


def differing_steps(steps: Iterable[Step], sides: Mapping[str, Pair]) -> Iterator[DifferingStep]:
    """The steps at which an output differs or no longer does; `sides` are the two names of each output, by either, in
    the order in which outputs of one step are told."""
    outputs = {pair: pair.reference.rpartition(".")[2].removesuffix(REFERENCE) for pair in sides.values()}
    values, lasting = dict[str, str](), set[str]()
    for time, changed in steps:
        values |= changed
        differ, equal, is_known = list[str](), list[str](), False
        touched = {sides[name] for name in changed}
        for pair, output in outputs.items():
            if pair not in touched:
                continue
            given = values.get(pair.answer, "x")
            if are_different(values.get(pair.reference, "x"), given):
                differ.append(output)
                is_known = is_known or not given.strip("01")
            elif output in lasting:
                equal.append(output)
        lasting = lasting.union(differ).difference(equal)
        if differ or equal:
            yield DifferingStep(time, tuple(differ), is_known, tuple(equal))


# Two runs of one bench: what the answer did, and the outputs of the reference beside its own.

_LETTERS = "".join(sorted({*ascii_letters, *punctuation} - {*"#$bxz"}))
_TIME_LINE = re.compile(rb"\n#(\d{1,20})(?=\n)")
_MOST_DIFFERING = 100_000  # steps


def merge_reference(answer: Path, reference: Path, scope: str, outputs: Iterable[str], merged: Path
                    ) -> list[DifferingStep] | None:
    """Write a waveform with the signals below `scope` as the answer had them, and for each of its outputs that both
    have `tb.NAME_ref` and `tb.NAME_dut`, as benches that compare have them, in the root that the scope is in. Returns
    where the two differ, or None where that is too often. Raises WaveformError, also for a file with several changes
    in a line."""
    ours, theirs = Waves.open(answer), Waves.open(reference)
    below = {name: ours.signals[name] for name in ours.readable(ours.signals) if name.startswith(f"{scope}.")}
    root, both = scope.partition(".")[0], dict[str, Pair]()
    for output in outputs:
        name = f"{scope}.{output}"
        if name in below and theirs.readable([name]) and theirs.signals[name].width == below[name].width:
            both[name] = Pair(f"{root}.{output}{REFERENCE}", f"{root}.{output}{ANSWER}")
    codes = dict(zip(both, _free_codes(ours.codes), strict=False))
    declared = [*below.values()]
    for name, pair in both.items():
        declared += [replace(below[name], name=pair.reference, code=codes[name]),
                     replace(below[name], name=pair.answer)]
    right = ((time, "".join(f"b{bits} {codes[name]}\n" for name, bits in step.items()).encode())
             for time, step in theirs.steps(both))
    with merged.open("wb") as file:
        file.writelines(line.encode() for line in _header(ours.timescale, declared))
        file.writelines(_weave(ours.lines(below), right))
    return _differing_outputs(ours, theirs, both)


def _differing_outputs(ours: Waves, theirs: Waves, both: Mapping[str, Pair]) -> list[DifferingStep] | None:
    """Where the outputs differ, which have the same names in both."""
    sides = merge(((time, {both[name].answer: bits for name, bits in step.items()}) for time, step in ours.steps(both)),
                  ((time, {both[name].reference: bits for name, bits in step.items()})
                   for time, step in theirs.steps(both)), key=itemgetter(0))
    steps = ((time, {name: bits for _, step in some for name, bits in step.items()})
             for time, some in groupby(sides, key=itemgetter(0)))
    pairs = {name: pair for pair in both.values() for name in (pair.reference, pair.answer)}
    found = [*islice(differing_steps(steps, pairs), _MOST_DIFFERING + 1)]
    return found if len(found) <= _MOST_DIFFERING else None


def find_reaction(answer: Path, reference: Path, names: Iterable[str]) -> int | None:
    """When one of these inputs is first another one than with the reference, as the bench reacts to an output; None
    where that is never. Raises WaveformError."""
    ours, theirs = Waves.open(answer), Waves.open(reference)
    inputs = set(ours.readable(names)).intersection(theirs.readable(names))
    given, wanted = dict[str, str](), dict[str, str]()
    both = merge(_with_side(given, ours.steps(inputs)), _with_side(wanted, theirs.steps(inputs)), key=itemgetter(0))
    for time, steps in groupby(both, key=itemgetter(0)):
        for _, side, step in steps:
            side |= step
        if given != wanted:
            return int(time)
    return None


def _weave(pieces: Iterable[bytes], steps: Iterator[tuple[int, bytes]]) -> Iterator[bytes]:
    """Pieces of whole lines with the lines of other steps at their times."""
    now, step = 0, next(steps, None)
    for piece in pieces:
        text, done = b"\n" + piece, 1
        for found in _TIME_LINE.finditer(text) if step else ():
            time = int(found[1])
            while step and step[0] < time:
                yield text[done:found.start() + 1]
                yield step[1] if step[0] == now else b"#%d\n%b" % step
                done, now, step = found.start() + 1, step[0], next(steps, None)
            now = time
        yield text[done:]
    while step:
        yield step[1] if step[0] == now else b"#%d\n%b" % step
        now, step = step[0], next(steps, None)


def _header(timescale: str, signals: Iterable[Signal]) -> Iterator[str]:
    yield f"$timescale {timescale} $end\n"
    for signal in signals:
        *scopes, last = signal.name.split(".")
        yield from (f"$scope module {scope} $end\n" for scope in scopes)
        bits = f" [{signal.width - 1}:0]" if signal.width > 1 else ""
        yield f"$var wire {signal.width} {signal.code} {last}{bits} $end\n"
        yield "$upscope $end\n" * len(scopes)
    yield "$enddefinitions $end\n"


def _free_codes(taken: Container[str]) -> Iterator[str]:
    """Codes that are not taken, and begin with what stands in no value or time, so that they are found fast."""
    every = (f"{letter}{turn or ''}" for turn in count() for letter in _LETTERS)
    return (code for code in every if code not in taken)


# What the outputs of a module did otherwise than those of the reference in its place, in two waveforms of one
# bench.

_HEADER_END = b"$enddefinitions"
_TIME = re.compile(rb"^#(\d{1,20})$", re.MULTILINE)
_TAIL = 1 << 16  # bytes in which the last time of a file is looked for
_MOST_LEFT = 8 << 20  # bytes of a file that was broken off


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


def find_differences(answer: Path, reference: Path, ports: Mapping[str, str]) -> Differences:
    """Compare the outputs among the `ports`, whose full names (with `in` or `out`) are the same in both files; none
    where a file cannot be read, or lacks one of them."""
    if _body_of(answer) == _body_of(reference):
        return Differences()
    try:
        return _compare(Waves.open(answer), Waves.open(reference), [name for name, way in ports.items() if way == "in"],
                        [name for name, way in ports.items() if way == "out"])
    except WaveformError:
        return Differences()


def find_lost(waves: Path, outputs: Sequence[str]) -> dict[str, Difference]:
    """The outputs, by their full names, that had a value and then have an unknown bit; none where a file cannot be
    read, or lacks one of them."""
    known, lost = set[str](), dict[str, Difference]()
    try:
        for time, name, bits in Waves.open(waves).changes(outputs):
            if not {"x", "z"} & set(bits):
                known.add(name)
            elif name in known:
                first = lost.get(name, Difference(0, time))
                lost[name] = Difference(first.count + 1, first.first_time)
    except WaveformError:
        return {}
    return lost


def _compare(answer: Waves, reference: Waves, inputs: Sequence[str], outputs: Sequence[str]) -> Differences:
    names, end = [*inputs, *outputs], min(last_time(answer.path), last_time(reference.path)) + 1
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


def last_time(path: Path) -> int:
    """The last time of a file, which may have been cut off."""
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - _TAIL))
        times = _TIME.findall(file.read())
    return int(times[-1]) if times else 0


def cut_dump(path: Path) -> bool:
    """Leave of a waveform that was broken off the first part, up to its last whole time; whether there is one."""
    with path.open("r+b") as file:
        end = file.read(_MOST_LEFT).rfind(b"\n#") + 1
        file.truncate(end)
    return end > 0


def _body_of(path: Path) -> bytes:
    """What comes behind the header, which has the date."""
    return path.read_bytes().partition(_HEADER_END)[2]
