"""`plc.keep`: what was proved is kept for later tasks (the paper's retrieval of code that worked)."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any

from chatdev.departments.plc.interface import read_answer
from chatdev.departments.plc.verdicts import judge
from chatdev.errors import ChatDevError
from chatdev.tools.base import ToolContext
from chatdev.tools.function import tool
from chatdev.tools.retrieval.search import CaseBase, uses_cases

_LARGEST_PATCH = 12
"""Changed lines: what changes more is another program, and no patch."""


@tool(reads=("software", "program_interface?", "requirements?", "draft?"))
def keep(context: ToolContext) -> dict[str, Any]:
    """Keep a program of which every property is proved, and the patch that mended its first draft, for later tasks.

    Returns what was kept (`program`, `patch`), and `problem`, which is empty unless they could not be written down.
    With the input `cases: no` nothing is kept.
    """
    source, verdict = read_answer(context.software), judge.function(context)
    if source is None or not (uses_cases(context) and verdict.passed and verdict.judged):
        return {"program": False, "patch": False, "problem": ""}
    try:
        return {"program": True, "patch": _add_case(context, source), "problem": ""}
    except ChatDevError as error:  # the program is as good without
        return {"program": False, "patch": False, "problem": str(error)}


def _add_case(context: ToolContext, source: str) -> bool:
    """Whether there was a patch, too."""
    draft: Mapping[str, Any] = context.values.get("draft") or {}
    before, complaint = str(draft.get("source") or ""), str(draft.get("complaint") or "")
    is_patch = bool(complaint) and 0 < _changed_lines(before, source) <= _LARGEST_PATCH
    cases = CaseBase()
    cases.add_program(str(context.inputs.get("task") or ""), source)
    if is_patch:
        cases.add_patch(complaint, before, source)
    return is_patch


def _changed_lines(before: str, after: str) -> int:
    return sum(line[:1] in "+-" for line in difflib.ndiff(before.splitlines(), after.splitlines()))
