"""The jobs by which software is used by steps: a driver within a program with windows, or beside a page or service."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from chatdev.departments.software.drivers.drive import VISIT, Driven, drive
from chatdev.departments.software.drivers.step import Step
from chatdev.departments.software.toolchains.project import find_programs
from chatdev.packages.interpreter import interpreter
from chatdev.sandbox.base import Binding, ProcessLimits, Sandbox, SandboxJob
from chatdev.workspace.file_tree import write_file
from chatdev.workspace.languages import Language, languages

_OPEN_FILES = 1024
_NOT_TKINTER = "only windows of tkinter can be used by steps"


def drive_window(sandbox: Sandbox, job: SandboxJob, steps: Sequence[Step], *, inside: bool = False) -> Driven:
    """How a program with windows, which `job` starts on a display, went; `inside`: a driver can be in its process. Of
    others there is only the picture."""
    if inside:
        return drive(sandbox, job, steps)
    found = drive(sandbox, job, (), seconds=job.limits.seconds)
    return replace(found, trouble=_NOT_TKINTER if steps else "")


def drive_page(sandbox: Sandbox, folder: Path, path: str, document: bytes, steps: Sequence[Step]) -> Driven | None:
    """How the page at `path` in `folder` went, with its document as it was written; None without a browser."""
    if not (browser := _browser()):
        return None
    write_file(folder, path, document)
    return drive(sandbox, _visit(folder, SandboxJob((), folder), browser=True), steps, page=path, browser=browser)


def drive_service(sandbox: Sandbox, job: SandboxJob, steps: Sequence[Step]) -> Driven | None:
    """How requests to a service went, which `job` starts; None where a page needs a browser that is not here."""
    browser = _browser() if any(step.kind != "request" for step in steps) else []
    if browser is None:
        return None
    return drive(sandbox, _visit(job.folder, job, browser=bool(browser)), steps, program=job.argv, browser=browser)


def _visit(folder: Path, job: SandboxJob, *, browser: bool) -> SandboxJob:
    """The job of a driver that starts what `job` does, with a browser beside it or without."""
    python, language = interpreter(), _page_language()
    shown = [path for pattern in language.shows for path in Path("/").glob(pattern.lstrip("/"))] if browser else []
    space = language.memory << 30 if browser else job.limits.address_space
    limits = ProcessLimits(address_space=space, open_files=_OPEN_FILES)
    return SandboxJob([str(python.executable), *VISIT], folder, limits, env=job.env,
                      bindings=[*job.bindings, *map(Binding, (python.prefix, *shown))])


def _browser() -> list[str] | None:
    """The command line of a browser that can be driven; None where there is none."""
    language = _page_language()
    program = find_programs(language).get(language.driven[0])
    return [program, *language.driven[1:]] if program else None


def _page_language() -> Language:
    return next(language for language in languages() if language.driven)
