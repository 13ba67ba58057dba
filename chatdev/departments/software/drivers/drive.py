"""Software that is driven by steps in the sandbox: what is put beside it, and what its driver saw, read strictly.

A driver is in the sandbox with the program, which may tell lies in its place: what it says is shown, and no more is
made of it than of what a program prints.
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from chatdev.departments.software.drivers.screen import plain_png, png_of_display
from chatdev.departments.software.drivers.step import Step
from chatdev.errors import ChatDevError
from chatdev.plain_file import open_plain
from chatdev.sandbox.base import BOX, Execution, Sandbox, SandboxJob
from chatdev.workspace.file_tree import require_folder, write_file

FOLDER = ".driven"
"""Where a driver lies, in the copy of the software."""
VISIT = ("-P", "-m", "chatdev.departments.software.drivers.visit")
"""What follows the interpreter to use a page or a service."""
_SCRIPTS = ("texts", "notes", "widgets", "window", "browser", "visit")
_HERE = Path(__file__).parent
_PACKAGE = "/".join((FOLDER, *__package__.split(".")))
_BEGIN = f"from {__package__}.window import begin\nbegin()\n"
_SECONDS, _SECONDS_FOR_STEP = 15.0, 3.0
_MOST_TOLD = 1 << 20
_MOST_PICTURE = 8 << 20


class StepSeen(BaseModel):
    """How a step went: what is wrong, empty where nothing is; what there was to read then; and whether it is `new`, not
    shown before the first step."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    problem: str = Field(max_length=2000)
    seen: str = Field(max_length=2000)
    new: bool


class _Told(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    nonce: str
    begun: bool
    ended: bool
    steps: list[StepSeen] = Field(max_length=100)
    names: list[str] = Field(max_length=400)
    seen: str = Field(max_length=2000)
    trouble: str = Field(max_length=2000)


@dataclass(frozen=True, slots=True)
class Driven:
    """How software was used: each step that was tried, the labels of what could be pressed then, and a picture (PNG) of
    it. `trouble` says why nothing could be tried, or what it died of; `stderr` is what it wrote."""

    steps: tuple[StepSeen, ...]
    names: tuple[str, ...] = ()
    picture: bytes | None = None
    trouble: str = ""
    stderr: str = ""
    seen: str = ""


def drive(sandbox: Sandbox, job: SandboxJob, steps: Sequence[Step], *, page: str = "", program: Sequence[str] = (),
          browser: Sequence[str] = (), seconds: float = 0) -> Driven:
    """Run `job`, which starts a driver, with these steps; `page`, `program` and `browser` are what `visit` uses. It has
    `seconds`, by default as many as its steps may take."""
    nonce = secrets.token_hex(8)
    task = {"nonce": nonce, "steps": [step.to_dict() for step in steps], "page": page, "program": list(program),
            "browser": list(browser)}
    write_file(job.folder, f"{FOLDER}/task.json", json.dumps(task).encode())
    write_file(job.folder, f"{FOLDER}/sitecustomize.py", b"" if page or program else _BEGIN.encode())
    for name in _SCRIPTS:
        write_file(job.folder, f"{_PACKAGE}/{name}.py", (_HERE / f"{name}.py").read_bytes())
    here = str(job.folder.resolve()) if sandbox.name == "none" else BOX
    env = {**job.env, "PYTHONPATH": f"{here}/{FOLDER}", "DRIVEN": f"{here}/{FOLDER}"}
    limits = replace(job.limits, seconds=seconds or _SECONDS + _SECONDS_FOR_STEP * len(steps))
    execution = sandbox.run(replace(job, env=env, limits=limits))
    return read_driven(job.folder, nonce, steps, execution)


def read_driven(folder: Path, nonce: str, steps: Sequence[Step], execution: Execution) -> Driven:
    """What the driver left in `folder`."""
    picture = _picture(folder)
    try:
        told = _Told.model_validate_json(_read(folder, "told.json", _MOST_TOLD))
    except (OSError, ChatDevError, ValidationError):
        return Driven((), picture=picture, trouble=_ending(execution), stderr=execution.stderr)
    if told.nonce != nonce or len(told.steps) > len(steps):
        return Driven((), picture=picture, trouble="its driver was disturbed", stderr=execution.stderr)
    is_whole = told.ended or len(told.steps) == len(steps)
    trouble = told.trouble or ("" if is_whole else _ending(execution))
    return Driven(tuple(told.steps), tuple(told.names), picture, trouble, execution.stderr, told.seen)


def _ending(execution: Execution) -> str:
    if execution.exceeded:
        return f"it took too much {execution.exceeded}"
    return "it does not answer any more" if execution.timed_out else "it has ended"


def _picture(folder: Path) -> bytes | None:
    for name, convert in (("screen.png", plain_png), ("screen.xwd", png_of_display), ("Xvfb_screen0", png_of_display)):
        try:
            found = convert(_read(folder, name, _MOST_PICTURE))
        except (OSError, ChatDevError):
            continue
        if found:
            return found
    return None


def _read(folder: Path, name: str, most: int) -> bytes:
    """The content of a file of the driver's. Raises OSError and WorkspaceError: it may be anything of the program's."""
    require_folder(folder / FOLDER)
    with os.fdopen(open_plain(folder / FOLDER / name), "rb") as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise OSError(f"{name} is too long")
    return content
