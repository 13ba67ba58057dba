"""The command `chatdev` and its subcommands."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

import click
import colorama

from chatdev.cli.department_commands import OpenGroup
from chatdev.cli.outcome import debug_option, heed_signals, interrupted_status
from chatdev.cli.output import lasting_output, open_closed_streams
from chatdev.version import __version__

EXIT_CODES = """\b
Exit codes:
  0    success
  1    the run ended without success: its final test did not pass, or a phase ended without its solution
  2    wrong input: company, setting, task, or no model configured
  3    a model call failed, also when repeated; the files written so far are kept
  4    a tool or the sandbox is missing or failed, or nothing confirms the software (status unjudged)
  5    the disk or the journal failed, or what the command prints could not be written
  6    a budget (--max-…) is used up; `chatdev resume` continues
  7    `chatdev plc`: a property is neither proved nor refuted
  70   an error in chatdev itself
  130  stopped with Ctrl-C (143 by SIGTERM, 129 by SIGHUP); the files written so far are kept
`chatdev play` exits with the exit code of the program.
"""


@click.group(cls=OpenGroup, table="commands", epilog=EXIT_CODES,
             context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@debug_option
@click.version_option(__version__, prog_name="chatdev")
def chatdev() -> None:
    """A company of language-model agents that builds software by a chat chain."""


def command_line() -> click.Group:
    """The command with its subcommands; ours bring the library with them, so they are imported here, and those of
    departments where they are called."""
    from chatdev.cli import changes, company_commands, doctor, evaluate, model
    from chatdev.cli.company_commands import check_company, list_companies
    from chatdev.cli.run_commands import replay, resume, run

    for command in (run, resume, replay, changes.patch, changes.apply, list_companies, check_company, model.command,
                    doctor.command, evaluate.command, company_commands.command):
        chatdev.add_command(command)
    return chatdev


def main(arguments: Sequence[str] | None = None) -> None:
    """Entry point of the command line."""
    colorama.just_fix_windows_console()
    open_closed_streams()
    with heed_signals(), lasting_output():
        try:
            # Colours are for terminals (click sees to that), and for nobody who says NO_COLOR.
            command_line()(args=arguments, prog_name="chatdev", color=False if os.environ.get("NO_COLOR") else None)
        except KeyboardInterrupt:  # before a command has begun
            sys.exit(interrupted_status())
