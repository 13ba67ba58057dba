"""The tests that software brings with it, run as its authors would."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from chatdev.sandbox.base import Execution
from chatdev.workspace.snapshot import is_test

TEST_SECONDS = 60.0
_PYTEST = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "--tb=short", "-rfE", "--color=no")
_FAILED = re.compile(r"^(?:FAILED (?P<pytest>[^\s(]\S*)|(?:FAIL|ERROR): (?P<unittest>\S+ \([\w.]+\)))", re.MULTILINE)
_CANNOT_RUN = re.compile(r"_FailedTest|No module named pytest")
_RAN_NONE = re.compile(r"^Ran 0 tests|^no tests ran|^NO TESTS RAN", re.MULTILINE)
_MOST_NAMED = 500  # files of tests on one command line
_TAIL_LINES, _TAIL_CHARACTERS = 30, 2000


@dataclass(frozen=True, slots=True)
class OwnTests:
    """How the tests went that `command` runs: `passed` is None where they could not be run; `failed` are the names of
    those that do not hold, and `said` is the end of what was printed, or why they could not be run."""

    command: str
    passed: bool | None
    failed: tuple[str, ...] = ()
    said: str = ""


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


def judge_python_tests(command: str, execution: Execution) -> OwnTests | None:
    """How the tests of a Python program went; None where there was none to run. Status 1 is that of tests that fail."""
    said = f"{execution.stdout}\n{execution.stderr}"
    if _RAN_NONE.search(said):
        return None
    if execution.exit_status == 0:
        return OwnTests(command, passed=True)
    failed = tuple(dict.fromkeys(found[1] or found[2] for found in _FAILED.finditer(said)))
    if execution.exit_status != 1 or not failed or _CANNOT_RUN.search(said):
        return OwnTests(command, None, said=_reason(execution, said))
    return OwnTests(command, passed=False, failed=failed, said=_tail(said))


def judge_tests(command: str, execution: Execution, failed: Sequence[str]) -> OwnTests:
    """How the tests of software in another language went; `failed` are the names of those that do not hold, as far as
    they are told."""
    said = f"{execution.stdout}\n{execution.stderr}"
    if execution.exit_status == 0:
        return OwnTests(command, passed=True)
    if execution.exit_status is None or execution.exit_status > 125:
        return OwnTests(command, None, said=_reason(execution, said))
    return OwnTests(command, passed=False, failed=tuple(dict.fromkeys(failed)) or (command,), said=_tail(said))


def _reason(execution: Execution, said: str) -> str:
    if execution.timed_out:
        return f"they did not come to their end in {TEST_SECONDS:.0f} seconds"
    return f"they took too much {execution.exceeded}" if execution.exceeded else _tail(said)


def _tail(said: str) -> str:
    return "\n".join(said.strip().splitlines()[-_TAIL_LINES:])[-_TAIL_CHARACTERS:]
