"""Checks of what every run stands on: Python, git, the settings, the warehouse, the terminal."""

from __future__ import annotations

import platform
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from chatdev.config.environ import dotenv
from chatdev.config.settings import user_settings
from chatdev.paths import settings_file
from chatdev.runner.doctor.finding import Found, absent, broken, works

_SECONDS = 5.0  # for a program to say its version
_LEAST_FREE = 100 << 20  # bytes; a run is a few of them, the packages of its software may be many
_ELSEWHERE = "choose another folder: --warehouse FOLDER"
_SIGNS = "⇄ → ━ ✓ ✗ … naïve שלום 日本"  # what our own texts and those of models may hold


def version_of(*command: str) -> str:
    """The version in the first line that the command says, or the line. Raises OSError or SubprocessError where it
    cannot be run."""
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=_SECONDS, check=True,
                          stdin=subprocess.DEVNULL)
    line = (done.stdout.strip().splitlines() or [""])[0]
    version = re.search(r"\d+(?:\.\d+)+", line)
    return version[0] if version else line


def python() -> Found:
    """Our own interpreter."""
    return works(f"{platform.python_version()}, {sys.executable}")


def git() -> Found:
    """For people: the history of the software is a git repository, which runs write by themselves."""
    path = shutil.which("git")
    if path is None:
        return absent("not installed: it shows the history of the software", packages=["git"])
    try:
        return works(f"{version_of('git', '--version')}, {path}")
    except (OSError, subprocess.SubprocessError) as error:
        return broken(f"{path} does not start: {error}", "apt-get install --reinstall git")


def settings() -> Found:
    """The user's settings file and `.env`; raises ConfigError, which names file and line, where one cannot be read."""
    user_settings()
    places = [str(settings_file())] if settings_file().is_file() else []
    places += [".env"] if dotenv() else []
    return works(f"read from {' and '.join(places)}" if places else "the defaults; there is no settings file")


def warehouse() -> Found:
    """Whether runs can be written, and how much room there is."""
    folder = Path(user_settings().warehouse or "warehouse").absolute()
    there = next(place for place in (folder, *folder.parents) if place.exists())
    try:
        with tempfile.TemporaryFile(dir=there):
            free = shutil.disk_usage(there).free
    except OSError as error:
        return broken(f"cannot write {there}: {error.strerror}", _ELSEWHERE)
    if free < _LEAST_FREE:
        return broken(f"only {free >> 20} MB free for {folder}", _ELSEWHERE)
    return works(f"{folder}{'' if there == folder else ' (will be made)'}, {free / 1e9:.0f} GB free")


def terminal(encoding: str | None) -> Found:
    """Whether all that is said can be shown by an output of this encoding."""
    name = encoding or "ascii"
    try:
        _SIGNS.encode(name)
    except (UnicodeEncodeError, LookupError):
        return absent(f"{name}: signs that it does not know are shown as ?", "export PYTHONUTF8=1 LANG=C.UTF-8")
    return works(name)
