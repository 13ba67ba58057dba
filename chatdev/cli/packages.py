"""Packages that programs import: the options about them, and the question whether one may be installed."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from typing import Any

import click

_YES = ("y", "yes")

install_option = click.option(
    "--install", type=click.Choice(["auto", "ask", "never"]),
    help="Whether packages that programs import are installed, in the sandbox. [default: auto, or as before]")
_runtime_option = click.option(
    "--runtime", metavar="NAME", help="A set of packages that programs always find, e.g. `top`; prepared once.")


def package_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--install` and `--runtime`, named as in `RunOptions`."""
    return install_option(_runtime_option(command))


def somebody_is_there() -> bool:
    """Whether there is a person to ask: at a terminal that shows the question and takes the answer."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def question(distribution: str) -> str:
    """What is asked about a package."""
    return f"Install the package {distribution}, which the program imports? [y/N] "


async def answered(distribution: str) -> bool:
    """Ask at the terminal; anything but yes is no. Cancelled, it leaves what is typed for others."""
    loop = asyncio.get_running_loop()
    typed = asyncio.Event()
    click.echo(question(distribution), nl=False, err=True)
    loop.add_reader(sys.stdin.fileno(), typed.set)
    try:
        await typed.wait()
    finally:
        loop.remove_reader(sys.stdin.fileno())
    return _is_yes(sys.stdin.readline())


def answered_now(distribution: str) -> bool:
    """The same for callers without an event loop."""
    click.echo(question(distribution), nl=False, err=True)
    return _is_yes(sys.stdin.readline())


def _is_yes(line: str) -> bool:
    return line.strip().lower() in _YES
