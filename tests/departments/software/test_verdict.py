"""Reading tracebacks, and the rule that follows from how a program ended."""

from __future__ import annotations

import subprocess
import sys

import pytest

from chatdev.departments.software.knowledge import rules
from chatdev.departments.software.toolchains.verdict import Finding, rule_of, shows_usage
from chatdev.sandbox.base import Execution
from chatdev.workspace.python_errors import last_traceback


def stderr_of(source: str) -> str:
    return subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=False,
                          stdin=subprocess.DEVNULL).stderr


def ended(stderr: str = "", status: int | None = 0, stdout: str = "", *, timed_out: bool = False,
          signal: int | None = None) -> Execution:
    return Execution(status, signal, stdout, stderr, 0.1, timed_out)


def test_the_last_of_chained_exceptions_counts() -> None:
    trace = last_traceback(stderr_of("try:\n  1 / 0\nexcept ZeroDivisionError:\n  raise ValueError('a\\nb')"))
    assert trace
    assert (trace.kind, trace.exception) == ("ValueError", "ValueError: a\nb")
    assert [frame.line for frame in trace.frames] == [4]


def test_text_after_the_traceback_is_not_its_message() -> None:
    trace = last_traceback(stderr_of("import sys\ntry: 1 / 0\n"
                                     "except ZeroDivisionError:\n  sys.excepthook(*sys.exc_info())\n"
                                     "print('\\nbye', file=sys.stderr)"))
    assert trace
    assert trace.exception == "ZeroDivisionError: division by zero"


def test_a_syntax_error_while_running_is_read() -> None:
    trace = last_traceback(stderr_of("exec('x = (')"))
    assert trace
    assert trace.kind == "SyntaxError"


@pytest.mark.parametrize("text", ["", "warning: nothing", "Traceback (most recent call last):", "Error: no file"])
def test_text_without_a_whole_traceback_is_no_reason_to_fall_over(text: str) -> None:
    trace = last_traceback(text)
    assert trace is None or trace.frames == ()


@pytest.mark.parametrize(("execution", "rule"), [
    (ended(), "clean_exit"),
    (ended("DeprecationWarning: old\nALSA lib: no card"), "clean_exit"),
    (ended(status=None, signal=11), "killed"),
    (ended(status=None, signal=9, timed_out=True), "started"),
    (ended("usage: x [-h]\nx: error: y", 2), "wants_arguments"),
    (ended(stdout="Usage: main.py N", status=1), "wants_arguments"),
    (ended("no usage of it", 1), "failed_status"),
    (ended("no display\n", 97), "no_display"),
    (ended(status=97), "failed_status"),
    (ended(stderr_of("input()"), 1), "asks_for_input"),
    (ended(stderr_of("try: input()\nexcept EOFError: 1 / 0"), 1), "crashed"),
    (ended(stderr_of("import _no_such"), 1), "missing_module"),
    (ended("Traceback (most recent call last):\nModuleNotFoundError: No module named '_tkinter'", 1), "no_display"),
    (ended(stderr_of("1 / 0"), None, timed_out=True), "crashed"),
])
def test_the_rule_that_applies(execution: Execution, rule: str) -> None:
    assert rule_of(execution, {"main.py": b"print(1)"}) == rule


@pytest.mark.parametrize(("execution", "source", "rule"), [
    (ended(stdout="bad number", status=1), "import sys\nprint(sys.argv)", "refuses_nothing"),
    (ended("bad number", 2), "from argparse import ArgumentParser", "refuses_nothing"),
    (ended("bad number", 1), "process.argv.slice(2)", "refuses_nothing"),
    (ended("bad number", 1), 'for name in "$@"; do', "refuses_nothing"),
    (ended("bad number", 1), "static void main(String[] args)", "refuses_nothing"),
    (ended("bad number", 3), "import sys\nprint(sys.argv)", "failed_status"),
    (ended("", 1), "import sys\nprint(sys.argv)", "failed_status"),
    (ended("no database", 1), "import sys\nsys.exit('no database')", "failed_status"),
    (ended(stderr_of("1 / 0"), 1), "import sys\nprint(sys.argv)", "crashed"),
])
def test_a_program_may_refuse_to_work_without_arguments(execution: Execution, source: str, rule: str) -> None:
    assert rule_of(execution, {"main.py": source.encode()}) == rule


@pytest.mark.parametrize(("said", "status", "expected"), [
    ("Usage: main.py add TASK", 0, True), ("usage: python -m todo list", 0, True), ("Usage: node app.js add", 0, True),
    ("Unknown command. Usage: python3 ./main.py add", 0, True), ("Usage: <command> [words]", 0, True),
    ("Usage:\n  add <task>\n  list", 0, True), ("usage: add CATEGORY AMOUNT", 0, True), ("usage: todo [-h]", 0, True),
    ("Usage so far: 5 kWh", 0, False), ("Usage: 5 kWh", 0, False), ("Usage: 12% [####    ]", 0, False),
    ("Usage:\n  kitchen 5\n  bath 3", 0, False), ("Usage: CPU 5%, RAM 30%", 0, False), ("Usage: python 30%", 0, False),
    ("Usage:\nmain.py 5 KB", 0, False), ("Total usage: low", 0, False), ("Added usage: 5 kWh", None, False),
    ("Invalid usage", 1, True), ("Error: usage: add", 2, True), ("There is no such task", 1, False)])
def test_usage_may_be_what_a_program_is_about(said: str, status: int | None, expected: bool) -> None:
    assert shows_usage(Finding("clean_exit", {"streams": (said, ""), "exit_status": status})) == expected


def test_every_rule_is_complete_and_passing_ones_score_above_failing_ones() -> None:
    for rule in rules().values():
        assert set(rule) - {"judged"} == {"passed", "score", "says"}
        assert (rule["score"] == 10) == rule["passed"]


def test_a_line_number_without_end_is_no_frame() -> None:
    trace = last_traceback(f'Traceback (most recent call last):\n  File "a.py", line {"9" * 5000}, in f\nE: x')
    assert trace
    assert (trace.frames, trace.exception) == ((), "E: x")
