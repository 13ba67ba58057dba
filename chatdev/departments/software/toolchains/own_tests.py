"""The tests that software brings with it, run as its authors would."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from chatdev.sandbox.base import Execution
from chatdev.workspace.snapshot import is_test

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
_TAIL_LINES, _TAIL_CHARACTERS = 30, 2000


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
        return OwnTests(command, passed=False, failed=failed, said=_tail(said), lacking=lacking)
    return OwnTests(command, passed=_ran_some(said, len(lacking)) or None, said=_tail(said), lacking=lacking)


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
    return OwnTests(command, passed=False, failed=names, said=_tail(said), builds=builds)


def _reason(execution: Execution, said: str) -> str:
    if execution.timed_out:
        return f"they did not come to their end in {TEST_SECONDS:.0f} seconds"
    return f"they took too much {execution.exceeded}" if execution.exceeded else _tail(said)


def _tail(said: str) -> str:
    return "\n".join(said.strip().splitlines()[-_TAIL_LINES:])[-_TAIL_CHARACTERS:]
