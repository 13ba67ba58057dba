"""What a specification says of names: the ports it lists (`verilog.ports`), and the identifiers in its text.

Ports are looked for before anything is paid for, and those of a module are compared with them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from chatdev.errors import ToolError
from chatdev.tools.base import ToolContext
from chatdev.tools.function import tool
from chatdev.tools.verilog.answer import TOP
from chatdev.tools.verilog.design.design import Port
from chatdev.tools.verilog.design.elaborate import DesignError
from chatdev.tools.verilog.design.facts import read_design
from chatdev.tools.verilog.messages import Message

_NAMED = (r"`?(?P<direction>input|output|inout)\b`?[ \t:|]*+(?:(?:wire|reg|logic|signed|var)[ \t]++)*"
          r"(?P<range>\[[^\]\n]{0,200}+\])?[ \t]*+`?(?P<name>[A-Za-z_]\w*+)`?"
          r"(?:[ \t]*+(?:\([ \t]*+(?P<bits>\d{1,9})[ \t]*+(?:-[ \t]*+)?bits?\)|(?P<after>\[[^\]\n]{0,200}+\])))?")
_LISTED = re.compile(rf"^[ \t]*(?:[-*•|]|\d+[.)]|(?=`?(?:in|out|inout)put`?:))[ \t]*{_NAMED}",
                     re.MULTILINE | re.IGNORECASE)
"""A line such as ` - output word (6 bits)`; prose may begin with the same words, but not with a bullet before them."""
_IN_HEAD = re.compile(rf"(?:^|[(,])[ \t]*{_NAMED}", re.MULTILINE)
_HEAD = re.compile(r"\bmodule\s++\w++\s*+[#(][^;]*+;")
_WORDS = re.compile(r"""
    '[sS]?(?:[bB][01xXzZ?_]+|[oO][0-7xXzZ?_]+|[dD][\dxXzZ?_]+|[hH][\da-fA-FxXzZ?_]+)(?![\w'])  # a number: 4'b01xx
    | \\(?P<escaped>\S+)                                                 # \bus+index, up to the next blank
    | (?<![\w$])(?P<plain>[A-Za-z_][\w$]*)
""", re.VERBOSE | re.ASCII)
_CLOSING = ".,;:!?)]}'\"`*/"  # what prose and comments put behind a name without a blank
_RANGES = re.compile(r"\[[^\[\]]*+\]|\([^()]*+\)")
_KEYWORDS = frozenset({"input", "output", "inout", "wire", "reg", "logic", "bit", "signed", "unsigned", "integer",
                       "port", "signal"})
_RANGE = re.compile(r"\[\s*(\d{1,9})\s*:\s*(\d{1,9})\s*\]")
_DIRECTIONS = {"in": "input", "out": "output", "inout": "inout"}


@tool()
def ports(context: ToolContext) -> list[dict[str, str]]:
    """The ports of `TopModule` that the specification lists: direction, name and width as it is written there.

    Raises ToolError when it lists none: nobody could write the module, and no bench could be connected to it.
    """
    found = listed_ports(str(context.inputs.get("task") or ""))
    if not found:
        raise ToolError(f"the specification lists no ports of {TOP}; give its ports one a line, such as "
                        "` - input clk` and ` - output q (8 bits)`, or the head of the module")
    return found


def listed_ports(text: str) -> list[dict[str, str]]:
    """Direction, name and width of each port in a specification: of its list, or else of the modules that it shows."""
    heads = _HEAD.finditer(text, 0, text.rfind(";") + 1)  # no head goes on behind it
    return itemised_ports(text) or [_port(port) for head in heads for port in _IN_HEAD.finditer(head[0])]


def itemised_ports(text: str) -> list[dict[str, str]]:
    """The same, of its list alone."""
    return [_port(port) for port in _LISTED.finditer(text)]


def _port(found: re.Match[str]) -> dict[str, str]:
    return {"direction": found["direction"].lower(), "name": found["name"], "width": _width(found)}


def _width(port: re.Match[str]) -> str:
    return port["range"] or port["after"] or (f"[{int(port['bits']) - 1}:0]" if port["bits"] else "")


def identifiers(text: str) -> set[str]:
    """Every identifier in `text` as written, case kept; an escaped one without its backslash (IEEE 1800-2017, 5.6.1).

    Of an escaped identifier both readings are given, with and without the punctuation that may end it.
    """
    found: set[str] = set()
    for match in _WORDS.finditer(text):
        if escaped := match["escaped"]:
            found |= {escaped, escaped.rstrip(_CLOSING)} - {""}
        elif match["plain"]:
            found.add(match["plain"])
    return found


def declared_names(text: str) -> list[str]:
    """The names that a model declares with such words as `output logic [7:0] out_byte`, `in, reset` or `q (4 bits)`."""
    names = [_first_name(part) for part in _RANGES.sub(" ", text).split(",")]
    return list(dict.fromkeys(filter(None, names)))


def _first_name(text: str) -> str:
    """The first identifier that is no keyword; without one, the text itself."""
    for match in _WORDS.finditer(text):
        name = match["escaped"] or match["plain"]
        if name and name not in _KEYWORDS:
            return name
    return text.strip(" `'\"")


def port_differences(text: str, specification: str) -> list[Message]:
    """What differs between the ports of a module and those that its specification lists: missing and unknown ports and
    other widths are errors. A direction is a warning, because specifications get these wrong, too. Nothing where the
    specification has no list of ports (a module that it shows may be meant otherwise), or pyslang cannot read the
    source."""
    wanted = itemised_ports(specification)
    try:
        found = {port.name: port for port in read_design(text).ports} if wanted else {}
    except DesignError:
        return []
    if not found:
        return []
    names = {port["name"] for port in wanted}
    return [message for port in wanted for message in _compare_port(port, found.get(port["name"]))] + [
        Message(f"the specification lists no port `{name}`") for name in found if name not in names]


def _compare_port(wanted: Mapping[str, str], port: Port | None) -> list[Message]:
    direction, width, name = wanted["direction"], wanted["width"], wanted["name"]
    declared = f"{direction} {width} {name}".replace("  ", " ")
    if port is None:
        return [Message(f"the port `{name}` is missing; the specification lists `{declared}`")]
    bits, messages = _bit_count(width), []
    if bits is not None and bits != port.width:
        messages.append(Message(f"the port `{name}` has {port.width} bit(s), and not {bits}; write `{declared}`"))
    if _DIRECTIONS[port.direction] != direction:
        messages.append(Message(f"the specification lists `{name}` as {direction}", severity="warning"))
    return messages


def _bit_count(width: str) -> int | None:
    """None for a range that is no number."""
    if not width:
        return 1
    ends = _RANGE.fullmatch(width)
    return abs(int(ends[1]) - int(ends[2])) + 1 if ends else None
