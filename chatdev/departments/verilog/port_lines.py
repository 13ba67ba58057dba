"""Layouts of specifications in which each port has its direction beside it, and its width in words.

Bulleted lines (` - input word (6 bits)`, as VerilogEval has them), names with their direction behind them (`- clk
(input, 1 bit): …`), columns, records as of YAML or JSON, declarations as in Verilog, heads of modules, and sentences.
"""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import NamedTuple

# The width of a port, as the words beside its name say it.


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


# The layouts.


@dataclass(frozen=True, slots=True)
class ListedPort:
    """`direction` is `input`, `output` or `inout`; `width` is a range (`[7:0]`), "" for one bit, or UNKNOWN. It is
    `certain` where prose would not be written so, and `is_sized` where its width is written beside it. `at` is where
    its line begins."""

    direction: str
    name: str
    width: str = ""
    certain: bool = True
    is_sized: bool = False
    at: int = field(default=0, compare=False)


NAME = r"(?P<quote>[`*]{0,3})(?P<name>[A-Za-z_]\w*+)[`*]*+"
AFTER = rf"[ \t]*+(?P<after>{RANGE})?[`*]*+[ \t]*+"
PAREN = r"(?P<paren>\([^)\n]{0,80}\))?"
DIRECTIONS = {"in": "input", "input": "input", "out": "output", "output": "output", "inout": "inout",
              "bidirectional": "inout"}
ONE_BIT = re.compile(r"(?:[a-z]{1,3}_?)?(?:(?P<clock>clk|clock)|(?P<reset>rst|reset))(?:_?[a-z]{1,2})?", re.IGNORECASE)
"""Names that are a clock or a reset."""

_WORDS = r"(?:(?:wire|reg|logic|signed|unsigned|var|bit)\b[ \t]*+)*+"
_TYPE = r"(?P<type>\w++::\w++[ \t]++)?+"  # of a package
_BULLET = r"[ \t]*+(?:[-*•+|]|\d{1,3}[.)])[ \t]*+"
_LISTED = re.compile(
    rf"^(?:{_BULLET}|(?P<colon>[ \t]*+(?=`?(?:in|out|inout)put`?:)))"
    rf"(?:(?:{BITS}|(?P<one>(?:one|single)[ -]bit))[ \t]++)?"
    rf"`?(?P<direction>input|output|inout)\b`?[ \t:|]*+{_WORDS}{_TYPE}"
    rf"(?:(?P<open>[`*]{{0,3}})(?P<range>{RANGE}))?[ \t]*+{NAME}{AFTER}{PAREN}(?P<rest>[^\n]*)$",
    re.MULTILINE | re.IGNORECASE)
_TYPED = re.compile(
    rf"^(?:{_BULLET}|[ \t]*+){NAME}[ \t]*+(?P<range>{RANGE})?[ \t]*+"
    rf"(?:[:–—-]|,(?=[ \t]*+\w{{2,3}}put\b)|(?P<open>\())[ \t]*+(?:{BITS}[ \t,]*+)?"
    r"(?P<direction>input|output|inout|in|out)\b"
    r"(?![ \t]++(?!wire|reg|logic|std|(?:un)?signed|port|signal|clock|reset|data|bus)[a-z])(?P<rest>[^\n]*)$",
    re.MULTILINE | re.IGNORECASE)
_ENTRY = re.compile(rf"^(?:{_BULLET}|[ \t]*+){NAME}[ \t]*+(?:{RANGE})?[ \t]*+(?:[:(,–—-]|$)", re.MULTILINE)
_PARAGRAPH = re.compile(r"\n[ \t]*\n")
_PARAMETER = re.compile(r"[^\n]*\b(?:parameter|generic)\b", re.IGNORECASE)
_GAP = r"(?:[ \t]{2,}|\t)"
_ALIGNED = re.compile(
    rf"^[ \t]*+(?:\w[\w/-]{{0,29}}+{_GAP})?{NAME}(?:[ \t]*+(?P<range>{RANGE}))?{_GAP}"
    rf"(?P<direction>input|output|inout|in|out)(?:{_GAP}(?P<rest>[^\n]*))?$", re.MULTILINE)
