"""`chatdev import`: a company of ChatDev 1.x as a company of ours, and an account of what became of it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from chatdev.cli.company_commands import make_folder, refuse_company_name
from chatdev.cli.outcome import report_outcome
from chatdev.errors import ConfigError
from chatdev.safe_text import sanitize

if TYPE_CHECKING:
    from chatdev.departments.software.legacy.company_of_1x import ImportedCompany, Note

_HEADINGS = {"taken": "Taken", "changed": "Not as in 1.x", "lost": "Left out"}


@click.command("import")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--name", help="Name of the new company. [default: the name of DIR]")
@click.option("--to", type=click.Path(path_type=Path), help="Where to write it. [default: company_config/NAME]")
@report_outcome
def command(folder: Path, name: str | None, to: Path | None) -> int:
    """Turn a company of ChatDev 1.x into one of ours. DIR holds ChatChainConfig.json, PhaseConfig.json and
    RoleConfig.json; one of the last two that is missing is taken from the folder Default beside it.

    What became of everything is printed and kept beside the new company, in import.md.
    """
    import yaml

    from chatdev.config.yaml_nodes import Dumper
    from chatdev.departments.software.legacy.company_of_1x import CHAIN, import_company, is_company_of_1x
    from chatdev.runner.api import Company

    if not is_company_of_1x(folder):
        raise ConfigError(f"{folder} holds no {CHAIN}; give the folder of a company of ChatDev 1.x, such as "
                          "CompanyConfig/Default")
    name = name or re.sub(r"[^a-z0-9_-]+", "-", folder.resolve().name.lower()).strip("-")
    refuse_company_name(name)
    to = to or Path("company_config") / name
    found = import_company(folder, name)
    problems: Sequence[str] = ()
    try:
        problems = Company.load(found.company).warnings
    except ConfigError as error:
        problems = str(error).splitlines()
    phases = {key: {**phase, "opening": {"file": f"prompts/{key}.j2"}}
              for key, phase in found.company["phases"].items()}
    text = yaml.dump({**found.company, "phases": phases}, Dumper=Dumper, sort_keys=False, allow_unicode=True, width=110)
    report = describe_import(found, folder)
    make_folder(to, {"company.yaml": f"# Imported from {folder.name} of ChatDev 1.x; import.md says what became of "
                                     f"what.\n{text}", "import.md": report,
                     **{f"prompts/{key}.j2": f"{phase['opening']}\n"
                        for key, phase in found.company["phases"].items()}})
    click.echo(f"\n{sanitize(report)}")
    for problem in problems:
        click.echo(sanitize(f"to mend: {problem}"))
    named = name if to == Path("company_config") / name else str(to)
    click.echo(sanitize(f'next: chatdev check {named} --graph, then chatdev run --company {named} "…"'))
    return 1 if problems else 0


def describe_import(found: ImportedCompany, folder: Path) -> str:
    """What became of everything, in Markdown."""
    sections = [f"# {found.company['company']}: imported from {folder.name} of ChatDev 1.x"]
    for outcome in ("taken", "changed", "lost"):
        if notes := found.notes_of(outcome):
            rows = "\n".join(f"- {where}: {text}" for where, text in _group(notes))
            sections.append(f"## {_HEADINGS[outcome]}\n\n{rows}")
    return "\n\n".join(sections) + "\n"


def _group(notes: Sequence[Note]) -> list[tuple[str, str]]:
    """What is said, each once, with the places of which it is true."""
    places: dict[str, list[str]] = {}
    for note in notes:
        places.setdefault(note.text, []).append(note.where)
    return [(_join(where), text) for text, where in places.items()]


def _join(where: Sequence[str]) -> str:
    """`PhaseConfig.json Coding, Manual`: a file is named once."""
    found, last = [], ""
    for place in where:
        file, _, rest = place.partition(" ")
        found.append(rest if file == last and rest else place)
        last = file
    return ", ".join(found)
