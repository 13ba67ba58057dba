"""The rows of `chatdev doctor` about programs: whether those with windows and those in each language can be judged."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from functools import partial

from chatdev.departments.software.toolchains.project import find_programs
from chatdev.doctor.diagnosis import Probe, ProbeResult, absence, success
from chatdev.packages.interpreter import interpreter
from chatdev.workspace.languages import Language, languages


def probes() -> Iterator[Probe]:
    """Of programs with windows, then of each language."""
    yield Probe("software", "windows", _check_windows)
    yield from (Probe("software", language.name, partial(_check_toolchain, language)) for language in languages())


def _check_windows() -> ProbeResult:
    """Whether programs with windows can be tried."""
    needed = {"xvfb": shutil.which("Xvfb") is not None, "python3-tk": interpreter().tkinter}
    if missing := [package for package, there in needed.items() if not there]:
        names = {"xvfb": "an X server (Xvfb)", "python3-tk": "tkinter"}
        return absence(f"{' and '.join(names[package] for package in missing)} not installed: programs with windows "
                      "are not judged", packages=missing)
    return success("Xvfb and tkinter")


def _check_toolchain(language: Language) -> ProbeResult:
    """Whether software in `language` can be built and run."""
    programs = find_programs(language)
    if lacking := [name for name, path in programs.items() if path is None]:
        return absence(f"{' and '.join(lacking)} not installed: not judged", packages=language.install.split())
    return success(", ".join(map(str, programs.values())))
