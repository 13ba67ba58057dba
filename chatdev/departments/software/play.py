"""Starting finished software for a person, at the terminal and on the screen."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from chatdev.departments.software.toolchains.toolchain import toolchain_of
from chatdev.packages.supply import Supply
from chatdev.paths import expand_home
from chatdev.sandbox.base import Binding, Execution, Sandbox
from chatdev.tools.base import ToolContext, throwaway_copy
from chatdev.workspace.file_tree import read_tree, require_folder
from chatdev.workspace.languages import page_entry

_SCREEN = Path("/tmp/.X11-unix")


def play(folder: Path, sandbox: Sandbox, arguments: Sequence[str] = (), supply: Supply | None = None) -> Execution:
    """Start the software of a run folder (or of any folder) on a copy, until the person ends it.

    What the program writes is gone afterwards. With DISPLAY set, its windows open on the user's screen: the program
    then sees the X server's socket and cookie, and whatever X lets its clients see. Raises ToolError when it cannot
    be started.
    """
    source = _software_folder(folder)
    files = read_tree(source)
    with tempfile.TemporaryDirectory(prefix="play-", ignore_cleanup_errors=True) as scratch:
        run_folder = folder / "run" if (folder / "run").is_dir() else Path(scratch)
        require_folder(run_folder)
        context = ToolContext(files, {}, {}, sandbox, run_folder, Path(scratch), (supply or Supply()).options)
        with throwaway_copy(context.scratch, files) as copy:
            job = toolchain_of(context).play(copy, source)
            bindings, env = _screen()
            return sandbox.run(replace(job, argv=[*job.argv, *arguments], env={**job.env, **env},
                                       bindings=(*job.bindings, *bindings), interactive=True))


def page_of(folder: Path) -> Path | None:
    """The page that a browser opens, when the software of a run folder (or of any folder) is one."""
    source = _software_folder(folder)
    path = page_entry(read_tree(source))
    return (source / path).resolve() if path else None


def _software_folder(folder: Path) -> Path:
    """Where the software is. Raises WorkspaceError when a run folder leads somewhere else."""
    software = folder / "software"
    if not software.is_dir():
        return folder
    require_folder(software)
    return software


def _screen() -> tuple[list[Binding], dict[str, str]]:
    """What a program needs to open windows on the user's screen; nothing without a display."""
    if not (display := os.environ.get("DISPLAY")):
        return [], {}
    cookie = expand_home(os.environ.get("XAUTHORITY") or "~/.Xauthority")
    bindings = [Binding(path) for path in (_SCREEN, cookie) if path.exists()]
    return bindings, {"DISPLAY": display, "XAUTHORITY": str(cookie)}
