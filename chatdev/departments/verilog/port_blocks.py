"""What prose beside a list of ports looks like: a certain list is one block, and its entries are written alike.

`- Input clock: clk (100 MHz)` below `- input clk` names no port, and neither does `- output is stable`. Where one block
surely lists ports, whatever looks so elsewhere is left out unless a name, a figure or a quotation says that it is none
of the words of a text; and within the block what is written otherwise than the rest is not certain.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from chatdev.departments.verilog.port_lines import ONE_BIT, ListedPort, is_sign

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
