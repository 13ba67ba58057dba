"""`software.compiles`: can every file be read by the machine?"""

from __future__ import annotations

from chatdev.tools.base import ToolContext, Verdict
from chatdev.tools.function import tool
from chatdev.tools.software.static import data_errors, syntax_errors


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
