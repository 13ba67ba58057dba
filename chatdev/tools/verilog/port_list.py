"""The ports that a specification lists, in the layouts in which people list them.

Bulleted lines (` - input word (6 bits)`, as VerilogEval has them), names with their direction behind them (`- clk
(input, 1 bit): …`), sections (`Input ports:` and lines below, or names behind it), Markdown tables, declarations as in
Verilog, and heads of modules. Prose may look like any of them: what is not certain is no reason to refuse anything.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from chatdev.tools.verilog.target import TOP

UNKNOWN = "?"
"""The width of a port of which the text says none that is a number."""


@dataclass(frozen=True, slots=True)
class ListedPort:
    """`direction` is `input`, `output` or `inout`; `width` is a range (`[7:0]`), "" for one bit, or UNKNOWN. It is
    `certain` where prose would not be written so."""

    direction: str
    name: str
    width: str = ""
    certain: bool = True


Layout = Callable[[str], Iterator[ListedPort]]
_NAME = r"(?P<quote>[`*]{0,3})(?P<name>[A-Za-z_]\w*+)[`*]*+"
_BITS = r"(?P<bits>\d{1,6})[ \t]*+-?[ \t]*+bits?\b"
_RANGE = r"\[[^\]\n]{1,60}\]"
_AFTER = rf"[ \t]*+(?P<after>{_RANGE})?[`*]*+[ \t]*+"
_PAREN = r"(?P<paren>\([^)\n]{0,80}\))?"
_WORDS = r"(?:(?:wire|reg|logic|signed|unsigned|var|bit)\b[ \t]*+)*+"
_BULLET = r"[ \t]*+(?:[-*•+|]|\d{1,3}[.)])[ \t]*+"
_LISTED = re.compile(
    rf"^(?:{_BULLET}|[ \t]*+(?=`?(?:in|out|inout)put`?:))`?(?P<direction>input|output|inout)\b`?[ \t:|]*+{_WORDS}"
    rf"(?:(?P<open>[`*]{{0,3}})(?P<range>{_RANGE}))?[ \t]*+{_NAME}{_AFTER}{_PAREN}(?P<rest>[^\n]*)$",
    re.MULTILINE | re.IGNORECASE)
_TYPED = re.compile(
    rf"^(?:{_BULLET}|[ \t]*+){_NAME}[ \t]*+(?P<range>{_RANGE})?[ \t]*+"
    rf"(?:[:–—-]|,(?=[ \t]*+\w{{2,3}}put\b)|(?P<open>\())[ \t]*+(?:{_BITS}[ \t,]*+)?"
    r"(?P<direction>input|output|inout|in|out)\b"
    r"(?![ \t]++(?!wire|reg|logic|std|signed|port|signal|clock|reset|data|bus)[a-z])(?P<rest>[^\n]*)$",
    re.MULTILINE | re.IGNORECASE)
_ALIGNED = re.compile(
    rf"^[ \t]*+(?:\w[\w/-]{{0,29}}+[ \t]{{2,}})?{_NAME}(?:[ \t]*+(?P<range>{_RANGE}))?[ \t]{{2,}}"
    r"(?P<direction>input|output|inout|in|out)(?:[ \t]{2,}(?P<rest>[^\n]*))?$", re.MULTILINE)
_SECTION = re.compile(
    r"^[ \t#*_>-]*+(?P<direction>inout|in|out|bidirectional)(?:puts?)?(?:[ \t]++(?:ports?|signals?|pins?))?[ \t*_]*+"
    r"(?:\([^)\n]{0,40}\))?[ \t]*+:[ \t*_]*+(?P<rest>[^\n]*)$", re.IGNORECASE)
_ITEM = re.compile(
    rf"^(?P<indent>[ \t]*+)(?P<bullet>[-*•+]|\d{{1,3}}[.)])?[ \t]*+(?P<first>{_RANGE})?[ \t]*+{_NAME}{_AFTER}{_PAREN}"
    r"[ \t]*+(?:(?:[:–—=]|(?P<dash>-)(?=[ \t]))[ \t]*+(?P<about>[^\n]*))?$")
_PLAIN = re.compile(rf"{_NAME}{_AFTER}{_PAREN}")
_ROW = re.compile(r"^[ \t]*+\|(?P<cells>.*)\|[ \t]*+$", re.MULTILINE)
_DECLARED = re.compile(
    rf"^[ \t]*+(?P<direction>input|output|inout)[ \t]++{_WORDS}(?P<range>{_RANGE})?[ \t]*+"
    r"(?P<names>[A-Za-z_]\w*+(?:[ \t]*+,[ \t]*+[A-Za-z_]\w*+)*+)[ \t]*+[,;)]*+[ \t]*+(?://[^\n]*)?$", re.MULTILINE)
_HEAD = re.compile(r"\bmodule\s++(?P<name>\w++)\s*+[#(][^;]*+;")
_IN_HEAD = re.compile(
    rf"(?:^|[(,])[ \t]*+(?P<direction>input|output|inout)\b[ \t]*+{_WORDS}(?P<range>{_RANGE})?[ \t]*+{_NAME}",
    re.MULTILINE)
_DIRECTIONS = {"in": "input", "input": "input", "out": "output", "output": "output", "inout": "inout",
               "bidirectional": "inout"}
_TITLES = {"name": "name", "signal": "name", "port": "name", "direction": "direction", "dir": "direction",
           "type": "direction", "i/o": "direction", "width": "width", "bits": "width", "size": "width"}
"""What the columns of tables are called."""
_NO_PORTS = frozenset({"none", "nothing", "n", "na"})
_FIRST_BITS = re.compile(rf"^\W{{0,3}}(?:an?[ \t]++)?{_BITS}|\b{_BITS.replace('bits>', 'late>')}[ \t]++wide",
                         re.IGNORECASE)
_PARAMETER = re.compile(r"[A-Z][A-Z0-9_]*+(?:[ \t]*+[-+*/][ \t]*+\w++)*+|\$clog2\([^)\n]*\)")
_TYPE = re.compile(r"^[ \t,]*+(?:(?:std|wire|reg|logic)\b)?+")
_SPEAKS_OF_BITS = re.compile(r"bits?\b|\bwide\b|\bwidth\b|\bbus\b|\bvector\b", re.IGNORECASE)
_MOST = 200_000  # characters that are looked at


def read_ports(text: str, top: str = TOP) -> list[ListedPort]:
    """The ports of the first layout that names one for certain, else of the first that names any; each once."""
    uncertain: list[ListedPort] = []
    heads: Layout = functools.partial(_read_heads, top=top)
    for read in (*_LAYOUTS, heads, _read_declarations):
        found = list({port.name: port for port in reversed(list(read(text[:_MOST])))}.values())[::-1]
        if any(port.certain for port in found):
            return found
        uncertain = uncertain or found
    return uncertain


def _read_bullets(text: str) -> Iterator[ListedPort]:
    for found in _LISTED.finditer(text):
        rest = found["rest"].strip(" \t`*_|")
        is_plain = found["direction"].islower() and (not rest or rest[0] in "-–—/,;")
        is_name = is_plain or bool(found["quote"] or found["open"]) or _is_named_again(found["name"], text)
        has_range = found["range"] or found["after"]
        certain = is_name and (has_range is not None or not rest[:1].isalpha())  # else a sentence goes on
        yield _port(found, has_range, found["paren"], certain=certain)


def _read_typed(text: str) -> Iterator[ListedPort]:
    for found in _TYPED.finditer(text):
        if found["name"].lower() not in _DIRECTIONS:
            range_ = found["range"] or (later[0] if (later := re.search(_RANGE, found["rest"][:60])) else None)
            bits = f"({found['bits']} bits)" if found["bits"] else _TYPE.sub("", found["rest"][:30])
            yield _port(found, range_, bits)


def _read_aligned(text: str) -> Iterator[ListedPort]:
    """Tables whose columns are set apart by blanks, one of them the direction."""
    for found in _ALIGNED.finditer(text):
        if found["name"].lower() in _DIRECTIONS:
            continue
        cell = re.split(r"[ \t]{2,}", found["rest"] or "")[0]
        yield _port(found, found["range"] or _cell_width(cell), None)


def _read_sections(text: str) -> Iterator[ListedPort]:
    lines = text.split("\n")
    for number, line in enumerate(lines):
        if head := _SECTION.match(line):
            direction = _DIRECTIONS[head["direction"].lower()]
            found = _names_behind(head["rest"]) if head["rest"].strip() else _names_below(lines[number + 1:])
            yield from (replace(port, direction=direction) for port in found)


def _names_behind(rest: str) -> Iterator[ListedPort]:
    """`Inputs: clk, rst, a[7:0]`; nothing where one of them is no name."""
    parts = [part.strip() for part in re.split(r",|;|\band\b", rest.rstrip(". \t")) if part.strip()]
    found = [_PLAIN.fullmatch(part) for part in parts]
    for one in found if all(found) else ():
        if one and one["name"].lower() not in _NO_PORTS:
            yield _port(one, one["after"], one["paren"], direction="input")


def _names_below(lines: list[str]) -> Iterator[ListedPort]:
    """The items below a head, up to the first line that is none."""
    items = (None if _SECTION.match(line) else _ITEM.match(line.rstrip()) for line in lines if line.strip())
    for item in takewhile(_is_item, items):
        if item and item["name"].lower() not in _NO_PORTS:
            yield _port(item, item["first"] or item["after"], item["paren"] or item["about"], direction="input")


def _is_item(item: re.Match[str] | None) -> bool:
    """Whether a line stands below a head, and is more than a word."""
    return item is not None and bool(item["indent"] or item["bullet"] or item["dash"]) and (
        item["about"] is not None or bool(item["bullet"] or item["after"] or item["first"]))


def _read_tables(text: str) -> Iterator[ListedPort]:
    """Markdown tables with a column of names and one of directions."""
    columns: dict[str, int] = {}
    for row in _ROW.finditer(text):
        cells = [cell.strip().strip("`*_ ") for cell in row["cells"].split("|")]
        if {"name", "direction"} <= (titles := _columns(cells)).keys():
            columns = titles
        elif columns and max(columns.values()) < len(cells):
            yield from _read_cells({kind: cells[number] for kind, number in columns.items()})


def _columns(cells: Sequence[str]) -> dict[str, int]:
    """Where a table with these heads has names, directions and widths; the first column of a kind counts."""
    found: dict[str, int] = {}
    for title, kind in _TITLES.items():
        for number, cell in enumerate(cells):
            if title in cell.lower():
                found.setdefault(kind, number)
    return found


def _read_cells(cells: Mapping[str, str]) -> Iterator[ListedPort]:
    name, direction = _PLAIN.fullmatch(cells["name"]), _DIRECTIONS.get(cells["direction"].lower())
    if name and direction:
        yield ListedPort(direction, name["name"], name["after"] or _cell_width(cells.get("width", "")))


def _cell_width(cell: str) -> str:
    """The width that a column says; a parameter is none that is a number."""
    if cell.strip("[] ").isdecimal() or not cell:
        return _range(int(cell.strip("[] ") or 1))
    if range_ := re.match(_RANGE, cell):
        return range_[0]
    return UNKNOWN if _PARAMETER.fullmatch(cell) else _width(None, f"({cell})")


def _read_declarations(text: str) -> Iterator[ListedPort]:
    is_shown = _HEAD.search(text, 0, text.rfind(";") + 1) is not None  # in a module, which may be meant otherwise
    for found in _DECLARED.finditer(text):
        for name in re.split(r"[ \t]*,[ \t]*", found["names"]):
            yield ListedPort(found["direction"], name, found["range"] or "", certain=not is_shown)


def _read_heads(text: str, top: str) -> Iterator[ListedPort]:
    """Of the head of the top module, else of all that the text shows; what it shows may be meant otherwise."""
    heads = list(_HEAD.finditer(text, 0, text.rfind(";") + 1))  # no head goes on behind it
    chosen = [head for head in heads if head["name"] == top] or heads
    for head in chosen:
        for found in _IN_HEAD.finditer(head[0]):
            yield _port(found, found["range"], None, certain=False)


_LAYOUTS: tuple[Layout, ...] = (
    _read_bullets, _read_typed, _read_aligned, _read_sections, _read_tables)


def _port(found: re.Match[str], range_: str | None, about: str | None, *, direction: str = "",
          certain: bool = True) -> ListedPort:
    direction = direction or _DIRECTIONS[found["direction"].lower()]
    return ListedPort(direction, found["name"], _width(range_, about), certain)


def _width(range_: str | None, about: str | None) -> str:
    """The range, else that of the bits that are spoken of; one bit where nothing is said."""
    if range_:
        return range_
    said = _FIRST_BITS.search((about or "").strip("( \t"))
    if said:
        return _range(int(said["bits"] or said["late"]))
    return UNKNOWN if _SPEAKS_OF_BITS.search(about or "") else ""


def _range(bits: int) -> str:
    return f"[{bits - 1}:0]" if bits > 1 else ""


def _is_named_again(name: str, text: str) -> bool:
    return len(re.findall(rf"\b{name}\b", text)) > 1
