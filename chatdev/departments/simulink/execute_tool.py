"""`simulink.execute`: does the program build its model?"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from chatdev.departments.simulink.backends import read_backend
from chatdev.departments.simulink.execute import BuildResult, execute_program
from chatdev.tools.base import ToolContext, Verdict, render_file
from chatdev.tools.function import tool
from chatdev.workspace.snapshot import find_entry

MODEL_FILE = "model.yaml"
"""Under which path the built model is given back, in its text form."""
_REPORT = Path(__file__).with_name("execution.j2")


@tool(reads=("software",), name="simulink.execute", writes_files=True)
def execute(context: ToolContext) -> Verdict:
    """Run the Python program that builds a Simulink model, and say MATLAB's message with the program's line if it
    raises one.

    The input `backend` is `builtin` (a stand-in for MATLAB in the sandbox), `matlab`, or `auto` (the default: MATLAB
    where it is installed and consented to). `files` of the verdict has the built model as `model.yaml`.
    """
    backend = read_backend(context.inputs.get("backend"))
    entry = find_entry(context.software)
    if entry.path is None:
        message = render_file(_REPORT, result=None, name="", of=entry.candidates)
        return _verdict(BuildResult(False, message, outcome="no_program"), "", 0)
    program = context.software[entry.path].decode("utf-8", "replace")
    result = execute_program(program, sandbox=context.sandbox, scratch=context.scratch, backend=backend,
                             name=entry.path)
    return _verdict(result, entry.path, program.count("\n") + 1)


def _verdict(result: BuildResult, name: str, lines: int) -> Verdict:
    report = render_file(_REPORT, result=result, name=name, of=()) if name else result.message
    files = {MODEL_FILE: result.diagram.text()} if result.diagram else {}
    evidence: Mapping[str, object] = {"outcome": result.outcome, "message": result.message, "line": result.line,
                                      "backend": result.backend, "files": files}
    return Verdict(result.passed, report, 1.0 if result.passed else _progress(result, lines), evidence)


def _progress(result: BuildResult, lines: int) -> float:
    """How far a program came, as a part of its lines; below 1."""
    return min((result.line or 0) / (lines + 1), 0.99)
