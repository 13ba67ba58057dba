"""`chatdev resume`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from chatdev.cli.budget import budget_options
from chatdev.cli.outcome import reported
from chatdev.cli.packages import package_options
from chatdev.cli.showing import show_options, taken
from chatdev.cli.texts import text_of
from chatdev.sandbox.choose import NAMES


@click.command("resume")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--task", metavar="TEXT",
              help="A further request to a finished run, or @FILE; a new run starts from its software.")
@click.option("--from", "since", metavar="ACTIVITY", help="In a copy of the run, go on live from this activity.")
@click.option("--from-here", is_flag=True, help="Where the company has changed, go on live with what it is now.")
@click.option("--as-it-was", is_flag=True, help="Go on with the company as it was when the run began.")
@click.option("--name", help="Name of the new run's folder, with --task and --from.")
@click.option("--warehouse", type=click.Path(path_type=Path), help="Where a new run is written. [default: beside DIR]")
@click.option("--model", help="Another model from here on.")
@click.option("--base-url", help="Another endpoint from here on.")
@click.option("--sandbox", type=click.Choice(NAMES), help="Where programs run. [default: as before]")
@package_options
@budget_options
@click.option("--language", help="Language that documents are written in. [default: as before]")
@click.option("--stream", is_flag=True, help="Show text as it is written.")
@show_options
@reported
def command(folder: Path, **given: Any) -> int:
    """Go on with the run in DIR where it stopped; nothing that is paid for is paid again.

    An ACTIVITY is a place of the run's journal and report, such as code_review#1 or
    code_review#1/round-2/assistant.
    """
    from chatdev.runner.front import resuming

    show = taken(given, resumed=given["task"] is None)
    if given["task"] is not None:
        given["task"] = text_of(given["task"], "the further task")
    return show.follow(lambda **seen: resuming(folder, **seen, **given).run())
