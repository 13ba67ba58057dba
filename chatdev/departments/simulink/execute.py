"""Running a program that builds a model: in the sandbox with our stand-in for MATLAB, or, by consent, with MATLAB.

Nothing that the program writes is trusted: what it saves is read within limits, and built anew by the same rules here.
"""

from __future__ import annotations

import functools
import json
import os
import sys
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any, Literal

from chatdev.departments.simulink.catalogue import Catalogue, catalogue
from chatdev.departments.simulink.diagram import Diagram
from chatdev.departments.simulink.engine.library import Library
from chatdev.departments.simulink.saved_model import UnreadableModel, last_saved
from chatdev.doctor.diagnosis import Probe, ProbeResult, absence, success
from chatdev.errors import MissingProgram, ToolError
from chatdev.packages.interpreter import interpreter
from chatdev.paths import bundled_table
from chatdev.replies.fences import scan
from chatdev.sandbox.base import BOX, Binding, Execution, ProcessLimits, Sandbox, SandboxJob
from chatdev.tools.base import ToolContext, Verdict, render_file, template, throwaway_copy, tool
from chatdev.workspace.file_tree import find_entry
from chatdev.workspace.python_errors import Trace, excerpt, last_traceback, stable_text, syntax_errors

PROGRAM = "build_model.py"
"""What the program is called where the reply gives it no name."""
_LIMITS = ProcessLimits(seconds=20.0, memory=512 << 20, file_size=16 << 20, disk=64 << 20, processes=64,
                        written=16 << 20)
_MATLAB_LIMITS = ProcessLimits(seconds=600.0, memory=16 << 30, address_space=1 << 46, file_size=1 << 30, disk=4 << 30,
                               processes=4096, open_files=4096)
_MATLAB_VARIABLES = ("HOME", "PATH", "LD_LIBRARY_PATH", "LM_LICENSE_FILE", "MLM_LICENSE_FILE", "MATLAB_PREFDIR")
_STAND_IN = "stand-in"
_OURS = Path(__file__).parent
_PACKAGE = "chatdev/departments/simulink"
_CARRIED = ("ports.py", *(f"engine/{name}.py" for name in ("arguments", "library", "program", "rules", "session")))
_TRACEBACK = "Traceback (most recent call last)"
_LONGEST_MESSAGE = 2000  # characters
_ERROR = "matlab.engine.MatlabExecutionError: "
_TAIL_LINES, _TAIL_CHARACTERS = 40, 4000


@dataclass(frozen=True, slots=True)
class BuildResult:
    """What came of a program: MATLAB's message where it raised one, and the last model that it saved.

    `outcome` is a key of `executions.yaml`; `line` is that of the program at which it failed, and `excerpt` what stands
    there; `output` is the end of what it printed, warnings included.
    """

    passed: bool
    message: str
    diagram: Diagram | None = None
    output: str = ""
    outcome: str = "built"
    line: int | None = None
    excerpt: str = ""
    backend: str = "builtin"


def execute_program(source: str, *, sandbox: Sandbox, scratch: Path, backend: Backend = "auto", strict: bool = True,
                    name: str = PROGRAM, blocks: Catalogue | None = None) -> BuildResult:
    """What comes of the program in a reply, run in a throwaway folder below `scratch`.

    Raises MissingProgram where `backend` is `matlab` and there is none, and ToolError where it is not consented to.
    """
    program = program_of(source)
    if not program.strip():
        return _result("no_program")
    files = {name: program.encode("utf-8", "replace")}
    if errors := syntax_errors(files):
        line = errors[0].line
        return replace(_result("no_syntax", exception=errors[0].message), line=line, excerpt=excerpt(files, name, line))
    found = blocks or catalogue()
    run = _Run(name, program, sandbox, scratch, found, strict)
    if choose_backend(backend, sandbox) == "builtin":
        return run.builtin()
    return run.matlab()


def program_of(reply: str) -> str:
    """The program in a reply: all of it where it is one, else its fenced block, or the longest that calls MATLAB."""
    texts = [textwrap.dedent(block.content) for block in scan(reply)]
    if not texts or not syntax_errors({PROGRAM: reply.encode("utf-8", "replace")}):
        return reply
    return max([text for text in texts if "matlab" in text] or texts, key=len)


