"""Starting finished software for a person, at the terminal and on the screen."""

from __future__ import annotations

import dataclasses
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from chatdev.errors import ToolError
from chatdev.sandbox.base import Binding, Execution, Sandbox
from chatdev.tools.software.program import Program, prepare
from chatdev.tools.software.static import syntax_errors
from chatdev.workspace.tree import read_tree, write_tree

_SCREEN = Path("/tmp/.X11-unix")


def play(folder: Path, sandbox: Sandbox, arguments: Sequence[str] = ()) -> Execution:
    """Start the software of a run folder (or of any folder) on a copy, until the person ends it.

    What the program writes is gone afterwards. With DISPLAY set, its windows open on the user's screen: the program
    then sees the X server's socket and cookie, and whatever X lets its clients see. Raises ToolError when it cannot
    be started.
    """
    source = folder / "software" if (folder / "software").is_dir() else folder
    files = read_tree(source)
    with tempfile.TemporaryDirectory(prefix="play-", ignore_cleanup_errors=True) as scratch:
        run_folder = folder / "run" if (folder / "run").is_dir() else Path(scratch)
        copy = Path(scratch) / "software"
        copy.mkdir()
        write_tree(copy, files)
        program = _prepared(source, files, run_folder)
        job = program.job(copy, 0)
        bindings, env = _screen()
        job = dataclasses.replace(job, argv=[str(program.modules.python), *program.entry.argv, *arguments],
                                  env=env, bindings=(*job.bindings, *bindings), interactive=True)
        return sandbox.run(job)


def _prepared(folder: Path, files: dict[str, bytes], run_folder: Path) -> Program:
    if errors := syntax_errors(files):
        raise ToolError(f"{errors[0].path}:{errors[0].line} does not compile: {errors[0].message}")
    program = prepare(files, run_folder)
    if program.entry.path is None:
        among = f"; several files could be the start: {', '.join(program.entry.candidates)}"
        raise ToolError(f"{folder} holds no Python program to start{among if program.entry.candidates else ''}")
    if program.missing:
        raise ToolError(f"the software needs modules that cannot be installed: {', '.join(program.missing)}")
    return program


def _screen() -> tuple[list[Binding], dict[str, str]]:
    """What a program needs to open windows on the user's screen; nothing without a display."""
    if not (display := os.environ.get("DISPLAY")):
        return [], {}
    cookie = Path(os.environ.get("XAUTHORITY") or Path.home() / ".Xauthority")
    bindings = [Binding(path) for path in (_SCREEN, cookie) if path.exists()]
    return bindings, {"DISPLAY": display, "XAUTHORITY": str(cookie)}
