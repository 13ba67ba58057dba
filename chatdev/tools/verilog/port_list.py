"""The ports that a specification lists, in the layouts in which people list them.

Bulleted lines (` - input word (6 bits)`, as VerilogEval has them), names with their direction behind them (`- clk
(input, 1 bit): …`), sections (`Input ports:` and lines below, or names behind it), Markdown tables, declarations as in
Verilog, and heads of modules. Prose may look like any of them: what is not certain is no reason to refuse anything.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from chatdev.tools.verilog.port_width import BITS, RANGE, UNKNOWN, cell_width, width_of
from chatdev.tools.verilog.target import TOP


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
_AFTER = rf"[ \t]*+(?P<after>{RANGE})?[`*]*+[ \t]*+"
_PAREN = r"(?P<paren>\([^)\n]{0,80}\))?"
_WORDS = r"(?:(?:wire|reg|logic|signed|unsigned|var|bit)\b[ \t]*+)*+"
_TYPE = r"(?P<type>\w++::\w++[ \t]++)?+"  # of a package
_BULLET = r"[ \t]*+(?:[-*•+|]|\d{1,3}[.)])[ \t]*+"
_LISTED = re.compile(
    rf"^(?:{_BULLET}|(?P<colon>[ \t]*+(?=`?(?:in|out|inout)put`?:)))`?(?P<direction>input|output|inout)"
    rf"\b`?[ \t:|]*+{_WORDS}{_TYPE}"
    rf"(?:(?P<open>[`*]{{0,3}})(?P<range>{RANGE}))?[ \t]*+{_NAME}{_AFTER}{_PAREN}(?P<rest>[^\n]*)$",
    re.MULTILINE | re.IGNORECASE)
_TYPED = re.compile(
    rf"^(?:{_BULLET}|[ \t]*+){_NAME}[ \t]*+(?P<range>{RANGE})?[ \t]*+"
    rf"(?:[:–—-]|,(?=[ \t]*+\w{{2,3}}put\b)|(?P<open>\())[ \t]*+(?:{BITS}[ \t,]*+)?"
    r"(?P<direction>input|output|inout|in|out)\b"
    r"(?![ \t]++(?!wire|reg|logic|std|(?:un)?signed|port|signal|clock|reset|data|bus)[a-z])(?P<rest>[^\n]*)$",
    re.MULTILINE | re.IGNORECASE)
_ALIGNED = re.compile(
    rf"^[ \t]*+(?:\w[\w/-]{{0,29}}+[ \t]{{2,}})?{_NAME}(?:[ \t]*+(?P<range>{RANGE}))?[ \t]{{2,}}"
    r"(?P<direction>input|output|inout|in|out)(?:[ \t]{2,}(?P<rest>[^\n]*))?$", re.MULTILINE)
_SECTION = re.compile(
    r"^[ \t#*_>-]*+(?P<direction>inout|in|out|bidirectional)(?:puts?)?(?:[ \t]++(?:ports?|signals?|pins?))?[ \t*_]*+"
    r"(?:\([^)\n]{0,40}\))?[ \t]*+:[ \t*_]*+(?P<rest>[^\n]*)$", re.IGNORECASE)
_ITEM = re.compile(
    rf"^(?P<indent>[ \t]*+)(?P<bullet>[-*•+]|\d{{1,3}}[.)])?[ \t]*+(?P<first>{RANGE})?[ \t]*+{_NAME}{_AFTER}{_PAREN}"
    r"[ \t]*+(?:(?:[:–—=]|(?P<dash>-)(?=[ \t]))[ \t]*+(?P<about>[^\n]*))?$")
_PLAIN = re.compile(rf"{_NAME}{_AFTER}{_PAREN}")
_ROW = re.compile(r"^[ \t]*+\|(?P<cells>.*)\|[ \t]*+$", re.MULTILINE)
_DECLARED = re.compile(
    rf"^[ \t]*+(?P<direction>input|output|inout)[ \t]++{_WORDS}{_TYPE}(?P<range>{RANGE})?[ \t]*+"
    r"(?P<names>[A-Za-z_]\w*+(?:[ \t]*+,[ \t]*+[A-Za-z_]\w*+)*+)[ \t]*+[,;)]*+[ \t]*+(?://[^\n]*)?$", re.MULTILINE)
_HEAD = re.compile(r"\bmodule\s++(?P<name>\w++)\s*+[#(][^;]*+;")
_IN_HEAD = re.compile(
    rf"(?:^|[(,])[ \t]*+(?P<direction>input|output|inout)\b[ \t]*+{_WORDS}"
    rf"(?P<type>(?:\w++::)?+\w++[ \t]++(?=[A-Za-z_\[]))?+(?P<range>{RANGE})?[ \t]*+{_NAME}",
    re.MULTILINE)
_DIRECTIONS = {"in": "input", "input": "input", "out": "output", "output": "output", "inout": "inout",
               "bidirectional": "inout"}
_TITLES = {"name": "name", "signal": "name", "port": "name", "direction": "direction", "dir": "direction",
           "type": "direction", "i/o": "direction", "width": "width", "bits": "width", "size": "width"}
"""What the columns of tables are called."""
_NO_PORTS = frozenset({"none", "nothing", "n", "na"})
_NO_NAMES = frozenset(_DIRECTIONS) | {"direction", "type"}
_SENTENCE = re.compile(r"[ \t]*+(?:[=/]|,(?:[^,]*,)?[ \t]*+(?:in|out)(?:put)?\b)", re.IGNORECASE)
"""What goes on behind the direction where it is none: `Example: in = 3`, `Mode: input/output`."""
_EACH = re.compile(r"\b(?:each|all|both|every)\b", re.IGNORECASE)
_OF_ONE_BIT = re.compile(r"(?:[a-z]{1,3}_?)?(?:clk|clock|rst|reset)(?:_?[a-z]{1,2})?", re.IGNORECASE)
_GOES_ON = frozenset("-–—/,;") | {""}
_LEGEND = re.compile(r"(?<=\))[ \t]*+:[ \t][^\n]*$")
_PARAGRAPH = re.compile(r"\n[ \t]*\n")
_MODULE = r"\b(?:sub)?modules?\b|\binstan|\bcells?\b|\bcomponents?\b|\bhelpers?\b|\bblocks?\b|\bunits?\b"
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_MOST = 200_000  # characters that are looked at


def read_ports(text: str, top: str = TOP) -> list[ListedPort]:
    """The ports of the first layout that names one for certain, else of the first that names any; each once. Where
    the text lists those of several modules, they are the ones of that which it calls `top` just before, else uncertain.
    """
    uncertain: list[ListedPort] = []
    heads: Layout = functools.partial(_read_heads, top=top)
    for read in (*_LAYOUTS, heads, _read_declarations):
        found = _first_of_each(read(text[:_MOST]))
        if any(port.certain for port in found):
            return _of_one_module(text[:_MOST], read, top) or found
        uncertain = uncertain or found
    return uncertain


def _first_of_each(ports: Iterable[ListedPort]) -> list[ListedPort]:
    return list({port.name: port for port in reversed(list(ports))}.values())[::-1]


def _of_one_module(text: str, read: Layout, top: str) -> list[ListedPort]:
    """The ports, certain only if they are in the list before which alone the top module is named, where the text lists
    those of several modules; else none."""
    lists = list(_lists_of_modules(text, read, top))
    if len(lists) < 2:
        return []
    named = [ports for words, ports in lists if re.search(rf"\b{re.escape(top)}\b", words)]
    own = named[0] if len(named) == 1 else []
    others = [replace(port, certain=False) for _, ports in lists if ports is not own for port in ports]
    return _first_of_each([*own, *others])


def _lists_of_modules(text: str, read: Layout, top: str) -> Iterator[tuple[str, list[ListedPort]]]:
    """Lists of inputs and outputs, each with the words before it; another begins where these speak of a module."""
    module = re.compile(rf"\b{re.escape(top)}\b|{_MODULE}", re.IGNORECASE)
    before, words, listed = "", "", list[ListedPort]()
    for paragraph in _PARAGRAPH.split(text):
        words += paragraph
        if not (ports := list(read(paragraph))):
            continue
        if {"input", "output"} <= {port.direction for port in listed} and module.search(words):
            yield before, listed
            before, listed = "", []
        before, words, listed = before + words, "", [*listed, *ports]
    yield before, listed


def _read_bullets(text: str) -> Iterator[ListedPort]:
    for found in _LISTED.finditer(text):
        about = f"{found['paren'] or ''} {found['rest'].lstrip('`*: ')}"
        yield _port(found, found["range"] or found["after"], about, certain=_is_listed(found, text))


def _is_listed(found: re.Match[str], text: str) -> bool:
    """Whether such a line lists a port for certain: no sentence goes on there, and it is no example of an input."""
    has_width = bool(found.group("range", "after") != (None, None))
    rest = str(found["rest"]).strip(" \t`*_|")
    is_sentence = not has_width and rest[:1].isalpha()
    if is_sentence or found["quote"] or found["open"]:
        return not is_sentence
    if found["colon"] is not None and not has_width:
        return bool(found["paren"])
    return (found["direction"].islower() and rest[:1] in _GOES_ON) or _is_named_again(found["name"], text)


def _read_typed(text: str) -> Iterator[ListedPort]:
    for found in _TYPED.finditer(text):
        if found["name"].lower() not in _NO_NAMES and not _SENTENCE.match(found["rest"]):
            about = f"{found['bits']} bits" if found["bits"] else found["rest"].lstrip("`*,:; \t")
            yield _port(found, found["range"], about)


def _read_aligned(text: str) -> Iterator[ListedPort]:
    """Tables whose columns are set apart by blanks, one of them the direction."""
    rows = [found for found in _ALIGNED.finditer(text) if found["name"].lower() not in _DIRECTIONS]
    for found in rows:  # a single one may be the head of a table of values
        cell = re.split(r"[ \t]{2,}", found["rest"] or "")[0]
        yield _port(found, found["range"] or cell_width(cell, may_be_prose=True), None, certain=len(rows) > 1)


def _read_sections(text: str) -> Iterator[ListedPort]:
    lines = text.split("\n")
    for number, line in enumerate(lines):
        if head := _SECTION.match(line):
            direction = _DIRECTIONS[head["direction"].lower()]
            found = _names_behind(head["rest"]) if head["rest"].strip() else _names_below(lines[number + 1:])
            yield from (replace(port, direction=direction) for port in found)


def _names_behind(rest: str) -> Iterator[ListedPort]:
    """`Inputs: clk, rst, a[7:0]`; nothing where one of them is no name. Bits behind the last one may be meant of all;
    a name alone may be a value (`Output: zero`)."""
    listed = _plain_names(_LEGEND.sub("", rest).rstrip(". \t"))
    certain = len(listed) > 1 or any(one[kind] for one in listed for kind in ("quote", "after", "paren"))
    ports = [_port(one, one["after"], one["paren"], direction="input", certain=certain) for one in listed]
    yield from (port if port.width else replace(port, width=_width_of_others(port.name, listed[-1])) for port in ports)


def _plain_names(text: str) -> list[re.Match[str]]:
    """The names of a list; none where one of them is no name of a port."""
    names = [_PLAIN.fullmatch(part) for part in map(str.strip, re.split(r",|;|\band\b", text)) if part]
    listed = [one for one in names if one and one["name"].lower() not in _NO_PORTS]
    return listed if len(listed) == len(names) else []


def _width_of_others(name: str, last: re.Match[str]) -> str:
    """The width of a name without one, by what stands behind the last name."""
    about = "" if _OF_ONE_BIT.fullmatch(name) else last["paren"] or ""
    width = width_of(last["after"], about)
    if _EACH.search(about):
        return width
    return UNKNOWN if about and width else ""


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
        yield ListedPort(direction, name["name"], name["after"] or cell_width(cells.get("width", "")))


def _read_declarations(text: str) -> Iterator[ListedPort]:
    is_shown = _HEAD.search(text, 0, text.rfind(";") + 1) is not None  # in a module, which may be meant otherwise
    for found in _DECLARED.finditer(text):
        for name in re.split(r"[ \t]*,[ \t]*", found["names"]):
            yield ListedPort(found["direction"], name, found["range"] or "", certain=not is_shown)


def _read_heads(text: str, top: str) -> Iterator[ListedPort]:
    """Of the head of the top module, else of all that the text shows; what it shows may be meant otherwise."""
    text = _COMMENT.sub(" ", text)
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
    is_typed = found.groupdict().get("type") is not None
    return ListedPort(direction, found["name"], UNKNOWN if is_typed else width_of(range_, about), certain)


def _is_named_again(name: str, text: str) -> bool:
    return len(re.findall(rf"\b{name}\b", text)) > 1
