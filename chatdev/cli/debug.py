"""`--debug`, which may stand before the subcommand or behind it."""

from __future__ import annotations

import click

_ASKED = "chatdev.debug"


def _note(context: click.Context, _: click.Parameter, given: bool) -> None:
    context.meta[_ASKED] = given or context.meta.get(_ASKED, False)


debug_option = click.option("--debug", is_flag=True, expose_value=False, callback=_note,
                            help="Show where an error comes from (a traceback).")


def wants_debug() -> bool:
    """Whether the command line asks for tracebacks."""
    return bool(click.get_current_context().meta.get(_ASKED))
