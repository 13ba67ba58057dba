"""The options that limit what a run may spend."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

_OPTIONS = (
    click.option("--max-cost", type=click.FloatRange(min=0), metavar="USD",
                 help="Stop before the run has cost more than so many US dollars."),
    click.option("--max-tokens", type=click.IntRange(min=1), metavar="N",
                 help="Stop before it has read and written more tokens."),
    click.option("--max-calls", type=click.IntRange(min=1), metavar="N", help="Stop after so many model calls."),
    click.option("--max-minutes", type=click.FloatRange(min=0, min_open=True), metavar="N",
                 help="Stop after so many minutes, in the middle of a call if need be."),
)


def budget_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--max-cost`, `--max-tokens`, `--max-calls` and `--max-minutes`, named as in `RunOptions`."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command
