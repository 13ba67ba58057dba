"""Whether the head of a module is that which its specification lists."""

from __future__ import annotations

import re
from collections.abc import Sequence

from chatdev.tools.verilog.design.design import Design, Port
from chatdev.tools.verilog.design.elaborate import DesignError
from chatdev.tools.verilog.icarus import Message
from chatdev.tools.verilog.ports import itemised

_RANGE = re.compile(r"\[\s*(\d+)\s*:\s*(\d+)\s*\]")
_DIRECTIONS = {"in": "input", "out": "output", "inout": "inout"}


def differences(text: str, specification: str) -> list[Message]:
    """What differs: missing and unknown ports and widths are errors. A direction is a warning, because specifications
    get these wrong, too. Nothing where the specification has no list of ports (a module that it shows may be meant
    otherwise), or pyslang cannot read the source."""
    wanted = itemised(specification)
    try:
        found = {port.name: port for port in Design.of(text).ports} if wanted else {}
    except DesignError:
        return []
    return [message for one in wanted for message in _of(one["name"], one["direction"], one["width"], found)] + [
        Message(f"the specification lists no port `{name}`") for name in _unknown(found, wanted)]


def _of(name: str, direction: str, width: str, found: dict[str, Port]) -> list[Message]:
    declared = f"{direction} {width} {name}".replace("  ", " ")
    if not found:
        return []
    if name not in found:
        return [Message(f"the port `{name}` is missing; the specification lists `{declared}`")]
    port, bits, messages = found[name], _bits(width), []
    if bits is not None and bits != port.width:
        messages.append(Message(f"the port `{name}` has {port.width} bit(s), and not {bits}; write `{declared}`"))
    if _DIRECTIONS[port.direction] != direction:
        messages.append(Message(f"the specification lists `{name}` as {direction}", severity="warning"))
    return messages


def _unknown(found: dict[str, Port], wanted: Sequence[dict[str, str]]) -> list[str]:
    names = {one["name"] for one in wanted}
    return [name for name in found if name not in names]


def _bits(width: str) -> int | None:
    """None for a range that is no number."""
    if not width:
        return 1
    ends = _RANGE.fullmatch(width)
    return abs(int(ends[1]) - int(ends[2])) + 1 if ends else None
