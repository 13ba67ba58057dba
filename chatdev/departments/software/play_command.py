"""`chatdev play`: finished software is started for a person, at the terminal and on the screen."""

from __future__ import annotations

import hashlib
import json
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from chatdev.cli.outcome import output_is_recorded, report_outcome, show_error
from chatdev.cli.screen import can_ask_person
from chatdev.cli.shared_options import ask_person_now, install_option
from chatdev.departments.software.toolchains.toolchain import toolchain_of
from chatdev.errors import WorkspaceError
from chatdev.packages.imports import Supply
from chatdev.paths import expand_home
from chatdev.safe_text import load_json, sanitize
from chatdev.sandbox.base import Binding, Execution, Sandbox
from chatdev.sandbox.kinds import SANDBOXES
from chatdev.tools.base import ToolContext, throwaway_copy
from chatdev.workspace.file_tree import (
    explain_os_errors,
    read_software_file,
    read_tree,
    require_folder,
    write_file,
    write_tree,
)
from chatdev.workspace.languages import page_entry

if TYPE_CHECKING:
    from chatdev.packages.imports import Policy
    from chatdev.sandbox.base import Execution


@click.command("play", context_settings={"allow_interspersed_args": False})
@click.argument("folder", type=click.Path(path_type=Path))
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
@click.option("--sandbox", type=click.Choice(SANDBOXES),
              help="Where it runs; `none` gives it your rights. [default: bubblewrap]")
@click.option("--fresh", is_flag=True, help="On a copy of the software, which is gone afterwards.")
@install_option
@report_outcome
def command(folder: Path, arguments: tuple[str, ...], sandbox: str | None, fresh: bool, install: Policy | None) -> int:
    """Start finished software in the sandbox. FOLDER is the folder of a run; all arguments and options after it
    are passed to the program, but for one `--` before them. The files that the program writes are kept in the run's
    folder `play` until its next start; the software itself is not changed. A folder that is no run's is worked with
    as with --fresh. For a page, its address for a browser is shown."""
    from chatdev.config.settings import user_settings
    from chatdev.packages.imports import Supply
    from chatdev.sandbox.kinds import find_sandbox

    if not folder.is_dir():
        show_error(f"there is no folder {folder}; give a folder of the warehouse")
        return 2
    if page := page_of(folder):
        click.echo(f"open it in a browser: {page.as_uri()}")
        return 0
    output_is_recorded()  # the exit code is the program's
    user = user_settings()
    supply = Supply(install or user.install or "auto", ask_person_now if can_ask_person() else None)
    _show_kept_files(None if fresh else data_folder(folder))
    given = arguments[1:] if arguments[:1] == ("--",) else arguments
    execution = play(folder, find_sandbox(sandbox or user.sandbox or "bubblewrap"), given, supply, fresh=fresh)
    return _status_of(execution)


def _status_of(execution: Execution) -> int:
    return 128 + (execution.signal or 0) if execution.exit_status is None else execution.exit_status


def _show_kept_files(folder: Path | None) -> None:
    if folder and sys.stderr.isatty():
        click.echo(f"with the files of earlier starts in {sanitize(str(folder))} (--fresh starts without)", err=True)


# Starting finished software for a person, at the terminal and on the screen.

DATA = "play"
"""The folder of a run in which its software works when a person starts it."""
_SHIPPED = "played.json"  # beside the journal
_SCREEN = Path("/tmp/.X11-unix")


def play(folder: Path, sandbox: Sandbox, arguments: Sequence[str] = (), supply: Supply | None = None, *,
         fresh: bool = False) -> Execution:
    """Start the software of a run folder (or of any folder) until the person ends it.

    It works in a folder of its run that is kept until the next start; where it is `fresh`, no run's, or nothing can be
    written there, on a copy that is gone afterwards. With DISPLAY set, its windows open on the user's screen: the
    program then sees the X server's socket and cookie, and whatever X lets its clients see. Raises ToolError when it
    cannot be started.
    """
    source = _software_folder(folder)
    files = read_tree(source)
    with tempfile.TemporaryDirectory(prefix="play-", ignore_cleanup_errors=True) as scratch:
        run_folder = folder / "run" if (folder / "run").is_dir() else Path(scratch)
        require_folder(run_folder)
        context = ToolContext(files, {}, {}, sandbox, run_folder, Path(scratch), (supply or Supply()).options)
        kept = not fresh and source != folder and os.access(folder, os.W_OK)
        with _lasting_copy(folder, files) if kept else throwaway_copy(context.scratch, files) as copy:
            job = toolchain_of(context).play(copy, source)
            bindings, env = _screen()
            return sandbox.run(replace(job, argv=[*job.argv, *arguments], env={**job.env, **env},
                                       bindings=(*job.bindings, *bindings), interactive=True))


def data_folder(folder: Path) -> Path | None:
    """Where the software of a run folder has worked before; None where it has not."""
    kept = folder / DATA
    return kept if kept.is_dir() and _software_folder(folder) != folder else None


@contextmanager
def _lasting_copy(folder: Path, files: Mapping[str, bytes]) -> Iterator[Path]:
    """The folder in which the software works at each of its starts. A file that the program changed stays as the
    program left it; the others are those of the software. Raises WorkspaceError."""
    kept, record = (folder / DATA).absolute(), folder / "run"
    with explain_os_errors("make", kept):
        kept.mkdir(exist_ok=True)
    require_folder(kept)
    shipped = _last_digests(record / _SHIPPED)
    write_tree(kept, {path: data for path, data in files.items() if not _is_programs(kept / path, shipped.get(path))})
    digests = {path: hashlib.sha256(data).hexdigest() for path, data in files.items()}
    write_file(record, _SHIPPED, json.dumps(digests).encode())
    yield kept


def _last_digests(record: Path) -> dict[str, str]:
    """Digests of the software's files as they were put there last; empty where the record cannot be read."""
    try:
        found = load_json(read_software_file(record).decode())
    except (OSError, ValueError, WorkspaceError):
        return {}
    return found if isinstance(found, dict) else {}


def _is_programs(path: Path, digest: str | None) -> bool:
    """Whether the program wrote this file since the software's was put there."""
    try:
        return digest is not None and hashlib.sha256(read_software_file(path)).hexdigest() != digest
    except WorkspaceError:
        return True  # it grew
    except OSError:
        return False


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
