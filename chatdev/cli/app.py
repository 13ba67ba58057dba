"""The command `chatdev`: its subcommands, and how errors reach a person."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable, Sequence
from functools import wraps
from io import TextIOWrapper
from typing import ParamSpec

import click
import colorama

from chatdev.errors import ChatDevError

P = ParamSpec("P")

INTERRUPTED = 130
BUG = 70

EXIT_CODES = """\b
Exit codes:
  0    success
  1    the run is finished, but its success expression does not hold, or a phase ended without its solution
  2    wrong input: company, setting, task, or no model configured
  3    a model call failed for good; what was made is kept
  4    a tool or the sandbox is missing or failed
  5    the disk or the journal failed
  70   an error in chatdev itself
  130  stopped with Ctrl-C; what was made is kept
`chatdev play` exits as the program does.
"""


def reported(command: Callable[P, int]) -> Callable[P, None]:
    """Turn what a command returns or raises into an exit code and, for errors, a short text."""
    @wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            status = command(*args, **kwargs)
        except ChatDevError as error:
            status = _failed(error, str(error), error.exit_status)
        except KeyboardInterrupt as error:
            status = _failed(error, "stopped", INTERRUPTED)
        except (click.ClickException, click.exceptions.Exit, BrokenPipeError):
            raise  # click's own business
        except Exception as error:  # noqa: BLE001 - a person gets a sentence; --debug shows everything
            text = f"{type(error).__name__}: {error}; this is an error in chatdev: `chatdev --debug …` shows where"
            status = _failed(error, text, BUG)
        sys.exit(status)

    return run


def _failed(error: BaseException, text: str, status: int) -> int:
    """Say what went wrong, with `--debug` also where; returns `status`."""
    show_error(text)
    if click.get_current_context().find_root().params["debug"]:
        click.echo("".join(traceback.format_exception(error)), err=True)
    return status


def show_error(text: str) -> None:
    """Print an error for a person."""
    click.echo(f"{click.style('error:', fg='red', bold=True)} {text}", err=True)


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110}, epilog=EXIT_CODES)
@click.option("--debug", is_flag=True, help="Show where an error comes from (a traceback).")
@click.version_option(package_name="chatdev-chain", prog_name="chatdev")
def chatdev(debug: bool) -> None:
    """A company of language-model agents that builds software by a chat chain."""


def command_line() -> click.Group:
    """The command with its subcommands."""
    from chatdev.cli import check, companies, model, play, run  # each of them needs `reported` from here

    for module in (run, companies, check, play, model):
        chatdev.add_command(module.command)
    return chatdev


def main(arguments: Sequence[str] | None = None) -> None:
    """Entry point of the command line."""
    colorama.just_fix_windows_console()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without ⇄ shows ? instead of failing
    # Colours are for terminals (click sees to that), and for nobody who says NO_COLOR.
    command_line()(args=arguments, prog_name="chatdev", color=False if os.environ.get("NO_COLOR") else None)
