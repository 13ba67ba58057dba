"""`chatdev companies` and `chatdev check`: which companies there are, and whether one is sound."""

from __future__ import annotations

from pathlib import Path

import click

from chatdev.cli.outcome import report_outcome
from chatdev.config.graph import chain_picture, chain_text
from chatdev.config.load import companies, namesake
from chatdev.runner.api import Company
from chatdev.runner.options import RunOptions
from chatdev.runner.report import sanitize
from chatdev.runner.resources import describe_models


@click.command("companies")
@report_outcome
def list_companies() -> int:
    """List the companies with their phases."""
    for company in companies():
        show_namesake(company.name)
        click.echo(f"{click.style(company.name, bold=True)}  {click.style(str(company.folder), dim=True)}")
        if company.problem:
            click.echo(f"  {click.style('cannot be loaded:', fg='red')} {company.problem}")
            continue
        click.echo(f"  {company.about}")
        if company.source:
            click.echo(click.style(f"  after {company.source}", dim=True))
        click.echo(f"  phases: {' → '.join(company.phases)}\n")
    return 0


def show_namesake(name: str) -> None:
    """Say so where the working folder has a company of the same name as an installed one, which is taken."""
    if folder := namesake(name):
        click.echo(sanitize(f"company {name}: the installed one, not ./{folder}; for that one, give the path "
                            f"./{folder}"), err=True)


@click.command("check")
@click.argument("company", default="chatdev")
@click.option("--graph", is_flag=True, help="Draw the chain as text.")
@click.option("--picture", type=click.Path(path_type=Path), metavar="FILE.svg|FILE.png",
              help="Draw the chain into a file (needs graphviz).")
@report_outcome
def check_company(company: str, graph: bool, picture: Path | None) -> int:
    """Validate COMPANY, a name or a path. No model is called."""
    show_namesake(company)
    loaded = Company.load(company)
    config = loaded.config
    click.echo(f"{click.style('OK', fg='green')} {config.company}: {len(config.roles)} roles, "
               f"{len(config.phases)} phases, {len(config.chain)} steps")
    click.echo(sanitize(describe_models(loaded.word, RunOptions())))
    for warning in loaded.warnings:
        click.echo(f"{click.style('warning:', fg='yellow')} {warning}")
    if graph:
        click.echo(chain_text(config))
    if picture:
        chain_picture(config, picture)
        click.echo(f"drawn: {picture}")
    return 0
