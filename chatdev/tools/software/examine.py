"""Judging software in a language of `languages.yaml`: check and build it, start it, both on a throwaway copy."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from chatdev.errors import ToolError
from chatdev.sandbox.base import BOX, Execution, Sandbox
from chatdev.tools.base import ToolContext
from chatdev.tools.software import page
from chatdev.tools.software.copy import throwaway
from chatdev.tools.software.languages import Language, found, named
from chatdev.tools.software.project import Project, prepare
from chatdev.tools.software.session import Session
from chatdev.tools.software.static import data_errors
from chatdev.tools.software.verdict import Finding, facts_of, plainly, rule_of_ending

_COMPILER_LINES, _COMPILER_CHARACTERS = 15, 1500
_SECONDS_FOR_WINDOWS = 3.0  # what a display and the first window take to come up, roughly


def examine(context: ToolContext, language: Language) -> Finding:
    """The first rule of entry, toolchain, build and run that has something to say."""
    if errors := data_errors(context.software):
        return Finding("does_not_compile", {"errors": errors})
    project = prepare(language, context.software)
    finding = _obstacle(project) or _started(project, context)
    return replace(finding, evidence={"language": language.name, "command": project.command, **finding.evidence})


def use(context: ToolContext, language: Language, sessions: Sequence[Session]) -> list[Finding]:
    """How each session went, one after the other on one throwaway copy, of software that `examine` found nothing
    against."""
    project = prepare(language, context.software)
    with throwaway(context.scratch, context.software) as folder:
        if built(project, context.sandbox, folder):
            raise ToolError(f"the software could be built a moment ago, and now it cannot: {project.command}")
        return [_tried(project, context.sandbox, folder, session) for session in sessions]


def _obstacle(project: Project) -> Finding | None:
    """Why it cannot be built or started here, as far as that is known before anything runs."""
    language, entry = project.language, project.entry
    if entry.path is None:
        return no_entry(project)
    if language.page and (absent := page.absent(project.files, entry.path)):
        return Finding("missing_file", {"missing": absent})
    if project.lacking:
        return Finding("no_toolchain", {"language": language.name, "lacks": " and ".join(project.lacking),
                                        "packages": language.install})
    if project.windows and not shutil.which("Xvfb"):
        return Finding("no_display", {"lacks": "an X server (apt-get install xvfb)"})
    return None


def no_entry(project: Project) -> Finding:
    """The finding on a project of which nothing says where it starts."""
    language = project.language
    return Finding("nothing_to_run", {"candidates": project.entry.candidates, "language": language.name,
                                      "expected": language.named[0]})


def built(project: Project, sandbox: Sandbox, folder: Path) -> Finding | None:
    """Check and build it in `folder`, a copy of it; what stands in the way."""
    project.complete(folder)
    for job in project.builds(folder):
        execution = sandbox.run(job)
        if execution.exit_status != 0:
            return _Reading(project, folder).of_build(execution)
    return None


def _started(project: Project, context: ToolContext) -> Finding:
    with throwaway(context.scratch, context.software) as folder:
        return built(project, context.sandbox, folder) or _tried(project, context.sandbox, folder, Session())


def _tried(project: Project, sandbox: Sandbox, folder: Path, session: Session) -> Finding:
    seconds = project.language.seconds + (_SECONDS_FOR_WINDOWS if project.windows else 0)
    execution = sandbox.run(project.job(folder, seconds, session))
    finding = _Reading(project, folder).of_start(execution)
    command = "" if project.language.page else shlex.join((*project.command.split(), *session.arguments))
    return replace(finding, facts={"command": command, "seconds": int(seconds), **finding.facts},
                   evidence={"exit_status": execution.exit_status, "signal": execution.signal,
                             "timed_out": execution.timed_out})


@dataclass(frozen=True, slots=True)
class _Reading:
    """Reads how the jobs of a project, carried out in `folder`, ended."""

    project: Project
    folder: Path

    @property
    def _places(self) -> dict[str, str]:
        """What differs between sandboxes and runs, and must not be seen in a report."""
        here = self.folder.resolve()
        return {f"file://{BOX}/": "", f"file://{here}/": "", f"{BOX}/": "", f"{here}/": ""}

    def of_build(self, execution: Execution) -> Finding:
        """The rule for a build that failed, with the first lines of what was said."""
        if execution.exceeded:
            return Finding("exceeded", {"exceeded": execution.exceeded})
        said = plainly(self._without_noise(execution.stderr + execution.stdout), self._places)
        if execution.timed_out:
            said = f"(stopped after {execution.seconds:.0f} seconds)\n{said}"
        lines = "\n".join(said.strip().splitlines()[:_COMPILER_LINES])[:_COMPILER_CHARACTERS]
        missing = self._missing(execution.stderr)
        return Finding("missing_module" if missing else "does_not_compile", {"missing": missing, "compiler": lines})

    def of_start(self, execution: Execution) -> Finding:
        """The rule for how a start went, with what was written."""
        if self.project.language.page:
            log = plainly(execution.stderr, self._places)
            return page.judged(execution, log, self.project.files, self.project.entry.path or "")
        quiet = replace(execution, stderr=self._without_noise(execution.stderr))
        facts: dict[str, Any] = facts_of(quiet, self.project.files, self._places)
        return Finding(self._rule(execution), {**facts, "missing": self._missing(execution.stderr),
                                               "lacks": "a working display"})

    def _rule(self, execution: Execution) -> str:
        language, stderr = self.project.language, execution.stderr
        if language.no_display and found(language.no_display, stderr):
            return "no_display"
        if self._missing(stderr):
            return "missing_module"
        if language.crash and found(language.crash, stderr):
            return "crashed"
        return rule_of_ending(execution, self.project.files)

    def _missing(self, stderr: str) -> list[str]:
        """The modules it asked for and did not get, each once."""
        return list(dict.fromkeys(named(self.project.language.missing, stderr)))

    def _without_noise(self, stderr: str) -> str:
        noise = self.project.language.noise
        return "\n".join(line for line in stderr.splitlines() if not noise or not re.search(noise, line))
