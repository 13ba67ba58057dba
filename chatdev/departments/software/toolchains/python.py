"""The toolchain of Python: compile everything, provide the modules, start the program, and see what a start lacked."""

from __future__ import annotations

import functools
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

from chatdev.departments.software.cases.case import Start
from chatdev.departments.software.cases.copied import PYTHON_COMMAND
from chatdev.departments.software.drivers.step import Driven, Step
from chatdev.departments.software.reading.static import all_written_names, data_errors, undefined_names
from chatdev.departments.software.toolchains.project import drive_service, drive_window
from chatdev.departments.software.toolchains.verdict import (
    TEST_SECONDS,
    Finding,
    OwnTests,
    facts_of,
    is_given,
    judge_python_tests,
    missing_module,
    prior_state,
    python_tests,
    rule_of,
)
from chatdev.errors import ToolError
from chatdev.packages import imports
from chatdev.packages.imports import Supply, own_modules
from chatdev.packages.modules import PreparedProgram, missing_for_windows, modules_of_tests, prepare_program
from chatdev.sandbox.base import BOX, Execution, SandboxJob
from chatdev.tools.base import ToolContext
from chatdev.workspace.file_tree import EntryPoint, find_entry
from chatdev.workspace.languages import importable_modules, is_library
from chatdev.workspace.python_errors import Trace, last_traceback, syntax_errors
from chatdev.workspace.python_facts import has_main_guard

_SECONDS = 3.0  # a program that runs so long without an error has started
_SECONDS_WHEN_SLOW = 5.0  # windows have to come up, large modules to be imported
_SECONDS_FOR_DISPLAY = 1.0  # what a display takes to come up, roughly
_SECONDS_FOR_IMPORTS = 30.0
_IMPORTS = Path(__file__).with_name("import_script.py")
_STARTS = ("main.py", "__main__.py")


