"""What programs import as `matlab.engine`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from chatdev.departments.simulink.engine.library import Library
from chatdev.departments.simulink.engine.program import (
    FutureResult,
    MatlabEngine,
    MatlabExecutionError,
    RejectedExecutionError,
)
from chatdev.departments.simulink.engine.session import Session

__all__ = ["FutureResult", "MatlabEngine", "MatlabExecutionError", "RejectedExecutionError", "connect_matlab",
           "find_matlab", "start_matlab"]

_HERE = Path(__file__).resolve().parents[2]
"""The folder that the sandbox was given: with `library.json`, and for what is saved."""


def start_matlab(option: str = "-nodesktop", background: bool = False, **_: Any) -> Any:
    """An engine, at once."""
    given = json.loads((_HERE / "library.json").read_text(encoding="utf-8"))
    engine = MatlabEngine(Session(Library(given["blocks"]), _HERE / "saved", strict=given["strict"]))
    return FutureResult(engine) if background else engine


def connect_matlab(name: str | None = None, background: bool = False) -> Any:
    """An engine of its own, since nobody shares one."""
    return start_matlab(background=background)


def find_matlab() -> tuple[str, ...]:
    """The names of shared engines: none."""
    return ()
