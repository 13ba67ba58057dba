"""`software.run`: does the software start and run?"""

from __future__ import annotations

from chatdev.tools.base import ToolContext, Verdict
from chatdev.tools.function import tool
from chatdev.tools.software import examine, python
from chatdev.tools.software.languages import is_python, language_of, languages, unjudged
from chatdev.tools.software.verdict import Finding, verdict


@tool(reads=("software",))
def run(context: ToolContext) -> Verdict:
    """Start the software in the sandbox, with no input and no arguments, and say whether it works.

    It is compiled or checked first, and a Python program's modules are installed. The report shows the rule that
    applied, the error with its place in the software, and the last lines of the output; `rules.yaml` lists all rules,
    `languages.yaml` all languages but Python.
    """
    return verdict(_finding(context))


def _finding(context: ToolContext) -> Finding:
    if is_python(context.software):
        return python.examine(context)
    if language := language_of(context.software):
        return examine.examine(context, language)
    if names := unjudged(context.software):
        runnable = ["Python", *(language.name for language in languages())]
        return Finding("unsupported_language", {"names": names, "runnable": runnable})
    return Finding("nothing_to_run", {"candidates": ()})