class PythonToolchain:
    """Implements `Toolchain` for one software in Python."""

    def __init__(self, context: ToolContext) -> None:
        self._context = context
        self._files = context.software
        self._entry = _entry_of(self._files)

    @property
    def typed_command(self) -> str | None:
        """How a person starts a Python program, as a pattern; None for a library."""
        return PYTHON_COMMAND if self._entry.path else None

    @property
    def windows(self) -> bool:
        """Whether it opens windows."""
        return self._program.windows

    def check(self) -> Finding | None:
        """Files that do not compile, no file to start, or names that are defined nowhere."""
        if errors := [*syntax_errors(self._files), *data_errors(self._files)]:
            return Finding("does_not_compile", {"errors": errors})
        if self._entry.path is None and not (is_library(self._files) or is_given(self._context)):
            return Finding("nothing_to_run", {"candidates": self._entry.candidates})
        if undefined := undefined_names(self._files):
            return Finding("undefined_name", {"errors": undefined})
        return None

    def build(self, folder: Path) -> Finding | None:
        """Provide the modules; one that cannot be had, or a display that this machine lacks."""
        program = self._program
        if program.missing and program.missing.keys() <= {*prior_state(self._context).get("missing", ())}:
            return Finding("lacks_modules", {"missing": list(program.missing)}, self._evidence)
        if program.missing:
            return Finding("missing_module", {"missing": list(program.missing), "reasons": program.missing},
                           self._evidence)
        if lacking := missing_for_windows(program):
            return Finding("no_display", {"lacks": lacking}, self._evidence)
        return None

    def start(self, folder: Path, start: Start, *, ends: bool = False) -> Finding:
        """How the start went, by its last traceback and how it ended."""
        if self._entry.path is None:
            return self._import_all(folder)
        program = self._program
        seconds = _SECONDS_WHEN_SLOW if program.windows or program.installed else _SECONDS
        waiting = _SECONDS_FOR_DISPLAY if program.needs_display else 0.0
        job = program.job(folder, seconds + waiting, start.arguments)
        execution = self._context.sandbox.run(replace(job, stdin=start.stdin or None))
        rule = self._rule(execution, job, is_bare=not (start.arguments or start.stdin or ends))
        facts = facts_of(execution, self._files, self._places(folder))
        if name := missing_module(last_traceback(execution.stderr)):
            rule = "crashed" if f"{name}.py" in self._files else rule
            facts["missing"] = [name]
        command = shlex.join((*program.command.split(), *start.arguments))
        return Finding(rule, {**facts, "command": command, "seconds": int(seconds), "lacks": "a working display"},
                       {**self._evidence, "exit_status": execution.exit_status, "signal": execution.signal,
                        "timed_out": execution.timed_out})

    def drive(self, folder: Path, steps: Sequence[Step]) -> Driven | None:
        """How it went when somebody did these steps: in its window, where that is one of tkinter, or with requests to
        what it serves. Of another window, only how it looks."""
        program = self._program
        if self._entry.path is None:
            return None
        if program.windows:
            job = program.job(folder, _SECONDS_WHEN_SLOW)
            inside = imports.draws_by_tkinter(program.imported)
            return drive_window(self._context.sandbox, job, steps, inside=inside)
        return drive_service(self._context.sandbox, program.job(folder, 0), steps) if steps else None

    def own_tests(self, folder: Path) -> OwnTests | None:
        """How its tests go in `folder`; pytest and what they import are packages that they need like any other."""
        words, program = python_tests(self._files), self._program
        if not words:
            return None
        command = shlex.join(("python", *words))
        if wanted := modules_of_tests(self._files, pytest="pytest" in words):
            supply = Supply.from_options(self._context.options)
            failed = program.modules.provide(wanted, supply, self._context.sandbox)
            if "pytest" in failed:
                return OwnTests(command, None, said=f"pytest is not available ({failed['pytest']})")
        job = replace(program.job(folder, TEST_SECONDS), argv=[str(program.modules.python), *words])
        return judge_python_tests(command, self._context.sandbox.run(self._with_path(job)), own_modules(self._files))

    def _import_all(self, folder: Path) -> Finding:
        """What comes of a library when it is imported."""
        modules = importable_modules(self._files) if is_library(self._files) else {}
        facts: dict[str, Any] = {"command": "", "files": len([path for path in self._files if path.endswith(".py")]),
                                 "imported": list(modules)}
        if not modules:
            return Finding("library", facts, self._evidence)
        job = self._program.job(folder, _SECONDS_FOR_IMPORTS)
        argv = [str(self._program.modules.python), "-c", _IMPORTS.read_text(encoding="utf-8"), *modules]
        execution = self._context.sandbox.run(self._with_path(replace(job, argv=argv)))
        trace = last_traceback(execution.stderr)
        rule = "crashed" if execution.exit_status == 1 and trace else "library"
        return Finding(rule, {**facts_of(execution, self._files, self._places(folder)), **facts}, self._evidence)

    def _with_path(self, job: SandboxJob) -> SandboxJob:
        """The job, which finds the modules of a library wherever they lie in the software."""
        roots = dict.fromkeys((*importable_modules(self._files).values(), "."))
        return replace(job, env={**job.env, "PYTHONPATH": ":".join(roots)})

    def _rule(self, execution: Execution, job: SandboxJob, *, is_bare: bool) -> str:
        rule = rule_of(execution, self._files)
        if rule == "crashed" and is_bare:
            return rule_of_lack(execution, self._files, job, self._context.sandbox.run) or rule
        return rule

    def play(self, folder: Path, source: Path) -> SandboxJob:
        """With its modules, the job that starts it for a person."""
        if errors := syntax_errors(self._files):
            raise ToolError(f"{errors[0].path}:{errors[0].line} does not compile: {errors[0].message}")
        entry = self._entry
        if entry.path is None:
            among = f"; several files could be the start: {', '.join(entry.candidates)}" if entry.candidates else ""
            raise ToolError(f"{source} holds no Python program to start{among}")
        if missing := self._program.missing:
            reasons = "; ".join(f"{name} ({reason})" for name, reason in missing.items())
            raise ToolError(f"the software needs modules that are not here: {reasons}")
        return replace(self._program.job(folder, 0), argv=[str(self._program.modules.python), *entry.argv], env={})

    @functools.cached_property
    def _program(self) -> PreparedProgram:
        context = self._context
        return prepare_program(self._files, context.run_folder, context.sandbox, Supply.from_options(context.options))

    @property
    def _evidence(self) -> Mapping[str, Any]:
        program = self._program
        return {"command": program.command, "installed": list(program.installed), "missing": dict(program.missing)}

    def _places(self, folder: Path) -> Mapping[str, str]:
        """What differs between sandboxes and runs, and what a report shows in its place."""
        modules = {str(path): "<modules>" for path in self._program.modules.folders}
        return {f"{BOX}/": "", f"{folder.resolve()}/": "", **modules}


