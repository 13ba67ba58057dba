"""What is to be written: the name of the module, and the files that come with it: packages, submodules, headers, and
data such as the content of a memory."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from graphlib import CycleError, TopologicalSorter

from chatdev.departments.verilog.source_text import blank_comments, included_files, unit_names

TOP = "TopModule"
"""What the module is called where nobody says otherwise."""

ICARUS, VERILATOR = SIMULATORS = "icarus", "verilator"

ANSWER = "top.sv"
"""What the file with the module is called."""

SOURCES, HEADERS = (".sv", ".v"), (".svh", ".vh")
_USED = re.compile(r"\b(\w+)\s*::")
_PACKAGE = re.compile(r"\bpackage\s+(?:automatic\s+|static\s+)?(\w+)")


@dataclass(frozen=True)
class Target:
    """The module `top`, the text of each given file by its path, the values that its parameters have other than their
    defaults, as Verilog writes them, the given sources that are `included`, and so not compiled by themselves, and the
    `simulator` that is to run it."""

    top: str = TOP
    given: tuple[tuple[str, str], ...] = ()
    parameters: tuple[tuple[str, str], ...] = ()
    included: tuple[str, ...] = ()
    simulator: str = ICARUS

    @classmethod
    def named(cls, top: str | None, given: Mapping[str, str] | None, simulator: str | None = None) -> Target:
        """From the inputs of a run."""
        return cls(top or TOP, tuple(sorted((given or {}).items())), simulator=simulator or ICARUS)

    @cached_property
    def sources(self) -> dict[str, str]:
        """The given files that are compiled, packages before those that use them."""
        found = {path: text for path, text in self.given if path.endswith(SOURCES) and path not in self.included}
        packages = {name: path for path, text in found.items() for name in _PACKAGE.findall(blank_comments(text))}
        needs = {path: {packages[name] for name in _USED.findall(text) if name in packages} - {path}
                 for path, text in found.items()}
        with suppress(CycleError):
            return {path: found[path] for path in TopologicalSorter(needs).static_order()}
        return found

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