_DECLARED = re.compile(
    rf"^[ \t]*+(?P<direction>input|output|inout)[ \t]++{_WORDS}{_TYPE}(?P<range>{RANGE})?[ \t]*+"
    r"(?P<names>[A-Za-z_]\w*+(?:[ \t]*+,[ \t]*+[A-Za-z_]\w*+)*+)[ \t]*+[,;)]*+[ \t]*+(?://[^\n]*)?$", re.MULTILINE)
_HEAD = re.compile(r"\bmodule\s++(?P<name>\w++)\s*+[#(][^;]*+;")
_IN_HEAD = re.compile(
    rf"\s*+(?:(?P<direction>input|output|inout)\b[ \t]*+{_WORDS}(?P<type>(?:\w++::)?+\w++\s++(?=[A-Za-z_\[]))?+"
    rf"(?P<range>{RANGE})?)?\s*+{NAME}\s*+(?:=.*)?(?P<unpacked>\[.*)?", re.DOTALL)
"""A piece between two commas: a port with its direction, or another name of those before it."""
_MORE_NAMES = re.compile(
    rf"(?P<names>(?:[ \t]*+(?:,(?:[ \t]*+and\b)?|and\b)[ \t]*+[`*]*+[A-Za-z_]\w*+[`*]*+(?:[ \t]*+{RANGE})?[`*]*+)++)"
    rf"[ \t]*+(?P<paren>\([^)\n]{{0,80}}\))?[ \t]*+(?:$|[.:;–—])")
_NAMES = re.compile(r"(?!and\b)\b\w+")
_OF_EACH = re.compile(r"\b(?:each|all|both|every)\b", re.IGNORECASE)
_COMMA = re.compile(r",(?![^\[]*\])")
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_RECORD = re.compile(r"[{}]|^[ \t]*+-[ \t]", re.MULTILINE)
_FIELD = re.compile(
    r"""(?<!\w)["']?(?P<key>name|direction|dir|width|bits|size)["']?[ \t]*+:[ \t]*+["']?"""
    rf"(?P<value>{RANGE}|\w++(?::\w++)?+)", re.IGNORECASE)
_KEY = re.compile(r"""["']?\b(?P<name>[A-Za-z_]\w*+)["']?[ \t]*+:[ \t]*+\Z""")
"""Of a record in a mapping: `clk: {direction: input}`."""
_LONGEST, _LONGEST_NAME = 400, 100  # characters of a record and of the name before it
_ONE_OF = rf"[`']?[A-Za-z_]\w*+[`']?(?:[ \t]*+{RANGE}|\s*+\(\d++[ -]bits?\))?[`']?"
_SAID = re.compile(
    rf"\b(?P<direction>input|output)s?\s++(?P<names>{_ONE_OF}(?:(?:,\s*+(?:and\s++)?|\s++and\s++)"
    rf"(?!(?:an?\s++|the\s++)?(?:in|out)puts?\b){_ONE_OF})*)"
    r"(?=\s*+(?:[.;)]|\Z|,?\s*+and\s++(?:an?\s++|the\s++)?(?:in|out)puts?\b))", re.IGNORECASE)
_SAID_NAME = re.compile(rf"(?P<quote>[`'])?(?P<name>\w++)[`']?[ \t]*+(?P<after>{RANGE})?\s*+(?P<paren>\([^)]*\))?")
_SMALL_WORD = re.compile(r"i[stfn]|o[fnr]|to|[ab][ty]|as|be|do|an|up|so", re.IGNORECASE)
_NO_NAMES = frozenset(DIRECTIONS) | {"inputs", "outputs", "direction", "type", "name", "port", "signal"}
_TITLES = frozenset({"input", "output", "inout", "inputs", "outputs"})
"""Beside a direction the heads of a truth table: `| Input | Output |`."""
_SHORT = frozenset({"in", "out"})
"""Directions that are names, too, where a long one stands beside them."""
_SENTENCE = re.compile(r"[ \t]*+(?:[=/]|,(?:[^,]*,)?[ \t]*+(?:in|out)(?:put)?\b)", re.IGNORECASE)
"""What goes on behind the direction where it is none: `Example: in = 3`, `Mode: input/output`."""
_GOES_ON = frozenset("-–—/,;") | {""}