def _stand_in(blocks: Catalogue, strict: bool) -> Mapping[str, bytes]:
    """The files that the sandbox gets: the stand-in, under the names that its modules have here, and the blocks."""
    packages = ("chatdev", "chatdev/departments", _PACKAGE, f"{_PACKAGE}/engine")
    files = {f"{package}/__init__.py": b"" for package in packages}
    files |= {f"{_PACKAGE}/{path}": (_OURS / path).read_bytes() for path in _CARRIED}
    files |= {f"{path}/__init__.py": (_OURS / "engine" / path / "__init__.py").read_bytes()
              for path in ("matlab", "matlab/engine")}
    files["library.json"] = json.dumps({"strict": strict, "blocks": blocks.plain()}).encode()
    return {f"{_STAND_IN}/{path}": content for path, content in files.items()}


@dataclass(frozen=True)
class _Run:
    """A program that is to be run."""

    name: str
    program: str
    sandbox: Sandbox
    scratch: Path
    blocks: Catalogue
    strict: bool

    @property
    def _files(self) -> dict[str, bytes]:
        return {self.name: self.program.encode("utf-8", "replace")}

    def builtin(self) -> BuildResult:
        """With the stand-in."""
        python = interpreter()
        with throwaway_copy(self.scratch, {**self._files, **_stand_in(self.blocks, self.strict)}) as folder:
            job = SandboxJob([str(python.executable), "-u", self.name], folder, _LIMITS,
                             env={"PYTHONPATH": _STAND_IN, "PYTHONUNBUFFERED": "1"}, bindings=(Binding(python.prefix),))
            execution = self.sandbox.run(job)
            result = self._ending(execution, folder, _LIMITS)
            return result or replace(self._saved(folder), output=_output(execution, folder))

    def matlab(self) -> BuildResult:
        """With MATLAB, and where that says nothing against it, with the stand-in to see what was built."""
        variables = {name: os.environ[name] for name in _MATLAB_VARIABLES if name in os.environ}
        with throwaway_copy(self.scratch, self._files) as folder:
            job = SandboxJob([sys.executable, "-u", self.name], folder, _MATLAB_LIMITS,
                             env={**variables, "PYTHONPATH": str(matlab_package()), "PYTHONUNBUFFERED": "1"})
            execution = self.sandbox.run(job)
            failed = self._ending(execution, folder, _MATLAB_LIMITS)
            output = _output(execution, folder)
        if failed:
            return replace(failed, backend="matlab")
        seen = self.builtin()
        told = _result("built_in_matlab", reason="" if seen.passed else seen.message)
        return replace(told, passed=True, diagram=seen.diagram, output=output, backend="matlab")

    def _ending(self, execution: Execution, folder: Path, limits: ProcessLimits) -> BuildResult | None:
        """How the program failed; None where it ended well."""
        if execution.exit_status == 0 and not (execution.timed_out or execution.exceeded):
            return None
        trace = last_traceback(stable_text(execution.stderr, _places(folder)))
        if execution.timed_out:
            result = _result("timed_out", seconds=int(limits.seconds))
        elif execution.exceeded:
            result = _result("exceeded", exceeded=execution.exceeded)
        elif execution.signal is not None:
            result = _result("killed", signal=execution.signal)
        elif trace is not None:
            result = self._raised(trace, stable_text(execution.stderr, _places(folder)))
        else:
            result = _result("exited", status=execution.exit_status)
        return replace(result, output=_output(execution, folder, with_errors=trace is None))

    def _raised(self, trace: Trace, stderr: str) -> BuildResult:
        line = next((frame.line for frame in reversed(trace.frames) if frame.path == self.name), None)
        return replace(_result("raised", exception=_whole_message(trace, stderr)), line=line,
                       excerpt=excerpt(self._files, self.name, line) if line else "")

    def _saved(self, folder: Path) -> BuildResult:
        """The model that the program saved last."""
        try:
            saved = last_saved(folder / _STAND_IN)
            if saved is None:
                return _result("nothing_saved")
            if not saved.blocks:
                return _result("empty", model=saved.name)
            diagram = saved.rebuild(Library(self.blocks.plain()), strict=self.strict)
        except UnreadableModel as error:
            return _result("unreadable", reason=error)
        told = _result("built", model=saved.name, blocks=len(diagram.blocks), lines=len(diagram.wires),
                       refused=saved.refused)
        return replace(told, passed=True, diagram=diagram)


