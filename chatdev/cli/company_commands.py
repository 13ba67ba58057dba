"""`chatdev companies`, `check` and `trust`: which companies there are, whether one is sound, and consent to it; `new
company` and `new tool`: a sound folder to begin with; `completion`: names of companies in a shell."""

from __future__ import annotations

import keyword
import os
import re
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem, get_completion_class

from chatdev.cli.outcome import report_outcome
from chatdev.cli.people import is_allowed
from chatdev.cli.screen import can_ask_person
from chatdev.cli.shared_options import DEFAULT_COMPANY
from chatdev.config.load import companies, namesake
from chatdev.config.preview import chain_picture, chain_text
from chatdev.errors import ChatDevError, ConfigError
from chatdev.runner.api import Company
from chatdev.runner.options import RunOptions
from chatdev.runner.resources import describe_models
from chatdev.safe_text import sanitize

if TYPE_CHECKING:
    from chatdev.config.schema import CompanyConfig
    from chatdev.runner.consent import Stranger


# `chatdev completion`: the script by which a shell completes commands and options, and the names of companies.

_SHELLS = ("bash", "zsh", "fish")


@click.command("completion")
@click.argument("shell", type=click.Choice(_SHELLS))
@report_outcome
def completion_command(shell: str) -> int:
    """Print the script that completes commands, options and their values.

    \b
    bash  eval "$(chatdev completion bash)", in ~/.bashrc
    zsh   eval "$(chatdev completion zsh)", in ~/.zshrc
    fish  chatdev completion fish > ~/.config/fish/completions/chatdev.fish
    """
    found = get_completion_class(shell)
    assert found is not None
    group = click.get_current_context().find_root().command
    click.echo(found(group, {}, "chatdev", "_CHATDEV_COMPLETE").source())
    return 0


def complete_company(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The companies whose names begin so, and the files and folders that the shell finds."""
    from chatdev.config.load import company_folders

    try:
        names = [folder.name for folder in company_folders() if folder.name.startswith(incomplete)]
    except ChatDevError:
        names = []
    return [*map(CompletionItem, names), CompletionItem(incomplete, type="file")]


# `chatdev companies`, `check` and `trust`: which companies there are, whether one is sound, and consent to it.


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
    from chatdev.config.settings import add_trust

    if not stranger.names:
        click.echo(sanitize(f"{stranger.describe_self()} names nothing that needs your consent"))
        return 0
    if not yes and can_ask_person():
        if not is_allowed(stranger):
            click.echo("not trusted")
            return 1
    else:
        click.echo(sanitize(stranger.describe()))
    add_trust(stranger.trust())
    click.echo(f"trusted, until it changes; to take it back: chatdev trust --remove {stranger.digest[:12]}")
    return 0


def _list() -> int:
    from chatdev.config.settings import read_trust

    for trust in read_trust():
        click.echo(sanitize(f"{trust.digest[:12]}  {trust.kind} {trust.name} ({trust.place}), since {trust.given}"))
        for line in trust.names:
            click.echo(sanitize(f"  {line}"))
    return 0


def _remove(word: str) -> int:
    from chatdev.config.settings import remove_trust

    for trust in remove_trust(word):
        click.echo(sanitize(f"no longer trusted: {trust.kind} {trust.name} ({trust.place})"))
    return 0


# `chatdev new company` and `chatdev new tool`: a folder to begin with, sound and with a test that passes.

_TEMPLATES = Path(__file__).parent / "new"
_COMPANIES = Path("company_config")
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")


@click.group("new")
def new_command() -> None:
    """Begin a company or a tool of your own: files that work, and their test."""


@new_command.command("company")
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


@new_command.command("tool")
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
