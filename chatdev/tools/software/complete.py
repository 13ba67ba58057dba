"""`software.complete`: is every function written?"""

from __future__ import annotations

from chatdev.tools.base import ToolContext, Verdict
from chatdev.tools.function import tool
from chatdev.tools.software.placeholders import placeholders

_SHOWN = 20


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
