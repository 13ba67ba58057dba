"""What is known of software without running it: `software.compiles` (files that cannot be read, names that Python uses
and defines nowhere), `software.packages` (what must be installed), `software.complete` (what was left for later), and
`software.mend`, which puts right what needs no thought."""

from __future__ import annotations

import contextlib
import functools
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from pydantic import BaseModel, ConfigDict

from chatdev.departments.software import knowledge
from chatdev.departments.software.reading.python_reader import (
    mend_python,
    unfinished_comments,
    unfinished_parts,
    written_names,
)
from chatdev.packages.imports import distributions, imports, third_party_names
from chatdev.tools.base import ToolContext, Verdict, template, tool
from chatdev.workspace.file_tree import is_test
from chatdev.workspace.languages import captures, has_python, matches, page_entry
from chatdev.workspace.python_errors import SourceError, code_lines, line_text, syntax_errors
from chatdev.workspace.python_facts import undefined_uses

_WITH_COMMENTS = re.compile(r"(?:^|/)(?:[jt]sconfig(?:\.[\w-]+)*\.json$|\.\w[\w-]*/|\.\w+rc\.json$)")
"""Settings of tools that take more than JSON."""


@tool(reads=("software",))
def compiles(ctx: ToolContext) -> Verdict:
    """Compile the Python files and read the JSON files, without running anything."""
    if not ctx.software:
        return Verdict(False, "There are no files yet.")
    errors = [*syntax_errors(ctx.software), *data_errors(ctx.software)]
    if not errors:
        return Verdict(True, "Every file can be read.", score=1.0)
    report = "\n".join(f"{error.path}:{error.line}: {error.message}\n    {error.source}" for error in errors)
    return Verdict(False, report, score=1 / (1 + len(errors)))


def data_errors(files: Mapping[str, bytes]) -> list[SourceError]:
    """One error for each JSON file that no program could read. One with a value in each line can be, one without any
    content may have to be filled, and what is wrong in a test may be meant to be."""
    errors = []
    for path, source in files.items():
        if not path.endswith(".json") or is_test(path) or _WITH_COMMENTS.search(path):
            continue
        text = source.decode("utf-8-sig", errors="replace")
        found = _fault_in_json(text)
        if found and any(map(_fault_in_json, filter(str.strip, text.splitlines()))):
            line, message = found
            errors.append(SourceError(path, line, f"not valid JSON: {message}", text.split("\n")[line - 1].strip()))
    return errors


def _fault_in_json(text: str) -> tuple[int, str] | None:
    """The line of a JSON text that cannot be read, and why."""
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        return error.lineno, error.msg
    except (ValueError, RecursionError) as error:
        return 1, str(error)
    return None


def all_written_names(files: Mapping[str, bytes]) -> set[str]:
    """The names of the files that the Python files write, an empty one for a name that is not plain."""
    found = set[str]()
    for path, source in files.items():
        if path.endswith(".py"):
            with contextlib.suppress(SyntaxError):
                found |= set(written_names(source, path))
    return found


def undefined_names(files: Mapping[str, bytes]) -> list[SourceError]:
    """The first use of each name that the Python files use and define nowhere: a button without its function starts
    well and fails when it is pressed. The files must compile; nothing is said of those that import `*` or may make
    names as they run, and nothing at all where one may give names to all files."""
    if any(b"builtins" in source for path, source in files.items() if path.endswith(".py")):
        return []
    return [error for path, source in files.items() if path.endswith(".py") and not is_test(path)
            for error in _undefined_names_of(path, source)]


def _undefined_names_of(path: str, source: bytes) -> Iterator[SourceError]:
    lines = code_lines(source)
    with contextlib.suppress(SyntaxError):  # it takes too much to be looked through: nothing is said
        for name, line in undefined_uses(source, path):
            yield SourceError(path, line, f"NameError: name {name!r} is not defined", line_text(lines, line))


# `software.packages`: what must be installed for the program, and in which file its language says so.

_MOST = 50  # names; what loads more is no program


