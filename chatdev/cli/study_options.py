"""The options that every command about a study has: which one, and where it is kept."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from chatdev.errors import ConfigError, MissingProgram

if TYPE_CHECKING:
    from chatdev.batch.ledger import Ledger

STUDIES = Path("studies")

_OPTIONS = (
    click.option("--ledger", "ledger_url", metavar="PATH_OR_URL", default=str(STUDIES / "ledger.sqlite"),
                 show_default=True, help="A SQLite file, or the address of a database, e.g. postgresql://host/name."),
    click.option("--folder", type=click.Path(path_type=Path), help="Where its runs are. [default: studies/NAME]"),
)


def study_options(command: Callable[..., Any], name: str = "srdd") -> Callable[..., Any]:
    """Add `--study` (whose default is `name`), `--ledger` and `--folder`."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return click.option("--study", default=name, show_default=True, metavar="NAME",
                        help="Name of the study; several may share a ledger.")(command)


def opened(ledger_url: str, study: str) -> Ledger:
    """The ledger of a study. Raises MissingProgram without the extra."""
    try:
        from chatdev.batch.ledger import Ledger
    except ImportError as error:
        raise MissingProgram(f"`chatdev eval` needs {error.name}: pip install 'chatdev-chain[eval]'") from error
    return Ledger(ledger_url, study)


def begun(ledger_url: str, study: str) -> Ledger:
    """The ledger of a study that was begun before. Raises ConfigError when there is none."""
    if "://" not in ledger_url and not Path(ledger_url).is_file():
        raise ConfigError(f"there is no ledger {ledger_url}; begin a study with `chatdev eval srdd`, or give another "
                          "--ledger")
    return opened(ledger_url, study)


def folder_of(folder: Path | None, study: str) -> Path:
    """Where the runs of a study are. Raises ConfigError for a name that can be no folder's."""
    if folder is None and (not study.strip() or study != Path(study).name or study.startswith(".")):
        raise ConfigError(f"--study {study!r} cannot name a folder; take letters, digits and -, or give --folder")
    return (folder or STUDIES / study).absolute()


def listed(_: click.Context, __: click.Parameter, value: str | None) -> list[str]:
    """The entries of an option whose value is `A,B,C`."""
    return [entry.strip() for entry in (value or "").split(",") if entry.strip()]
