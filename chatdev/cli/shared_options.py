"""What several commands take: budgets, packages and the question about one, texts that are read from files, and
files that are written."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from chatdev.errors import ConfigError
from chatdev.plain_file import MOST_NAMED, read_named
from chatdev.workspace.file_tree import explain_os_errors

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


_YES = ("y", "yes")


def _install_option(default: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    return click.option(
        "--install", type=click.Choice(["auto", "ask", "never"]),
        help=f"Whether packages that programs import are installed, in the sandbox. [default: {default}]")


install_option = _install_option("auto")
_install_again_option = _install_option("as before, or stricter by your settings")
_runtime_option = click.option(
    "--runtime", metavar="NAME", help="A set of packages that programs always find, e.g. `top`; prepared once.")
trust_option = click.option(
    "--trust", is_flag=True, help="Consent, this time, to the addresses and keys that the company or .env names.")


def package_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--install` and `--runtime`, named as in `RunOptions`."""
    return install_option(_runtime_option(command))


def resumed_package_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The same for a run that is resumed."""
    return _install_again_option(_runtime_option(command))


def can_ask_person() -> bool:
    """Whether there is a person to ask: at a terminal that shows the question and takes the answer."""
    return sys.stdin.isatty() and sys.stderr.isatty()


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
