"""The tool that puts right in a delivered module what needs no thought, before anybody judges it."""

from __future__ import annotations

from typing import Any

from chatdev.departments.verilog.answer import NoAnswer, read_answer
from chatdev.departments.verilog.bench import read_target
from chatdev.departments.verilog.compilation import render_report
from chatdev.departments.verilog.design.elaborate import DesignError
from chatdev.departments.verilog.design.slips import mend_text
from chatdev.departments.verilog.simulation import examine
from chatdev.departments.verilog.target import Target
from chatdev.errors import MissingProgram
from chatdev.tools.base import ToolContext, throwaway_copy, tool

_MOST_TOLD = 10
_NOTHING: dict[str, Any] = {"files": {}, "report": ""}


@tool(reads=("software",), writes_files=True)
def mend(context: ToolContext) -> dict[str, Any]:
    """Mend the Verilog module, where it does not compile and is certainly meant otherwise than it is written: a missing
    `assign`, `;` or `endcase`, an output that lacks `logic`, a number such as 0b101, text around the module.

    Returns `files`: the mended module under its path, or nothing; and a `report`.
    """
    target = read_target(context.inputs)
    try:
        answer = read_answer(context.software)
        found = mend_text(answer.text, target)
    except (NoAnswer, DesignError, MissingProgram):
        return _NOTHING
    if not found.slips or _compiles(answer.text, context, target):
        return _NOTHING
    report = render_report("mended", path=answer.path, slips=found.slips, most=_MOST_TOLD)
    return {"files": {answer.path: found.text}, "report": report}


def _compiles(text: str, context: ToolContext, target: Target) -> bool:
    """Whether the simulator takes it as it is: the parser is stricter in places."""
    with throwaway_copy(context.scratch, {}) as folder:
        return examine(text, context.sandbox, folder, target).passed