def _entry_of(files: Mapping[str, bytes]) -> EntryPoint:
    """The file to start; none of a library, whose only module is no program."""
    entry = find_entry(files)
    is_program = entry.path is None or PurePosixPath(entry.path).name in _STARTS or has_main_guard(files[entry.path])
    return entry if is_program or not is_library(files) else EntryPoint(None)


# Whether a program that crashed with nothing given lacked only what its users give it: arguments, input, a file.
# A right program need not expect to get nothing.

_ARGUMENTS = ("1",) * 8
_INPUT = "1 1\n" * 8
_READS_ARGUMENTS = re.compile(rb"\bargv\b")
_READS_INPUT = re.compile(rb"\bstdin\b|\binput\(|\bfileinput\b")
_MISTAKES = {"NameError", "UnboundLocalError", "AttributeError", "ImportError", "ModuleNotFoundError", "SyntaxError",
             "RecursionError", "NotImplementedError"}
"""What no input explains."""
_NO_SUCH_FILE = re.compile(r"FileNotFoundError: .*: '(?P<name>[^'/\\]+)'$")


def rule_of_lack(execution: Execution, files: Mapping[str, bytes], job: SandboxJob,
                 run: Callable[[SandboxJob], Execution]) -> str | None:
    """The rule for a program that crashed when `job` started it with nothing, where it only lacked something; None
    where it is wrong. `run` starts it again."""
    trace = last_traceback(execution.stderr)
    if trace is None or trace.kind in _MISTAKES:
        return None
    if (found := _NO_SUCH_FILE.match(trace.exception)) and _is_only_read(found["name"], files):
        return "lacks_file"
    return "lacks_input" if _fails_otherwise(trace, files, job, run) else None


def _fails_otherwise(trace: Trace, files: Mapping[str, bytes], job: SandboxJob,
                     run: Callable[[SandboxJob], Execution]) -> bool:
    """Whether the program, given what it reads, does not fail in the same way, nor by a plain mistake."""
    takes_arguments, takes_input = (any(map(pattern.search, files.values()))
                                    for pattern in (_READS_ARGUMENTS, _READS_INPUT))
    if not (takes_arguments or takes_input):
        return False
    given = replace(job, argv=[*job.argv, *(_ARGUMENTS if takes_arguments else ())],
                    stdin=_INPUT if takes_input else None)
    other = last_traceback(run(given).stderr)
    return other is None or (other.kind not in _MISTAKES and _failure(other) != _failure(trace))


def _failure(trace: Trace) -> tuple[object, ...]:
    """By what a failure is known again: where it happened, and how."""
    return (*((frame.path, frame.line) for frame in trace.frames), trace.exception)


def _is_only_read(name: str, files: Mapping[str, bytes]) -> bool:
    """Whether the program nowhere writes a file of this name: then it is its user who has it. One that it keeps itself
    may be missing at the first start, and a program must expect that."""
    written = all_written_names(files)
    return name not in files and name not in written and "" not in written
