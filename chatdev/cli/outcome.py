"""How the outcome of a command reaches a person: an exit code and, for errors, a short text."""

from __future__ import annotations

import errno
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from typing import ParamSpec

import click

from chatdev.cli.interruption import interrupted_status
from chatdev.config.settings import environ
from chatdev.errors import ChatDevError
from chatdev.runner.report import sanitize

P = ParamSpec("P")

BUG = 70
_NO_NAME = (errno.ENAMETOOLONG, errno.ELOOP)
"""What is wrong with a path that was typed, wherever it is looked at first."""


def report_outcome(command: Callable[P, int]) -> Callable[P, None]:
    """Turn what a command returns or raises into an exit code and, for errors, a short text; with `--debug` also where
    it comes from."""
    @debug_option
    @wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            status = command(*args, **kwargs)
        except ChatDevError as error:
            status = _show_failure(error, str(error), error.exit_status)
        except KeyboardInterrupt as error:
            status = _show_failure(error, "stopped", interrupted_status())
        except (click.ClickException, click.exceptions.Exit):
            raise  # click's own business
        except Exception as error:  # noqa: BLE001 - a person gets a sentence; --debug shows everything
            if isinstance(error, OSError) and error.errno in _NO_NAME:
                status = _show_failure(error, f"{str(error.filename)[:100]}: {error.strerror}; check the path", 2)
            else:
                text = f"{type(error).__name__}: {error}; this is an error in chatdev: `--debug` shows where"
                status = _show_failure(error, text, BUG)
        sys.exit(status)

    return run


def _show_failure(error: BaseException, text: str, status: int) -> int:
    """Say what went wrong, with `--debug` also where; returns `status`."""
    show_error(text)
    if wants_debug():
        click.echo(sanitize("".join(traceback.format_exception(error))), err=True)
    return status


def show_error(text: str) -> None:
    """Print an error for a person. It may have come before anybody looked at the environment, and name a key in it."""
    with suppress(ChatDevError):
        environ()
    click.echo(f"{click.style('error:', fg='red', bold=True)} {sanitize(text)}", err=True)


_DEBUG = "chatdev.debug"


def _note_debug(context: click.Context, _: click.Parameter, given: bool) -> None:
    context.meta[_DEBUG] = given or context.meta.get(_DEBUG, False)


debug_option = click.option("--debug", is_flag=True, expose_value=False, callback=_note_debug,
                            help="Show where an error comes from (a traceback).")


def wants_debug() -> bool:
    """Whether the command line asks for tracebacks."""
    return bool(click.get_current_context().meta.get(_DEBUG))
