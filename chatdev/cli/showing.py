"""How the commands that run something show it: as a console, as JSON lines, or only its end."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from chatdev.cli.console import Console
from chatdev.cli.ending import show_ending
from chatdev.cli.jsonlines import json_lines
from chatdev.cli.outcome import INTERRUPTED
from chatdev.cli.packages import somebody_is_there
from chatdev.errors import ToolError

if TYPE_CHECKING:
    from chatdev.runner.result import Run

T = TypeVar("T")

_OPTIONS = (
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
            done = run(on_event=_outliving(json_lines if self.json else console),
                       ask=console.ask if somebody_is_there() else None)
        if not self.json:
            _outliving(partial(show_ending, kept=self.kept))(done)
        if done.error:
            raise done.error
        return {"success": 0, "interrupted": INTERRUPTED, "unjudged": ToolError.exit_status}.get(done.status, 1)


def show_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--quiet`, `--verbose` and `--json`; `taken` makes a `Show` of them."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def taken(given: dict[str, Any], **more: Any) -> Show:
    """The options of `show_options`, taken out of what was given, with `more` of `Show`."""
    return Show(given.pop("quiet"), given.pop("as_json"), given.pop("verbose"), **more)


def _outliving(show: Callable[[T], None]) -> Callable[[T], None]:
    """`show`, but when the reader of our output goes away (`| head`) the rest goes nowhere: a run is not stopped by
    that, and its exit code stands."""
    def safely(what: T) -> None:
        try:
            show(what)
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

    return safely
