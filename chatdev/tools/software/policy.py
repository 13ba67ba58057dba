"""From how a program ended to which rule applies (the rules and their words are in `rules.yaml`)."""

from __future__ import annotations

import re
from collections.abc import Mapping

from chatdev.sandbox.base import Execution
from chatdev.tools.software.trace import Trace, last_traceback

NO_DISPLAY = 97
"""Exit status of the display wrapper (`display.sh`) when the display did not come up."""

_READS_ARGUMENTS = re.compile(rb"\b(?:argv|argparse|optparse|getopt|click|typer|docopt|os\.Args|String(?:\[\]|\.\.\.) "
                              rb"args|env::args)\b|\$[1@*#]")
"""How programs in the languages that we run get at their arguments."""
_REFUSALS = (1, 2)
"""Exit statuses by which programs refuse what they were given."""


def rule_of(execution: Execution, files: Mapping[str, bytes]) -> str:
    """The name of the rule for a program that was started with no input and no arguments.

    One that took more than it may has failed, whatever it wrote meanwhile.
    A traceback on stderr is a failure even when the program goes on or ends with 0, except for the EOFError of an
    `input()` that found no input. Without one, a program that is alive at its time limit has started; one that ends
    with a usage text wants arguments, and so does one that reads its arguments and, without any, ends with a message
    and a status of 1 or 2.
    """
    trace = None if execution.exceeded else last_traceback(execution.stderr)
    return _rule_of_trace(trace) if trace else rule_of_ending(execution, files)


def rule_of_ending(execution: Execution, files: Mapping[str, bytes]) -> str:
    """The rule for a program, in any language, that wrote of no error."""
    if execution.exceeded:
        return "exceeded"
    if execution.timed_out:
        return "started"
    if execution.signal is not None:
        return "killed"
    if execution.exit_status == 0:
        return "clean_exit"
    return _rule_of_status(execution, files)


def missing_module(trace: Trace | None) -> str | None:
    """The top-level name of the module whose absence ended the program."""
    match = re.match(r"ModuleNotFoundError: No module named '([^'.]+)", trace.exception) if trace else None
    return match[1] if match else None


def _rule_of_trace(trace: Trace) -> str:
    if trace.kind == "EOFError":
        return "asks_for_input"
    name = missing_module(trace)
    if name in ("tkinter", "_tkinter"):
        return "no_display"
    return "missing_module" if name else "crashed"


def _rule_of_status(execution: Execution, files: Mapping[str, bytes]) -> str:
    if execution.exit_status == NO_DISPLAY and execution.stderr.endswith("no display\n"):
        return "no_display"
    said = f"{execution.stdout}\n{execution.stderr}"
    if re.search(r"^[ \t]*usage\b", said, re.IGNORECASE | re.MULTILINE):
        return "wants_arguments"
    refuses = execution.exit_status in _REFUSALS and said.strip() and any(map(_READS_ARGUMENTS.search, files.values()))
    return "refuses_nothing" if refuses else "failed_status"
