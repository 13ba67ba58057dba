"""The width of a port, as the words beside its name say it.

What is not understood is UNKNOWN and no reason to refuse a module, and neither is another width than that of a sentence
(`8-bit operand`) or of silence, which may be one bit or said elsewhere: only a figure that stands there by itself is.
"""

from __future__ import annotations

import re
from typing import NamedTuple


class Width(NamedTuple):
    """A range (`[7:0]`), "" for one bit or where none is said, or UNKNOWN; and whether it is written as a figure."""

    text: str
    is_written: bool = False


UNKNOWN = "?"
"""The width of a port of which the text says none that is a number."""
BITS = r"(?P<bits>\d{1,6})[ \t]*+-?[ \t]*+bits?\b"
RANGE = r"\[[^\]\n]{1,60}\]"

_TYPES = (r"(?:(?:(?:in|out|inout)(?:put)?|wire|reg|logic|var|bits?|(?:un)?signed|vector"
          r"|std(?:_u?logic(?:_vector)?)?)\b|[ \t(,:=`*–—-])*+")
_FIRST_BITS = re.compile(rf"^{_TYPES}(?:(?:an?|each|all|both)[ \t]++)?{BITS}"
                         rf"|\b{BITS.replace('bits>', 'late>')}(?=[ \t]++wide)", re.IGNORECASE)
_ENDS = re.compile(r"(?:[ \t]++(?:wide|each)\b)*+[ \t]*+(?:$|[][,;.:()`*|–—]|-[ \t])", re.IGNORECASE)
"""What stands behind bits that are a width and no word of a sentence, such as `8-bit data is valid`."""
_FIRST_RANGE = re.compile(rf"{_TYPES}(?P<range>{RANGE})", re.IGNORECASE)
_DOWN = re.compile(rf"{_TYPES}(?P<high>\d{{1,6}})[ \t]++downto[ \t]++(?P<low>\d{{1,6}})", re.IGNORECASE)
_FIGURE = re.compile(r"(?P<bits>[1-9][0-9]{0,5})[) \t]*+")
_BARE = re.compile(r"(?P<high>\d{1,6})[ \t]*+:[ \t]*+(?P<low>\d{1,6})")
_ONE = re.compile(r"[-–—]?|1|(?:a|one|single|scalar|1)[ -]?bit|one|single|scalar|bit|wire|reg|logic|std_u?logic"
                  r"|bool(?:ean)?|std|clock|reset", re.IGNORECASE)
_SAYS_ONE = re.compile(r"1|one|single|scalar|bit", re.IGNORECASE)
_NUMBERS = ("two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen"
            "|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|hundred")
_SPEAKS_OF_WIDTH = re.compile(
    rf"bits?\b|\b(?:{_NUMBERS}|wide|width|bus|vector|array|bytes?|words?|nibbles?|digits?|ascii|bcd|integers?|u?int\d*"
    r"|(?:un)?signed|data|address|numbers?|values?|operands?|index|sums?|counts?|counter|colou?rs?|char(?:acter)?s?|codes?|sample)\b"
    r"|vector|[2-9]|\d\d|\[", re.IGNORECASE)


def width_of(range_: str | None, about: str | None) -> Width:
    """The range, else the one that the description begins with, else that of the bits that it speaks of; one bit where
    it says nothing of a width."""
    if range_:
        return Width(range_, is_written=True)
    about = (about or "").strip("( \t|")
    if said := _FIRST_BITS.search(about):
        is_apart = bool(said["bits"] or about[:said.start()].rstrip()[-1:] in ",;(–—")
        is_written = is_apart and _ENDS.match(about, said.end()) is not None
        return Width(bits_of(int(said["bits"] or said["late"])), is_written)
    if written := _FIRST_RANGE.match(about):
        return Width(written["range"], is_written=True)
    if down := _DOWN.match(about):
        return Width(f"[{down['high']}:{down['low']}]", is_written=True)
    return Width(_guess_width(about))


def _guess_width(about: str) -> str:
    """Of `d: 8`, which may also be a value; else one bit where nothing speaks of more."""
    if figure := _FIGURE.fullmatch(about):
        return bits_of(int(figure["bits"]))
    return UNKNOWN if _SPEAKS_OF_WIDTH.search(about) else ""


def cell_width(cell: str, *, may_be_prose: bool = False) -> Width:
    """The width that a column of widths or types says; several words may be a description."""
    inner = cell.strip("[] \t")
    if inner.isdecimal():
        return Width(bits_of(int(inner)), is_written=True)
    if bare := _BARE.fullmatch(inner):
        return Width(f"[{bare['high']}:{bare['low']}]", is_written=True)
    if _ONE.fullmatch(inner):
        return Width("", is_written=_SAYS_ONE.search(inner) is not None)
    said = width_of(None, cell)
    return said if said.text or said.is_written else Width("" if may_be_prose and " " in inner else UNKNOWN)


def bits_of(bits: int) -> str:
    """The range of so many bits."""
    return f"[{bits - 1}:0]" if bits > 1 else ""
