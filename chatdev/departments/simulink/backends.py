"""What runs programs that build models: MATLAB, where it is and the user consents, or our stand-in."""

from __future__ import annotations

import sys
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Literal

from chatdev.doctor.diagnosis import Probe, ProbeResult, absence, success
from chatdev.errors import MissingProgram, ToolError
from chatdev.sandbox.base import Sandbox

Backend = Literal["auto", "builtin", "matlab"]
_CONSENT = "--sandbox none"


def choose_backend(backend: Backend, sandbox: Sandbox) -> Literal["builtin", "matlab"]:
    """What runs a program: MATLAB where it is asked for or is there, and the user has consented to programs that run
    with their rights (`--sandbox none`), because MATLAB works in no sandbox."""
    if backend == "builtin" or (backend == "auto" and (sandbox.name != "none" or matlab_package() is None)):
        return "builtin"
    if matlab_package() is None:
        raise MissingProgram(f"backend: matlab needs MATLAB, and its package matlabengine for {sys.executable}; "
                             "install them, or take backend: builtin")
    if sandbox.name != "none":
        raise ToolError("backend: matlab runs the program outside of any sandbox, with your rights; consent to that "
                        "with --sandbox none, or take backend: builtin")
    return "matlab"


def matlab_package() -> Path | None:
    """The folder in which this Python finds MATLAB's own package; nothing is imported for it."""
    here = Path.cwd()
    places = [place for place in sys.path if place and Path(place).resolve() != here]
    found = PathFinder.find_spec("matlab", places)
    folders = map(Path, (found and found.submodule_search_locations) or ())
    return next((folder.parent for folder in folders if (folder / "engine" / "__init__.py").is_file()), None)


def read_backend(value: object) -> Backend:
    """The backend that an input names, `auto` for none; raises ToolError for another word."""
    known: dict[object, Backend] = {None: "auto", "auto": "auto", "builtin": "builtin", "matlab": "matlab"}
    if not isinstance(value, str | None) or value not in known:
        raise ToolError(f"backend is {value!r}; it is one of: auto, builtin, matlab")
    return known[value]


def matlab_probes() -> list[Probe]:
    """What `chatdev doctor` says of MATLAB."""
    return [Probe("extras", "MATLAB", _look_for_matlab)]


def _look_for_matlab() -> ProbeResult:
    if package := matlab_package():
        return success(f"matlab.engine in {package}; it builds models with {_CONSENT}, else our stand-in does")
    return absence("matlab.engine not installed: our stand-in builds models", "pip install matlabengine")
