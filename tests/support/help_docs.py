"""docs/reference/: the help texts of all commands, a page for each and an index."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby
from pathlib import Path

import click

from chatdev.cli.app import command_line

PAGE = Path(__file__).resolve().parents[2] / "docs" / "cli.md"
REFERENCE = PAGE.parent / "reference"
INDEX = "README.md"
_HEAD = ("All commands, as their help texts have them; written by `scripts/help_docs`.\n"
         "[The command line](../cli.md) says what they have in common.\n")
_CELL = 400  # characters that a command's short help may have in the index


def pages() -> Mapping[str, str]:
    """Text of each page of docs/reference/ by its name."""
    contexts = sorted(_contexts(), key=_page_name)  # stable: within a page a group comes before what is in it
    texts = {name: f"# {_title(name)}\n{''.join(map(_section, found))}"
             for name, found in groupby(contexts, _page_name)}
    rows = "".join(f"| [`{context.command_path}`]({_page_name(context)}#{context.command_path.replace(' ', '-')}) "
                   f"| {context.command.get_short_help_str(_CELL)} |\n" for context in _contexts())
    return {INDEX: f"# Reference of the commands\n\n{_HEAD}\n| command | what it does |\n|---|---|\n{rows}", **texts}


def _contexts() -> Iterator[click.Context]:
    """Every command, a group before what is in it."""
    yield from _below(command_line.make_context("chatdev", [], resilient_parsing=True, terminal_width=100))


def _below(context: click.Context) -> Iterator[click.Context]:
    yield context
    if isinstance(group := context.command, click.Group):
        for name in group.list_commands(context):
            command = group.get_command(context, name)
            assert command is not None
            yield from _below(command.make_context(name, [], parent=context, resilient_parsing=True))


def _page_name(context: click.Context) -> str:
    """Page of the first-level command; what is below a group is on its page."""
    while context.parent is not None and context.parent.parent is not None:
        context = context.parent
    return f"{context.info_name}.md"


def _title(page: str) -> str:
    name = Path(page).stem
    return name if name == "chatdev" else f"The command {name}"


def _section(context: click.Context) -> str:
    return f"\n## {context.command_path}\n\n```text\n{context.get_help()}\n```\n"


if __name__ == "__main__":
    written = pages()
    for stale in {path.name for path in REFERENCE.iterdir()} - written.keys():
        (REFERENCE / stale).unlink()
    for name, text in written.items():
        (REFERENCE / name).write_text(text, encoding="utf-8")
