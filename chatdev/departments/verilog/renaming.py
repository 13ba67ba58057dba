"""Other names for what a text declares beside its module, so that it can stand beside another text, or itself."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from chatdev.departments.verilog.source_text import UNIT, blank_comments, unit_names

_END = re.compile(r"\bend(?:module|program|interface|package|primitive|checker|class)\b")
_BODY = re.compile(r"\b(?P<kind>function|task)\b(?:(?!\bend(?:function|task)\b).)*+", re.DOTALL)
_BRACES = re.compile(r"\{[^{}]*\}")
_ENUM = re.compile(r"\benum\b[^{;]*\{(?P<names>[^{}]*)\}")
_MEMBER = re.compile(r"(?:^|,)\s*(\w+)")
_FUNCTION = re.compile(r"\b(?:function|task)\b[^;(]*?(\w+)\s*[;(]")
_TYPE = re.compile(r"\btypedef\b[^;]*?(\w+)\s*(?:\[[^\]]*\]\s*)*;")
_CONSTANTS = re.compile(r"\b(?:localparam|parameter)\b[^;]*;")
_CONSTANT = re.compile(r"(\w+)\s*(?:\[[^\]]*\]\s*)*=(?!=)")
_DEFINE = re.compile(r"`define\s+(\w+)")
_DECLARES = (r"(?:module|program|interface|package|primitive|checker|class)(?:\s+(?:static|automatic))?\s+"
             r"|end\w+\s*:\s*")


def names_beside(text: str) -> set[str]:
    """The names that a text declares outside of modules: those of modules, packages and the like, and of types,
    constants, functions and tasks that stand in none of them."""
    return unit_names(text) | set(_outer_names(blank_comments(text)))


def _outer_names(code: str) -> Iterator[str]:
    outside = _outside_of_units(code)
    yield from _FUNCTION.findall(outside)
    outside = _BODY.sub(" ", outside)
    for enum in _ENUM.finditer(outside):
        yield from _MEMBER.findall(enum["names"])
    while (flat := _BRACES.sub(" ", outside)) != outside:
        outside = flat
    yield from _TYPE.findall(outside)
    for constants in _CONSTANTS.findall(outside):
        yield from _CONSTANT.findall(constants)


def _outside_of_units(code: str) -> str:
    """The text without its modules, packages and the like."""
    parts, place = list[str](), 0
    while (begin := UNIT.search(code, place)) and (end := _END.search(code, begin.end())):
        parts.append(code[place:begin.start()])
        place = end.end()
    return " ".join((*parts, code[place:]))


def rename(text: str, names: Iterable[str], ending: str) -> str:
    """The text with an ending behind these names; a port or signal that has the name of a module keeps it."""
    units = unit_names(text)
    for name in names:
        place = _of_unit(name) if name in units else rf"(?<![\w$]){name}\b"
        text = re.sub(place, rf"\g<0>{ending}", text)
    return text


def _of_unit(name: str) -> str:
    """Where a name is that of a module, package or the like: where it is declared, before `::`, and before the name,
    the parameters or the connections of an instance."""
    instance = r"[A-Za-z_]\w*\s*(?:\[[^\]]*\]\s*)*[(;,)=]"
    return (rf"\b(?:{_DECLARES}){name}\b"
            rf"|(?<![.\w$`]){name}\b(?=\s*(?:\#\s*[(\d\w]|::|\(|\.\w+\s+\w|{instance}))")


def undefine_macros(text: str) -> str:
    """What takes back the macros of a text, so that it can be read once more."""
    return "".join(f"\n`undef {name}" for name in dict.fromkeys(_DEFINE.findall(blank_comments(text))))
