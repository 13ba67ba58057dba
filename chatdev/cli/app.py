"""The command `chatdev` and its subcommands, to which departments add theirs; each is imported when it is called, and
not before."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import click
import colorama

from chatdev.cli.outcome import (
    debug_option,
    heed_signals,
    interrupted_status,
    lasting_output,
    open_closed_streams,
    report_outcome,
)
from chatdev.department import Command, Offer, Table, explain_absence, load, offers
from chatdev.errors import ChatDevError, ConfigError
from chatdev.version import __version__

# A group of commands to which departments add theirs; all are imported when they are called, and not before.


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


# The command `chatdev` and its subcommands.

EXIT_CODES = """\b
Exit codes:
  0    success
  1    no success: the final test did not pass, or a phase has no solution
  2    wrong input: company, setting, task, a folder that is no run, or
       no model configured
  3    a model call failed, also when repeated; what was made is kept
  4    a tool or the sandbox is missing or failed, or nothing confirms the
       software (status unjudged)
  5    the disk or the journal failed, or nothing took the output
  6    a budget (--max-…) is used up; `chatdev resume` continues
  7    `chatdev plc`: a property is neither proved nor refuted
  70   an error in chatdev itself
  130  stopped with Ctrl-C (143 by SIGTERM, 129 by SIGHUP); what was made is kept
`chatdev play` exits with the exit code of the program.
"""


OWN: Mapping[str, Command] = {
    "run": Command("chatdev.cli.run_commands:run", "Let a company build TASK."),
    "resume": Command("chatdev.cli.run_commands:resume", "Resume the run in DIR where it stopped."),
    "answer": Command("chatdev.cli.people:command", "Answer what a run asks a person."),
    "replay": Command("chatdev.cli.run_commands:replay", "Play a run again, without any model, network or program."),
    "view": Command("chatdev.cli.show:view_command", "Show runs in a browser, live and as replays."),
    "trace": Command("chatdev.cli.show:trace_command", "Send the spans of a run to an OTLP endpoint, or write them."),
    "patch": Command("chatdev.cli.run_commands:patch", "Print what a run changed of the software that was handed in."),
    "apply": Command("chatdev.cli.run_commands:apply", "Put what a run changed into the folder that was handed in."),
    "export": Command("chatdev.cli.run_commands:export", "Write the software of a run into a zip file or a folder."),
    "companies": Command("chatdev.cli.company_commands:list_companies", "List the companies with their phases."),
    "check": Command("chatdev.cli.company_commands:check_company", "Validate COMPANY, a name or a path."),
    "new": Command("chatdev.cli.company_commands:new_command", "Begin a company or a tool of your own."),
    "trust": Command("chatdev.cli.company_commands:command", "Let a company, a run or a .env name addresses and keys."),
    "completion": Command("chatdev.cli.company_commands:completion_command",
                          "Print the script that completes commands in a shell."),
    "doctor": Command("chatdev.cli.doctor:command", "Show what works on this machine, and how to install the rest."),
    "eval": Command("chatdev.cli.evaluate:command", "Measure companies on data sets, compare them, and report."),
    "mcp": Command("chatdev.cli.mcp.server:command", "Offer companies and tools to coding agents, as an MCP server."),
    "model": Command("chatdev.cli.doctor:model_command", "Download the small local model."),
}
"""Commands of the core. Each brings the library with it, and is imported when it is called."""


@click.group("chatdev", cls=OpenGroup, table="commands", own=OWN, epilog=EXIT_CODES,
             context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@debug_option
@click.version_option(__version__, prog_name="chatdev")
def command_line() -> None:
    """A company of language-model agents that builds software by a chat chain."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Entry point of the command line."""
    colorama.just_fix_windows_console()
    open_closed_streams()
    with heed_signals(), lasting_output():
        try:
            # Colours are for terminals (click sees to that), and for nobody who says NO_COLOR.
            command_line(args=arguments, prog_name="chatdev", color=False if os.environ.get("NO_COLOR") else None)
        except KeyboardInterrupt:  # before a command has begun
            sys.exit(interrupted_status())
