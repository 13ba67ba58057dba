"""`chatdev companies`."""

from __future__ import annotations

import click

from chatdev.cli.outcome import reported
from chatdev.config.load import companies


@click.command("companies")
@reported
def command() -> int:
    """List the companies with their phases."""
    for company in companies():
        click.echo(f"{click.style(company.name, bold=True)}  {click.style(str(company.folder), dim=True)}")
        if company.problem:
            click.echo(f"  {click.style('cannot be loaded:', fg='red')} {company.problem}")
            continue
        click.echo(f"  {company.about}")
        if company.source:
            click.echo(click.style(f"  after {company.source}", dim=True))
        click.echo(f"  phases: {' → '.join(company.phases)}\n")
    return 0
