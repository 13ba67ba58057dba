"""`software.run`: every rule, by a program that meets it."""

from __future__ import annotations

import shutil

import pytest

from tests.departments.software.conftest import Judge

pytestmark = pytest.mark.tool

USAGE = "import sys\nif len(sys.argv) < 2: sys.exit('Usage: main.py FILE')"


@pytest.mark.parametrize(("files", "rule", "report"), [
    ("print('hi')", "clean_exit", "exit status 0"),
    ("input('name? ')", "asks_for_input", "asks for input"),
    ("import time; time.sleep(60)", "started", "still running after 3 seconds"),
    ("import argparse; p = argparse.ArgumentParser(); p.add_argument('x'); p.parse_args()", "wants_arguments",
     "usage: main.py"),
    (USAGE, "wants_arguments", "Usage: main.py FILE"),
    ("try:\n    import numpyx\nexcept ImportError: print('without')", "clean_exit", "without"),
    ({"pkg/__init__.py": "", "pkg/__main__.py": "from . import a", "pkg/a.py": "print(7)"}, "clean_exit",
     "python -m pkg"),
    ({"main.py": "print(1)", "test_main.py": "import pytest\nraise SystemExit(1)"}, "clean_exit", "python main.py"),
])
def test_what_works_passes(judge: Judge, files: str | dict[str, str], rule: str, report: str) -> None:
    verdict = judge(files)
    assert (verdict.passed, verdict.evidence["rule"], verdict.score) == (True, rule, 10)
    if rule != "wants_arguments":
        assert report in verdict.report


@pytest.mark.parametrize(("files", "rule", "score", "report"), [
    ({}, "nothing_to_run", 0, "no Python program"),
    ({"a.py": "x = 1", "b.py": "y = 2"}, "nothing_to_run", 0, "(a.py, b.py) and none is called main.py"),
    ({"notes.txt": "x"}, "nothing_to_run", 0, "no Python program"),
    ({"main.py": "print(1)", "lib/a.py": "x = (\ny"}, "does_not_compile", 1, "lib/a.py:1: SyntaxError"),
    ({"main.py": "print(1)", "todo.json": '[\n  {"done": False}\n]'}, "does_not_compile", 1,
     'todo.json:2: not valid JSON: Expecting value\n    {"done": False}'),
    ({"main.py": "return 3"}, "does_not_compile", 1, "main.py:1: SyntaxError: 'return' outside function\n    return 3"),
    ({"main.py": "a = 1\0"}, "does_not_compile", 1, "main.py:1"),
    ("import no_such_thing, os", "missing_module", 2, "`no_such_thing` is not available ("),
    ("__import__('winreg_x')", "missing_module", 2, "`winreg_x` is not available"),
    ("def f(x):\n    return 1 / x\nf(0)", "crashed", 3, "main.py:2 in f\n      def f(x):\n          return 1 / x\n"
     "          ^^^^^^^^^^^^ line 2\n  ZeroDivisionError"),
    ({"main.py": "import a", "a.py": "import b", "b.py": "from a import x"}, "crashed", 3, "cannot import name 'x'"),
    ("import traceback\ntry: 1 / 0\nexcept ZeroDivisionError: traceback.print_exc()", "crashed", 3, "ZeroDivision"),
    ("import threading, time\nthreading.Thread(target=lambda: 1 / 0).start()\ntime.sleep(60)", "crashed", 3,
     "still running, but with an error"),
    ("import os; os.abort()", "killed", 3, "SIGABRT"),
    ("import sys; print('x'); sys.exit(3)", "failed_status", 4, "exit status 3"),
    ("import sys; sys.exit('the file is missing')", "failed_status", 4, "the file is missing"),
])
def test_what_does_not_work_fails(judge: Judge, files: str | dict[str, str], rule: str, score: int,
                                  report: str) -> None:
    verdict = judge(files)
    assert (verdict.passed, verdict.evidence["rule"], verdict.score) == (False, rule, score)
    assert report in verdict.report


def test_a_window_that_stays_open_has_started(judge: Judge) -> None:
    assert shutil.which("Xvfb"), "install the X server: apt-get install xvfb"
    verdict = judge("import tkinter as tk\nw = tk.Tk()\ntk.Label(w, text='hi').pack()\nw.mainloop()")
    assert (verdict.passed, verdict.evidence["rule"]) == (True, "started"), verdict.report
    assert "after 5 seconds" in verdict.report


def test_a_window_with_a_mistake_fails(judge: Judge) -> None:
    verdict = judge("import tkinter as tk\nw = tk.Tk()\ntk.Label(w, txt='hi').pack()\nw.mainloop()")
    assert (verdict.passed, verdict.evidence["rule"]) == (False, "crashed")
    assert 'unknown option "-txt"' in verdict.report
    assert "main.py:3" in verdict.report


def test_without_an_x_server_the_tool_says_that_it_could_not_look(judge: Judge, monkeypatch: pytest.MonkeyPatch,
                                                                  tmp_path_factory: pytest.TempPathFactory) -> None:
    programs = tmp_path_factory.mktemp("bin")
    for name in ("bwrap", "setpriv", "prlimit"):
        (programs / name).symlink_to(shutil.which(name) or name)
    monkeypatch.setenv("PATH", str(programs))
    verdict = judge("import tkinter\ntkinter.Tk().mainloop()")
    assert (verdict.passed, verdict.evidence["rule"]) == (True, "no_display")
    assert "apt-get install xvfb" in verdict.report


def test_the_report_is_the_same_every_time(judge: Judge) -> None:
    source = "import tempfile\nprint(object(), tempfile.mkdtemp())\nraise ValueError(object(), __file__)"
    first, second = judge(source).report, judge(source).report
    assert first == second
    assert "<object object at 0x…>" in first
    assert "'main.py'" in first


@pytest.mark.parametrize("judge", ["none"], indirect=True)
def test_the_report_is_the_same_without_a_sandbox(judge: Judge) -> None:
    verdict = judge({"main.py": "import lib\nlib.f()", "lib.py": "def f():\n    raise ValueError(__file__)"})
    assert verdict.report == (
        "It crashed (exit status 1).\nCommand: python main.py\nWhere it happened:\n  main.py:2 in <module>\n"
        "      lib.f()\n  lib.py:2 in f\n      def f():\n          raise ValueError(__file__)\n"
        "          ^^^^^^^^^^^^^^^^^^^^^^^^^^ line 2\n  ValueError: lib.py")


def test_a_long_output_is_shown_by_its_end(judge: Judge) -> None:
    report = judge("for n in range(100000): print('line', n)").report
    assert "line 99999" in report
    assert len(report) < 2000


def test_our_own_packages_are_not_the_programs(judge: Judge) -> None:
    assert judge("import importlib.util as u\nassert not u.find_spec('openai')\nassert not u.find_spec('pip')").passed
