"""Checks of what judging software takes: interpreters, compilers, a browser, a display, the package index."""

from __future__ import annotations

import contextlib
import shutil

from chatdev.runner.doctor.finding import Found, absent, works
from chatdev.tools.software.installing.fetch import Fetcher
from chatdev.tools.software.installing.index import Index
from chatdev.tools.software.installing.sources import sources
from chatdev.tools.software.interpreter import interpreter
from chatdev.tools.software.languages import Language
from chatdev.tools.software.project import prepare

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
    """Whether packages come from where pip is set to get them, asked as a run asks."""
    with contextlib.closing(Fetcher(found := sources())) as fetcher:
        index = Index(found, fetcher)
        if index.wheels(_SMALL_PACKAGE):
            return works("the index that pip is set to answers")
    reason = index.problems[0] if index.problems else f"pip is set to no index that has {_SMALL_PACKAGE}"
    return absent(f"{reason}: software that needs a package is told to do without", "pip config debug")
