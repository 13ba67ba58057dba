"""The toolchain of the languages in `languages.yaml`: check and build with the programs of this machine, then start."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from chatdev.departments.software.cases.case import Start
from chatdev.departments.software.drivers.step import Driven, Step
from chatdev.departments.software.reading.static import data_errors
from chatdev.departments.software.toolchains.own_tests import TEST_SECONDS, OwnTests, judge_tests
from chatdev.departments.software.toolchains.project import Project, drive_service, drive_window, find_program
from chatdev.departments.software.toolchains.verdict import Finding, facts_of, is_given, rule_of_ending, verdict
from chatdev.errors import ToolError
from chatdev.sandbox.base import BOX, Execution, SandboxJob
from chatdev.tools.base import ToolContext
from chatdev.workspace.file_tree import write_tree
from chatdev.workspace.languages import Language, captures, matches
from chatdev.workspace.python_errors import stable_text

_COMPILER_LINES, _COMPILER_CHARACTERS = 15, 1500
_SECONDS_FOR_WINDOWS = 3.0  # what a display and the first window take to come up, roughly


class TableToolchain:
    """Implements `Toolchain` for one software in a language of the table."""

    def __init__(self, context: ToolContext, language: Language) -> None:
        self._sandbox = context.sandbox
        self._context = context
        self._language = language
        self._project = Project.from_files(language, context.software)

    @property
    def typed_command(self) -> str | None:
        """What a person types to start it, as a pattern; None for a library."""
        return self._language.command if self._project.entry.path else None

    @property
    def windows(self) -> bool:
        """Whether it opens windows."""
        return self._project.windows

    def check(self) -> Finding | None:
        """JSON that cannot be read, no file to start, or a program that this machine lacks."""
        if errors := data_errors(self._project.files):
            return Finding("does_not_compile", {"errors": errors})
        finding = self._obstacle()
        return finding and self._add_evidence(finding)

    def build(self, folder: Path) -> Finding | None:
        """Run the build commands; the first one that fails."""
        write_tree(folder, self._additions())
        for job in self._project.build_jobs(folder):
            execution = self._sandbox.run(job)
            if execution.exit_status != 0:
                return self._add_evidence(self._build_failure(execution, folder))
        return None

    def start(self, folder: Path, start: Start, *, ends: bool = False) -> Finding:
        """How the start went, by what was written and how it ended."""
        if self._project.entry.path is None:
            sources = self._language.sources(self._project.files)
            return self._add_evidence(Finding("library", {"command": "", "files": len(sources), "imported": ()}))
        seconds = self._language.seconds + (_SECONDS_FOR_WINDOWS if self._project.windows else 0)
        execution = self._sandbox.run(self._project.job_of(folder, seconds, start, ends=ends))
        stderr = execution.stderr
        quiet = replace(execution, stderr=self._drop_noise(stderr))
        facts = {"command": shlex.join((*self._project.command.split(), *start.arguments)), "seconds": int(seconds),
                 **facts_of(quiet, self._project.files, self._places(folder)),
                 "missing": self._missing_modules(stderr), "lacks": "a working display"}
        return self._add_evidence(Finding(self._rule(execution), facts), execution)

    def drive(self, folder: Path, steps: Sequence[Step]) -> Driven | None:
        """How it went when somebody made these requests to what it serves; of one with windows, only how it looks."""
        if self._project.entry.path is None:
            return None
        seconds = self._language.seconds + _SECONDS_FOR_WINDOWS
        if self._project.windows:
            return drive_window(self._sandbox, self._project.job_of(folder, seconds, Start(), ends=True), steps)
        return drive_service(self._sandbox, self._project.start_job(folder), steps) if steps else None

    def play(self, folder: Path, source: Path) -> SandboxJob:
        """Built in `folder`, the job that starts it for a person."""
        if self._project.entry.path is None:
            raise ToolError(verdict(self._nothing_to_run()).report)
        if missing := self._project.missing_programs:
            raise ToolError(f"{self._language.name} software needs {' and '.join(missing)}: apt-get install "
                            f"{self._language.install}")
        if finding := self.build(folder):
            raise ToolError(verdict(finding).report)
        return self._project.start_job(folder)

    def _obstacle(self) -> Finding | None:
        """Why it cannot be built or started here."""
        project, language = self._project, self._language
        if project.entry.path is None and not self._is_library():
            return self._nothing_to_run()
        if project.missing_programs:
            return Finding("no_toolchain", {"language": language.name, "lacks": " and ".join(project.missing_programs),
                                            "packages": language.install})
        if project.windows and not shutil.which("Xvfb"):
            return Finding("no_display", {"lacks": "an X server (apt-get install xvfb)"})
        return None

    def _is_library(self) -> bool:
        """Whether it need not start: no source of it could, it is a package, or it was there before the run."""
        declared = self._language.declared
        is_package = declared is not None and declared.file in self._project.files
        could_start = bool(self._language.page or self._project.entry.candidates)
        return is_given(self._context) or is_package or not could_start

    def own_tests(self, folder: Path) -> OwnTests | None:
        """How its tests go in `folder`, by the first way to run them that it has."""
        for way in self._language.tests:
            if found := self._find_in(way.files, way.holds):
                argv = [word.replace("{1}", found[1] if found.re.groups else "") for word in way.run]
                if not (program := find_program(way.needs, self._language)):
                    return OwnTests(shlex.join(argv), None, said=f"{way.needs} is not here")
                execution = self._sandbox.run(self._project.test_job([program, *argv[1:]], folder, TEST_SECONDS))
                said = f"{execution.stdout}\n{execution.stderr}"
                return judge_tests(shlex.join(argv), execution, [*captures(way.failed, said)] if way.failed else ())
        return None

    def _find_in(self, paths: str, holds: str) -> re.Match[str] | None:
        """What the first file of such a path that holds something holds there."""
        files = self._project.files
        texts = (data.decode("utf-8", "replace") for path, data in files.items() if re.search(paths, path))
        return next((found for text in texts if (found := re.search(holds, text, re.MULTILINE))), None)

    def _nothing_to_run(self) -> Finding:
        return Finding("nothing_to_run", {"candidates": self._project.entry.candidates, "language": self._language.name,
                                          "expected": self._language.named[0]})

    def _additions(self) -> dict[str, bytes]:
        """The files that the build needs and the software lacks."""
        files = self._project.files
        return {path: text.encode() for path, text in self._language.adds.items() if path not in files}

    def _add_evidence(self, finding: Finding, execution: Execution | None = None) -> Finding:
        ending = {"exit_status": execution.exit_status, "signal": execution.signal,
                  "timed_out": execution.timed_out} if execution else {}
        return replace(finding, evidence={"language": self._language.name, "command": self._project.command, **ending})

    def _build_failure(self, execution: Execution, folder: Path) -> Finding:
        """The rule for a build that failed, with the first lines of what was said."""
        if execution.exceeded:
            return Finding("exceeded", {"exceeded": execution.exceeded})
        said = stable_text(self._drop_noise(execution.stderr + execution.stdout), self._places(folder))
        if execution.timed_out:
            said = f"(stopped after {execution.seconds:.0f} seconds)\n{said}"
        lines = "\n".join(said.strip().splitlines()[:_COMPILER_LINES])[:_COMPILER_CHARACTERS]
        missing = self._missing_modules(execution.stderr)
        return Finding("missing_module" if missing else "does_not_compile", {"missing": missing, "compiler": lines})

    def _rule(self, execution: Execution) -> str:
        language, stderr = self._language, execution.stderr
        if language.no_display and matches(language.no_display, stderr):
            return "no_display"
        if self._missing_modules(stderr):
            return "missing_module"
        if language.crash and matches(language.crash, stderr):
            return "crashed"
        return rule_of_ending(execution, self._project.files)

    def _missing_modules(self, stderr: str) -> list[str]:
        """The modules it asked for and did not get, each once."""
        return list(dict.fromkeys(captures(self._language.missing, stderr)))

    def _drop_noise(self, stderr: str) -> str:
        noise = self._language.noise
        return "\n".join(line for line in stderr.splitlines() if not noise or not re.search(noise, line))

    def _places(self, folder: Path) -> Mapping[str, str]:
        """What differs between sandboxes and runs, and must not be seen in a report."""
        here = folder.resolve()
        return {f"file://{BOX}/": "", f"file://{here}/": "", f"{BOX}/": "", f"{here}/": ""}
