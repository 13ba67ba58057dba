"""The tool that puts right in a delivered program what needs no thought, before anybody judges it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any

from chatdev.tools.base import ToolContext, template
from chatdev.tools.function import tool
from chatdev.tools.software import knowledge
from chatdev.tools.software.slips import mend_python


@tool(reads=("software",), writes_files=True)
def mend(context: ToolContext) -> dict[str, Any]:
    """Mend the Python files where they are certainly meant otherwise than they are written: a forgotten import of the
    standard library, the file's name as its own first line.

    Returns `files`: the mended ones under their paths; and a `report`.
    """
    mended = list(_mended_files(context.software))
    report = template(knowledge.report_template("mended")).render(files=mended).strip()
    return {"files": {path: text for path, text, _ in mended}, "report": report}


def _mended_files(files: Mapping[str, bytes]) -> Iterator[tuple[str, str, list[str]]]:
    """Path, text and slips of each file that has any."""
    for path, source in files.items():
        if path.endswith(".py"):
            with contextlib.suppress(SyntaxError, UnicodeDecodeError):  # that is for others to tell
                text, slips = mend_python(source.decode(), path, knowledge.importable())
                if slips:
                    yield path, text, slips
