"""Other compilers for Structured Text, asked for a second opinion where they are installed. Each runs in the sandbox,
and what it says becomes diagnostics like ours. Which there are, and how they speak, is data (`compilers.yaml`)."""

from __future__ import annotations

import functools
import re
import shutil
import tempfile
from pathlib import Path
from typing import Any

import yaml

from chatdev.departments.plc.st.core import Span
from chatdev.departments.plc.st.diagnostics import Diagnostic
from chatdev.errors import MissingProgram
from chatdev.sandbox.base import Binding, Execution, ProcessLimits, Sandbox, SandboxJob
from chatdev.workspace.file_tree import write_tree

_SOURCE = "program.st"
_LIMITS = ProcessLimits(cpu=20, seconds=120, memory=1 << 30, disk=128 << 20, written=4 << 20)
_COMMENTS = re.compile(r"""(\(\*.*?(?:\*\)|\Z)|/\*.*?(?:\*/|\Z)|'(?:\$.|[^'$\n])*'?|"(?:\$.|[^"$\n])*"?)|//[^\n]*""",
                       re.DOTALL)
_MOST, _LONGEST = 25, 500  # diagnostics, and characters of what is told of a program that names no line


def ask_compiler(name: str, source: str, sandbox: Sandbox) -> tuple[Diagnostic, ...]:
    """What a compiler says of a source. One that fails and names no line has one error for the whole source.

    Raises MissingProgram if it is not on the PATH, SandboxError and WorkspaceError."""
    compiler = _compilers()[name]
    found = shutil.which(name)
    if found is None:
        raise MissingProgram(f"{name} not found, which checks Structured Text as well; {compiler['get']}")
    text = strip_line_comments(source) if compiler["block_comments"] else source
    with tempfile.TemporaryDirectory(prefix="plc-", ignore_cleanup_errors=True) as folder:
        write_tree(Path(folder), {_SOURCE: text.encode("utf-8", "replace")})
        job = _job(compiler["command"], Path(found).resolve(), Path(folder))
        return _read(name, sandbox.run(job), re.compile(compiler["says"], re.MULTILINE))


def strip_line_comments(source: str) -> str:
    """The source without comments of `//`, every line at its place."""
    return _COMMENTS.sub(lambda found: found[1] or "", source)


def _job(command: list[str], program: Path, folder: Path) -> SandboxJob:
    library = program.parent / "lib"
    places = {"FILE": _SOURCE, "LIBRARY": str(library)}
    argv = [str(program), *(places.get(word, word) for word in command[1:])]
    if not library.is_dir() and "LIBRARY" in command:
        at = command.index("LIBRARY")
        del argv[at - 1:at + 1]
    return SandboxJob(argv, folder, _LIMITS, bindings=[Binding(program.parent)])


def _read(name: str, execution: Execution, says: re.Pattern[str]) -> tuple[Diagnostic, ...]:
    log = f"{execution.stdout}\n{execution.stderr}"
    found = [_diagnostic(name, match) for match in says.finditer(log)][:_MOST]
    if execution.exit_status != 0 and not any(one.severity == "error" for one in found):
        said = " ".join(log.split())[-_LONGEST:] or "nothing"
        how = "took too long" if execution.timed_out else f"ended with {execution.exit_status or execution.signal}"
        found.append(Diagnostic("error", name, f"{name}: it {how}, names no line, and says: {said}", Span(1, 1, 1, 1)))
    return tuple(dict.fromkeys(found))


def _diagnostic(name: str, match: re.Match[str]) -> Diagnostic:
    told = match.groupdict()
    span = Span(int(told["line"]), int(told["column"]), int(told.get("end_line") or 0),
                int(told.get("end_column") or 0))
    severity: Any = told["severity"]
    return Diagnostic(severity, name, f"{name}: {told['message'].strip()}", span)


@functools.cache
def _compilers() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = yaml.safe_load(
        Path(__file__).with_name("compilers.yaml").read_text(encoding="utf-8"))
    return found