def read_bullets(text: str) -> Iterator[ListedPort]:
    """`- input word (6 bits)`, `- 6-bit input word`."""
    named = name_counts(text)
    for found in _LISTED.finditer(text):
        if found["name"].lower() in _TITLES:
            continue
        about, certain = f"{found['paren'] or ''} {found['rest'].lstrip('`*: ')}", _is_listed(found, named)
        if found["bits"] or found["one"]:  # `- 8-bit input register` lists none
            about, certain = f"{found['bits'] or 1} bits", is_sign(found["name"]) and not found["rest"][:1].isalpha()
        port = port_of(found, found["range"] or found["after"], about, certain=certain)
        yield from _with_more_names(port, found, named)


def _with_more_names(first: ListedPort, found: re.Match[str], named: dict[str, int]) -> Iterator[ListedPort]:
    """Those of `- input a, b (8 bits each)`, the others for certain where the text speaks of them elsewhere, too; only
    the first one where a word follows that is hardly a name (`- input a, registered`)."""
    more = None if found["paren"] else _MORE_NAMES.match(found["rest"])
    names = _NAMES.findall(re.sub(RANGE, "", more["names"])) if more else []
    if not more or not (is_sign(names[0]) or "`" in more["names"]):
        yield first
        return
    yield (first := _share_width(first, found, more))
    others = replace(first, width=UNKNOWN, is_sized=False) if found["after"] else first
    yield from (replace(others, name=name, certain=first.certain and named[name] > 1) for name in names)


def _share_width(port: ListedPort, found: re.Match[str], more: re.Match[str]) -> ListedPort:
    """The port with the width of all; bits behind the last name may be meant of that alone."""
    width = width_of(found["range"], more["paren"])
    if found["range"] or _OF_EACH.search(more["paren"] or ""):
        return replace(port, width=width.text, is_sized=width.is_written)
    is_of_some = width.text or found["after"] or "[" in more["names"]
    return replace(port, width=found["after"] or UNKNOWN) if is_of_some else port


def _is_listed(found: re.Match[str], named: dict[str, int]) -> bool:
    """Whether such a line lists a port for certain: no sentence goes on there, and it is no example of an input."""
    has_width = bool(found.group("range", "after") != (None, None))
    rest = str(found["rest"]).strip(" \t`*_|")
    if rest[:1].isalpha() and not has_width:
        return False
    if found["quote"] or found["open"] or (has_width and not rest[:1].isalpha()):
        return True
    if found["colon"] is not None and not has_width:
        return bool(found["paren"])
    return _ends_there(found, rest) or named.get(found["name"], 0) > 1


def _ends_there(found: re.Match[str], rest: str) -> bool:
    return found["direction"].islower() and rest[:1] in _GOES_ON


def read_typed(text: str) -> Iterator[ListedPort]:
    """`- word (input, 6 bits): …`, for certain where all such lines of a paragraph say a direction."""
    found = {one.start("name"): one for one in _TYPED.finditer(text)
             if _may_be_name(one) and not _SENTENCE.match(one["rest"])}
    ends = [one.start() for one in _PARAGRAPH.finditer(text)]
    others = {(bisect(ends, at), _beginning(text, at)) for at in map(_name_start, _ENTRY.finditer(text))
              if at not in found and not _PARAMETER.match(text, at)}
    for at, one in found.items():
        about = f"{one['bits']} bits" if one["bits"] else one["rest"].lstrip("`*,:; \t")
        yield port_of(one, one["range"], about, certain=(bisect(ends, at), _beginning(text, at)) not in others)


def _may_be_name(found: re.Match[str]) -> bool:
    """Whether what stands beside a direction is no direction or title itself."""
    is_short = found["name"] in _SHORT and found["direction"].lower() not in _SHORT
    return is_short or found["name"].lower() not in _NO_NAMES


def _name_start(found: re.Match[str]) -> int:
    return found.start("name")


def _beginning(text: str, at: int) -> str:
    """What a line begins with, before the name at this place, whatever its number."""
    return re.sub(r"\d+", "1", text[text.rfind("\n", 0, at) + 1:at])


def read_aligned(text: str) -> Iterator[ListedPort]:
    """Tables whose columns are set apart by blanks, one of them the direction."""
    rows = [found for found in _ALIGNED.finditer(text) if _may_be_name(found)]
    for found in rows:  # a single one may be the head of a table of values
        cell = re.split(_GAP, found["rest"] or "")[0]
        width = Width(found["range"], is_written=True) if found["range"] else cell_width(cell, may_be_prose=True)
        yield ListedPort(DIRECTIONS[found["direction"]], found["name"], width.text, len(rows) > 1, width.is_written,
                         found.start())


