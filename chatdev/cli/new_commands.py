"""`chatdev new company` and `chatdev new tool`: a folder to begin with, sound and with a test that passes."""

from __future__ import annotations

import keyword
import re
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from chatdev.cli.outcome import report_outcome
from chatdev.errors import ConfigError
from chatdev.safe_text import sanitize

if TYPE_CHECKING:
    from chatdev.config.schema import CompanyConfig

_TEMPLATES = Path(__file__).parent / "new"
_COMPANIES = Path("company_config")
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")


@click.group("new")
def command() -> None:
    """Begin a company or a tool of your own: files that work, and their test."""


@command.command("company")
@click.argument("name")
@click.option("--extends", metavar="COMPANY", help="A company that the new one changes, e.g. chatdev.")
@click.option("--to", "folder", type=click.Path(path_type=Path),
              help="Where to write it. [default: company_config/NAME]")
@report_outcome
def new_company(name: str, extends: str | None, folder: Path | None) -> int:
    """Write the company NAME, which builds small programs in two steps, or changes another company."""
    refuse_company_name(name)
    folder = folder or _COMPANIES / name
    kind = "extension" if extends else "company"
    words = {"name": name, "folder": str(folder), **(_words_about(extends) if extends else {})}
    make_folder(folder, _render(kind, words, {"company.yaml": "company.yaml.j2",
                                              f"test_{_word(name)}.py": "test_company.py.j2"}))
    named = name if folder == _COMPANIES / name else str(folder)
    _show_next(f"chatdev check {named} --graph", f'chatdev run --company {named} --dry-run "a greeting"',
               f"python -m pytest {folder}")
    return 0


@command.command("tool")
@click.argument("name")
@click.option("--to", "folder", type=click.Path(path_type=Path), help="Where to write it. [default: NAME]")
@report_outcome
def new_tool(name: str, folder: Path | None) -> int:
    """Write a package with the tool NAME.check, which companies name once the package is installed."""
    if not (name.isidentifier() and name.islower()) or keyword.iskeyword(name):
        raise ConfigError(f"{name!r} cannot name a module of Python; take small letters, digits and _: line_length")
    if find_spec(name) is not None:
        raise ConfigError(f"there is a module {name!r} already; take another name")
    folder = folder or Path(name)
    make_folder(folder, _render("tool", {"name": name, "folder": str(folder)}, {
        "pyproject.toml": "pyproject.toml.j2", f"{name}.py": "tool.py.j2", f"test_{name}.py": "test_tool.py.j2"}))
    _show_next(f"python -m pytest {folder}", f"pip install -e {folder}", f"# then in a company: feedback: {name}.check")
    return 0


def refuse_company_name(name: str) -> None:
    """Raise ConfigError for a name that no new company can have."""
    from chatdev.department import installed_companies

    if not _NAME.fullmatch(name):
        raise ConfigError(f"{name!r} cannot name a company; take letters, digits, - and _, and begin with a letter")
    if name in installed_companies():
        raise ConfigError(f"{name!r} is a company that comes with chatdev; take another name (to change that one: "
                          f"chatdev new company my-{name} --extends {name})")


def make_folder(folder: Path, files: Mapping[str, str]) -> None:
    """Write a new folder, and say which files are in it. Raises ConfigError where there is one that is not empty,
    WorkspaceError where it cannot be written."""
    from chatdev.workspace.file_tree import explain_os_errors, write_tree

    with explain_os_errors("write", folder):
        if folder.is_symlink() or (folder.exists() and (not folder.is_dir() or any(folder.iterdir()))):
            raise ConfigError(f"{folder} is there already, and nothing is overwritten; give another --to FOLDER")
        folder.mkdir(parents=True, exist_ok=True)
    write_tree(folder, {name: text.encode() for name, text in files.items()})
    for name in files:
        click.echo(sanitize(f"wrote {folder / name}"))


def _word(name: str) -> str:
    """A name for a module of tests."""
    return name.replace("-", "_").lower()


def _words_about(base: str) -> dict[str, Any]:
    """What the template says of the company that is extended: a role to change, and a phase to put one behind."""
    from chatdev.config.load import load_company
    from chatdev.config.schema import PhaseStep, walk
    from chatdev.department import installed_companies

    if base not in installed_companies():
        raise ConfigError(f"--extends {base}: a new company extends an installed one: "
                          f"{', '.join(installed_companies())}; to extend one of your own, put it below the new one's "
                          "folder, and name it in `extends`")
    company = load_company(base)
    role = _first_role(company)
    phases = [step.phase for step in company.chain if isinstance(step, PhaseStep)]
    last = company.chain[-1].name  # the verdict
    count = sum(step.name == last for _, step in walk(company.chain))
    anchor = f"after: {phases[-1]}" if phases else f"before: {last}" + f"#{count}" * (count > 1)
    return {"base": base, "role": role, "prompt": f"You work as the {company.roles[role].title}, carefully.",
            "anchor": anchor, "left_out": (phases or list(company.phases))[-1], "task": "task" in company.inputs}


def _first_role(company: CompanyConfig) -> str:
    """The role that writes the software, if there is one."""
    writers = [phase.assistant for phase in company.phases.values() if phase.writes == "software"]
    return (writers or list(company.roles))[0]


def _render(kind: str, words: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, str]:
    """The files of a template by their names."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES / kind), undefined=StrictUndefined, autoescape=False, trim_blocks=True,
        lstrip_blocks=True, keep_trailing_newline=True, variable_start_string="<<", variable_end_string=">>",
        block_start_string="<%", block_end_string="%>")
    return {name: environment.get_template(template).render(words) for name, template in names.items()}


def _show_next(*commands: str) -> None:
    click.echo("\nnext:")
    for line in commands:
        click.echo(sanitize(f"  {line}"))
