"""The tool that puts right in a delivered program what needs no thought, before anybody judges it."""

from __future__ import annotations

from typing import Any

from chatdev.departments.plc.interface import entry_of, read_answer
from chatdev.departments.plc.requirements import WORDING
from chatdev.departments.plc.source_check import mend_source
from chatdev.tools.base import ToolContext, render_file
from chatdev.tools.function import tool

_MOST_TOLD = 10
_NOTHING: dict[str, Any] = {"files": {}, "report": ""}


@tool(reads=("software", "program_interface?"), writes_files=True)
def mend(context: ToolContext) -> dict[str, Any]:
    """Mend the program in Structured Text where it is certainly meant otherwise than it is written: a missing `;`, `=`
    for `:=`, an END_ that ends nothing. Units that the interface does not need and the task does not name are left out.

    Returns `files`: the mended program under its path, or nothing; and a `report`.
    """
    source = read_answer(context.software)
    if source is None:
        return _NOTHING
    entry = entry_of(context.values.get("program_interface"))
    found = mend_source(source, entry, str(context.inputs.get("task") or ""))
    if found.source == source:
        return _NOTHING
    path = next(path for path in context.software if context.software[path].decode("utf-8", "replace") == source)
    report = render_file(WORDING / "mended.j2", path=path, mended=found.mended, most=_MOST_TOLD)
    return {"files": {path: found.source}, "report": report}
