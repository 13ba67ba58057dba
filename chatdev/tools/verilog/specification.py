"""What a specification says of names: the ports it lists (`verilog.ports`), and the identifiers in its text.

Ports are looked for before anything is paid for, and those of a module are compared with them.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import asdict
from typing import Any, Literal

from chatdev.errors import ToolError
from chatdev.tools.base import ToolContext
from chatdev.tools.function import tool
from chatdev.tools.verilog.bench import HiddenBench, read_target
from chatdev.tools.verilog.design.design import Port
from chatdev.tools.verilog.design.elaborate import DesignError
from chatdev.tools.verilog.design.facts import read_design
from chatdev.tools.verilog.messages import Message
from chatdev.tools.verilog.port_list import ListedPort, read_ports
from chatdev.tools.verilog.port_width import UNKNOWN
from chatdev.tools.verilog.target import TOP, USUAL, Target

_SPEAKS_OF_PORTS = re.compile(
    r"\b(?:in|out)puts?\b|\bports?\b|\bmodul[eo]?\b|\b(?:ein|aus)g[aä]ng|\bentr(?:ée|ada)|\bs(?:ortie|alida|aída)"
    r"|\bingress|\buscit|\bвход|\bвыход|输入|输出|端口|模块|入力|出力|입력|출력", re.IGNORECASE)
"""Words for ports and modules in some languages: a text without any of them is hardly a specification."""
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
def ports(context: ToolContext) -> list[dict[str, Any]]:
    """The ports of the module that the specification lists: `direction`, `name`, `width` as it is written there, and
    whether that is `certain`; where it lists none, the names that the test bench connects.

    Raises ToolError when there are none, the specification speaks of none, and no bench connects any: nobody could
    write the module.
    """
    specification, bench = str(context.inputs.get("task") or ""), HiddenBench.of(context.inputs)
    top = read_target(context.inputs).top
    found = listed_ports(specification, top) or [
        {"direction": "", "name": name, "width": UNKNOWN, "certain": False}
        for name in (bench.layout.ports if bench else ())]
    if not found and bench is None and not _SPEAKS_OF_PORTS.search(specification):
        raise ToolError(f"the specification lists no ports of {top}; give its ports one a line, such as "
                        "` - input clk` and ` - output q (8 bits)`, or the head of the module")
    return found


def listed_ports(text: str, top: str = TOP) -> list[dict[str, Any]]:
    """Direction, name, width and certainty of each port in a specification."""
    return [asdict(port) for port in read_ports(text, top)]


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


def port_differences(text: str, specification: str, target: Target = USUAL) -> list[Message]:
    """What differs between the ports of a module and those that its specification lists for certain: missing and
    unknown ports and other widths are errors. A direction is a warning, because specifications get these wrong, too,
    and so is all that is not certain. Nothing where the specification has no list of ports (a module that it shows may
    be meant otherwise), or pyslang cannot read the source."""
    wanted = read_ports(specification, target.top)
    try:
        found = {port.name: port for port in read_design(text, target).ports}
    except DesignError:
        return []
    if not found or not any(port.certain for port in wanted):
        return []
    return [*(message for port in wanted for message in _compare_port(port, found.get(port.name))),
            *_unlisted_ports(wanted, found, identifiers(specification))]


def _unlisted_ports(wanted: Sequence[ListedPort], found: Iterable[str], spoken: Container[str]) -> Iterator[Message]:
    """Of one that the text speaks of elsewhere it is not certain that it is none."""
    names, are_certain = {port.name for port in wanted}, all(port.certain for port in wanted)
    for name in found:
        if name not in names:
            yield Message(f"the specification lists no port `{name}`",
                          severity=_severity(are_certain and name not in spoken))


def _compare_port(wanted: ListedPort, port: Port | None) -> list[Message]:
    severity, bits, messages = _severity(wanted.certain), _bit_count(wanted.width), []
    width = "" if wanted.width == UNKNOWN else wanted.width
    declared = " ".join(filter(None, (wanted.direction, width, wanted.name)))
    if port is None:
        return [Message(f"the port `{wanted.name}` is missing; the specification lists `{declared}`",
                        severity=severity)]
    if bits is not None and bits != port.width:
        messages.append(Message(f"the port `{wanted.name}` has {port.width} bit(s), and not {bits}; write `{declared}`",
                                severity=severity))
    if _DIRECTIONS[port.direction] != wanted.direction:
        messages.append(Message(f"the specification lists `{wanted.name}` as {wanted.direction}", severity="warning"))
    return messages


def _severity(is_certain: bool) -> Literal["error", "warning"]:
    return "error" if is_certain else "warning"


def _bit_count(width: str) -> int | None:
    """None for a range that is no number."""
    if not width:
        return 1
    ends = _RANGE.fullmatch(width)
    return abs(int(ends[1]) - int(ends[2])) + 1 if ends else None
