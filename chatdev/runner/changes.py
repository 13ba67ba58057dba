"""What a run leaves for others: its software, packed, and its change of software that was handed in, put into the
user's folder."""

from __future__ import annotations

import os
import re
import shlex
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from chatdev.errors import ConfigError
from chatdev.plain_file import read_plain
from chatdev.runner.recorded import Order, RecordedRun
from chatdev.workspace.change import Changeset, apply_change, branch_change
from chatdev.workspace.file_tree import explain_os_errors, read_tree, require_folder, require_plain_tree, write_tree
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


# The software alone.

_STAMP = re.compile(r"-\d{14}(-\d+)?$")
_OLDEST = (1980, 1, 1, 0, 0, 0)  # the first date of a zip file; equal software makes equal files


def export_software(folder: Path, *, archive: Path | None = None, target: Path | None = None, git: bool = False) -> int:
    """Write the software of the run in `folder` into a zip file, or into a new or empty folder, with its history where
    `git` is wanted; the number of files. Nothing is overwritten. Raises ConfigError and WorkspaceError."""
    source = _software_of(folder)
    files = read_tree(source)
    if not files:
        raise ConfigError(f"the run in {folder} made no files, so there is nothing to export")
    if git:
        files = {**files, **_history(source)}
    place = archive or target
    if place is None or (archive and target):
        raise ConfigError("say where the software goes: --zip FILE or --dir FOLDER")
    if place.absolute().is_relative_to(folder.absolute()):
        raise ConfigError(f"{place} lies in the run's own folder; give a place outside of it")
    if not place.absolute().parent.is_dir():
        raise ConfigError(f"there is no folder {place.absolute().parent}; make it first, or give another place")
    if archive:
        _write_zip(archive, files, _STAMP.sub("", folder.resolve().name))
    else:
        _write_folder(place, files)
    return len(files)


def _software_of(folder: Path) -> Path:
    software = folder / "software"
    if not software.is_dir():
        raise ConfigError(f"there is no run in {folder}: it has no folder `software`; give a folder of the warehouse")
    require_folder(software)
    return software


def _history(source: Path) -> dict[str, bytes]:
    """The files of the repository."""
    repository = source / ".git"
    if not repository.is_dir():
        raise ConfigError(f"{source} has no git history; leave out --git")
    require_plain_tree(repository)
    with explain_os_errors("read", repository):
        return {path.relative_to(source).as_posix(): path.read_bytes() for path in sorted(repository.rglob("*"))
                if path.is_file()}


def _write_zip(archive: Path, files: Mapping[str, bytes], name: str) -> None:
    """Write the files below a folder `name`, whole or not at all."""
    with explain_os_errors("write", archive):
        try:
            file = archive.open("xb")
        except FileExistsError:
            raise ConfigError(f"{archive} is there already; give another name, or remove it") from None
        try:
            with file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as made:
                for path, data in files.items():
                    entry = zipfile.ZipInfo(f"{name}/{path}", _OLDEST)
                    entry.external_attr, entry.compress_type = 0o100644 << 16, zipfile.ZIP_DEFLATED
                    made.writestr(entry, data)
        except BaseException:
            archive.unlink(missing_ok=True)
            raise


def _write_folder(target: Path, files: Mapping[str, bytes]) -> None:
    with explain_os_errors("write", target):
        if os.path.lexists(target) and (not target.is_dir() or any(target.iterdir())):
            raise ConfigError(f"{target} is there already, and is no empty folder; give another name, or remove it")
        target.mkdir(exist_ok=True)
    write_tree(target, files)
