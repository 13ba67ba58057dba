"""From how a program ended to the verdict that agents read: the rule that applies, the report.

A report is short, and the same whenever the same thing happened.
"""

from __future__ import annotations

import re
import signal
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from chatdev.departments.software import knowledge
from chatdev.sandbox.base import Execution
from chatdev.tools.base import ToolContext, Verdict, template
from chatdev.workspace.python_errors import Trace, excerpt, last_traceback, stable_text

_FRAMES = 6
_TAIL_LINES, _TAIL_CHARACTERS = 15, 1500
_NO_ERROR: Mapping[str, Any] = {"errors": (), "frames": (), "exception": "", "stderr": "", "compiler": ""}
_PYTHON: Mapping[str, Any] = {"language": "Python", "expected": "main.py"}  # what a finding speaks of by default

NO_DISPLAY = 97
"""Exit status of the display wrapper (`display.sh`) when the display did not come up."""
_READS_ARGUMENTS = re.compile(rb"\b(?:argv|argparse|optparse|getopt|click|typer|docopt|os\.Args|String(?:\[\]|\.\.\.) "
                              rb"args|env::args)\b|\$[1@*#]")
"""How programs in the languages that we run get at their arguments."""
_READS_INPUT = re.compile(rb"\b(?:sys\.stdin|fileinput|is_file|isfile|exists|read_text)\b|\b(?:input|open)\(")
"""How programs in Python get at what is typed, and at files."""
_REFUSALS = (1, 2)
"""Exit statuses by which programs refuse what they were given."""
_USAGE = re.compile(r"\busage\b", re.IGNORECASE)
_PROGRAM = r"python[\d.]*[ \t]+-m\b|\./|(?:[A-Za-z]\w*[ \t]+)?[\w./-]*\w\.(?:py|js|sh)\b(?![ \t]+\d)"
_TO_FILL_IN = r"(?:[a-z][\w-]*[ \t]+)*(?:<\w|\[-{0,2}[A-Za-z])|(?:[a-z][\w-]*[ \t]+)+[A-Z]{2}"
_USAGE_FORM = re.compile(rf"(?:^|[.!?:;])[ \t]*(?i:usage):\s*(?:{_PROGRAM}|{_TO_FILL_IN})", re.MULTILINE)
"""`usage:` and a program to start, or words of which some are to be filled in: `<task>`, `[options]`, `TASK`."""
_EMPTY_FILE = re.compile(r"Ran out of input|EOF read where")  # what pickle and marshal say of a file without content


@dataclass(frozen=True, slots=True)
class Finding:
    """Which rule applies, what the report says of it, and what machines may want to know."""

    rule: str
    facts: Mapping[str, Any] = field(default_factory=dict)
    evidence: Mapping[str, Any] = field(default_factory=dict)

    @property
    def said(self) -> str:
        """All that a start wrote."""
        return "\n".join(self.facts.get("streams", ()))


def is_given(context: ToolContext) -> bool:
    """Whether the software was there before the run."""
    return "given" in context.values


def prior_state(context: ToolContext) -> Mapping[str, Any]:
    """What `software.given` has said of it: the names of tests that `failed`, and of modules that were `missing`."""
    given = context.values.get("given")
    return given if isinstance(given, Mapping) else {}


def shows_usage(finding: Finding) -> bool:
    """Whether a program tells how it is used. Usage may also be what it is about, such as that of electricity: one that
    ends well tells how it is used by a form of its commands alone."""
    ended_well = finding.facts.get("exit_status") in (0, None)
    return bool((_USAGE_FORM if ended_well else _USAGE).search(finding.said))


def verdict(finding: Finding) -> Verdict:
    """The verdict of the rule in `rules.yaml`, with its report."""
    rule = knowledge.rules()[finding.rule]
    facts = {"command": "", "stdout": "", "reasons": {}, **_PYTHON, **_NO_ERROR, **finding.facts}
    if rule["passed"]:
        facts |= _NO_ERROR  # what a passing program says on stderr is no concern of its programmer
    says = template(rule["says"]).render(facts).strip()
    report = template(knowledge.report_template()).render(facts, says=says).strip()
    return Verdict(rule["passed"], report, float(rule["score"]), {"rule": finding.rule, **finding.evidence},
                   judged=rule.get("judged", True))


def facts_of(execution: Execution, files: Mapping[str, bytes], places: Mapping[str, str]) -> dict[str, Any]:
    """What a report says of an execution. `places` maps folders that differ from run to run to what is shown."""
    stderr = stable_text(execution.stderr, places)
    trace = last_traceback(stderr)
    return {
        "exit_status": execution.exit_status, "signal": _signal_name(execution.signal),
        "still_running": execution.timed_out, "exceeded": execution.exceeded,
        "frames": _own_frames(trace, files), "exception": trace.exception if trace else "",
        "stderr": "" if trace else _tail(stderr), "stdout": _tail(stable_text(execution.stdout, places)),
        "streams": (execution.stdout, execution.stderr),
    }


def _signal_name(number: int | None) -> str:
    return signal.Signals(number).name if number in set(signal.Signals) else str(number)


def _own_frames(trace: Trace | None, files: Mapping[str, bytes]) -> Sequence[Mapping[str, Any]]:
    """The innermost frames in the software itself, or the innermost ones of all when none are; the last one with the
    function around its line."""
    if trace is None:
        return ()
    own = [frame for frame in trace.frames if frame.path in files] or list(trace.frames[-2:])
    frames = [{**asdict(frame), "excerpt": ""} for frame in own[-_FRAMES:]]
    if own:
        frames[-1]["excerpt"] = excerpt(files, own[-1].path, own[-1].line)
    return frames


def _tail(text: str) -> str:
    """The last lines that matter."""
    return "\n".join(text.strip().splitlines()[-_TAIL_LINES:])[-_TAIL_CHARACTERS:]


def rule_of(execution: Execution, files: Mapping[str, bytes]) -> str:
    """The name of the rule for a program that was started with no input and no arguments.

    One that took more than it may has failed, whatever it wrote meanwhile.
    A traceback on stderr is a failure even when the program goes on or ends with 0, except for the EOFError of an
    `input()` that found no input. Without one, a program that is alive at its time limit has started; one that ends
    with a usage text wants arguments, and so does one that reads its arguments and, without any, ends with a message
    and a status of 1 or 2; one that reads files or what is typed may end so, too.
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
    if trace.kind == "EOFError" and not _EMPTY_FILE.search(trace.exception):
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
    if execution.exit_status not in _REFUSALS or not said.strip():
        return "failed_status"
    if any(map(_READS_ARGUMENTS.search, files.values())):
        return "refuses_nothing"
    programs = (text for path, text in files.items() if path.endswith(".py"))
    return "refuses_no_input" if any(map(_READS_INPUT.search, programs)) else "failed_status"
