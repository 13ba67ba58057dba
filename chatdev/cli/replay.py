"""`chatdev replay`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from chatdev.cli.outcome import reported
from chatdev.cli.showing import show_options, taken


@click.command("replay")
@click.argument("path", metavar="DIR|FILE", type=click.Path(path_type=Path))
@click.option("--speed", type=click.FloatRange(min=0, min_open=True), metavar="N",
              help="So many times as fast as it was. [default: at once]")
@click.option("--warehouse", type=click.Path(path_type=Path), help="Where to keep what it makes. [default: nowhere]")
@show_options
@reported
def command(path: Path, **given: Any) -> int:
    """Play a run again from its folder or journal: no model, no network, no program is run."""
    from chatdev.runner.front import replaying

    show = taken(given, kept=given["warehouse"] is not None, replayed=path)
    return show.follow(lambda **seen: replaying(path, **seen, **given).run())
