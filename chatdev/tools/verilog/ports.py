"""`verilog.ports`: the ports that a specification lists, looked for before anything is paid for."""

from __future__ import annotations

import re

from chatdev.errors import ToolError
from chatdev.tools.base import ToolContext
from chatdev.tools.function import tool
from chatdev.tools.verilog.answer import TOP

_NAMED = (r"`?(?P<direction>input|output|inout)\b`?[ \t:|]*(?:(?:wire|reg|logic|signed|var)[ \t]+)*"
          r"(?P<range>\[[^\]\n]*\])?[ \t]*`?(?P<name>[A-Za-z_]\w*)`?"
          r"(?:[ \t]*(?:\([ \t]*(?P<bits>\d+)[ \t]*(?:-[ \t]*)?bits?\)|(?P<after>\[[^\]\n]*\])))?")
_LISTED = re.compile(rf"^[ \t]*(?:[-*•|]|\d+[.)]|(?=`?(?:in|out|inout)put`?:))[ \t]*{_NAMED}",
                     re.MULTILINE | re.IGNORECASE)
"""A line such as ` - output word (6 bits)`; prose may begin with the same words, but not with a bullet before them."""
_IN_HEAD = re.compile(rf"(?:^|[(,])[ \t]*{_NAMED}", re.MULTILINE)
_HEAD = re.compile(r"\bmodule\s+\w+\s*[#(][^;]*;")


@tool()
def ports(context: ToolContext) -> list[dict[str, str]]:
    """The ports of `TopModule` that the specification lists: direction, name and width as it is written there.

    Raises ToolError when it lists none: nobody could write the module, and no bench could be connected to it.
    """
    found = listed(str(context.inputs.get("task") or ""))
    if not found:
        raise ToolError(f"the specification lists no ports of {TOP}; give its ports one a line, such as "
                        "` - input clk` and ` - output q (8 bits)`, or the head of the module")
    return found


def listed(text: str) -> list[dict[str, str]]:
    """Direction, name and width of each port in a specification: of its list, or else of the modules that it shows."""
    return itemised(text) or [_port(port) for head in _HEAD.finditer(text) for port in _IN_HEAD.finditer(head[0])]


def itemised(text: str) -> list[dict[str, str]]:
    """The same, of its list alone."""
    return [_port(port) for port in _LISTED.finditer(text)]


def _port(found: re.Match[str]) -> dict[str, str]:
    return {"direction": found["direction"].lower(), "name": found["name"], "width": _width(found)}


def _width(port: re.Match[str]) -> str:
    return port["range"] or port["after"] or (f"[{int(port['bits']) - 1}:0]" if port["bits"] else "")
