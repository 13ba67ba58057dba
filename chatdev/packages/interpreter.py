"""Which Python runs generated programs."""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from chatdev.errors import MissingProgram

_OLDEST = (3, 11)
_ASK = """
import json, sys
try:
    import tkinter
except ImportError:
    tkinter = None
print(json.dumps([sys.base_prefix, sys.version_info[:2], tkinter is not None]))
"""


@dataclass(frozen=True, slots=True)
class Interpreter:
    """A Python installation; `prefix` is the folder a sandbox must show."""

    executable: Path
    prefix: Path
    version: tuple[int, int]
    tkinter: bool


@functools.cache
def interpreter() -> Interpreter:
    """Ours (without our packages), or the system's when only that one has tkinter."""
    places = [Path(sys.executable).resolve(), Path("/usr/bin/python3").resolve()]
    answers = map(ask_interpreter, dict.fromkeys(places))
    found = [python for python in answers if python and python.version >= _OLDEST]
    if not found:
        raise MissingProgram("no Python 3.11 or newer to run programs with; apt-get install python3")
    return next((python for python in found if python.tkinter), found[0])


def ask_interpreter(executable: Path) -> Interpreter | None:
    """What `executable` says of itself; None when it does not answer."""
    try:
        answer = subprocess.run([executable, "-I", "-c", _ASK], capture_output=True, timeout=30, check=True,
                                stdin=subprocess.DEVNULL, env={"PATH": os.defpath})
        *_, told = answer.stdout.splitlines()  # what `sitecustomize` prints stands before it
        prefix, version, tkinter = json.loads(told)
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
    return Interpreter(executable, Path(prefix), (version[0], version[1]), tkinter)
