"""`chatdev play`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from chatdev.cli.outcome import output_is_recorded, report_outcome, show_error
from chatdev.cli.shared_options import ask_person_now, can_ask_person, install_option
from chatdev.safe_text import sanitize
from chatdev.sandbox.kinds import SANDBOXES

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
    from chatdev.departments.software.play import data_folder, page_of, play
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
