"""`verilog.check`: does the module compile alone, and does it keep the rules?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated

from pydantic import Field

from chatdev.tools.base import ToolContext, Verdict, throwaway_copy
from chatdev.tools.function import tool
from chatdev.tools.verilog import slang
from chatdev.tools.verilog.answer import Answer, Refused, answer_of, readable
from chatdev.tools.verilog.head import differences
from chatdev.tools.verilog.icarus import Compiled, Message
from chatdev.tools.verilog.simulation import examine
from chatdev.tools.verilog.verdict import of_compiled, refused, verdict_of

_GIVEN = "your source"


Source = Annotated[str | None, Field(description="The whole Verilog source to check; without it the software's present "
                                                 "file is checked.")]


@tool(reads=("software",))
def check(context: ToolContext, *, source: Source = None) -> Verdict:
    """Check the syntax of the Verilog module `TopModule`: compile it alone, compare its ports with those that the
    specification lists, and look for mistakes such as inferred latches or signals that nothing drives.

    No test bench is needed. Errors are shown with the lines around them.
    """
    if source is not None and source.strip() in context.software:
        source = None  # the name of the file, where its text is asked for
    answer = Answer(_GIVEN, source or "")
    try:
        answer = readable(answer) if source is not None else answer_of(context.software)
    except Refused as reason:
        return verdict_of(refused(reason.messages), answer)
    with throwaway_copy(context.scratch, {}) as folder:
        compiled = examine(answer.text, context.sandbox, folder)
    if compiled.passed:
        compiled = _with(compiled, "interface", differences(answer.text, str(context.inputs.get("task") or "")))
        compiled = _with(compiled, "undriven", slang.undriven(answer.text))
    return verdict_of(of_compiled(compiled), answer)


def _with(compiled: Compiled, outcome: str, found: Sequence[Message]) -> Compiled:
    """What compiled, with what else was found. Its first error makes it end as `outcome`."""
    wrong = compiled.passed and any(message.severity == "error" for message in found)
    return replace(compiled, outcome=outcome if wrong else compiled.outcome, messages=(*compiled.messages, *found))