def _result(outcome: str, **facts: Any) -> BuildResult:
    message = template(_outcomes()[outcome]).render(facts).strip()
    return BuildResult(False, message, outcome=outcome)


@functools.cache
def _outcomes() -> Mapping[str, str]:
    words: Mapping[str, str] = bundled_table(_OURS / "executions.yaml")
    return words


def _places(folder: Path) -> Mapping[str, str]:
    return {f"{BOX}/": "", f"{folder.resolve()}/": ""}


def _whole_message(trace: Trace, stderr: str) -> str:
    """The message of an error: of MATLAB's with the causes, which it writes before the traceback begins."""
    if not trace.exception.startswith(_ERROR):
        return trace.exception
    first = trace.exception.removeprefix(_ERROR)
    _, found, rest = stderr.rpartition(_TRACEBACK)[0].rpartition(f"{first}\n")
    causes = rest.split("\n\n")[0].rstrip()
    return f"{first}\n{causes}"[:_LONGEST_MESSAGE].strip() if found else first


def _output(execution: Execution, folder: Path, *, with_errors: bool = False) -> str:
    """The last lines of what a program printed."""
    text = stable_text(f"{execution.stdout}\n{execution.stderr if with_errors else ''}".strip(), _places(folder))
    return "\n".join(text.splitlines()[-_TAIL_LINES:])[-_TAIL_CHARACTERS:]


# The tool `simulink.execute`.

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


# Which of the two runs programs: MATLAB, where it is and the user consents, or our stand-in.

Backend = Literal["auto", "builtin", "matlab"]
_CONSENT = "--sandbox none"


def choose_backend(backend: Backend, sandbox: Sandbox) -> Literal["builtin", "matlab"]:
    """What runs a program: MATLAB where it is asked for or is there, and the user has consented to programs that run
    with their rights (`--sandbox none`), because MATLAB works in no sandbox."""
    if backend == "builtin" or (backend == "auto" and (sandbox.name != "none" or matlab_package() is None)):
        return "builtin"
    if matlab_package() is None:
        raise MissingProgram(f"backend: matlab needs MATLAB, and its package matlabengine for {sys.executable}; "
                             "install them, or take backend: builtin")
    if sandbox.name != "none":
        raise ToolError("backend: matlab runs the program outside of any sandbox, with your rights; consent to that "
                        "with --sandbox none, or take backend: builtin")
    return "matlab"


def matlab_package() -> Path | None:
    """The folder in which this Python finds MATLAB's own package; nothing is imported for it."""
    here = Path.cwd()
    places = [place for place in sys.path if place and Path(place).resolve() != here]
    found = PathFinder.find_spec("matlab", places)
    folders = map(Path, (found and found.submodule_search_locations) or ())
    return next((folder.parent for folder in folders if (folder / "engine" / "__init__.py").is_file()), None)


def read_backend(value: object) -> Backend:
    """The backend that an input names, `auto` for none; raises ToolError for another word."""
    known: dict[object, Backend] = {None: "auto", "auto": "auto", "builtin": "builtin", "matlab": "matlab"}
    if not isinstance(value, str | None) or value not in known:
        raise ToolError(f"backend is {value!r}; it is one of: auto, builtin, matlab")
    return known[value]


def matlab_probes() -> list[Probe]:
    """What `chatdev doctor` says of MATLAB."""
    return [Probe("extras", "MATLAB", _look_for_matlab)]


def _look_for_matlab() -> ProbeResult:
    if package := matlab_package():
        return success(f"matlab.engine in {package}; it builds models with {_CONSENT}, else our stand-in does")
    return absence("matlab.engine not installed: our stand-in builds models", "pip install matlabengine")
