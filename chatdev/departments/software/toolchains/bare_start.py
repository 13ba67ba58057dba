"""Whether a Python program that crashed when it was started with nothing lacked only what its users give it: arguments,
input, or a file of theirs. A right program need not expect to get nothing.

What it lacks is found by trying: it is started once more with arguments and lines, and fails otherwise or not at all.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace

from chatdev.departments.software.reading.static import all_written_names
from chatdev.sandbox.base import Execution, SandboxJob
from chatdev.workspace.python_errors import Trace, last_traceback

_ARGUMENTS = ("1",) * 8
_INPUT = "1 1\n" * 8
_READS_ARGUMENTS = re.compile(rb"\bargv\b")
_READS_INPUT = re.compile(rb"\bstdin\b|\binput\(|\bfileinput\b")
_MISTAKES = {"NameError", "UnboundLocalError", "AttributeError", "ImportError", "ModuleNotFoundError", "SyntaxError",
             "RecursionError", "NotImplementedError"}
"""What no input explains."""
_NO_SUCH_FILE = re.compile(r"FileNotFoundError: .*: '(?P<name>[^'/\\]+)'$")


def rule_of_lack(execution: Execution, files: Mapping[str, bytes], job: SandboxJob,
                 run: Callable[[SandboxJob], Execution]) -> str | None:
    """The rule for a program that crashed when `job` started it with nothing, where it only lacked something; None
    where it is wrong. `run` starts it again."""
    trace = last_traceback(execution.stderr)
    if trace is None or trace.kind in _MISTAKES:
        return None
    if (found := _NO_SUCH_FILE.match(trace.exception)) and _is_only_read(found["name"], files):
        return "lacks_file"
    return "lacks_input" if _fails_otherwise(trace, files, job, run) else None


def _fails_otherwise(trace: Trace, files: Mapping[str, bytes], job: SandboxJob,
                     run: Callable[[SandboxJob], Execution]) -> bool:
    """Whether the program, given what it reads, does not fail in the same way, nor by a plain mistake."""
    takes_arguments, takes_input = (any(map(pattern.search, files.values()))
                                    for pattern in (_READS_ARGUMENTS, _READS_INPUT))
    if not (takes_arguments or takes_input):
        return False
    given = replace(job, argv=[*job.argv, *(_ARGUMENTS if takes_arguments else ())],
                    stdin=_INPUT if takes_input else None)
    other = last_traceback(run(given).stderr)
    return other is None or (other.kind not in _MISTAKES and _failure(other) != _failure(trace))


def _failure(trace: Trace) -> tuple[object, ...]:
    """By what a failure is known again: where it happened, and how."""
    return (*((frame.path, frame.line) for frame in trace.frames), trace.exception)


def _is_only_read(name: str, files: Mapping[str, bytes]) -> bool:
    """Whether the program nowhere writes a file of this name: then it is its user who has it. One that it keeps itself
    may be missing at the first start, and a program must expect that."""
    written = all_written_names(files)
    return name not in files and name not in written and "" not in written
