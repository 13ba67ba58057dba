"""`chatdev check`."""

from __future__ import annotations

from pathlib import Path

import click

from chatdev.cli.outcome import reported
from chatdev.config.graph import chain_picture, chain_text


@click.command("check")
@click.argument("company", default="chatdev")
@click.option("--graph", is_flag=True, help="Draw the chain as text.")
@click.option("--picture", type=click.Path(path_type=Path), metavar="FILE.svg|FILE.png",
              help="Draw the chain into a file (needs graphviz).")
@reported
def command(company: str, graph: bool, picture: Path | None) -> int:
    """Validate COMPANY, a name or a path. No model is called."""
    from chatdev.runner.company import Company

    loaded = Company.load(company)
    config = loaded.config
    click.echo(f"{click.style('OK', fg='green')} {config.company}: {len(config.roles)} roles, "
               f"{len(config.phases)} phases, {len(config.chain)} steps")
    for warning in loaded.warnings:
        click.echo(f"{click.style('warning:', fg='yellow')} {warning}")
    if graph:
        click.echo(chain_text(config))
    if picture:
        chain_picture(config, picture)
        click.echo(f"drawn: {picture}")
    return 0
