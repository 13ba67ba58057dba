"""`software.run`: does the software start and run?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import PurePosixPath

from chatdev.tools.base import ToolContext, Verdict
from chatdev.tools.function import tool
from chatdev.tools.software import python
from chatdev.tools.software.verdict import Finding, verdict

_EXAMINERS: Mapping[str, Callable[[ToolContext], Finding]] = {".py": python.examine}  # by the suffix of its sources
_OTHER_SOURCES = {".c", ".cpp", ".cs", ".go", ".html", ".java", ".js", ".jsx", ".kt", ".lua", ".php", ".rb", ".rs",
                  ".sh", ".swift", ".ts", ".tsx"}


@tool(reads=("software",))
def run(context: ToolContext) -> Verdict:
    """Start the software in the sandbox, with no input and no arguments, and say whether it works.

    Files are compiled and imported modules installed first. The report shows the rule that applied, the error with
    its place in the software, and the last lines of the output; `rules.yaml` lists all rules.
    """
    suffixes = {PurePosixPath(path).suffix for path in context.software}
    examine = next((examine for suffix, examine in _EXAMINERS.items() if suffix in suffixes), _examine_nothing)
    return verdict(examine(context))


def _examine_nothing(context: ToolContext) -> Finding:
    others = sorted(path for path in context.software if PurePosixPath(path).suffix in _OTHER_SOURCES)
    return Finding("unsupported_language" if others else "nothing_to_run", {"candidates": others})
