"""Layouts of specifications in which ports stand under a head (lists and tables of inputs and of outputs), and how a
list is told from prose.

`Input ports:` or `## Inputs` and lines below, `Inputs: clk, d[7:0]`, and Markdown tables, with a column of directions
or under such a head.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import dropwhile
from typing import NamedTuple

from chatdev.departments.verilog.port_lines import (
    AFTER,
    BITS,
    DIRECTIONS,
    NAME,
    ONE_BIT,
    PAREN,
    RANGE,
    UNKNOWN,
    ListedPort,
    Width,
    cell_width,
    is_sign,
    name_counts,
    port_of,
    width_of,
)

Line = tuple[int, str]
"""Where it begins, and its text."""
Row = tuple[int, list[str]]
"""Where it begins, and its cells."""
Found = Iterator[tuple[ListedPort, bool]]
"""Ports, each with whether a quotation, a range or the like marks it as one."""

_DIRECTION = r"(?P<direction>inout|in|out|bidirectional)"
_PORTS = r"(?:[ \t]++(?P<noun>ports?|signals?|pins?))?"
_SECTION = re.compile(
    rf"^[ \t#*_>-]*+{_DIRECTION}(?P<put>puts?)?{_PORTS}[ \t*_]*+(?:\([^)\n]{{0,40}}\))?[ \t]*+:[ \t*_]*+"
    r"(?P<rest>[^\n]*)$", re.IGNORECASE)
_HEADING = re.compile(
    rf"^[ \t]*+(?:\#{{1,6}}[ \t]++(?:\d[\d.]*+[ \t]++)?[*_]*+|(?:\d[.)]|[-*])?[ \t]*+(?:\*\*|__)){_DIRECTION}"
    rf"(?:(?P<put>puts?){_PORTS}|[ \t]++(?:ports?|signals?|pins?))[ \t]*+(?:\([^)\n]{{0,40}}\))?[*_ \t#]*+(?P<rest>)$",
    re.IGNORECASE)
_ITEM = re.compile(
    rf"^(?P<indent>[ \t]*+)(?P<bullet>[-*•+]|\d{{1,3}}[.)])?[ \t]*+(?P<first>{RANGE})?[ \t]*+{NAME}{AFTER}{PAREN}"
    r"[ \t]*+(?:(?:[:–—=]|(?P<dash>--?)(?=[ \t]))[ \t]*+(?P<about>[^\n]*))?$")
_SEVERAL = re.compile(
    r"^(?P<indent>[ \t]*+(?:[-*•+]|\d{1,3}[.)])?[ \t]*+)"
    r"(?P<names>[`*]*+[A-Za-z_]\w*+[`*]*+(?:[ \t]*+,[ \t]*+[`*]*+[A-Za-z_]\w*+[`*]*+)++)"
    r"(?P<rest>[ \t]*(?:[:–—=(]|--?[ \t]).*)$")
"""`red, green: Outputs of the lamps`."""
_PLAIN = re.compile(rf"{NAME}{AFTER}{PAREN}")
_DESCRIBED = re.compile(rf"(?:an?[ \t]++)?(?P<after>{BITS})[ \t]++(?:[a-z]++[ \t]++)?{NAME}[ \t]*+{PAREN}")
_ROW = re.compile(r"^[ \t]*+\|(?P<cells>.*)\|[ \t]*+$")
_DRAWN = re.compile(r"[ \t]*+\+[-=+]++[ \t]*+$")
"""A line between the rows of a table."""
_TITLES = {"name": "name", "signal": "name", "port": "name", "direction": "direction", "dir": "direction",
           "i/o": "direction", "type": "direction", "width": "width", "bits": "width", "size": "width"}
"""What the columns of tables are called."""
_TYPED_CELL = re.compile(rf"(?P<direction>{'|'.join(DIRECTIONS)})(?:[ ,(]++(?:{BITS}|{RANGE}|\d++"
                         r"|(?:wire|reg|logic|bit|signed|unsigned|std_u?logic(?:_vector)?)\b))*+[ )]*+")
"""A direction, and the type of the port."""
_LETTERS = {"i": "input", "o": "output", "io": "inout", "i/o": "inout"}
_NO_PORTS = frozenset({"none", "nothing", "n", "na"})
_REMARK = re.compile(
    r"notes?|remarks?|latency|timing|defaults?|examples?|format|encoding|protocol|polarity|types?|style|behaviou?r"
    r"|description|functions?|processing|generation|implementation|a?synchronous|registered|combinational|(?:un)?signed"
    r"|stable|parameters?|others?", re.IGNORECASE)
"""Words with which a line under a head may say something of its ports."""
_EACH = re.compile(r"\b(?:each|all|both|every)\b", re.IGNORECASE)
_LEGEND = re.compile(r"(?<=\))[ \t]*+:[ \t][^\n]*$")
_ANY_HEAD = re.compile(r"[ \t]*+(?:#|\*\*|__)|.*:[ \t*_]*+$")


def read_sections(text: str) -> Iterator[ListedPort]:
    """The names behind a head, or below it."""
    lines, named, end = _lines_of(text), name_counts(text), 0
    for number, (at, line) in enumerate(lines):
        if (head := _find_head(line)) and at >= end:
            direction = DIRECTIONS[head["direction"].lower()]
            for port, is_marked in _names_of(head, lines, number):
                end = port.at + 1  # what is listed is no head: `out: …`
                if is_marked or not _REMARK.fullmatch(port.name):
                    certain = port.certain and (is_marked or _is_name(port.name, direction, named))
                    yield replace(port, direction=direction, certain=certain)


def _names_of(head: re.Match[str], lines: Sequence[Line], number: int) -> Found:
    """The names behind a head, in the line of this number, or below it."""
    if head["rest"].strip():
        return _names_behind(head["rest"], lines[number][0])
    return _names_below((lines[below] for below in range(number + 1, len(lines))), head)


def _lines_of(text: str) -> list[Line]:
    lines, at = list[Line](), 0
    for line in text.split("\n"):
        lines.append((at, line))
        at += len(line) + 1
    return lines


def _find_head(line: str) -> re.Match[str] | None:
    return _SECTION.match(line) or _HEADING.match(line)


def _is_name(name: str, direction: str, named: dict[str, int]) -> bool:
    """Whether that is the name of a port, and not the word for what the line is about (`Reset: cleared`)."""
    if direction == "output" and ONE_BIT.fullmatch(name):
        return False
    return is_sign(name) or (named[name] > 1 and not name.istitle())


def _names_behind(rest: str, at: int) -> Found:
    """`Inputs: clk, rst, a[7:0]`; nothing where one of them is no name. Bits behind the last one may be meant of all;
    a name alone may be a value (`Output: zero`)."""
    listed = _plain_names(_LEGEND.sub("", rest).rstrip(". \t"))
    certain = len(listed) > 1 or any(_is_marked(one) for one in listed)
    for one in listed:
        about = f"{one['bits']} bits" if one.groupdict().get("bits") else one["paren"]
        range_ = None if one.groupdict().get("bits") else one["after"]
        port = replace(port_of(one, range_, about, direction="input", certain=certain), at=at)
        if not (port.width or port.is_sized):
            width = _width_of_others(port.name, listed[-1])
            port = replace(port, width=width.text, is_sized=width.is_written)
        yield port, bool(one["quote"] or port.is_sized)


def _is_marked(found: re.Match[str]) -> bool:
    return any(found[kind] for kind in ("quote", "after", "paren"))


def _plain_names(text: str) -> list[re.Match[str]]:
    """The names of a list; none where one of them is no name of a port."""
    parts = [part for part in map(str.strip, re.split(r",|;|\band\b", text)) if part]
    names = [_PLAIN.fullmatch(part) or _read_described(part) for part in parts]
    listed = [one for one in names if one and one["name"].lower() not in _NO_PORTS]
    return listed if len(listed) == len(names) else []


def _read_described(part: str) -> re.Match[str] | None:
    """`8-bit data d`, but no `8-bit data`."""
    found = _DESCRIBED.fullmatch(part)
    return found if found and (found["quote"] or is_sign(found["name"])) else None


def _width_of_others(name: str, last: re.Match[str]) -> Width:
    """The width of a name without one, by what stands behind the last name."""
    if last.groupdict().get("bits"):
        return Width("")
    about = "" if ONE_BIT.fullmatch(name) else last["paren"] or ""
    width = width_of(last["after"], about)
    if _EACH.search(about):
        return width
    return Width(UNKNOWN if about and width.text else "")


def _names_below(lines: Iterator[Line], head: re.Match[str]) -> Found:
    """The items below a head."""
    for at, item in _items_below(_with_one_name_each(lines), head):
        if item["name"].lower() not in _NO_PORTS:
            port = port_of(item, item["first"] or item["after"], item["paren"] or item["about"], direction="input")
            yield replace(port, at=at), bool(item["first"] or port.is_sized or item["quote"] or item["after"])


def _with_one_name_each(lines: Iterator[Line]) -> Iterator[Line]:
    """The lines, for one that lists several names before what is said of them one for each."""
    for at, line in lines:
        several = _SEVERAL.match(line)
        names = re.split(r"[ \t]*,[ \t]*", several["names"]) if several else []
        if several and all(is_sign(name.strip("`*")) or name.islower() for name in names):
            yield from ((at, f"{several['indent']}{name}{several['rest']}") for name in names)
        else:
            yield at, line


def _items_below(lines: Iterator[Line], head: re.Match[str]) -> Iterator[tuple[int, re.Match[str]]]:
    """Those that look like the first one, up to the first line that stands as far out and does not."""
    depth, first = _depth(head[0]), None
    for at, line in dropwhile(lambda line: not line[1].strip(), lines):
        if first and _says_more(line, first, depth):
            continue
        item = None if _ends_section(line, head) else _ITEM.match(line.rstrip())
        if item is None or not _is_item(item, depth, head) or (first and _look(first) != _look(item)):
            return
        first = first or item
        yield at, item


def _ends_section(line: str, head: re.Match[str]) -> bool:
    """Whether another head begins; below one of `Inputs`, `out: …` is a port."""
    other = _find_head(line)
    return other is not None and bool(other["put"] or other["noun"] or not head["put"])


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())


def _look(item: re.Match[str]) -> tuple[int, bool]:
    return len(item["indent"]), bool(item["bullet"])


def _says_more(line: str, first: re.Match[str], depth: int) -> bool:
    """Whether a line belongs to the item before it, or is blank and no end."""
    return _depth(line) > len(first["indent"]) if line.strip() else not _is_flush(first, depth)


def _is_flush(item: re.Match[str], depth: int) -> bool:
    """Whether an item stands as far out as its head, and has no bullet: such a list ends with its paragraph."""
    return not item["bullet"] and len(item["indent"]) <= depth


def _is_item(item: re.Match[str], depth: int, head: re.Match[str]) -> bool:
    """Whether a line stands below a head, and is more than a word."""
    has_width = bool(item["after"] or item["first"])
    if _is_flush(item, depth) and not item["dash"]:
        is_title = item["name"].istitle() and not has_width  # `Implementation: …`
        return _lists_many(head) and bool(item["about"]) and not is_title
    return bool(item["bullet"] or item["about"]) or has_width


def _lists_many(head: re.Match[str]) -> bool:
    """Whether a head is one of ports, or of more than one value."""
    return head.re is _SECTION and bool(head["noun"] or (head["put"] or "").lower() == "puts")


def read_tables(text: str) -> Iterator[ListedPort]:
    """Markdown tables with a column of names, and one of directions or a head that says them."""
    section, table, named = "", list[Row](), name_counts(text)
    for at, line in [*_lines_of(text), (len(text), "")]:
        if _DRAWN.match(line):
            continue
        if row := _ROW.match(line):
            table.append((at, [cell.strip().strip("`*_ ") for cell in row["cells"].split("|")]))
            continue
        if table:
            yield from _read_table(table, section, named)
            table = []
        if head := _find_head(line):
            section = "" if head["rest"].strip() else DIRECTIONS[head["direction"].lower()]
        elif _ANY_HEAD.match(line):
            section = ""


def _read_table(table: Sequence[Row], section: str, named: dict[str, int]) -> Iterator[ListedPort]:
    """Without a column of directions, for certain only what can be no other name."""
    (_, titles), *rows = table
    columns = _columns(titles)
    if "name" not in columns:
        return
    for at, cells in rows:
        direction = _direction_in(cells, columns["direction"], titles) if "direction" in columns else section
        if direction and max(columns.values()) < len(cells) and (name := _PLAIN.fullmatch(cells[columns["name"]])):
            port = _port_in(cells, columns, name, direction)
            is_listed = "direction" in columns or port.is_sized or _is_name(port.name, direction, named)
            yield replace(port, certain=is_listed, at=at)


def _direction_in(cells: Sequence[str], place: int, titles: Sequence[str]) -> str | None:
    said = cells[place].lower() if place < len(cells) else ""
    is_type = "type" in titles[place].lower()  # such as that of an instruction
    if typed := _TYPED_CELL.fullmatch(said):
        return DIRECTIONS[typed["direction"]]
    return None if is_type else _LETTERS.get(said)


def _port_in(cells: Sequence[str], columns: dict[str, int], name: re.Match[str], direction: str) -> ListedPort:
    """With the width that the name has, or its column says, or else notes."""
    if name["after"]:
        width = Width(name["after"], is_written=True)
    elif "width" in columns:
        width = cell_width(cells[columns["width"]])
    else:
        others = {place for kind, place in columns.items() if kind != "direction"}
        notes = [width_of(None, cell) for number, cell in enumerate(cells) if number not in others]
        width = next((width for width in notes if width.text), Width(""))
    return ListedPort(direction, name["name"], width.text, is_sized=width.is_written)


def _columns(cells: Sequence[str]) -> dict[str, int]:
    """Where a table with these heads has names, directions and widths; the first column of a kind counts."""
    found: dict[str, int] = {}
    for title, kind in _TITLES.items():
        for number, cell in enumerate(cells):
            if title in cell.lower():
                found.setdefault(kind, number)
    return found


# What prose beside a list looks like: a certain list is one block, and its entries are written alike.

_WORDS = frozenset({"clock", "reset", "a", "an", "i", "in", "out"})
"""Names of ports that are words, too."""
_LONGEST = 400  # characters of a line that are looked at
_PROSE = re.compile(r"(?:[^\s|]+[ \t]+){6}|[.!?]\s*$")
"""A line that is no label of a group of ports."""


class _Look(NamedTuple):
    """How a line lists a port: whether its direction begins with a capital, what follows the name (a letter, a colon or
    anything else), and whether the name is in quotes."""

    is_title: bool
    behind: str
    is_quoted: bool


def _look_of(text: str, port: ListedPort) -> _Look | None:
    """None where the direction does not stand before the name in its line."""
    line = text[port.at:port.at + _LONGEST].partition("\n")[0]
    found = re.search(rf"\b{port.direction}\b[^\n]*?(?P<quote>[`*]?)(?<!\w){port.name}\b[`*]*[ \t]*(?P<next>.?)", line,
                      re.IGNORECASE)
    if found is None:
        return None
    behind = "a" if found["next"].isalpha() else ":" if found["next"] == ":" else ""
    return _Look(found[0][0].isupper(), behind, bool(found["quote"]))


def _is_evident(port: ListedPort, look: _Look | None) -> bool:
    """Whether the name is hardly a word of a text, or something beside it says that it is a name."""
    if port.is_sized or (look is not None and look.is_quoted):
        return True
    return (is_sign(port.name) or ONE_BIT.fullmatch(port.name) is not None) and port.name.lower() not in _WORDS


def leave_out_prose(text: str, ports: Sequence[ListedPort]) -> list[ListedPort]:
    """The ports of one list, those not certain that are written otherwise than the ones that are evident; without those
    with which a sentence goes on."""
    looks = [(port, _look_of(text, port)) for port in ports]
    usual = {(look.is_title, look.behind) for port, look in looks if look and port.certain and _is_evident(port, look)}
    if not usual:
        return [*ports]
    return [replace(port, certain=port.certain and _is_usual(port, look, usual)) for port, look in looks
            if not _is_sentence(port, look)]


def _is_sentence(port: ListedPort, look: _Look | None) -> bool:
    return look is not None and look.behind == "a" and not (port.certain or _is_evident(port, look))


def _is_usual(port: ListedPort, look: _Look | None, usual: Iterable[tuple[bool, str]]) -> bool:
    return look is None or _is_evident(port, look) or (look.is_title, look.behind) in usual


def surely_lists(text: str, ports: Sequence[ListedPort]) -> bool:
    """Whether there are inputs and outputs for certain, one of which is no word of a text."""
    certain = [port for port in ports if port.certain]
    return ({"input", "output"} <= {port.direction for port in certain}
            and any(_is_evident(port, _look_of(text, port)) for port in certain))


def may_list(text: str, ports: Sequence[ListedPort]) -> bool:
    """Whether anything of it may be a port although another list surely lists ports."""
    return any(port.certain and _is_evident(port, _look_of(text, port)) for port in ports)


def has_prose(words: str) -> bool:
    """Whether a sentence stands among the words between two ports."""
    lines = (line.strip() for line in words.split("\n"))
    return any(_PROSE.search(line) for line in lines if line and line[0] not in "#|+-*•")