def read_records(text: str) -> Iterator[ListedPort]:
    """Records with a name and a direction, as of YAML or JSON."""
    start = 0
    for end in (*(found.start() for found in _RECORD.finditer(text)), len(text)):
        fields = _fields_of(text, start, end)
        direction = DIRECTIONS.get(str(fields.get("direction") or fields.get("dir")).lower())
        if direction and "name" in fields:
            width = cell_width(fields.get("width") or fields.get("bits") or fields.get("size") or "")
            at = text.rfind("\n", max(0, start - _LONGEST_NAME), start) + 1 or start  # before its key
            yield ListedPort(direction, fields["name"], width.text, is_sized=width.is_written, at=at)
        start = end


def _fields_of(text: str, start: int, end: int) -> dict[str, str]:
    """Those of a record; its name may be its key."""
    key = _KEY.search(text, max(0, start - _LONGEST_NAME), start)
    fields = _FIELD.finditer(text, start, min(end, start + _LONGEST))
    return ({"name": key["name"]} if key else {}) | {found["key"].lower(): found["value"] for found in fields}


def read_heads(text: str, top: str) -> Iterator[ListedPort]:
    """Of the head of the top module, else of all that the text shows; what it shows may be meant otherwise."""
    text = _COMMENT.sub(" ", text)
    heads = list(_HEAD.finditer(text, 0, text.rfind(";") + 1))  # no head goes on behind it
    chosen = [head for head in heads if head["name"] == top] or heads
    for head in chosen:
        yield from _ports_of_head(head)


def _ports_of_head(head: re.Match[str]) -> Iterator[ListedPort]:
    """The ports between its last brackets; `input [7:0] a, b` lists two of the same kind."""
    said = None
    for piece in _COMMA.split(head[0][head[0].rfind("(", 0, head[0].find("input")) + 1:].rstrip("; \n\t)")):
        found = _IN_HEAD.fullmatch(piece)
        said = found if found and found["direction"] else said
        if found and said:
            port = port_of(said, said["range"], None, certain=False)
            yield replace(port, name=found["name"], at=head.start())


def read_declarations(text: str) -> Iterator[ListedPort]:
    """`input [5:0] word;`"""
    is_shown = _HEAD.search(text, 0, text.rfind(";") + 1) is not None  # in a module, which may be meant otherwise
    for found in _DECLARED.finditer(text):
        for name in re.split(r"[ \t]*,[ \t]*", found["names"]):
            yield ListedPort(found["direction"], name, found["range"] or "", certain=not is_shown,
                             is_sized=found["range"] is not None, at=found.start())


def read_sentences(text: str) -> Iterator[ListedPort]:
    """`… has inputs clk, d[7:0] and an output q (8 bits).`: never for certain, and nothing where only inputs or only
    outputs are named so."""
    found = [(one["direction"].lower(), list(_SAID_NAME.finditer(re.sub(r"\band\b", ",", one["names"]))))
             for one in _SAID.finditer(text)]
    listed = [(direction, names) for direction, names in found if all(map(_is_name_said, names))]
    if {direction for direction, _ in listed} == {"input", "output"}:
        for direction, names in listed:
            for one in names:
                yield port_of(one, one["after"], one["paren"], direction=direction, certain=False)


def _is_name_said(found: re.Match[str]) -> bool:
    return bool(found["quote"] or found["after"] or found["paren"]) or is_sign(found["name"])


def port_of(found: re.Match[str], range_: str | None, about: str | None, *, direction: str = "",
            certain: bool = True) -> ListedPort:
    """The port that such a line lists."""
    direction = DIRECTIONS[(direction or found["direction"]).lower()]
    is_typed = found.groupdict().get("type") is not None
    width = Width(UNKNOWN) if is_typed else width_of(range_, about)
    return ListedPort(direction, found["name"], width.text, certain, width.is_written, found.start())


def is_sign(name: str) -> bool:
    """Whether a name is none of the words of a text: `a`, `wr_en`, `op2`, `rst`."""
    if name.isalpha() and len(name) > 2:
        return ONE_BIT.fullmatch(name) is not None
    return _SMALL_WORD.fullmatch(name) is None


def name_counts(text: str) -> dict[str, int]:
    """How often a text has each word."""
    found: dict[str, int] = {}
    for word in re.findall(r"\w+", text):
        found[word] = found.get(word, 0) + 1
    return found
