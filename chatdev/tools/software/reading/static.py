"""What is known of software without running it: files that cannot be read, what a Python program imports, and names
that it uses and defines nowhere. `software.compiles` reports it."""

from __future__ import annotations

import contextlib
import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from chatdev.tools.base import ToolContext, Verdict
from chatdev.tools.function import tool
from chatdev.tools.software.reading.python_writing import written_names
from chatdev.workspace.excerpt import code_lines
from chatdev.workspace.python_reading import fault_in_python, imported_names, undefined_uses
from chatdev.workspace.snapshot import is_test

_WITH_COMMENTS = re.compile(r"(?:^|/)(?:[jt]sconfig(?:\.[\w-]+)*\.json$|\.\w[\w-]*/|\.\w+rc\.json$)")
"""Settings of tools that take more than JSON."""


@dataclass(frozen=True, slots=True)
class SourceError:
    """A syntax error and its line."""

    path: str
    line: int
    message: str
    source: str


@dataclass(frozen=True, slots=True)
class Imports:
    """Top-level names of imported modules that are not the program's own; `optional` ones may fail (they stand in a
    `try` that catches it), `required` ones may not."""

    required: frozenset[str]
    optional: frozenset[str]

    @property
    def all_names(self) -> set[str]:
        """All of them."""
        return set(self.required | self.optional)


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


def syntax_errors(files: Mapping[str, bytes]) -> list[SourceError]:
    """One error for each Python file that does not compile."""
    return [SourceError(path, line, f"{kind}: {message}", _text_in(code_lines(source), line))
            for path, source in files.items() if path.endswith(".py")
            for kind, line, message in _faults_in_python(source, path)]


def _faults_in_python(source: bytes, path: str) -> list[tuple[str, int, str]]:
    try:
        found = fault_in_python(source, path)
    except SyntaxError as error:  # it takes too much to be read
        found = "SyntaxError", 1, str(error.msg)
    return [found] if found else []


def _text_in(lines: Sequence[str], line: int) -> str:
    """A line's text; empty for one that is there for Python alone, which may read a file in another encoding."""
    return lines[line - 1].strip() if line <= len(lines) else ""


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


def imports(files: Mapping[str, bytes]) -> Imports:
    """The imports of all Python files that are not tests; the files must compile."""
    every: dict[bool, set[str]] = {True: set(), False: set()}
    own = _own_modules(files)
    for path, source in files.items():
        if path.endswith(".py") and not is_test(path):
            with contextlib.suppress(SyntaxError):  # it takes too much to be looked through
                for name, may_fail in imported_names(source, path):
                    every[may_fail].add(name)
    required = frozenset(every[False] - own)
    return Imports(required, frozenset(every[True] - own - required))


def all_written_names(files: Mapping[str, bytes]) -> set[str]:
    """The names of the files that the Python files write, an empty one for a name that is not plain."""
    found = set[str]()
    for path, source in files.items():
        if path.endswith(".py"):
            with contextlib.suppress(SyntaxError):
                found |= set(written_names(source, path))
    return found


def third_party_names(names: frozenset[str]) -> frozenset[str]:
    """Those that do not belong to Python itself."""
    return names - sys.stdlib_module_names - {"__main__"}


def requirements(files: Mapping[str, bytes]) -> set[str]:
    """Normalised distribution names listed in requirements.txt (versions, URLs and options are left out)."""
    text = files.get("requirements.txt", b"").decode("utf-8", errors="replace")
    names = (re.match(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)\s*(?:\[[^\]]*\]\s*)?(?:[=<>!~;#].*)?$", line)
             for line in text.splitlines())
    return {normal_name(match[1]) for match in names if match}


def normal_name(distribution: str) -> str:
    """A distribution's name as indexes compare it (PEP 503)."""
    return re.sub(r"[-_.]+", "-", distribution).lower()


def _own_modules(files: Mapping[str, bytes]) -> set[str]:
    """Every name under which the program's own files could be imported, whichever folder is on the path."""
    own: set[str] = set()
    for path in files:
        if path.endswith(".py"):
            own |= {*PurePosixPath(path).with_suffix("").parts}
    return own


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
            yield SourceError(path, line, f"NameError: name {name!r} is not defined", _text_in(lines, line))
