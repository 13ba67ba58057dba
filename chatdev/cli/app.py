"""The command `chatdev` and its subcommands."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence

import click
import colorama

from chatdev.cli.department_commands import OpenGroup
from chatdev.cli.outcome import debug_option, heed_signals, interrupted_status
from chatdev.cli.output import lasting_output, open_closed_streams
from chatdev.department import Command
from chatdev.version import __version__

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
    "view": Command("chatdev.cli.view:command", "Show runs in a browser, live and as replays."),
    "trace": Command("chatdev.cli.trace:command", "Send the spans of a run to an OTLP endpoint, or write them."),
    "patch": Command("chatdev.cli.run_commands:patch", "Print what a run changed of the software that was handed in."),
    "apply": Command("chatdev.cli.run_commands:apply", "Put what a run changed into the folder that was handed in."),
    "export": Command("chatdev.cli.run_commands:export", "Write the software of a run into a zip file or a folder."),
    "companies": Command("chatdev.cli.company_commands:list_companies", "List the companies with their phases."),
    "check": Command("chatdev.cli.company_commands:check_company", "Validate COMPANY, a name or a path."),
    "new": Command("chatdev.cli.new_commands:command", "Begin a company or a tool of your own."),
    "trust": Command("chatdev.cli.company_commands:command", "Let a company, a run or a .env name addresses and keys."),
    "completion": Command("chatdev.cli.completion:command", "Print the script that completes commands in a shell."),
    "doctor": Command("chatdev.cli.doctor:command", "Show what works on this machine, and how to install the rest."),
    "eval": Command("chatdev.cli.evaluate:command", "Measure companies on data sets, compare them, and report."),
    "mcp": Command("chatdev.cli.mcp.command:command", "Offer companies and tools to coding agents, as an MCP server."),
    "model": Command("chatdev.cli.model:command", "Download the small local model."),
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
