"""Options of several commands: budgets, packages and their question, texts from files, files to write, the study."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from chatdev.errors import ConfigError, MissingProgram
from chatdev.paths import MOST_NAMED, read_named
from chatdev.sandbox.kinds import SANDBOXES
from chatdev.workspace.file_tree import explain_os_errors

if TYPE_CHECKING:
    from chatdev.batch.ledger import Ledger


_BUDGET_OPTIONS = (
    click.option("--max-cost", type=click.FloatRange(min=0), metavar="USD",
                 help="Stop before the run costs more than this many US dollars."),
    click.option("--max-tokens", type=click.IntRange(min=1), metavar="N",
                 help="Stop before it reads and writes more tokens than this."),
    click.option("--max-calls", type=click.IntRange(min=1), metavar="N", help="Stop after this many model calls."),
    click.option("--max-minutes", type=click.FloatRange(min=0, min_open=True), metavar="N",
                 help="Stop after this many minutes, even during a call."),
)


def budget_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--max-cost`, `--max-tokens`, `--max-calls` and `--max-minutes`, named as in `RunOptions`."""
    for option in reversed(_BUDGET_OPTIONS):
        command = option(command)
    return command


DEFAULT_COMPANY = "chatdev"
_YES = ("y", "yes")


def _install_option(default: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    return click.option(
        "--install", type=click.Choice(["auto", "ask", "never"]),
        help=f"Whether packages that programs import are installed, in the sandbox. [default: {default}]")


install_option = _install_option("auto")
_install_again_option = _install_option("as before, or stricter by your settings")
_runtime_option = click.option(
    "--runtime", metavar="NAME", help="A set of packages that programs always find, e.g. `top`; prepared once.")
provider_option = click.option(
    "--provider", metavar="NAME",
    help="Who is asked: openai, anthropic, gemini, openrouter, ollama, lmstudio, vllm, azure, … (`chatdev model "
         "providers` lists all). It gives the address and the variable of the key.")
trust_option = click.option(
    "--trust", is_flag=True, help="Consent, this time, to the addresses and keys that the company or .env names.")

otel_option = click.option(
    "--otel/--no-otel", default=None,
    help="Whether spans of the run are sent to an OTLP endpoint. [default: as the variables OTEL_… say]")


wait_option = click.option(
    "--wait", is_flag=True, help="Where nobody at this terminal answers for a person, wait for `chatdev answer DIR` or "
    "a web view. [default: skip it, with a note]")


def package_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--install` and `--runtime`, named as in `RunOptions`."""
    return install_option(_runtime_option(command))


def resumed_package_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The same for a run that is resumed."""
    return _install_again_option(_runtime_option(command))


def question(distribution: str) -> str:
    """What is asked about a package."""
    return f"Install the package {distribution}, which the program imports? [y/N] "


async def ask_person(distribution: str) -> bool:
    """Ask at the terminal; anything but yes is no. Cancelled, it leaves what is typed for others."""
    loop = asyncio.get_running_loop()
    typed = asyncio.Event()
    click.echo(question(distribution), nl=False, err=True)
    loop.add_reader(sys.stdin.fileno(), typed.set)
    try:
        await typed.wait()
    finally:
        loop.remove_reader(sys.stdin.fileno())
    return is_yes(sys.stdin.readline())


def ask_person_now(distribution: str) -> bool:
    """The same for callers without an event loop."""
    click.echo(question(distribution), nl=False, err=True)
    return is_yes(sys.stdin.readline())


def is_yes(line: str) -> bool:
    """Whether the answer that was typed means yes."""
    return line.strip().lower() in _YES


def read_text_argument(given: str, what: str) -> str:
    """`given`, or the content of FILE where it is `@FILE`. Raises ConfigError, which calls it `what`."""
    if not given.startswith("@"):
        return given
    return read_text_file(Path(given[1:]), what)


def read_text_file(file: Path, what: str) -> str:
    """The content of a file, `-` for standard input. Raises ConfigError, which calls it `what`."""
    try:
        data = sys.stdin.buffer.read(MOST_NAMED + 1) if str(file) == "-" else read_named(file)
        if len(data) > MOST_NAMED:
            raise ConfigError(f"{what}: standard input is longer than {MOST_NAMED >> 20} MiB")
        return data.decode("utf-8-sig")
    except OSError as error:
        raise ConfigError(f"{what}: cannot read {file}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise ConfigError(f"{what}: {file} is not UTF-8 text (its byte {error.start}); convert it to UTF-8") from None


def write_file(file: Path, content: str | bytes) -> None:
    """Write a file. Raises WorkspaceError."""
    with explain_os_errors("write", file):
        if isinstance(content, str):
            file.write_text(content, encoding="utf-8")
        else:
            file.write_bytes(content)


# Options about a study: which one, where it is kept, and how it is run.

STUDIES = Path("studies")
_AT_ONCE = 4  # runs, of each worker

_STUDY_OPTIONS = (
    click.option("--ledger", "ledger_url", metavar="PATH_OR_URL", default=str(STUDIES / "ledger.sqlite"),
                 show_default=True, help="A SQLite file, or the address of a database, e.g. postgresql://host/name."),
    click.option("--folder", type=click.Path(path_type=Path),
                 help="Folder of the study's runs. [default: studies/NAME]"),
)
_VARIANT_OPTIONS = (
    click.option("--only", multiple=True, metavar="PATTERN",
                 help="Only variants whose name matches, e.g. 'chatdev without*'."),
    click.option("--set", "sets", multiple=True, metavar="PATH=VALUE", help="Change a field of every company's YAML."),
    click.option("--model", "models", multiple=True,
                 help="Model of all companies; give it several times to compare models."),
    click.option("--repeats", type=click.IntRange(min=1), default=1, show_default=True, metavar="N",
                 help="How often each task is run with each variant; a greater number adds runs."),
    provider_option,
    click.option("--base-url", help="An OpenAI-compatible endpoint."),
    click.option("--sandbox", type=click.Choice(SANDBOXES), help="Where programs run. [default: bubblewrap]"),
    trust_option,
)
_LIMIT_OPTIONS = (
    click.option("--max-cost", type=click.FloatRange(min=0), metavar="USD",
                 help="Stop before the study costs more than this many US dollars."),
    click.option("--max-tokens", type=click.IntRange(min=1), metavar="N",
                 help="Stop before it has used more tokens than this."),
    click.option("--requests-per-minute", type=click.FloatRange(min=0, min_open=True), metavar="N",
                 help="The provider's limit, kept by all runs together."),
    click.option("--tokens-per-minute", type=click.FloatRange(min=0, min_open=True), metavar="N",
                 help="The same for tokens."),
    click.option("--retry-failed", is_flag=True, help="Try failed jobs again."),
    click.option("--quiet", is_flag=True, help="No progress bar."),
)
_DRY_RUN_OPTION = click.option("--dry-run", is_flag=True,
                               help="Show how many runs there are and what they may cost; run nothing.")
_ENGINE_OPTIONS = (
    click.option("--engine", type=click.Choice(["local", "ray"]), default="local", show_default=True,
                 help="Work in this process, or by workers on the machines of a Ray cluster."),
    click.option("--ray-workers", type=click.IntRange(min=1), metavar="N",
                 help="How many worker processes. [default: one per machine, at least two if there are CPUs]"),
    click.option("--ray-address", metavar="HOST:PORT",
                 help="Address of the cluster's head. [default: RAY_ADDRESS, else a cluster of this machine alone]"),
    click.option("--at-once", type=click.IntRange(min=1), metavar="N",
                 help="Runs at a time, for all workers together. [default: 4 per worker; 1 with the local model]"),
)


STUDY_NAME = ("--study", "Name of the study; several may share a ledger.")


def study_options(command: Callable[..., Any], name: str = "srdd",
                  option: tuple[str, str] = STUDY_NAME) -> Callable[..., Any]:
    """Add `--study` (whose default is `name`), `--ledger` and `--folder`; `option` is what the first is called, and its
    help."""
    flag, told = option
    add = click.option(flag, "study", default=name, show_default=True, metavar="NAME", help=told)
    extended: Callable[..., Any] = add(_with_options(command, _STUDY_OPTIONS))
    return extended


@dataclass(frozen=True, slots=True)
class StudyOptions:
    """What a command that runs a study was given about it; a field has the name of its option."""

    study: str
    ledger_url: str
    folder: Path | None
    only: Sequence[str]
    sets: Sequence[str]
    models: Sequence[str]
    repeats: int
    provider: str | None
    base_url: str | None
    sandbox: str | None
    trust: bool
    engine: str
    ray_workers: int | None
    ray_address: str | None
    at_once: int | None
    max_cost: float | None
    max_tokens: int | None
    requests_per_minute: float | None
    tokens_per_minute: float | None
    retry_failed: bool
    quiet: bool
    dry_run: bool = False

    @property
    def runs(self) -> Path:
        """Where the runs are. Raises ConfigError."""
        return runs_folder(self.folder, self.study)

    def jobs_at_once(self, workers: int, *, local: bool) -> int:
        """Of so many workers together; `local`: a company of the study works with the local model."""
        return self.at_once or (1 if local else _AT_ONCE * workers)

    def check(self) -> None:
        """Raise ConfigError for options of one engine that are given with another, and for a name of the study that can
        be no folder's."""
        runs_folder(self.folder, self.study)
        for option, value in (("--ray-workers", self.ray_workers), ("--ray-address", self.ray_address)):
            if self.engine != "ray" and value:
                raise ConfigError(f"{option} is of use with --engine ray only; add that, or leave it out")


def running_options(study: str, option: tuple[str, str] = STUDY_NAME, *,
                    known: bool = True) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add the options about variants, the ledger (`study` is the default name, `option` as in `study_options`), the
    engine and limits; the command gets them as one `StudyOptions`, and its own ones by name. `known`: its runs are
    known before the first, so that there is `--dry-run`."""
    def add(command: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(command)
        def run(**given: Any) -> Any:
            options = {each.name: given.pop(each.name) for each in fields(StudyOptions) if each.name in given}
            return command(StudyOptions(**options), **given)

        ours = _with_options(_DRY_RUN_OPTION(run) if known else run, (*_ENGINE_OPTIONS, *_LIMIT_OPTIONS))
        return _with_options(study_options(ours, study, option), _VARIANT_OPTIONS)

    return add


def _with_options(command: Callable[..., Any], options: Sequence[Callable[..., Any]]) -> Callable[..., Any]:
    for option in reversed(options):
        command = option(command)
    return command


def open_ledger(ledger_url: str, study: str) -> Ledger:
    """The ledger of a study. Raises MissingProgram without the extra."""
    try:
        from chatdev.batch.ledger import Ledger
    except ImportError as error:
        raise MissingProgram(f"`chatdev eval` needs {error.name}: pip install 'chatdev-chain[eval]'") from error
    return Ledger(ledger_url, study)


def open_existing_ledger(ledger_url: str, study: str) -> Ledger:
    """The ledger of a study that was begun before. Raises ConfigError when there is none."""
    if "://" not in ledger_url and not Path(ledger_url).is_file():
        raise ConfigError(f"there is no ledger {ledger_url}; begin a study with `chatdev eval srdd`, or give another "
                          "--ledger")
    return open_ledger(ledger_url, study)


def runs_folder(folder: Path | None, study: str) -> Path:
    """Where the runs of a study are. Raises ConfigError for a name that can be no folder's."""
    if folder is None and (not study.strip() or study != Path(study).name or study.startswith(".")):
        raise ConfigError(f"--study {study!r} cannot name a folder; take letters, digits and -, or give --folder")
    return (folder or STUDIES / study).absolute()


def split_names(_: click.Context, __: click.Parameter, value: str | None) -> list[str]:
    """The entries of an option whose value is `A,B,C`."""
    return [entry.strip() for entry in (value or "").split(",") if entry.strip()]
