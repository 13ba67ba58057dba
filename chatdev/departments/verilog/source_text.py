"""What a Verilog text says without being parsed: its code without comments, the names of its modules, and the files
that it includes."""

from __future__ import annotations

import re
from collections.abc import Iterator

_TOKEN = re.compile(r"""(?P<comment>//[^\n]*)|(?P<opening>/\*)|"(?:\\.|[^"\\\n])*+"|\\\S+""", re.DOTALL)
_MODULE = re.compile(r"\b(?:macromodule|module)\s+(?:(?:static|automatic)\s+)?(?P<name>\w+)")
UNIT = re.compile(r"\b(?:macromodule|module|program|interface|package|primitive|checker|class)\s+"
                   r"(?:(?:static|automatic)\s+)?\\?(?P<name>\w+)")
_INCLUDE = re.compile(r"`include\b")
_FILE = re.compile(r'\s*"(?P<name>[^"\n]*)"')


def blank_comments(text: str) -> str:
    """The text with comments and strings blanked out; lines and columns stay. What could be either counts as code."""
    return _blank(text, '"/')


def drop_comments(text: str) -> str:
    """The same with its strings."""
    return _blank(text, "/")


def _blank(text: str, beginnings: str) -> str:
    """The text without comments, and without strings where these are among what is left out, by how it begins."""
    parts, place, last = list[str](), 0, text.rfind("*/")
    while found := _TOKEN.search(text, place):
        start, end = found.span()
        is_code = found[0][0] not in beginnings  # such as an escaped name
        if found["opening"]:
            is_code = end > last  # nothing closes it
            end = end if is_code else text.index("*/", end) + 2
        parts += [text[place:start], text[start:end] if is_code else re.sub(r"[^\n]", " ", text[start:end])]
        place = end
    return "".join((*parts, text[place:]))


def module_names(text: str) -> list[str]:
    """The names of the modules that a text declares."""
    return [found["name"] for found in _MODULE.finditer(blank_comments(text))]


def unit_names(text: str) -> set[str]:
    """The names of the modules, packages, interfaces and the like that a text declares."""
    return {found["name"] for found in UNIT.finditer(blank_comments(text))}


def included_files(text: str) -> Iterator[tuple[int, str]]:
    """Where a text includes files, and which; "" for a name that is no plain one."""
    if "`include" not in text:  # which most texts are spared to be looked through for
        return
    for found in _INCLUDE.finditer(blank_comments(text)):
        name = _FILE.match(text, found.end())
        yield found.start(), name["name"] if name else ""
