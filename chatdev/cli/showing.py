"""How the commands that run something show it: live on a console, as JSON lines, or only its end."""

from __future__ import annotations

import json
import shlex
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from chatdev.cli.console import Console
from chatdev.cli.interruption import interrupted_status
from chatdev.cli.output import output_is_recorded
from chatdev.cli.shared_options import can_ask_person
from chatdev.engine.budget import count_noun, describe_spending
from chatdev.errors import ToolError
from chatdev.events import Event
from chatdev.runner.report import Run, describe_usage, sanitize
from chatdev.secrets import scrub
from chatdev.workspace.languages import is_startable

_SHOW_OPTIONS = (
    click.option("--quiet", is_flag=True, help="Show only the end."),
    click.option("--verbose", is_flag=True, help="Show everything that is said, openings and code included."),
    click.option("--json", "as_json", is_flag=True, help="Print one event a line, as JSON."),
)


@dataclass(frozen=True, slots=True)
class Show:
    """How much of a run is shown. `kept`: its folder is there afterwards. `resumed` and `replayed`: as `Console` has
    them."""

    quiet: bool
    json: bool
    verbose: bool
    kept: bool = True
    resumed: bool = False
    replayed: Path | None = None

    def follow(self, run: Callable[..., Run]) -> int:
        """Call `run` with `on_event` and `ask` of `RunOptions`, show its end, and return the exit code. Raises the
        run's error."""
        with Console(verbose=self.verbose, quiet=self.quiet or self.json, resumed=self.resumed,
                     replayed=self.replayed) as console:
            done = run(on_event=print_json if self.json else console, ask=console.ask if can_ask_person() else None)
        if self.kept:
            output_is_recorded()
        if not self.json:
            show_ending(done, kept=self.kept)
        if done.error:
            raise done.error
        statuses = {"success": 0, "interrupted": interrupted_status(), "unjudged": ToolError.exit_status}
        return statuses.get(done.status, 1)

    def announce(self, text: str) -> None:
        """Print a line before the run, unless only its end or its events are shown."""
        if not (self.quiet or self.json):
            click.echo(sanitize(text))


def show_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--quiet`, `--verbose` and `--json`; `pop_show` makes a `Show` of them."""
    for option in reversed(_SHOW_OPTIONS):
        command = option(command)
    return command


def pop_show(given: dict[str, Any], **more: Any) -> Show:
    """The options of `show_options`, taken out of what was given, with `more` of `Show`."""
    return Show(given.pop("quiet"), given.pop("as_json"), given.pop("verbose"), **more)


_CHANGED = 12  # lines of the statistic of a change
_LOOK = {"success": ("green", "success"), "failure": ("yellow", "finished without success"),
         "unjudged": ("yellow", "finished"),
         "error": ("red", "failed; what was made so far is kept"), "interrupted": ("yellow", "interrupted"),
         "stopped": ("yellow", "stopped by its budget; what was made so far is kept")}


def show_ending(run: Run, *, kept: bool = True) -> None:
    """Print the end of a run; the text of an error is left to the one who reports errors. `kept`: its folder stays."""
    colour, word = _LOOK[run.status]
    reason = "" if run.error else f": {sanitize(run.reason)}"
    click.echo(f"\n{click.style(word, fg=colour, bold=True)}{reason}")
    size = f"{count_noun(len(run.software), 'file')}, {count_noun(run.software.lines, 'line')}"
    if kept:
        _show_folder(run, size)
    else:
        click.echo(f"  software  {size}, not kept (--warehouse keeps it)")
    click.echo(f"  cost      {describe_usage(run.usage)}")
    if budget := describe_spending(run.limits, run.spent):
        click.echo(f"  budget    {budget}")


def _show_folder(run: Run, size: str) -> None:
    folder = sanitize(shlex.quote(str(run.folder)))
    click.echo(f"  software  {sanitize(str(run.software_folder))}  ({size})")
    if run.change:
        for line in _first_lines(run.change.splitlines()):
            click.echo(f"  changed   {sanitize(line)}")
        click.echo(f"  apply it  {_own_command()} apply {folder}")
    if is_startable(run.software):
        click.echo(f"  start it  {_own_command()} play {folder}")
    click.echo(f"  report    {sanitize(str(run.folder / 'run' / 'report.md'))}")
    if run.status in ("error", "interrupted", "stopped"):
        click.echo(f"  resume    {_own_command()} resume {folder}")


def _first_lines(lines: list[str]) -> list[str]:
    """Some lines of a statistic, and its last one."""
    if len(lines) <= _CHANGED:
        return lines
    return [*lines[:_CHANGED - 2], f"… and {len(lines) - _CHANGED + 1} files more", lines[-1]]


def _own_command() -> str:
    """How to give the next command; a checkout's own environment is not on the path."""
    return "chatdev" if shutil.which("chatdev") else f"{shlex.quote(sys.executable)} -m chatdev"


def print_json(event: Event) -> None:
    """Print an event as a JSON object with its `kind`; in ASCII, so that no text steers a terminal."""
    click.echo(scrub(json.dumps({"kind": event.kind, **event.to_dict()})))
