"""Judging software in a language of `languages.yaml`: check and build it, start it, both on a throwaway copy."""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from chatdev.sandbox.base import Execution
from chatdev.sandbox.bubblewrap import BOX
from chatdev.tools.base import ToolContext
from chatdev.tools.software import page
from chatdev.tools.software.copy import throwaway
from chatdev.tools.software.languages import Language, found, named
from chatdev.tools.software.policy import rule_of_ending
from chatdev.tools.software.project import Project, prepare
from chatdev.tools.software.static import data_errors
from chatdev.tools.software.verdict import Finding, facts_of, plainly

_COMPILER_LINES, _COMPILER_CHARACTERS = 15, 1500
_SECONDS_FOR_WINDOWS = 3.0  # what a display and the first window take to come up, roughly


def examine(context: ToolContext, language: Language) -> Finding:
    """The first rule of entry, toolchain, build and run that has something to say."""
    if errors := data_errors(context.software):
        return Finding("does_not_compile", {"errors": errors})
    project = prepare(language, context.software)
    finding = _cannot_start(project) or _started(project, context)
    return replace(finding, evidence={"language": language.name, "command": project.command, **finding.evidence})


def _cannot_start(project: Project) -> Finding | None:
    """What is known before anything runs."""
    language, entry = project.language, project.entry
    if entry.path is None:
        return Finding("nothing_to_run", {"candidates": entry.candidates, "language": language.name,
                                          "expected": language.named[0]})
    if language.page and (absent := page.absent(project.files, entry.path)):
        return Finding("missing_file", {"missing": absent})
    if project.lacking:
        return Finding("no_toolchain", {"language": language.name, "lacks": " and ".join(project.lacking),
                                        "packages": language.install})
    if project.windows and not shutil.which("Xvfb"):
        return Finding("no_display", {"lacks": "an X server (apt-get install xvfb)"})
    return None


def _started(project: Project, context: ToolContext) -> Finding:
    with throwaway(context.scratch, {**project.files, **project.additions}) as folder:
        trial = _Trial(project, folder)
        for job in project.builds(folder):
            if finding := trial.of_build(context.sandbox.run(job)):
                return finding
        if project.language.page:
            trial.prepare_page()
        seconds = project.language.seconds + (_SECONDS_FOR_WINDOWS if project.windows else 0)
        return trial.of_start(context.sandbox.run(project.job(folder, seconds)))


@dataclass(frozen=True, slots=True)
class _Trial:
    """Reads how the jobs of one project, carried out in `folder`, ended."""

    project: Project
    folder: Path

    @property
    def _places(self) -> dict[str, str]:
        """What differs between sandboxes and runs, and must not be seen in a report."""
        here = self.folder.resolve()
        return {f"file://{BOX}/": "", f"file://{here}/": "", f"{BOX}/": "", f"{here}/": ""}

    def of_build(self, execution: Execution) -> Finding | None:
        """None when it went well."""
        if execution.exit_status == 0:
            return None
        said = plainly(self._without_noise(execution.stderr + execution.stdout), self._places)
        if execution.timed_out:
            said = f"(stopped after {execution.seconds:.0f} seconds)\n{said}"
        lines = "\n".join(said.strip().splitlines()[:_COMPILER_LINES])[:_COMPILER_CHARACTERS]
        missing = self._missing(execution.stderr)
        return Finding("missing_module" if missing else "does_not_compile", {"missing": missing, "compiler": lines})

    def of_start(self, execution: Execution) -> Finding:
        """The rule for how it went, with what it wrote."""
        evidence = {"exit_status": execution.exit_status, "signal": execution.signal, "timed_out": execution.timed_out}
        entry, language = self.project.entry.path or "", self.project.language
        facts: dict[str, Any] = {"command": self.project.command, "seconds": int(language.seconds)}
        if language.page:
            finding = page.judged(execution, plainly(execution.stderr, self._places), self.project.files, entry)
            return replace(finding, facts={**facts, "command": "", **finding.facts}, evidence=evidence)
        quiet = replace(execution, stderr=self._without_noise(execution.stderr))
        facts |= {**facts_of(quiet, self.project.files, self._places), "missing": self._missing(execution.stderr),
                  "lacks": "a working display"}
        return Finding(self._rule(execution), facts, evidence)

    def prepare_page(self) -> None:
        """Put what replaces its dialogs in front of the page."""
        document = self.folder / (self.project.entry.path or "")
        document.write_bytes(page.prepared(document.read_bytes(), self.project.language.page))

    def _rule(self, execution: Execution) -> str:
        language, stderr = self.project.language, execution.stderr
        if language.no_display and found(language.no_display, stderr):
            return "no_display"
        if self._missing(stderr):
            return "missing_module"
        if language.crash and found(language.crash, stderr):
            return "crashed"
        return rule_of_ending(execution)

    def _missing(self, stderr: str) -> list[str]:
        """The modules it asked for and did not get, each once."""
        return list(dict.fromkeys(named(self.project.language.missing, stderr)))

    def _without_noise(self, stderr: str) -> str:
        noise = self.project.language.noise
        return "\n".join(line for line in stderr.splitlines() if not noise or not re.search(noise, line))

