"""What is judged: the files of the software that the module is made of, as one text, and those that come with it.

Of a design that was handed in (`--path`) the answer is what is not as it was; the files that stayed come with it, as
given ones do. Files that the module does not need, such as benches beside it, are left alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from typing import Any, NamedTuple

from chatdev.departments.verilog.answer import Answer, NoAnswer, normalise, read_answer, rule_message
from chatdev.departments.verilog.bench import HiddenBench, read_target
from chatdev.departments.verilog.target import (
    HEADERS,
    SOURCES,
    TOP,
    Target,
    blank_comments,
    included_files,
    instance_names,
    module_names,
    unit_names,
)
from chatdev.tools.base import ToolContext

_DEFINED = re.compile(r"`define\s+(\w+)")
_EXPANDED = re.compile(r"`(\w+)")
_NO_PORTS = re.compile(r"\bmodule\s+(\w+)\s*(?:\(\s*\)\s*)?;")
_QUOTED = re.compile(r'"([^"\n]+)"')
_ENDS = re.compile(rb"\$(?:finish|stop)\b")
_AGAIN = "`default_nettype wire\n"  # a file that forbids undeclared nets forbids them in itself alone


class Submission(NamedTuple):
    """The answer, what it is to be, and the bench that tests it, if there is one."""

    answer: Answer
    target: Target
    bench: HiddenBench | None = None

    @classmethod
    def of(cls, answer: Answer, inputs: Mapping[str, Any]) -> Submission:
        """With the inputs of a run."""
        return cls(answer, read_target(inputs), HiddenBench.of(inputs))


def read_submission(context: ToolContext) -> Submission:
    """From the software of a run. Raises NoAnswer when there is none, when it cannot be read, or when nobody can say
    which file has a module."""
    design = DesignSources.read(context)
    handed_in = is_design(context.given)
    if not handed_in and (len(design.texts) < 2 or design.target.top not in design.units):
        return Submission.of(read_answer(context.software), context.inputs)
    top = design.find_top() if handed_in else design.target.top
    reached = design.reach(top)
    changed = {path for path in reached if context.software[path] != context.given.get(path)}
    own = design.dependents(changed | {*design.units[top]}, reached)
    answer = _join({path: design.texts[path] for path in design.order(own)})
    beside = {path: design.texts[path] for path in design.order(reached - own)} | design.find_included(reached)
    given = {**(context.inputs.get("given") or {}), **beside, **_find_data(context.software, design, reached)}
    may_end = any(_ENDS.search(context.given.get(path, b"")) for path in reached)
    return Submission.of(answer, {**context.inputs, "top": top, "given": given, "may_end": may_end})


def is_design(software: Mapping[str, bytes]) -> bool:
    """Whether it has files in Verilog."""
    return any(path.endswith(SOURCES) for path in software)


def _join(texts: Mapping[str, str]) -> Answer:
    """The files as one text, which knows where each of its lines is from. Raises NoAnswer when it is too long."""
    if len(texts) == 1:
        return normalise(Answer(*next(iter(texts.items()))))
    text, pieces = "", list[tuple[str, int]]()
    for path, one in texts.items():
        pieces.append((path, text.count("\n") + 1))
        plain = normalise(Answer(path, one)).text
        text += plain + "\n" * (not plain.endswith("\n")) + _AGAIN * ("`default_nettype" in plain)
    return normalise(Answer(", ".join(texts), text, tuple(pieces)))


def _find_data(software: Mapping[str, bytes], design: DesignSources, paths: Iterable[str]) -> dict[str, str]:
    """The files that memories are filled from, by the names that the design has for them."""
    names = {name for path in paths if "$readmem" in design.texts[path] for name in _QUOTED.findall(design.texts[path])}
    found = {name: _find_file(name, software) for name in names if not name.endswith((*SOURCES, *HEADERS))}
    return {name: software[path].decode(errors="replace") for name, path in found.items() if path}


def _find_file(name: str, paths: Iterable[str]) -> str | None:
    """The file of this path, or else the first one with this end of a path."""
    return min((path for path in paths if path == name or path.endswith(f"/{name}")), key=len, default=None)


@dataclass(frozen=True)
class DesignSources:
    """The files in Verilog of a software, but for the bench and the reference where they lie beside the design."""

    texts: Mapping[str, str]
    target: Target
    bench: str = ""

    @classmethod
    def read(cls, context: ToolContext) -> DesignSources:
        """From the software of a run, with the target that its inputs name."""
        bench = str(context.inputs.get("bench") or "")
        texts = {path: data.decode("utf-8-sig", "replace") for path, data in sorted(context.software.items())
                 if path.endswith((*SOURCES, *HEADERS))}
        kept = {path: text for path, text in texts.items() if context.software[path] != context.given.get(path)
                or not (text == context.inputs.get("reference") or unit_names(bench) & unit_names(text))}
        return cls(kept, read_target(context.inputs), bench)

    @cached_property
    def units(self) -> dict[str, list[str]]:
        """The files that declare each module, package or the like that is not given."""
        found = dict[str, list[str]]()
        for path, text in self.texts.items():
            for name in unit_names(text) - self.target.units:
                found.setdefault(name, []).append(path)
        return found

    def find_top(self) -> str:
        """The module that is named or that the bench tests, else the one that no other makes an instance of. Raises
        NoAnswer where that is none of the files', or several."""
        if self.target.top in self.units:
            return self.target.top
        roots = [] if self.bench or self.target.top != TOP else self._find_roots()
        if len(roots) == 1:
            return roots[0]
        rule = "several_tops" if roots else "no_top_module"
        names = roots or [name for text in self.texts.values() for name in module_names(text)]
        raise NoAnswer(rule_message(rule, found=", ".join(sorted(names)), top=self.target.top))

    def _find_roots(self) -> list[str]:
        """The modules that no other makes an instance of, but for benches, which have no ports."""
        benches = {name for code in self._code.values() for name in _NO_PORTS.findall(code)}
        designs = [text for text in self.texts.values() if not benches.issuperset(module_names(text))]
        used = set[str]().union(benches, *map(instance_names, designs))
        return [name for text in designs for name in module_names(text) if name not in used]

    def reach(self, top: str) -> set[str]:
        """The files that the module needs, and those that the bench needs besides. Raises NoAnswer where two of them
        declare one name."""
        found, left = set[str](), [top, *sorted(instance_names(self.bench) & self.units.keys())]
        paths = [self._file_of(name) for name in left]
        while paths:
            path = paths.pop()
            if path not in found:
                found.add(path)
                paths += self._needs(path)
        return found

    def _needs(self, path: str) -> set[str]:
        """The files that one needs, directly."""
        words = set(re.findall(r"\w+", self._code[path]))
        own = unit_names(self.texts[path])
        declared = {self._file_of(name) for name in words & self.units.keys() - own}
        return declared | self._before(path)

    def _file_of(self, name: str) -> str:
        """The file that declares this module or the like."""
        paths = self.units[name]
        if len(paths) > 1:
            raise NoAnswer(rule_message("declared_twice", found=name, places=f"in {' and '.join(paths)}"))
        return paths[0]

    def _before(self, path: str) -> set[str]:
        """The files that a compiler has to have read before this one: with its macros and packages, and what it
        includes."""
        macros = {name: self._definers[name] for name in _EXPANDED.findall(self._code[path]) if name in self._definers}
        packages = {name: self.units[name] for name in re.findall(r"\b(\w+)\s*::", self._code[path])
                    if name in self.units}
        defined = {one[0] for one in (*macros.values(), *packages.values()) if len(one) == 1}
        return defined | {*self._included[path].values()} - {path}

    @cached_property
    def _code(self) -> dict[str, str]:
        return {path: blank_comments(text) for path, text in self.texts.items()}

    @cached_property
    def _definers(self) -> dict[str, list[str]]:
        """The files that define each macro."""
        found = dict[str, list[str]]()
        for path, code in self._code.items():
            for name in {*_DEFINED.findall(code)}:
                found.setdefault(name, []).append(path)
        return found

    @cached_property
    def _included(self) -> dict[str, dict[str, str]]:
        """The files that each one includes, by the names that it has for them."""
        return {path: {name: file for _, name in included_files(text) if name and (file := self._beside(path, name))}
                for path, text in self.texts.items()}

    def _beside(self, path: str, name: str) -> str | None:
        """The file that is meant: the one in the folder of the file that names it, else one anywhere."""
        near = f"{path.rpartition('/')[0]}/{name}".lstrip("/")
        return near if near in self.texts else _find_file(name, self.texts)

    def find_included(self, paths: Iterable[str]) -> dict[str, str]:
        """The files that these include, by the names that they have for them."""
        return {name: self.texts[file] for path in paths for name, file in self._included[path].items()}

    def dependents(self, paths: set[str], among: set[str]) -> set[str]:
        """These and the others that have to be read after them."""
        found = set(paths)
        while more := {path for path in among - found if self._before(path) & found}:
            found |= more
        return found

    def order(self, paths: set[str]) -> Iterator[str]:
        """The files that are compiled by themselves, those before others that these need first."""
        included = {file for names in self._included.values() for file in names.values()}
        needs = {path: self._before(path) & paths - {path} for path in sorted(paths)}
        try:
            ordered = [*TopologicalSorter(needs).static_order()]
        except CycleError:
            ordered = sorted(paths)
        return (path for path in ordered if path not in included and path.endswith(SOURCES))
