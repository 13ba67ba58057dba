"""docs/cli.md: the help texts of all commands between hand-written words."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from chatdev.cli.app import command_line

PAGE = Path(__file__).resolve().parents[2] / "docs" / "cli.md"
BEGIN = "<!-- the help texts; scripts/help_docs writes from here to the end -->\n"


def page(written: str) -> str:
    """The page with the help texts as they are now; what stands before them is kept."""
    head, begin, _ = written.partition(BEGIN)
    if not begin:
        raise ValueError(f"{PAGE} has lost the line {BEGIN!r}")
    return head + begin + "".join(_section(context) for context in _contexts())


def _contexts() -> Iterator[click.Context]:
    """Every command, a group before what is in it."""
    yield from _below(command_line().make_context("chatdev", [], resilient_parsing=True, terminal_width=100))


def _below(context: click.Context) -> Iterator[click.Context]:
    yield context
    if isinstance(group := context.command, click.Group):
        for name in group.list_commands(context):
            command = group.get_command(context, name)
            assert command is not None
            yield from _below(command.make_context(name, [], parent=context, resilient_parsing=True))


def _section(context: click.Context) -> str:
    return f"\n## {context.command_path}\n\n```text\n{context.get_help()}\n```\n"


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
