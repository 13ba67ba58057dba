"""`chatdev play`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from chatdev.cli.outcome import report_outcome, show_error
from chatdev.cli.output import output_is_recorded
from chatdev.cli.shared_options import ask_person_now, can_ask_person, install_option
from chatdev.sandbox.kinds import SANDBOXES

if TYPE_CHECKING:
    from chatdev.packages.supply import Policy


@click.command("play", context_settings={"allow_interspersed_args": False})
@click.argument("folder", type=click.Path(path_type=Path))
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
@click.option("--sandbox", type=click.Choice(SANDBOXES),
              help="Where it runs; `none` gives it your rights. [default: bubblewrap]")
@install_option
@report_outcome
def command(folder: Path, arguments: tuple[str, ...], sandbox: str | None, install: Policy | None) -> int:
    """Start finished software in the sandbox. FOLDER is the folder of a run; all arguments and options after it
    are passed to the program. The program works on a copy, so the files that it writes are lost afterwards. For a
    page, its address for a browser is shown."""
    from chatdev.config.settings import user_settings
    from chatdev.departments.software.play import page_of, play
    from chatdev.packages.supply import Supply
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
    execution = play(folder, find_sandbox(sandbox or user.sandbox or "bubblewrap"), arguments, supply)
    if execution.exit_status is None:
        return 128 + (execution.signal or 0)
    return execution.exit_status
