"""Checks of what judging software takes: interpreters, compilers, a browser, a display, the package index."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from chatdev.runner.doctor.finding import Found, absent, broken, works
from chatdev.tools.software.interpreter import interpreter
from chatdev.tools.software.languages import Language
from chatdev.tools.software.project import prepare

_INDEX_SECONDS = 10.0
_PIP = ("--quiet", "--no-input", "--no-deps", "--no-cache-dir", "--disable-pip-version-check", "--only-binary=:all:",
        "--timeout=3", "--retries=0")
_SMALL_PACKAGE = "colorama"  # one of our own dependencies


def python() -> Found:
    """The interpreter that programs get."""
    found = interpreter()
    return works(f"{'.'.join(map(str, found.version))}, {found.executable}")


def windows() -> Found:
    """Whether programs with windows can be tried."""
    needed = {"xvfb": shutil.which("Xvfb") is not None, "python3-tk": interpreter().tkinter}
    if missing := [package for package, there in needed.items() if not there]:
        names = {"xvfb": "an X server (Xvfb)", "python3-tk": "tkinter"}
        return absent(f"{' and '.join(names[package] for package in missing)} not installed: programs with windows "
                      "are not judged", packages=missing)
    return works("Xvfb and tkinter")


def toolchain(language: Language) -> Found:
    """Whether software in `language` can be built and run."""
    project = prepare(language, {})
    if project.lacking:
        return absent(f"{' and '.join(project.lacking)} not installed: not judged", packages=language.install.split())
    return works(", ".join(str(path) for path in project.programs.values()))


def pictures() -> Found:
    """Whether a chain can be drawn."""
    if path := shutil.which("dot"):
        return works(path)
    return absent("not installed: `chatdev check --picture` draws nothing", packages=["graphviz"])


def index() -> Found:
    """Whether pip, as it is set up here, gets a package: found by fetching a small one."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-I", "-m", "pip", "download", *_PIP, f"--dest={folder}", _SMALL_PACKAGE]
        try:
            done = subprocess.run(command, capture_output=True, timeout=_INDEX_SECONDS, check=False,
                                  stdin=subprocess.DEVNULL)
        except subprocess.TimeoutExpired:
            return broken(f"no package in {_INDEX_SECONDS:g} seconds", "pip config list")
        came = any(Path(folder).iterdir())
    if done.returncode == 0 and came:
        return works("pip gets packages")
    return absent("pip gets no packages: software that needs one is told to do without", "pip config list")
