"""What is to be written: the name of the module, and the files that come with it (packages, submodules, headers, and
data such as the content of a memory); and what a text in Verilog says without being parsed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from graphlib import CycleError, TopologicalSorter

TOP = "TopModule"
"""What the module is called where nobody says otherwise."""

ICARUS, VERILATOR = SIMULATORS = "icarus", "verilator"

ANSWER = "top.sv"
"""What the file with the module is called."""

SOURCES, HEADERS = (".sv", ".v"), (".svh", ".vh", ".inc", ".h")
_USED = re.compile(r"\b(\w+)\s*::")
_PACKAGE = re.compile(r"\bpackage\s+(?:automatic\s+|static\s+)?(\w+)")


@dataclass(frozen=True)
class Target:
    """The module `top`, the text of each given file by its path, the values that its parameters have other than their
    defaults, as Verilog writes them, the given sources that are `included`, and so not compiled by themselves, the
    `simulator` that is to run it, and the macros that are defined before the first line (`+define+W=4`). Of a design
    that `may_end` the simulation, which its owner wrote so, the statements that do are left out."""

    top: str = TOP
    given: tuple[tuple[str, str], ...] = ()
    parameters: tuple[tuple[str, str], ...] = ()
    included: tuple[str, ...] = ()
    simulator: str = ICARUS
    defines: tuple[tuple[str, str], ...] = ()
    may_end: bool = False

    @classmethod
    def named(cls, top: str | None, given: Mapping[str, str] | None, simulator: str | None = None,
              defines: Mapping[str, str] | None = None) -> Target:
        """From the inputs of a run."""
        return cls(top or TOP, tuple((given or {}).items()), simulator=simulator or ICARUS,
                   defines=tuple((defines or {}).items()))

    @cached_property
    def sources(self) -> dict[str, str]:
        """The given files that are compiled, packages before those that use them."""
        found = {path: text for path, text in self.given if path.endswith(SOURCES) and path not in self._beside}
        packages = {name: path for path, text in found.items() for name in _PACKAGE.findall(blank_comments(text))}
        needs = {path: {packages[name] for name in _USED.findall(text) if name in packages} - {path}
                 for path, text in found.items()}
        with suppress(CycleError):
            return {path: found[path] for path in TopologicalSorter(needs).static_order()}
        return found

    @cached_property
    def _beside(self) -> frozenset[str]:
        """The given files that others include."""
        return frozenset(self.included).union(name for text in self.texts.values() for _, name in included_files(text))

    @property
    def macro_files(self) -> tuple[str, ...]:
        """The given sources that define macros, which hold in all files behind them."""
        return tuple(path for path, text in self.sources.items() if "`define" in text)

    @cached_property
    def texts(self) -> dict[str, str]:
        """Those that are Verilog, whether compiled or included."""
        return {path: text for path, text in self.given if path.endswith((*SOURCES, *HEADERS))}

    @cached_property
    def data(self) -> dict[str, str]:
        """Those that a simulation reads."""
        return {path: text for path, text in self.given if not path.endswith((*SOURCES, *HEADERS))}

    @cached_property
    def units(self) -> frozenset[str]:
        """The modules, packages and the like that are given."""
        return frozenset(name for text in self.sources.values() for name in unit_names(text))

    def number_lines(self, text: str) -> list[tuple[str, str]]:
        """The lines of an answer, then those of the given files, each with where it stands: `12`, `fifo.sv:3`."""
        return [*((str(number), line) for number, line in enumerate(text.splitlines(), start=1)),
                *((f"{path}:{number}", line) for path, one in self.texts.items()
                  for number, line in enumerate(one.splitlines(), start=1))]

    def including(self, text: str) -> Target:
        """The target for an answer that may include given sources."""
        found, left = set(self.included), [text]
        while left:
            files = {file for _, file in included_files(left.pop()) if file in self.texts}
            left += [self.texts[file] for file in files - found]
            found |= files
        return replace(self, included=tuple(sorted(found)))

    def includes_only_given(self, text: str) -> bool:
        """Whether a text includes no other file than those that are given."""
        return all(file in self.texts for _, file in included_files(text))


USUAL = Target()
"""VerilogEval's: a module of this name, and nothing given."""


# What a Verilog text says without being parsed: its code without comments, the names of its modules, and the files
# that it includes.

_TOKEN = re.compile(r"""(?P<comment>//[^\n]*)|(?P<opening>/\*)|"(?:\\.|[^"\\\n])*+"|\\\S+""", re.DOTALL)
_MODULE = re.compile(r"\b(?:macromodule|module)\s+(?:(?:static|automatic)\s+)?(?P<name>\w+)")
UNIT = re.compile(r"\b(?:macromodule|module|program|interface|package|primitive|checker|class)\s+"
                   r"(?:(?:static|automatic)\s+)?\\?(?P<name>\w+)")
_HEAD = re.compile(r"\b(?:macromodule|module|program|interface|primitive)\s+(?:(?:static|automatic)\s+)?\w+")
_INSTANCE = re.compile(r"\b([A-Za-z_]\w*)\s*(?:#\s*\(|\b[A-Za-z_]\w*\s*(?:\[[^][]*\]\s*)?\()")
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


def instance_names(text: str) -> set[str]:
    """The names of what a text has instances of."""
    return {*_INSTANCE.findall(_HEAD.sub("", blank_comments(text)))}


def included_files(text: str) -> Iterator[tuple[int, str]]:
    """Where a text includes files, and which; "" for a name that is no plain one."""
    if "`include" not in text:  # which most texts are spared to be looked through for
        return
    for found in _INCLUDE.finditer(blank_comments(text)):
        name = _FILE.match(text, found.end())
        yield found.start(), name["name"] if name else ""
