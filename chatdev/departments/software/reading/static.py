"""What is known of software without running it: files that cannot be read, and names that Python uses and defines
nowhere. `software.compiles` reports the first."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator, Mapping

from chatdev.departments.software.reading.python_writing import written_names
from chatdev.tools.base import ToolContext, Verdict
from chatdev.tools.function import tool
from chatdev.workspace.excerpt import code_lines
from chatdev.workspace.python_errors import SourceError, line_text, syntax_errors
from chatdev.workspace.python_reading import undefined_uses
from chatdev.workspace.snapshot import is_test

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
