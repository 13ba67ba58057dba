"""A group of commands to which departments add theirs; all are imported when they are called, and not before."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from chatdev.cli.outcome import report_outcome
from chatdev.department import Command, Offer, Table, explain_absence, load, offers
from chatdev.errors import ChatDevError, ConfigError


class OpenGroup(click.Group):
    """A group with its own commands, and those that stand in a `table` of departments."""

    def __init__(self, *arguments: Any, table: Table, own: Mapping[str, Command] | None = None,
                 **attributes: Any) -> None:
        super().__init__(*arguments, **attributes)
        self._table: Table = table
        self._own = {name: Offer(row) for name, row in (own or {}).items()}

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All names; a department's command that has the name of an own one is not there."""
        return sorted({*super().list_commands(ctx), *self._own, *offers(self._table)})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command, without importing it; None if there is none."""
        if own := super().get_command(ctx, cmd_name):
            return own
        offer = self._own.get(cmd_name) or offers(self._table).get(cmd_name)
        return _LazyCommand(cmd_name, offer) if offer else None

    def resolve_command(self, ctx: click.Context,
                        args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that is meant; where there is none, the error names the departments that cannot be used."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            if unusable := explain_absence():
                raise click.UsageError(f"{error.message.rstrip('.')}{unusable}", ctx) from None
            raise


class _LazyCommand(click.Command):
    """Stands for a command until it is called."""

    def __init__(self, name: str, offer: Offer) -> None:
        row: Command = offer.value
        super().__init__(name, short_help=offer.problem or row.about)
        self._path, self._problem = row.path, offer.problem

    def make_context(self, info_name: str | None, args: list[str], parent: click.Context | None = None,
                     **extra: Any) -> click.Context:
        """The context of the command itself."""
        try:
            command = self._import()
        except ChatDevError as error:
            command = _fail_with(error)
        return command.make_context(info_name, args, parent, **extra)

    def _import(self) -> click.Command:
        if self._problem:
            raise ConfigError(self._problem)
        command = load(self._path, f"the command {self.name!r}")
        if not isinstance(command, click.Command):
            raise ConfigError(f"the command {self.name!r}: {self._path} is no click command, but "
                              f"{type(command).__name__}; uninstall or mend its package")
        return command


def _fail_with(error: ChatDevError) -> click.Command:
    """A command that takes whatever it is given, and fails."""
    @click.command(add_help_option=False, context_settings={"ignore_unknown_options": True, "allow_extra_args": True})
    @report_outcome
    def fail() -> int:
        raise error

    return fail
