"""What the signals of a simulation did: values at a time, the rows before one, and all changes. A dump is read line by
line, and values before a time from there backwards: of a large dump that is a small part."""

from __future__ import annotations

import difflib
import re
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import SEEK_END, FileIO
from itertools import islice
from math import ceil, inf
from pathlib import Path
from typing import Self

from chatdev.departments.verilog.waveform import vcd
from chatdev.departments.verilog.waveform.vcd import (
    WIDEST,
    Malformed,
    Signal,
    WaveformError,
    check_held,
    fill_bits,
    parse_time,
)

_NEAR = 5  # names that are offered for one that is not there
_MOST_COMPARED = 2_000  # names that it is compared with


@dataclass(frozen=True, slots=True)
class Row:
    """The values from `time` on until the next row: bits as `0`, `1`, `x` and `z`, the most significant first."""

    time: int
    values: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Waves:
    """A VCD file, of which only the header was read. Times are in units of `timescale` (`1ps`).

    `signals` are known by their full names without range (`tb.top_module1.state`), escaped ones without backslash.
    Real numbers, strings and events are left out; simulators leave out unpacked arrays. Every method reads the file
    anew and keeps no more of it than it returns; it raises WaveformError for a signal that is not there and for a file
    that is damaged.
    """

    path: Path
    timescale: str
    signals: Mapping[str, Signal]
    codes: frozenset[str]

    @classmethod
    def open(cls, path: Path) -> Self:
        """Read the header; raises WaveformError."""
        header = vcd.read_header(path)
        return cls(path, header.timescale, header.signals, header.codes)

    def values_at(self, names: Iterable[str], time: int) -> dict[str, str]:
        """The values just before `time`: the row that explains a mismatch seen at `time`, since a bench compares before
        the updates of that time. `x` for what has no value yet."""
        signals = self._choose_signals(names)
        widths = _widths_of(signals)
        try:
            last = values_before(self.path, widths, self.codes, time)
        except (Malformed, OSError):
            last = {code: value for _, code, value in vcd.read_changes(self.path, widths, time)}
        return _name_values(signals, last)

    def rows_before(self, names: Iterable[str], time: int, count: int) -> list[Row]:
        """The last `count` rows before `time`, oldest first; there is one for each time at which a signal changed."""
        last = self.steps_before(names, time, count)
        values, rows = dict(last.before), []
        for moment, step in last.steps:
            values |= step
            rows.append(Row(moment, values.copy()))
        return rows

    def steps_before(self, names: Iterable[str], time: int, count: int) -> LastSteps:
        """The same with what changed alone, by name; of what has no value yet, `x` is what held before."""
        signals = self._choose_signals(names)
        widths = _widths_of(signals)
        try:
            last = read_steps_before(self.path, widths, self.codes, time, count)
        except (Malformed, OSError):
            last = LastSteps.of(self._read_words(widths, time), {}, count)
        sharing = _names_by_code(signals)
        steps = ((moment, {name: bits for code, bits in step.items() for name in sharing[code]})
                 for moment, step in last.steps)
        return LastSteps(_name_values(signals, last.before), deque(steps))

    def changes(self, names: Iterable[str], until: float = inf) -> Iterator[tuple[int, str, str]]:
        """(time, name, bits) of every change before `until`, first values included, by time; one at most for each."""
        names = list(names)
        for moment, step in self.steps(names, until):
            yield from ((moment, name, step[name]) for name in names if name in step)

    def steps(self, names: Iterable[str], until: float = inf) -> Iterator[Step]:
        """The same by time: what changed at each."""
        signals = self._choose_signals(names)
        sharing = _names_by_code(signals)
        for moment, step in self._read_steps(_widths_of(signals), until):
            yield moment, {name: bits for code, bits in step.items() for name in sharing[code]}

    def lines(self, names: Iterable[str]) -> Iterator[bytes]:
        """The lines behind the header as they are, many at a time, but for those of other signals than these. Raises
        WaveformError for a file that has not one change in each line."""
        kept = {signal.code for signal in self._choose_signals(names).values()}
        try:
            with _open_lines(self.path, {}, self.codes) as dump:
                yield from dump.lines_without(self.codes - kept)
        except (Malformed, OSError) as error:
            raise WaveformError(f"{self.path.name}: {error}") from None

    def _read_steps(self, widths: Mapping[str, int], until: float) -> Iterator[Step]:
        """All steps of the codes in `widths`: where the lines end to tell them, the words go on."""
        count = 0
        try:
            for step in steps_until(self.path, widths, self.codes, until):
                count += 1
                yield step
        except (Malformed, OSError):
            yield from islice(find_steps(self._read_words(widths, until), {}), count, None)

    def _read_words(self, widths: Mapping[str, int], until: float) -> Iterator[Step]:
        """The values one by one, as the words of the file have them."""
        return ((moment, {code: value}) for moment, code, value in vcd.read_changes(self.path, widths, until))

    def _choose_signals(self, names: Iterable[str]) -> dict[str, Signal]:
        chosen = {name: self._signal(name) for name in names}
        for signal in chosen.values():
            if signal.width > WIDEST:
                raise WaveformError(f"{signal.name!r} is {signal.width} bits wide; at most {WIDEST} can be shown")
        check_held(sum(signal.width for signal in chosen.values()))
        return chosen

    def readable(self, names: Iterable[str]) -> list[str]:
        """Those that are there and not too wide to be read."""
        return [name for name in names if name in self.signals and self.signals[name].width <= WIDEST]

    def require(self, names: Iterable[str]) -> None:
        """Raise WaveformError for the first signal that is not there."""
        for name in names:
            self._signal(name)

    def _signal(self, name: str) -> Signal:
        try:
            return self.signals[name]
        except KeyError:
            last = name.rpartition(".")[2]
            near = [other for other in self.signals if other.rpartition(".")[2] == last]
            alike = difflib.get_close_matches(name, islice(self.signals, _MOST_COMPARED), _NEAR)
            near += [other for other in alike if other not in near]
            raise WaveformError(f"the waveform has no signal {name!r}; " + (
                f"do you mean {' or '.join(near[:_NEAR])}?" if near else
                f"it has {len(self.signals)}, such as {', '.join(list(self.signals)[:_NEAR])}")) from None


