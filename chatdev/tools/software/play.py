"""Starting finished software for a person, at the terminal and on the screen."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from chatdev.errors import ToolError
from chatdev.sandbox.base import Binding, Execution, Job, Sandbox
from chatdev.tools.software.copy import throwaway
from chatdev.tools.software.examine import built, no_entry
from chatdev.tools.software.installing.supply import Supply
from chatdev.tools.software.languages import Language, is_python, language_of
from chatdev.tools.software.program import Program, prepare
from chatdev.tools.software.project import prepare as prepare_project
from chatdev.tools.software.static import syntax_errors
from chatdev.tools.software.verdict import verdict
from chatdev.workspace.tree import read_tree

_SCREEN = Path("/tmp/.X11-unix")


def play(folder: Path, sandbox: Sandbox, arguments: Sequence[str] = (), supply: Supply | None = None) -> Execution:
    """Start the software of a run folder (or of any folder) on a copy, until the person ends it.

    What the program writes is gone afterwards. With DISPLAY set, its windows open on the user's screen: the program
    then sees the X server's socket and cookie, and whatever X lets its clients see. Raises ToolError when it cannot
    be started.
    """
    source = _software(folder)
    files = read_tree(source)
    if path := page_of(folder):
        raise ToolError(f"the software is a page: open {path} in a browser")
    with (tempfile.TemporaryDirectory(prefix="play-", ignore_cleanup_errors=True) as scratch,
          throwaway(Path(scratch), files) as copy):
        run_folder = folder / "run" if (folder / "run").is_dir() else Path(scratch)
        language = None if is_python(files) else language_of(files)
        if language:
            job = _built(language, files, copy, sandbox)
        else:
            job = _python(_prepared(source, files, run_folder, sandbox, supply or Supply()), copy)
        bindings, env = _screen()
        return sandbox.run(replace(job, argv=[*job.argv, *arguments], env={**job.env, **env},
                                   bindings=(*job.bindings, *bindings), interactive=True))


def page_of(folder: Path) -> Path | None:
    """The page that a browser opens, when the software of a run folder (or of any folder) is one."""
    source = _software(folder)
    files = read_tree(source)
    language = None if is_python(files) else language_of(files)
    path = language.entry(files).path if language and language.page else None
    return (source / path).resolve() if path else None


def _software(folder: Path) -> Path:
    return folder / "software" if (folder / "software").is_dir() else folder


def _python(program: Program, copy: Path) -> Job:
    return replace(program.job(copy, 0), argv=[str(program.modules.python), *program.entry.argv], env={})


def _built(language: Language, files: dict[str, bytes], copy: Path, sandbox: Sandbox) -> Job:
    """The job that starts software of the table, built in `copy`."""
    project = prepare_project(language, files)
    if project.entry.path is None:
        raise ToolError(verdict(no_entry(project)).report)
    if project.lacking:
        raise ToolError(f"{language.name} software needs {' and '.join(project.lacking)}: apt-get install "
                        f"{language.install}")
    if finding := built(project, sandbox, copy):
        raise ToolError(verdict(finding).report)
    return project.start(copy)


def _prepared(folder: Path, files: dict[str, bytes], run_folder: Path, sandbox: Sandbox, supply: Supply) -> Program:
    if errors := syntax_errors(files):
        raise ToolError(f"{errors[0].path}:{errors[0].line} does not compile: {errors[0].message}")
    program = prepare(files, run_folder, sandbox, supply)
    if program.entry.path is None:
        among = f"; several files could be the start: {', '.join(program.entry.candidates)}"
        raise ToolError(f"{folder} holds no Python program to start{among if program.entry.candidates else ''}")
    if program.missing:
        reasons = "; ".join(f"{name} ({reason})" for name, reason in program.missing.items())
        raise ToolError(f"the software needs modules that are not here: {reasons}")
    return program


def _screen() -> tuple[list[Binding], dict[str, str]]:
    """What a program needs to open windows on the user's screen; nothing without a display."""
    if not (display := os.environ.get("DISPLAY")):
        return [], {}
    cookie = Path(os.environ.get("XAUTHORITY") or Path.home() / ".Xauthority")
    bindings = [Binding(path) for path in (_SCREEN, cookie) if path.exists()]
    return bindings, {"DISPLAY": display, "XAUTHORITY": str(cookie)}
