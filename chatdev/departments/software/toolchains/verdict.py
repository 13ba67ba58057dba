"""From how a program, or the tests that software brings with it, ended to the verdict that agents read: the rule that
applies, the report."""

from __future__ import annotations

import re
import signal
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import PurePosixPath
from typing import Any

from chatdev.departments.software import knowledge
from chatdev.sandbox.base import Execution
from chatdev.tools.base import ToolContext, Verdict, template
from chatdev.workspace.file_tree import is_test
from chatdev.workspace.python_errors import Trace, excerpt, last_traceback, stable_text

_FRAMES = 6
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


def _tail(text: str, lines: int = 15, characters: int = 1500) -> str:
    """The last lines that matter."""
    return "\n".join(text.strip().splitlines()[-lines:])[-characters:]


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


# The tests that software brings with it, run as its authors would.

TEST_SECONDS = 60.0
_PYTEST = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "--tb=short", "-rfE", "--color=no",
           "--continue-on-collection-errors")
_FAILED = re.compile(r"^(?:(?:FAILED |ERROR (?=\S+\.py))(?P<pytest>[^\s(]\S*)"
                     r"|(?:FAIL|ERROR): (?P<unittest>\S+ \([\w.]+\)))", re.MULTILINE)
_NOT_IMPORTED = re.compile(r"^(?:_+ ERROR collecting (?P<pytest>.+?) _+"
                           r"|ERROR: (?P<unittest>\S+ \(unittest\.loader\._FailedTest[\w.]*\)))$"
                           r"(?P<why>.*?)(?=^_+ [A-Z]|^=|\Z)", re.MULTILINE | re.DOTALL)
_NO_MODULE = re.compile(r"^(?:E +)?ModuleNotFoundError: No module named '(\w+)", re.MULTILINE)
_RAN = re.compile(r"\b[1-9]\d* (?:passed|skipped|xfailed)\b|^Ran (?P<cases>\d+) tests?\b", re.MULTILINE)
_CANNOT_RUN = "No module named pytest"
_RAN_NONE = re.compile(r"^Ran 0 tests|^no tests ran|^NO TESTS RAN", re.MULTILINE)
_MOST_NAMED = 500  # files of tests on one command line


@dataclass(frozen=True, slots=True)
class OwnTests:
    """How the tests went that `command` runs: `passed` is None where they could not be run; `failed` are the names of
    those that do not hold, `lacking` those of files of tests that import a module that is not here, with its name, and
    `said` is the end of what was printed, or why they could not be run. `builds`: nothing is tested but that it can be
    built."""

    command: str
    passed: bool | None
    failed: tuple[str, ...] = ()
    said: str = ""
    lacking: Mapping[str, str] = field(default_factory=dict)
    builds: bool = False


def python_tests(files: Mapping[str, bytes]) -> tuple[str, ...]:
    """What follows the interpreter to run the tests of software in Python; empty where it has none. unittest runs its
    own test cases, and pytest all others."""
    paths = _python_test_files(files)
    if not paths:
        return ()
    if b"django" in files.get("manage.py", b"").lower():
        return ("manage.py", "test")
    if len(paths) > _MOST_NAMED:
        return _PYTEST
    is_plain = all(re.search(rb"\bTestCase\b", files[path]) and b"pytest" not in files[path] for path in paths)
    return ("-m", "unittest", "-b", *paths) if is_plain else (*_PYTEST, *paths)


def _python_test_files(files: Mapping[str, bytes]) -> list[str]:
    """The files that have tests in Python."""
    return sorted(path for path, data in files.items() if path.endswith(".py") and is_test(path)
                  and PurePosixPath(path).name != "conftest.py" and re.search(rb"^\s*(?:async )?def test", data, re.M))


def judge_python_tests(command: str, execution: Execution, own: Collection[str] = ()) -> OwnTests | None:
    """How the tests of a Python program went; None where there was none to run. Status 1 is that of tests that fail.
    `own` are the names of its own modules: tests that cannot import one of these fail."""
    said = f"{execution.stdout}\n{execution.stderr}"
    if _RAN_NONE.search(said):
        return None
    if execution.exit_status == 0:
        return OwnTests(command, passed=True)
    named, lacking = _names_of(_FAILED, said), _lacking_modules(said, own)
    if execution.exit_status != 1 or not named or _CANNOT_RUN in said:
        return OwnTests(command, None, said=_reason(execution, said))
    if failed := tuple(name for name in named if name not in lacking):
        return OwnTests(command, passed=False, failed=failed, said=_tail(said, 30, 2000), lacking=lacking)
    return OwnTests(command, passed=_ran_some(said, len(lacking)) or None, said=_tail(said, 30, 2000), lacking=lacking)


def _names_of(pattern: re.Pattern[str], said: str) -> list[str]:
    """What is named in the words of pytest or of unittest, each once."""
    return list(dict.fromkeys(found["pytest"] or found["unittest"] for found in pattern.finditer(said)))


def _lacking_modules(said: str, own: Collection[str]) -> dict[str, str]:
    """The files of tests that import a module which is not here, and is none of the `own`, with its name."""
    missing = {found["pytest"] or found["unittest"]: _NO_MODULE.findall(found["why"])[-1:]
               for found in _NOT_IMPORTED.finditer(said)}
    return {name: module[0] for name, module in missing.items() if module and module[0] not in own}


def _ran_some(said: str, lacking: int) -> bool:
    """Whether more was run than the files of tests that cannot be imported, which unittest counts as tests."""
    return any(found["cases"] is None or int(found["cases"]) > lacking for found in _RAN.finditer(said))


def judge_tests(command: str, execution: Execution, failed: Sequence[str], *, builds: bool = False) -> OwnTests:
    """How the tests of software in another language went, or how it was built; `failed` are the names of those that do
    not hold, as far as they are told."""
    said = f"{execution.stdout}\n{execution.stderr}"
    if execution.exit_status == 0:
        return OwnTests(command, passed=True, builds=builds)
    if execution.exit_status is None or execution.exit_status > 125:
        return OwnTests(command, None, said=_reason(execution, said), builds=builds)
    names = tuple(dict.fromkeys(failed)) or (command,)
    return OwnTests(command, passed=False, failed=names, said=_tail(said, 30, 2000), builds=builds)


def _reason(execution: Execution, said: str) -> str:
    if execution.timed_out:
        return f"they did not come to their end in {TEST_SECONDS:.0f} seconds"
    return f"they took too much {execution.exceeded}" if execution.exceeded else _tail(said, 30, 2000)
