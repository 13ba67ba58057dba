"""The versions of a run's software, out of the git history in its folder: files, and what each delivery changed."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

from dulwich.objects import Commit

from chatdev.errors import ConfigError
from chatdev.workspace.handed_in import is_binary
from chatdev.workspace.repository import FileVersion, Repository

_VERSIONS = 1000
_FILES = 2000
_SHOWN = 1 << 20  # bytes of a file that are shown
_COMPARED = 4_000_000  # lines before times lines after, above which two files are not compared line by line
_CONTEXT = 3
_DIFFS = 60  # files of one version that are compared
_ID = re.compile(r"[0-9a-f]{40}")


def versions(folder: Path) -> list[dict[str, Any]]:
    """The versions that differ from the one before, oldest first: id, place of the delivery, what was said of it, and
    seconds since 1970."""
    with _history(folder) as repository:
        if repository is None:
            return []
        commits = list(islice(repository.commits(), _VERSIONS))
    return [_describe(commit) for before, commit in pairwise([None, *reversed(commits)])
            if commit and not (before and before.tree == commit.tree)]


def version(folder: Path, name: str) -> dict[str, Any]:
    """A version: its files with sizes, which of them differ from the version before, and how, line by line."""
    with _history(folder) as repository:
        commit, before = _find(repository, name)
        assert repository is not None
        now, then = repository.files_of(commit.id), repository.files_of(before.id if before else None)
        paths = sorted({*now, *then})[:_FILES]
        rows = [{"path": os.fsdecode(path), "state": _state(then.get(path), now.get(path)),
                 "size": len(repository.content(now[path])) if path in now else 0} for path in paths]
        changed = [path for path in paths if then.get(path) != now.get(path)]
        diffs = [_diff(os.fsdecode(path), _content(repository, then.get(path)), _content(repository, now.get(path)))
                 for path in changed[:_DIFFS]]
    return {**_describe(commit), "files": rows, "diffs": diffs, "left_out": len(changed) - len(diffs)}


def compare_newest(one: Path, other: Path) -> list[dict[str, Any]]:
    """How the newest software of one run differs from that of another, file by file."""
    first, second = _newest_files(one), _newest_files(other)
    return [_diff(path, first.get(path), second.get(path)) for path in sorted({*first, *second})[:_DIFFS]
            if first.get(path) != second.get(path)]


def _newest_files(folder: Path) -> dict[str, bytes]:
    with _history(folder) as repository:
        if repository is None:
            return {}
        return {os.fsdecode(path): repository.content(found) for path, found in
                islice(repository.files().items(), _FILES)}


def file_text(folder: Path, name: str, path: str) -> dict[str, Any]:
    """A file of a version: its text, or that it has none."""
    with _history(folder) as repository:
        commit, _ = _find(repository, name)
        assert repository is not None
        found = repository.files_of(commit.id).get(os.fsencode(path))
        if found is None:
            raise ConfigError(f"version {name[:7]} has no file {path!r:.200}")
        data = repository.content(found)
    if is_binary(data):
        return {"path": path, "size": len(data), "binary": True, "text": ""}
    return {"path": path, "size": len(data), "binary": False, "text": data[:_SHOWN].decode("utf-8", "replace")}


@contextmanager
def _history(folder: Path) -> Iterator[Repository | None]:
    """The repository; None where there is none, or where it is a link."""
    metadata = folder / "software" / ".git"
    if not metadata.is_dir() or metadata.is_symlink() or metadata.parent.is_symlink():
        yield None
        return
    with Repository.open(metadata) as repository:
        yield repository


def _find(repository: Repository | None, name: str) -> tuple[Commit, Commit | None]:
    """The commit of that id, and the one before it. Raises ConfigError."""
    commits = iter(repository.commits()) if repository and _ID.fullmatch(name) else iter(())
    for commit in commits:
        if commit.id.decode("ascii") == name:
            return commit, next(commits, None)
    raise ConfigError(f"the software has no version {name[:50]!r}")


def _describe(commit: Commit) -> dict[str, Any]:
    title, _, rest = commit.message.decode("utf-8", "replace").strip().partition("\n")
    place, colon, about = title.partition(": ")
    return {"id": commit.id.decode("ascii"), "place": place if colon else "", "about": (about or title)[:500],
            "more": rest.strip()[:500], "time": commit.commit_time}


def _state(before: object, now: object) -> str:
    if before == now:
        return "same"
    return "added" if before is None else "deleted" if now is None else "changed"


def _content(repository: Repository, found: FileVersion | None) -> bytes | None:
    return None if found is None else repository.content(found)


def _diff(path: str, before: bytes | None, after: bytes | None) -> dict[str, Any]:
    """How a file differs: hunks of rows, each a sign, the line's numbers before and after, and the line."""
    row: dict[str, Any] = {"path": path, "state": _state(before, after), "hunks": [], "added": 0, "removed": 0}
    sides = (before or b"", after or b"")
    if any(map(is_binary, sides)):
        return {**row, "note": "no text"}
    old, new = (data[:_SHOWN].decode("utf-8", "replace").splitlines() for data in sides)
    if len(old) * len(new) > _COMPARED:
        return {**row, "note": f"too long to be compared line by line: {len(old)} and {len(new)} lines"}
    matcher = difflib.SequenceMatcher(None, old, new)
    row["hunks"] = [list(_rows(group, old, new)) for group in matcher.get_grouped_opcodes(_CONTEXT)]
    signs = [line[0] for hunk in row["hunks"] for line in hunk]
    return {**row, "added": signs.count("+"), "removed": signs.count("-")}


def _rows(group: Any, old: list[str], new: list[str]) -> Iterator[tuple[str, int | None, int | None, str]]:
    for kind, begin, end, to, upto in group:
        if kind == "equal":
            yield from ((" ", begin + n + 1, to + n + 1, line) for n, line in enumerate(old[begin:end]))
        else:
            yield from (("-", begin + n + 1, None, line) for n, line in enumerate(old[begin:end]))
            yield from (("+", None, to + n + 1, line) for n, line in enumerate(new[to:upto]))


def pictures(folder: Path) -> Mapping[str, Path]:
    """The pictures that tools left beside the report, by name."""
    run = folder / "run"
    return {file.name: file for file in sorted(run.glob("*.svg")) + sorted(run.glob("*.png"))
            if file.is_file() and not file.is_symlink()} if not run.is_symlink() else {}
