"""`chatdev companies`."""

from __future__ import annotations

import click
from colorama import Fore, Style

from chatdev.cli.app import reported
from chatdev.config.load import companies


@click.command("companies")
@reported
def command() -> int:
    """List the companies with their phases."""
    for company in companies():
        click.echo(f"{Style.BRIGHT}{company.name}{Style.RESET_ALL}  {Style.DIM}{company.folder}{Style.RESET_ALL}")
        if company.problem:
            click.echo(f"  {Fore.RED}cannot be loaded:{Style.RESET_ALL} {company.problem}")
            continue
        click.echo(f"  {company.about}")
        if company.source:
            click.echo(f"  {Style.DIM}after {company.source}{Style.RESET_ALL}")
        click.echo(f"  phases: {' → '.join(company.phases)}\n")
    return 0