class _Sources(BaseModel):
    """One row of `packages.yaml`, where the fields are explained."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    suffixes: tuple[str, ...]
    loads: str
    own: tuple[str, ...] = ()
    part: str = ""
    declares: str = ""
    needs: tuple[str, ...] = ()

    def names(self, files: Mapping[str, bytes]) -> set[str]:
        """The packages that these sources need; empty without a source."""
        sources = [data.decode("utf-8", errors="replace") for path, data in files.items()
                   if PurePosixPath(path).suffix in self.suffixes and not is_test(path)]
        declared = {name for source in sources if self.declares for name in captures(self.declares, source)}
        return {*self.needs, *self._loaded(sources, declared)} if sources else set()

    def _loaded(self, sources: list[str], declared: set[str]) -> Iterator[str]:
        for source in sources:
            for name in captures(self.loads, source):
                if name not in declared and not any(matches(pattern, name) for pattern in self.own):
                    yield next(captures(self.part, name), name) if self.part else name


@tool(reads=("software",), pure=True)
def packages(ctx: ToolContext) -> dict[str, Any]:
    """Name the packages that the program needs from outside its language, and the file that says so.

    Returns `names`, sorted, and `file`, such as `requirements.txt` or `package.json`. Both are empty when the program
    needs nothing but what comes with its language, when it is a page, and for languages without such a file.
    """
    file, names = packages_needed(ctx.software)
    return {"names": sorted(names, key=str.lower)[:_MOST], "file": file}


def packages_needed(files: Mapping[str, bytes]) -> tuple[str, set[str]]:
    """The file in which the software names the packages that it needs, and these; both empty when it needs none."""
    if has_python(files):
        names = _python_packages(files)
        return ("requirements.txt", names) if names else ("", names)
    if page_entry(files):  # it has no other packages than those that it loads itself
        return "", set()
    found = ((file, {name for row in rows for name in row.names(files)}) for file, rows in _rows().items())
    return next(((file, names) for file, names in found if names), ("", set()))


def _python_packages(files: Mapping[str, bytes]) -> set[str]:
    """The distributions behind the imports; none for files that do not compile."""
    broken = {error.path for error in syntax_errors(files)}
    sound = {path: data for path, data in files.items() if path not in broken}
    modules = third_party_names(frozenset(imports(sound).all_names))
    return {distributions().get(module, module) for module in modules}


@functools.cache
def _rows() -> Mapping[str, tuple[_Sources, ...]]:
    return {file: tuple(_Sources(**row) for row in rows) for file, rows in knowledge.package_files().items()}


# Finding code that was left for later, for `software.complete` and for the measure of completeness.

_SOURCES = {".js", ".ts", ".jsx", ".tsx", ".c", ".h", ".cc", ".cpp", ".hpp", ".java", ".go", ".rs", ".sh", ".html",
            ".css", ".v", ".sv", ".st", ".rb", ".php", ".cs", ".kt", ".swift"}
_SHOWN = 20


@dataclass(frozen=True, slots=True)
class Placeholder:
    """Something left for later: where, and what."""

    path: str
    line: int
    what: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.what}"


@tool(reads=("software",))
def complete(ctx: ToolContext) -> Verdict:
    """Look for functions without a body and for comments that announce missing work."""
    if not ctx.software:
        return Verdict(False, "There are no files yet.")
    found = placeholders(ctx.software)
    if not found:
        return Verdict(True, "Every function has a body.", score=1.0)
    shown = "\n".join(map(str, found[:_SHOWN]))
    more = f"\nand {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    return Verdict(False, shown + more, score=1 / (1 + len(found)), evidence={"placeholders": len(found)})


def placeholders(software: Mapping[str, bytes]) -> list[Placeholder]:
    """All placeholders of a software, file by file. Files that do not parse are judged by their comments alone."""
    found: list[Placeholder] = []
    for path, data in sorted(software.items()):
        suffix = PurePosixPath(path).suffix.lower()
        text = data.decode("utf-8", "replace")
        if suffix == ".py":
            found += _python_placeholders(path, text)
        elif suffix in _SOURCES:
            found += (Placeholder(path, line, what) for line, what in unfinished_comments(text, suffix))
    return found


def _python_placeholders(path: str, text: str) -> Iterator[Placeholder]:
    try:
        found = unfinished_parts(text, path)
    except SyntaxError:
        found = unfinished_comments(text, ".py")
    yield from (Placeholder(path, line, what) for line, what in found)


# The tool that puts right in a delivered program what needs no thought, before anybody judges it.

_STORES = (".txt", ".csv")


@tool(reads=("software",), writes_files=True)
def mend(context: ToolContext) -> dict[str, Any]:
    """Mend the software where it is certainly meant otherwise than it is written: a forgotten import of the standard
    library, a Python file's name as its own first line, and comments in a text file that the program keeps its things
    in, which it would take for one of them.

    Returns `files`: the mended ones under their paths; and a `report`.
    """
    mended = [*_mend_programs(context.software), *_empty_stores(context.software)]
    report = template(knowledge.report_template("mended")).render(files=mended).strip()
    return {"files": {path: text for path, text, _ in mended}, "report": report}


def _mend_programs(files: Mapping[str, bytes]) -> Iterator[tuple[str, str, list[str]]]:
    """Path, text and slips of each Python file that has any."""
    for path, source in files.items():
        if path.endswith(".py"):
            with contextlib.suppress(SyntaxError, UnicodeDecodeError):  # that is for others to tell
                text, slips = mend_python(source.decode(), path, knowledge.importable())
                if slips:
                    yield path, text, slips


def _empty_stores(files: Mapping[str, bytes]) -> Iterator[tuple[str, str, list[str]]]:
    """The same of each text file that holds nothing but comments, and that a program writes."""
    kept = {path: _only_comments(content) for path, content in files.items() if path.endswith(_STORES)}
    written = all_written_names(files) if any(kept.values()) else ()
    for path, comments in kept.items():
        if comments and PurePosixPath(path).name in written:
            yield path, "", [f"left out: {line}" for line in comments]


def _only_comments(content: bytes) -> list[str]:
    """The lines of a text in which there is nothing else."""
    lines = list(filter(None, map(str.strip, content.decode("utf-8", "replace").splitlines())))
    return lines if all(line.startswith("#") for line in lines) else []
