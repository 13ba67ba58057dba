"""The command `chatdev`: its subcommands, and how errors reach a person."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Sequence
from functools import wraps
from typing import ParamSpec

import click
import colorama
from colorama import Fore, Style

from chatdev.errors import ChatDevError

P = ParamSpec("P")

INTERRUPTED = 130

EXIT_CODES = """\b
Exit codes:
  0    success
  1    the run is finished, but its success expression does not hold
  2    wrong input: company, setting, task, or no model configured
  3    a model call failed for good; what was made is kept
  4    a tool or the sandbox is missing or failed
  5    the disk or the journal failed
  130  stopped with Ctrl-C; what was made is kept
"""


def reported(command: Callable[P, int]) -> Callable[P, None]:
    """Turn what a command returns or raises into an exit code and, for errors, a short text."""
    @wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            status = command(*args, **kwargs)
        except ChatDevError as error:
            show_error(str(error))
            status = error.exit_status
        except KeyboardInterrupt:
            show_error("stopped")
            status = INTERRUPTED
        except BrokenPipeError:  # the reader of our output went away
            sys.stdout = None
            status = 0
        if status and click.get_current_context().find_root().params.get("debug"):
            traceback.print_exc()
        sys.exit(status)

    return run


def show_error(text: str) -> None:
    """Print an error for a person."""
    click.echo(f"{Fore.RED}{Style.BRIGHT}error:{Style.RESET_ALL} {text}", err=True)


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110}, epilog=EXIT_CODES)
@click.option("--debug", is_flag=True, help="Show tracebacks.")
@click.version_option(package_name="chatdev-chain", prog_name="chatdev")
def chatdev(debug: bool) -> None:
    """A company of language-model agents that builds software by a chat chain."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Entry point of the command line."""
    from chatdev.cli import check, companies, model, play, run  # each adds its commands to the group

    for module in (run, companies, check, play, model):
        chatdev.add_command(module.command)
    colorama.just_fix_windows_console()
    chatdev(args=arguments)
