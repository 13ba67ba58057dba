"""The tool that puts right in a delivered program what needs no thought, before anybody judges it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

from chatdev.departments.software import knowledge
from chatdev.departments.software.reading.python_reader import mend_python
from chatdev.departments.software.reading.static import all_written_names
from chatdev.tools.base import ToolContext, template, tool

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
