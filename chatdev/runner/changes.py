"""Changes of a run to software that was handed in, and how they are put into the user's folder."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path

from chatdev.errors import ConfigError
from chatdev.plain_file import read_plain
from chatdev.runner.recorded import Order, RecordedRun
from chatdev.workspace.change import Changeset, apply_change, branch_change
from chatdev.workspace.run_folder import RunFolder
from chatdev.workspace.snapshot import Software

_LARGEST_FILE = 10 << 20  # bytes


@dataclass(frozen=True, slots=True)
class Applied:
    """Where a change went, which files it wrote or removed, and the commit, if it is on a branch."""

    place: Path
    paths: tuple[str, ...]
    commit: str = ""


def change_of(folder: Path) -> Changeset:
    """Changes by the run in `folder` to the software handed in. Raises ConfigError for a run without such software."""
    return _read(folder)[1]


def apply_run(folder: Path, to: Path | None = None, branch: str | None = None) -> Applied:
    """Put the change of the run in `folder` into `to`, by default the folder that was handed in; on a new `branch`
    without changing any file there. Raises ConfigError and WorkspaceError with nothing changed."""
    order, change = _read(folder)
    target = to or _origin(order, folder)
    if not target.is_dir():
        raise ConfigError(f"there is no folder {target}; say where the change goes: --to FOLDER")
    if not change.paths:
        raise ConfigError(f"the run in {folder} changed nothing")
    if branch is None:
        return Applied(target, tuple(apply_change(change, target)))
    asked = order.origin.get("request") or order.inputs.get("task") or "Change"
    subject = str(asked).strip().splitlines()[0][:72]
    message = f"{subject}\n\nBy chatdev, in {folder.name}"
    place, commit = branch_change(change, target, branch, message)
    return Applied(place, tuple(change.paths), commit)


def _read(folder: Path) -> tuple[Order, Changeset]:
    run = RunFolder.open(folder)
    order = RecordedRun.read(run.path).order
    if not order.software:
        raise ConfigError(f"the run in {folder} was given no software, so it changed nothing that was there; what it "
                          f"made is in {run.software}")
    return order, Changeset(order.software, Software.load(run.software))


def _origin(order: Order, folder: Path) -> Path:
    """The folder that was handed in. A record is no proof: something there must be as it was handed in."""
    if not order.origin.get("folder"):
        raise ConfigError(f"the record of {folder} does not say where its software came from; say where the change "
                          "goes: --to FOLDER")
    target, before = Path(order.origin["folder"]), order.origin.get("follows", "")
    if not any(_is_there(target / path, data) for path, data in order.software.items()):
        first = f" (apply {shlex.quote(before)} first, which it follows)" if before else ""
        raise ConfigError(f"nothing in {target} is as it was handed in to the run{first}; if the change belongs there, "
                          f"say so: --to {shlex.quote(str(target))}")
    return target


def _is_there(file: Path, data: bytes) -> bool:
    try:
        return bool(data) and read_plain(file, _LARGEST_FILE) == data
    except OSError:
        return False
