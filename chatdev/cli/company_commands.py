"""`chatdev companies`, `check` and `trust`: which companies there are, whether one is sound, and consent to it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from chatdev.cli.completion import complete_company
from chatdev.cli.outcome import report_outcome
from chatdev.cli.shared_options import DEFAULT_COMPANY, can_ask_person, is_yes
from chatdev.config.graph import chain_picture, chain_text
from chatdev.config.load import companies, namesake
from chatdev.errors import ConfigError, ConsentMissing
from chatdev.runner.api import Company
from chatdev.runner.options import RunOptions
from chatdev.runner.resources import describe_models
from chatdev.safe_text import sanitize

if TYPE_CHECKING:
    from chatdev.runner.consent import Stranger


@click.command("companies")
@report_outcome
def list_companies() -> int:
    """List the companies with their phases."""
    for company in sorted(companies(), key=lambda one: one.name != DEFAULT_COMPANY):
        show_namesake(company.name)
        mark = f"  {click.style('the default', fg='green')}" if company.name == DEFAULT_COMPANY else ""
        click.echo(f"{click.style(company.name, bold=True)}{mark}{click.style(_place_of(company.folder), dim=True)}")
        if company.problem:
            click.echo(f"  {click.style('cannot be loaded:', fg='red')} {company.problem}")
            continue
        click.echo(f"  {company.about}")
        if company.source:
            click.echo(click.style(f"  after {company.source}", dim=True))
        click.echo(f"  phases: {' → '.join(company.phases)}\n")
    return 0


def _place_of(folder: Path) -> str:
    """Where a company is that does not come with chatdev or a package of departments."""
    here, place = Path.cwd(), folder.absolute()
    return f"  ./{place.relative_to(here)}" if place.is_relative_to(here) else ""


def show_namesake(name: str) -> None:
    """Say so where the working folder has a company of the same name as an installed one, which is taken."""
    if folder := namesake(name):
        click.echo(sanitize(f"company {name}: the installed one, not ./{folder}; for that one, give the path "
                            f"./{folder}"), err=True)


@click.command("check")
@click.argument("company", default=DEFAULT_COMPANY, shell_complete=complete_company)
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


# `chatdev trust`, and the question for consent at a terminal.

T = TypeVar("T")


@click.command("trust")
@click.argument("whom", metavar="[COMPANY|FOLDER]", required=False)
@click.option("--list", "listed", is_flag=True, help="Show whom you trust, and with what.")
@click.option("--remove", metavar="NAME", help="Take a consent back: a name, a place or a digest of --list.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@report_outcome
def command(whom: str | None, listed: bool, remove: str | None, yes: bool) -> int:
    """Let a COMPANY, a run's FOLDER, or the .env of a FOLDER (by default of this one) name the address of a model, a
    variable whose value is sent there as the key, a file of a model, or a file that a tool opens. Shows what it names,
    and asks at a terminal.

    What you consent to is kept by digest: once it says something else, you are asked again.
    """
    if sum((whom is not None, listed, remove is not None)) > 1:
        raise ConfigError("give one of: a company or folder, --list, --remove NAME")
    if listed:
        return _list()
    if remove is not None:
        return _remove(remove)
    return _trust(find_stranger(whom), yes)


def find_stranger(whom: str | None) -> Stranger:
    """The company or `.env` that is meant. Raises ConfigError where there is none."""
    from chatdev.runner.api import Company
    from chatdev.runner.consent import dotenv_stranger
    from chatdev.runner.plan import word_of_record
    from chatdev.runner.recorded import JOURNAL
    from chatdev.runner.toolbox import KnownTools

    path = Path(whom or ".env")
    folder = path.parent if path.name == ".env" else path
    if whom and os.path.lexists(path / "run" / JOURNAL):
        return word_of_record(path, KnownTools()).stranger()
    if whom and path.name != ".env" and not _is_plain_folder(whom):
        return Company.load(whom or "").word.stranger()
    if not (folder / ".env").is_file():
        raise ConfigError(f"there is no .env in {folder.resolve()}; give a company, or a folder with a .env")
    return dotenv_stranger(folder)


def _is_plain_folder(whom: str) -> bool:
    """Whether a folder is meant that is no company's; a bare word may be a company's name."""
    folder = Path(whom)
    if not folder.is_dir() or (folder / "company.yaml").is_file():
        return False
    return (folder / ".env").is_file() or whom in (".", "..") or os.sep in whom


def _trust(stranger: Stranger, yes: bool) -> int:
    from chatdev.config.trust_record import add_trust

    if not stranger.names:
        click.echo(sanitize(f"{stranger.describe_self()} names nothing that needs your consent"))
        return 0
    if not yes and can_ask_person():
        if not _ask(stranger):
            click.echo("not trusted")
            return 1
    else:
        click.echo(sanitize(stranger.describe()))
    add_trust(stranger.trust())
    click.echo(f"trusted, until it changes; to take it back: chatdev trust --remove {stranger.digest[:12]}")
    return 0


def _list() -> int:
    from chatdev.config.trust_record import read_trust

    for trust in read_trust():
        click.echo(sanitize(f"{trust.digest[:12]}  {trust.kind} {trust.name} ({trust.place}), since {trust.given}"))
        for line in trust.names:
            click.echo(sanitize(f"  {line}"))
    return 0


def _remove(word: str) -> int:
    from chatdev.config.trust_record import remove_trust

    for trust in remove_trust(word):
        click.echo(sanitize(f"no longer trusted: {trust.kind} {trust.name} ({trust.place})"))
    return 0


def ask_for_consent(act: Callable[[], T]) -> T:
    """What `act` returns. Where it wants the user's consent, a person at a terminal is asked, once, and their consent
    put on record; without a terminal, or on a no, ConsentMissing is raised."""
    from chatdev.config.trust_record import add_trust

    while True:
        try:
            return act()
        except ConsentMissing as missing:
            if not (missing.subjects and can_ask_person()):
                raise
            for stranger in missing.subjects:
                if not _ask(stranger):
                    raise
                add_trust(stranger.trust())


def _ask(stranger: Stranger) -> bool:
    click.echo(sanitize(stranger.describe()), err=True)
    click.echo("Allow this, until it changes? [y/N] ", nl=False, err=True)
    return is_yes(sys.stdin.readline())
