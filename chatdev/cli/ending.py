"""What a person reads when a run is over: how it ended, where the software is, how to start it."""

from __future__ import annotations

import click
from colorama import Fore, Style

from chatdev.runner.report import money
from chatdev.runner.result import Run

_LOOK = {"success": (Fore.GREEN, "done"), "failure": (Fore.YELLOW, "finished, but not successful"),
         "error": (Fore.RED, "failed"), "interrupted": (Fore.YELLOW, "interrupted")}


def show_ending(run: Run) -> None:
    """Print the end of a run."""
    colour, word = _LOOK[run.status]
    usage = run.usage
    about = " (tokens partly estimated)" if usage.estimated else ""
    click.echo(f"\n{colour}{Style.BRIGHT}{word}{Style.RESET_ALL}: {run.reason}")
    files = f"{len(run.software)} file{'s' * (len(run.software) != 1)}, {run.software.lines} lines"
    click.echo(f"  software  {run.software_folder}  ({files})")
    if run.software.main:
        click.echo(f"  start it  chatdev play {run.folder}")
    click.echo(f"  report    {run.folder / 'run' / 'report.md'}")
    tokens = f"{usage.prompt_tokens} tokens in, {usage.completion_tokens} out{about}"
    click.echo(f"  cost      {usage.calls} calls, {tokens}, {money(usage.cost)}, {usage.seconds:.0f} s")
