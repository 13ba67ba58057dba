"""What a specification says of names: the ports it lists (`verilog.ports`), and the identifiers in its text.

Ports are looked for before anything is paid for, and those of a module are compared with them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from chatdev.departments.verilog.bench import HiddenBench, read_target
from chatdev.departments.verilog.compilation import Message
from chatdev.departments.verilog.design.design import Port
from chatdev.departments.verilog.design.elaborate import DesignError
from chatdev.departments.verilog.design.facts import read_design
from chatdev.departments.verilog.port_lines import ONE_BIT, UNKNOWN, ListedPort, bits_of
from chatdev.departments.verilog.port_list import read_ports
from chatdev.departments.verilog.target import TOP, USUAL, Target
from chatdev.errors import ToolError
from chatdev.tools.base import ToolContext, tool

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
_USUALLY_ONE_BIT = re.compile(
    r"\b(?:one|1|single)[ -]bit(?:\s+wide)?,?\s+(?:unless|if not|except)\b"
    r"|\bunless\b[^.]{0,60}\b(?:one|1|single)[ -]bit\b", re.IGNORECASE)
"""What says that one bit is meant where no width is written."""
_RANGE = re.compile(r"\[\s*(\d{1,9})\s*:\s*(\d{1,9})\s*\]")
_DIRECTIONS = {"in": "input", "out": "output", "inout": "inout"}


@tool(reads=("said_ports?",), pure=True)
def ports(context: ToolContext) -> list[dict[str, Any]]:
    """The ports of the module: `direction`, `name`, `width` as it is written, whether that is `certain`, and `source`:
    those that the specification lists, then those that only the bench connects, without a direction and with a `note`
    where the specification lists another in its place; where there are none, those that an analyst read
    (`said_ports`), as far as the specification has their names.

    Raises ToolError when there are none, the specification speaks of none, and no bench connects any: nobody could
    write the module.
    """
    specification, bench = str(context.inputs.get("task") or ""), HiddenBench.of(context.inputs)
    top = read_target(context.inputs).top
    found = _add_connected(listed_ports(specification, top), bench, name_conflicts(specification, bench, top))
    if not found and bench is None and not _SPEAKS_OF_PORTS.search(specification):
        raise ToolError(f"the specification lists no ports of {top}; give its ports one a line, such as "
                        "` - input clk` and ` - output q (8 bits)`, or the head of the module")
    return found or confirm_ports(context.values.get("said_ports") or (), specification)


def _add_connected(listed: list[dict[str, Any]], bench: HiddenBench | None,
                   conflicts: Mapping[str, str]) -> list[dict[str, Any]]:
    names = {port["name"] for port in listed}
    return [*listed, *(_uncertain("bench", "", name, UNKNOWN, conflicts.get(name, ""))
                       for name in (bench.layout.ports if bench else ()) if name not in names)]


def listed_ports(text: str, top: str = TOP) -> list[dict[str, Any]]:
    """Each port in a specification: what is written of it, and whether it is certain."""
    return [{"direction": port.direction, "name": port.name, "width": port.width, "certain": port.certain,
             "source": "specification"} for port in read_ports(text, top)]


def confirm_ports(said: Iterable[Mapping[str, str]], specification: str) -> list[dict[str, Any]]:
    """Of the ports that somebody read in a specification those whose names stand there, each once; a width only where
    it is one bit, or stands there too."""
    names, found = identifiers(specification), dict[str, dict[str, Any]]()
    figures = {"1", *re.findall(r"\b[1-9]\d{0,5}\b", specification),
               *(str(int(high) + 1) for high in re.findall(r"\[(\d{1,6}):0\]", specification))}
    for port in said:
        if port["name"] in names:
            width = bits_of(int(port["width"])) if port["width"] in figures else UNKNOWN
            found.setdefault(port["name"], _uncertain("analyst", port["direction"], port["name"], width))
    return [*found.values()]


def _uncertain(source: str, direction: str, name: str, width: str, note: str = "") -> dict[str, Any]:
    return {"direction": direction, "name": name, "width": width, "certain": False, "source": source, "note": note}


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


def name_conflicts(specification: str, bench: HiddenBench | None, top: str = TOP) -> dict[str, str]:
    """The names that a bench connects and the specification does not list, each with what may be said of it, where the
    specification lists for certain others that the bench does not connect (`reset_n`, `rst_n`); else nothing."""
    wanted, connected = read_ports(specification, top), dict.fromkeys(bench.layout.ports if bench else ())
    missing = dict.fromkeys(port.name for port in wanted if port.certain).keys() - connected
    others = connected.keys() - {port.name for port in wanted}
    if not (missing and others):
        return {}
    instead = " or ".join(f"`{name}`" for name in sorted(missing))
    return dict.fromkeys(sorted(others), f"the bench connects it, and not {instead}, which the specification lists")


def port_differences(text: str, specification: str, target: Target = USUAL,
                     bench: HiddenBench | None = None) -> list[Message]:
    """What differs between the ports of a module and those that its specification lists for certain: missing and
    unknown ports, and other widths than are written, are errors. A direction is a warning, because specifications get
    these wrong, too, and so is all that is not certain, and all names where the bench connects others. Nothing where
    the specification has no list of ports (a module that it shows may be meant otherwise), or pyslang cannot read the
    source."""
    conflicts = name_conflicts(specification, bench, target.top)
    wanted = _trust_only(read_ports(specification, target.top), bench if conflicts else None)
    try:
        found = {port.name: port for port in read_design(text, target).ports}
    except DesignError:
        return []
    if not found or not any(port.certain for port in wanted):
        return []
    has_usual = _USUALLY_ONE_BIT.search(specification) is not None
    return [*(message for port in wanted for message in _compare_port(port, found.get(port.name), has_usual)),
            *_unlisted_ports(wanted, found, specification), *_messages_on_conflicts(conflicts)]


def _trust_only(wanted: list[ListedPort], bench: HiddenBench | None) -> list[ListedPort]:
    """The ports, certain only where the bench connects them, if there is one."""
    connected = {port.name for port in wanted} if bench is None else {*bench.layout.ports}
    return [replace(port, certain=port.certain and port.name in connected) for port in wanted]


def _messages_on_conflicts(conflicts: Mapping[str, str]) -> Iterator[Message]:
    for name, said in conflicts.items():
        yield Message(f"of the port `{name}`: {said}", severity="warning")


def _unlisted_ports(wanted: Sequence[ListedPort], found: Iterable[str], specification: str) -> Iterator[Message]:
    """Nothing where the list may go on elsewhere; of a port that the text speaks of it is not certain that it is none.
    """
    is_whole = all(port.certain for port in wanted) and {"input", "output"} <= {port.direction for port in wanted}
    names, spoken = {port.name for port in wanted}, identifiers(specification)
    for name in found if is_whole else ():
        if name not in names:
            usual = ONE_BIT.fullmatch(name)
            is_implied = usual and re.search(rf"\b{usual.lastgroup}", specification, re.IGNORECASE)  # `It is clocked.`
            yield Message(f"the specification lists no port `{name}`",
                          severity=_severity(name not in spoken and not is_implied))


def _compare_port(wanted: ListedPort, port: Port | None, has_usual: bool) -> list[Message]:
    """Where no width is written, that is one bit only if the text `has_usual` widths."""
    width = "" if wanted.width == UNKNOWN else wanted.width
    declared = " ".join(filter(None, (wanted.direction, width, wanted.name)))
    if port is None:
        return [Message(f"the port `{wanted.name}` is missing; the specification lists `{declared}`",
                        severity=_severity(wanted.certain))]
    messages = [*_compare_width(wanted, port, declared, has_usual)]
    if _DIRECTIONS[port.direction] != wanted.direction:
        messages.append(Message(f"the specification lists `{wanted.name}` as {wanted.direction}", severity="warning"))
    return messages


def _compare_width(wanted: ListedPort, port: Port, declared: str, has_usual: bool) -> Iterator[Message]:
    bits = bit_count(wanted.width)
    if bits is None or bits == port.width:
        return
    if not (wanted.width or wanted.is_sized or has_usual):
        yield Message(f"the port `{wanted.name}` has {port.width} bits; its line in the specification says no width",
                      severity="warning")
        return
    is_written = wanted.is_sized or (has_usual and not wanted.width)
    yield Message(f"the port `{wanted.name}` has {port.width} bit(s), and not {bits}; write `{declared}`",
                  severity=_severity(wanted.certain and is_written))


def _severity(is_certain: bool) -> Literal["error", "warning"]:
    return "error" if is_certain else "warning"


def bit_count(width: str) -> int | None:
    """None for a range that is no number."""
    if not width:
        return 1
    ends = _RANGE.fullmatch(width)
    return abs(int(ends[1]) - int(ends[2])) + 1 if ends else None
