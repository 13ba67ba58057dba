"""`chatdev completion`: the script by which a shell completes commands and options, and the names of companies."""

from __future__ import annotations

import click
from click.shell_completion import CompletionItem, get_completion_class

from chatdev.cli.outcome import report_outcome
from chatdev.errors import ChatDevError

_SHELLS = ("bash", "zsh", "fish")


@click.command("completion")
@click.argument("shell", type=click.Choice(_SHELLS))
@report_outcome
def command(shell: str) -> int:
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