def _widths_of(signals: Mapping[str, Signal]) -> dict[str, int]:
    """By code."""
    return {signal.code: signal.width for signal in signals.values()}


def _names_by_code(signals: Mapping[str, Signal]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, signal in signals.items():
        found.setdefault(signal.code, []).append(name)
    return found


def _name_values(signals: Mapping[str, Signal], values: Mapping[str, str]) -> dict[str, str]:
    """The values by name; `x` for what has none yet."""
    return {name: values.get(signal.code, "x" * signal.width) for name, signal in signals.items()}


# A dump read line by line, and the values before a time from there backwards: of a large dump that is a small part.

_PROBE, _TAIL, _SMALL, _PIECE = 1 << 10, 1 << 12, 1 << 14, 1 << 17  # bytes
_LONGEST_HEADER = 1 << 24  # bytes
_MOST_LINES, _MOST_BITS = 1 << 15, 1 << 24  # different ones that are remembered, and what their values have together
_FALSE_HITS = 8
_SPACE, _NEWLINE = b" \n"
_VECTOR = (b"b", b"B")
_BITS = {b"0", b"1", b"x", b"z", b"X", b"Z"}
_HEADER_END = re.compile(rb"(?<!\S)\$enddefinitions\s+\$end\n")
_MARK = rb"\$(?:dumpvars|dumpall|dumpon|dumpoff|end)|\$comment [^\n$]*\$end"
_OTHER_LINE = re.compile(rb"[rRsS][!-~]* [!-~]+|" + _MARK + rb"|")
_VALUE_LINE = re.compile(rb"(?:([01xzXZ])|[bB]([!-~]*) )([!-~]+)")
_LINES = re.compile(rb"(?:(?:#\d{1,20}|[01xzXZ][!-~]+|[bBrRsS][!-~]* [!-~]+|" + _MARK + rb"|)\n)*+")
_TIME = re.compile(rb"\n#(\d{1,20})\n")
_LONGEST_TIME = 23  # bytes of what `_TIME` finds
_OPEN_COMMENT = re.compile(rb"\$comment(?! [^\n$]*\$end\n)")


def values_before(path: Path, widths: Mapping[str, int], codes: Iterable[str], time: int) -> dict[str, str]:
    """The values just before `time` of the codes in `widths` (in bits); `codes` are all that the header names. Raises
    Malformed."""
    with _open_lines(path, widths, codes) as dump:
        place = dump.place_of(time)
        dump.check_changes(place)
        return dump.values_before(place)


def read_steps_before(path: Path, widths: Mapping[str, int], codes: Iterable[str], time: int, count: int) -> LastSteps:
    """The last `count` steps before `time`, or all when there are fewer. Raises Malformed."""
    with _open_lines(path, widths, codes) as dump:
        place, size = dump.place_of(time), _SMALL
        dump.check_changes(place)
        end = dump.end_of_changes(place)
        while end - size > dump.start:
            start = dump.start_of_time(end - size, end)
            if dump.count_times(start, end) >= count:
                found = LastSteps.of(dump.values(start, end), dump.values_before(start), count)
                if len(found.steps) == count:
                    return found
                size *= max(1, count // max(1, len(found.steps)))
            size *= 2
        return LastSteps.of(dump.values(dump.start, end), {}, count)


def steps_until(path: Path, widths: Mapping[str, int], codes: Iterable[str], until: float) -> Iterator[Step]:
    """All steps before `until`, the oldest first. Raises Malformed."""
    with _open_lines(path, widths, codes) as dump:
        end = dump.end if until == inf else dump.place_of(ceil(until))
        yield from find_steps(dump.values(dump.start, end, only_lines_of=_any_of(widths)), {})


@contextmanager
def _open_lines(path: Path, widths: Mapping[str, int], codes: Iterable[str]) -> Iterator[_LineDump]:
    """The file, whose first changes stand one in a line."""
    if not all(map(str.isascii, widths)):
        raise Malformed("a code is no ASCII text")
    with FileIO(path) as file:
        dump = _LineDump(file, _find_body(file), file.seek(0, SEEK_END), list(widths), _Meanings(widths, codes))
        dump.check_form()
        yield dump


def _find_body(file: FileIO) -> int:
    """The place of the line behind the header."""
    head = b""
    while len(head) < _LONGEST_HEADER and (piece := file.read(max(_SMALL, len(head)))):
        head += piece
        if found := _HEADER_END.search(head, max(0, head.find(b"$enddefinitions"))):
            return found.end()
    raise Malformed("the header ends within a line, or is far too long")


class _Meanings(dict[bytes, tuple[str, str] | None]):
    """What lines say: a code and its value; None for lines that say nothing of the codes in `widths`. Most lines of a
    dump are there many times."""

    def __init__(self, widths: Mapping[str, int], codes: Iterable[str]) -> None:
        every = dict.fromkeys(codes, 0) | dict(widths)
        self._known, self._held = {code.encode(): (code, width) for code, width in every.items()}, 0

    def __missing__(self, line: bytes) -> tuple[str, str] | None:
        if len(self) > _MOST_LINES or self._held > _MOST_BITS:
            self.clear()
            self._held = 0
        self[line] = meaning = self._read_line(line)
        self._held += len(line) + (len(meaning[1]) if meaning else 0)
        return meaning

    def _read_line(self, line: bytes) -> tuple[str, str] | None:
        if line[:1] in _BITS:
            value, bytes_of_code = line[:1], line[1:]
        elif line[:1] in _VECTOR:
            value, _, bytes_of_code = line[1:].partition(b" ")
        elif _OTHER_LINE.fullmatch(line):
            return None
        else:
            raise Malformed(f"{line[:80]!r} is no line of a dump")
        code, width = self._known.get(bytes_of_code, ("", None))
        if width is None or not (value.isalnum() or (not width and _VALUE_LINE.fullmatch(line))):
            raise Malformed(f"{line[:80]!r} is the value of no declared signal")
        return (code, fill_bits(value.decode("ascii"), width)) if width else None


@dataclass(slots=True)
class _LineDump:
    """A file whose changes stand from `start` to `end`; a place is that of the first byte of a line. `last` holds for a
    code its last value before the place that was asked for last, and where its line ends; 0 where there is none."""

    file: FileIO
    start: int
    end: int
    codes: Sequence[str]
    meanings: _Meanings
    last: dict[str, tuple[int, str]] = field(default_factory=dict)

    def check_form(self) -> None:
        """Whether the first lines have one change each."""
        text = self.read(self.start, min(self.end, self.start + _TAIL))
        _check_lines(text[:text.rfind(b"\n") + 1])

    def check_changes(self, place: int) -> None:
        """Whether the last lines before a place can be read, even if none is asked for."""
        near, now = place - _TAIL, 0
        for piece in self._pieces(self.start_of_time(near, place) if near > self.start else self.start, place):
            for line in piece.split(b"\n"):
                if line[:1] == b"#":
                    now = _read_time(now, line)
                else:
                    _ = self.meanings[line]

    def place_of(self, time: int) -> int:
        """Where the first time stands that is not before `time`, found by halves; the file's end when there is none."""
        low, high, place = self.start - 1, self.end, self.end
        while low < high:
            middle = (low + high) // 2
            found = self._next_time(middle, high)
            if found is None:
                high = middle
            elif found[1] >= time:
                high, place = middle, found[0]
            else:
                low = found[0]
        if place == self.end and self.read(self.end - 1, self.end) != b"\n":
            raise Malformed("the file ends in the middle of a line")
        return place

    def start_of_time(self, near: int, end: int) -> int:
        """Where the first time behind `near` begins, which may be before it when that time stands there repeatedly;
        `end` when there is none before it."""
        found = self._next_time(near, end - 1)
        return self.place_of(found[1]) if found else end

    def _next_time(self, place: int, stop: int) -> tuple[int, int] | None:
        """The first time whose line begins behind `place` and at `stop` at the latest, with its place."""
        while place < stop:
            piece = self.read(place, min(self.end, place + _PROBE))
            if found := _TIME.search(piece):
                start = place + found.start() + 1
                return (start, int(found[1])) if start <= stop else None
            if place + len(piece) >= self.end:
                return None
            place += len(piece) - _LONGEST_TIME
        return None

    def count_times(self, start: int, end: int) -> int:
        """About how many there are; not more than there are."""
        return sum(piece.count(b"\n#") for piece in self._pieces(start, end))

    def values(self, start: int, end: int, only_lines_of: bytes = b"") -> Iterator[Step]:
        """The values between two places, the first of which is that of a time or the start, with their times. Times at
        which there is none are only skipped: in a dump of many signals that is most of them. In much of a dump it is
        faster to look for the lines of the codes alone (an expression); others then need only have a line's form."""
        now, stamp, values, meanings = 0, b"", dict[str, str](), self.meanings
        telling = re.compile(rb"\n(#\d+|(?:[01xzXZ]|[bB][!-~]* )(?:%b))(?=\n)" % only_lines_of)
        for piece in self._pieces(start, end):
            if only_lines_of:
                _check_lines(piece)
            for line in telling.findall(b"\n" + piece) if only_lines_of else piece.split(b"\n"):
                if line[:1] == b"#":
                    stamp = line
                elif meaning := meanings[line]:
                    if stamp:
                        yield now, values
                        now, stamp, values = _read_time(now, stamp), b"", {}
                    values[meaning[0]] = meaning[1]
        yield now, values

    def lines_without(self, codes: Collection[str]) -> Iterator[bytes]:
        """Pieces of whole lines, without those of some codes."""
        unwanted = re.compile(rb"\n(?:[01xzXZ]|[bBrRsS][!-~]* )(?:%b)(?=\n)" % _any_of(codes)) if codes else None
        for piece in self._pieces(self.start, self.end):
            _check_lines(piece)
            yield unwanted.sub(b"", b"\n" + piece)[1:] if unwanted else piece

    def end_of_changes(self, place: int) -> int:
        """Where the last change of any of the codes before `place` ends; the lines behind it need not be read."""
        self.values_before(place)
        return max((end for end, _ in self.last.values()), default=self.start)

    def values_before(self, place: int) -> dict[str, str]:
        """The last value of each code that has one before `place`."""
        missing = {code: code.encode() for code in self.codes if self.last.get(code, (place + 1, ""))[0] > place}
        for start, block in self._pieces_back(place if missing else self.start):
            for code, needle in list(missing.items()):
                if found := self._find_value(block, needle):
                    self.last[code] = start + found[0], found[1]
                    del missing[code]
            if not missing:
                break
        self.last |= dict.fromkeys(missing, (0, ""))
        return {code: value for code, (end, value) in self.last.items() if end}

    def _find_value(self, block: bytes, code: bytes) -> tuple[int, str] | None:
        """The last value of a code in some lines, with the end of its line. Its first byte alone is found fastest, and
        is rare unless other codes have it, too."""
        at, ending = len(block), code + b"\n"
        for needle, tries in ((code[:1], _FALSE_HITS), (ending, at)):
            for _ in range(tries):
                at = block.rfind(needle, 0, at + len(needle) - 1)
                if at < 0:
                    return None
                if block.startswith(ending, at) and (value := self._value_in(block, at, code)):
                    return value
        return None

    def _value_in(self, block: bytes, at: int, code: bytes) -> tuple[int, str] | None:
        """The value in the line that ends with `code` at `at`."""
        if block[at - 1] != _SPACE and block[at - 2] != _NEWLINE:
            return None
        front = block[block.rfind(b"\n", 0, at) + 1:at]
        if not (front in _BITS or (front[:1] in _VECTOR and front[-1:] == b" ")):
            return None
        meaning = self.meanings[front + code]
        return (at + len(code) + 1, meaning[1]) if meaning else None

    def _pieces(self, start: int, end: int) -> Iterator[bytes]:
        """Whole lines, in their order."""
        while start < end:
            piece = self.read(start, min(end, start + _PIECE))
            piece = piece[:piece.rfind(b"\n") + 1]
            if not piece:
                raise Malformed("a line is far too long")
            yield piece
            start += len(piece)

    def _pieces_back(self, end: int) -> Iterator[tuple[int, bytes]]:
        """Whole lines with their place, the last ones first, the first pieces smaller than those that follow."""
        size = _SMALL
        while end > self.start:
            start = max(self.start, end - size)
            piece = self.read(start, end)
            cut = piece.find(b"\n") + 1 if start > self.start else 0
            if cut == len(piece) or (b"$comment" in piece and _OPEN_COMMENT.search(piece)):
                raise Malformed("a line is far too long, or a comment has many")
            yield start + cut, piece[cut:]
            end, size = start + cut, min(2 * size, _PIECE)

    def read(self, start: int, end: int) -> bytes:
        self.file.seek(start)
        piece = self.file.read(end - start)
        if len(piece) < end - start:
            raise Malformed("the file became shorter")
        return piece


def _check_lines(text: bytes) -> None:
    if not _LINES.fullmatch(text):
        raise Malformed("there are lines with more than one change, or with less")


def _any_of(codes: Iterable[str]) -> bytes:
    """An expression for some codes; those that differ in the last character alone are one choice."""
    choices: dict[bytes, bytes] = {}
    for code in map(str.encode, codes):
        choices[code[:-1]] = choices.get(code[:-1], b"") + re.escape(code[-1:])
    return b"|".join(re.escape(front) + b"[" + last + b"]" for front, last in choices.items())


def _read_time(now: int, stamp: bytes) -> int:
    """The time of a line, which is not before the last one. Raises Malformed."""
    later = int(stamp[1:]) if len(stamp) < _LONGEST_TIME and stamp[1:].isdigit() else -1
    return later if later >= now else parse_time(now, stamp.decode("ascii", "replace"))


# What changed at each time: of the values that a file names, those that are other than before.

Step = tuple[int, dict[str, str]]


@dataclass(frozen=True, slots=True)
class LastSteps:
    """The last steps before a time, oldest first; `before` is what held at the first of them, by code."""

    before: dict[str, str]
    steps: deque[Step]

    @classmethod
    def of(cls, dumped: Iterable[Step], known: Mapping[str, str], count: int) -> LastSteps:
        """The last `count` at most; `known` is what held before that which was `dumped`."""
        last, held = cls(dict(known), deque()), 0
        for step in find_steps(dumped, known):
            last.steps.append(step)
            held += bit_count(step)
            if len(last.steps) > count:
                first = last.steps.popleft()
                held -= bit_count(first)
                last.before.update(first[1])
            check_held(held)
        return last


def find_steps(dumped: Iterable[Step], known: Mapping[str, str]) -> Iterator[Step]:
    """For each time the codes that have another value at its end, with that value; of a time values may be `dumped` in
    several pieces."""
    known, now, values = dict(known), 0, dict[str, str]()
    for moment, more in dumped:
        if moment == now:
            values |= more
            continue
        if step := _other_values(values, known):
            yield now, step
        now, values = moment, more
    if step := _other_values(values, known):
        yield now, step


def _other_values(values: Mapping[str, str], known: dict[str, str]) -> dict[str, str]:
    """The values that are other than what was known, and known from now on: what goes there and back within one time is
    not among them."""
    step = {code: value for code, value in values.items() if known.get(code) != value}
    known |= step
    return step


def bit_count(step: Step) -> int:
    """Of all its values."""
    return sum(map(len, step[1].values()))
