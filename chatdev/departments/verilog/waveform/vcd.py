"""The value change dumps that simulators write (VCD, IEEE 1364-2005, clause 18), read token by token.

Nothing of a file is kept: it is read anew for every question, in pieces, so that memory does not grow with it.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import TypeVar

from chatdev.errors import ToolError

T = TypeVar("T")

_PIECE, _OF_HEADER = 1 << 16, 1 << 12  # bytes
_MOST_DIGITS = 20  # of a number; times have 64 bits
_LONGEST_LINE = 4 << 20  # bytes
_LONGEST_NAME = 4096  # characters of a signal's full name
WIDEST = 1 << 16
"""Bits of a signal whose values can be read: a line of few bytes may stand for all of them."""
MOST_HELD = 1 << 27
"""Bits of all values that are held at a time."""
_NO_BITS = {"real", "realtime", "real_parameter", "shortreal", "string", "event"}
_SECTIONS = {"$dumpvars", "$dumpall", "$dumpon", "$dumpoff", "$end"}


class WaveformError(ToolError):
    """A waveform cannot be read, or has no such signal."""


class Malformed(Exception):
    """What is wrong in the line that is being read."""


def check_held(bits: int) -> None:
    """Raise WaveformError where values of so many bits would be held at a time."""
    if bits > MOST_HELD:
        raise WaveformError(f"the values that are asked for have more than {MOST_HELD:,} bits together; ask for fewer "
                            "signals, or a shorter time")


@dataclass(frozen=True, slots=True)
class Signal:
    """`name` is the full one without range, as in `tb.top_module1.state`; `width` is in bits; `kind` is the file's
    word (`wire`, `reg`, `integer`, …). Signals that are one and the same net share a `code`. `range` is what stands
    behind the name (`[7:0]`), which viewers take for a part of it."""

    name: str
    width: int
    kind: str
    code: str
    range: str = ""


@dataclass(frozen=True, slots=True)
class Header:
    """What a file says before its first value. `codes` holds those of real numbers, strings and events as well."""

    timescale: str
    signals: Mapping[str, Signal]
    codes: frozenset[str]


@dataclass(slots=True)
class _WordSource:
    """The words of a file; after each, `line` is the number of its line when `piece` is 0."""

    path: Path
    piece: int
    line: int = field(default=0, init=False)

    def words(self) -> Iterator[str]:
        return chain.from_iterable(self._pieces())

    def _pieces(self) -> Iterator[list[str]]:
        with self.path.open("rb") as file:
            while piece := file.read(self.piece) + file.readline(_LONGEST_LINE):
                self.line += 1
                whole = piece[:piece.rfind(b"\n") + 1]  # the start of a number is a number, too: a wrong one
                yield whole.decode("utf-8", "replace").split()
                if len(whole) < len(piece):
                    raise Malformed("the file ends in the middle of a line, or the line is far too long; "
                                    "was the simulation ended early?")


def read_header(path: Path) -> Header:
    """What the file says of itself; raises WaveformError."""
    def read(source: _WordSource) -> Iterator[Header]:
        yield _parse_header(source.words())

    return next(_parse_file(path, read, _OF_HEADER))


def read_changes(path: Path, widths: Mapping[str, int], until: float = math.inf) -> Iterator[tuple[int, str, str]]:
    """(time, code, value) of the codes in `widths` (in bits), in the order of the file, up to the last before `until`.

    Values are filled up to the width on the left, as the format has it: with `x` or `z` where one of them comes first,
    else with `0`. They are not always other than the ones before. Raises WaveformError for the first line that cannot
    be read, and for a width of more than `WIDEST` bits.
    """
    for code, width in widths.items():
        if width > WIDEST:
            raise WaveformError(f"{path.name}: the signal of the code {code!r} is {width} bits wide; at most {WIDEST} "
                                "can be read")
    return _parse_file(path, lambda source: _parse_changes(source.words(), widths, until))


def _parse_file(path: Path, reading: Callable[[_WordSource], Iterator[T]], piece: int = _PIECE) -> Iterator[T]:
    """What `reading` yields, in such pieces; a file that it complains of is read again to find the line."""
    try:
        yield from reading(_WordSource(path, piece))
    except Malformed as error:
        source = _WordSource(path, piece=0)
        with suppress(Malformed):
            deque(reading(source), maxlen=0)
        raise WaveformError(f"{path.name}, line {source.line}: {error}") from None
    except OSError as error:
        raise WaveformError(f"the waveform {path} cannot be read: {error.strerror}; "
                            "run the simulation with a dump first") from error


def _parse_header(words: Iterator[str]) -> Header:
    timescale, scope, signals, codes = "", list[str](), dict[str, Signal](), set[str]()
    for word in words:
        section = _parse_section(words, word)
        if word == "$enddefinitions":
            return Header(timescale, signals, frozenset(codes))
        if word == "$timescale":
            timescale = "".join(section)
        elif word == "$var":
            signal = _parse_variable(scope, section)
            codes.add(signal.code)
            if signal.kind not in _NO_BITS:
                signals.setdefault(signal.name, signal)
        else:
            _follow_scope(scope, word, section)
    raise Malformed("the file ends before its $enddefinitions: it is no VCD file, or only the start of one")


def _parse_variable(scope: list[str], section: list[str]) -> Signal:
    match section:
        case [kind, width, code, name, *bits]:
            index = _index_text(bits)
            full = ".".join([*scope, _unescape(name) + index])
            if len(full) > 2 * _LONGEST_NAME:
                raise Malformed(f"{full[:80]!r} … is a name of {len(full)} characters; at most {_LONGEST_NAME}")
            return Signal(full, _parse_number(width), kind, code, "" if index else "".join(bits))
    raise Malformed(f"a $var names kind, width, code and signal; this one: {' '.join(section)}")


def _follow_scope(scope: list[str], keyword: str, section: list[str]) -> None:
    """Follow `$scope` and `$upscope`; what else a header says ($date, $version, $comment) is passed over."""
    match keyword, section:
        case "$scope", [_, name]:
            scope.append(_unescape(name))
            if sum(map(len, scope)) + len(scope) > _LONGEST_NAME:
                raise Malformed(f"the names of the scopes around it have more than {_LONGEST_NAME} characters")
        case "$upscope", [] if scope:
            scope.pop()
        case "$scope" | "$upscope", _:
            raise Malformed(f"there is no such scope: {keyword} {' '.join(section)}")


def _parse_section(words: Iterator[str], keyword: str) -> list[str]:
    """The words up to `$end`."""
    if not keyword.startswith("$"):
        raise Malformed(f"{keyword!r} is no keyword, and only those stand before $enddefinitions")
    section = list[str]()
    for word in words:
        if word == "$end":
            return section
        section.append(word)
    raise Malformed(f"the file ends before the $end of {keyword}")


def _unescape(name: str) -> str:
    """`\\a+b` is the escaped form of `a+b`, which is the name that elaborated designs know."""
    return name.removeprefix("\\")


def _index_text(bits: list[str]) -> str:
    """`[3]` makes another signal of the same name, `[7:0]` only says how wide it is."""
    text = "".join(bits)
    return "" if ":" in text else text


def _parse_number(word: str) -> int:
    if not (word.isascii() and word.isdigit() and len(word) <= _MOST_DIGITS):
        raise Malformed(f"{word!r:.80} is no number")
    return int(word)


def _parse_changes(words: Iterator[str], widths: Mapping[str, int], until: float) -> Iterator[tuple[int, str, str]]:
    wanted = dict.fromkeys(_parse_header(words).codes, 0) | dict(widths)
    now = 0
    for word in words:
        kind = word[0]
        if kind in "01xzXZ":
            value, code = kind, word[1:]
        elif kind in "bB":
            value, code = word[1:], next(words, "")
        elif kind == "#":
            now = parse_time(now, word)
            if now >= until:
                return
            continue
        else:
            _skip_word(word, words)
            continue
        width = wanted.get(code)
        if width:
            yield now, code, fill_bits(value, width)
        elif width is None:
            raise Malformed(f"{value} is the value of no declared signal (its code: {code!r})")


def parse_time(now: int, word: str) -> int:
    time = _parse_number(word[1:])
    if time < now:
        raise Malformed(f"the time goes back, from {now} to {time}")
    return time


def fill_bits(value: str, width: int) -> str:
    value = value.lower()
    if not value or value.strip("01xz") or len(value) > width:
        raise Malformed(f"{value[:80]!r} is no value of {width} bits")
    return value.rjust(width, value[0] if value[0] in "xz" else "0")


def _skip_word(word: str, words: Iterator[str]) -> None:
    """Real numbers and strings, comments, and the marks around values that are dumped again."""
    if word[0] in "rRsS":
        next(words, "")
    elif word == "$comment":
        _parse_section(words, word)
    elif word not in _SECTIONS:
        raise Malformed(f"{word[:80]!r} is neither a time nor a value nor a keyword that may stand here")
