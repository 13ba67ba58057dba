"""What a person reads when a run is over: how it ended, where the software is, how to start it."""

from __future__ import annotations

import shlex
import shutil
import sys

import click

from chatdev.engine.wording import counted
from chatdev.runner.report import spent
from chatdev.runner.result import Run
from chatdev.runner.sanitize import sanitize
from chatdev.runner.spending import of_the_budget
from chatdev.tools.software.languages import is_startable

_LOOK = {"success": ("green", "done"), "failure": ("yellow", "finished, but not successful"),
         "unjudged": ("yellow", "finished"),
         "error": ("red", "failed; what was made so far is kept"), "interrupted": ("yellow", "interrupted"),
         "stopped": ("yellow", "stopped by its budget; what was made so far is kept")}


def show_ending(run: Run, *, kept: bool = True) -> None:
    """Print the end of a run; the text of an error is left to the one who reports errors. `kept`: its folder stays."""
    colour, word = _LOOK[run.status]
    reason = "" if run.error else f": {sanitize(run.reason)}"
    click.echo(f"\n{click.style(word, fg=colour, bold=True)}{reason}")
    size = f"{counted(len(run.software), 'file')}, {counted(run.software.lines, 'line')}"
    if kept:
        _show_folder(run, size)
    else:
        click.echo(f"  software  {size}, not kept (--warehouse keeps it)")
    click.echo(f"  cost      {spent(run.usage)}")
    if budget := of_the_budget(run.limits, run.spent):
        click.echo(f"  budget    {budget}")


def _show_folder(run: Run, size: str) -> None:
    folder = shlex.quote(str(run.folder))
    click.echo(f"  software  {run.software_folder}  ({size})")
    if is_startable(run.software):
        click.echo(f"  start it  {_command()} play {folder}")
    click.echo(f"  report    {run.folder / 'run' / 'report.md'}")
    if run.status in ("error", "interrupted", "stopped"):
        click.echo(f"  go on     {_command()} resume {folder}")


def _command() -> str:
    """How to give the next command; a checkout's own environment is not on the path."""
    return "chatdev" if shutil.which("chatdev") else f"{shlex.quote(sys.executable)} -m chatdev"
