"""The world around a run: decoys that must stay as they are, and traps that must not snap."""

from __future__ import annotations

import stat
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from chatdev import Run
from chatdev.llm.base import count_tokens
from tests.engine.studio import Studio

RECORD = {"journal.jsonl", "company.yaml", "report.md", "modules"}
ELSEWHERE = Path("/tmp/chatdev-escaped.py")  # what a hostile reply may name absolutely


@dataclass
class World:
    """A studio among decoys. `home` has git settings that run a program on every commit, were they obeyed."""

    studio: Studio
    home: Path
    snapped: Path = field(init=False)
    _before: Mapping[Path, bytes | str] = field(init=False)

    def __post_init__(self) -> None:
        self.snapped = self.studio.folder / "snapped"
        hooks = self.home / "hooks"
        hooks.mkdir()
        for name in ("pre-commit", "post-commit", "post-index-change"):
            (hooks / name).write_text(f"#!/bin/sh\ntouch {self.snapped}\n", encoding="utf-8")
            (hooks / name).chmod(0o755)
        (self.home / ".gitconfig").write_text(
            f"[core]\n hooksPath = {hooks}\n fsmonitor = touch {self.snapped}\n[filter \"trap\"]\n required = true\n"
            f" clean = touch {self.snapped}\n[diff \"trap\"]\n textconv = touch {self.snapped}\n", encoding="utf-8")
        (self.studio.folder / "victim.txt").write_text("precious", encoding="utf-8")
        count_tokens("any")  # what it counts with is kept in the home, once for all
        self._before = self._outside()

    def run(self, company: Path, replies: Mapping[str, Any], **options: Any) -> Run:
        """Run the company, and see that the world is as it was."""
        known = set(self.studio.folder.glob("warehouse/*"))
        run = self.studio.run(company, replies, **options)
        self._assert_unharmed(run, {*known, run.folder})
        return run

    def _assert_unharmed(self, run: Run, runs: set[Path]) -> None:
        assert not self.snapped.exists(), "a hook, filter or monitor ran"
        assert not ELSEWHERE.exists()
        after = self._outside()
        assert {path: after.get(path) for path in self._before} == self._before
        ours = {run.folder.parent, run.folder, run.folder / "run", run.software_folder}
        record = {run.folder / "run" / name for name in RECORD}
        new = {path for path in after.keys() - self._before.keys() if not any(path.is_relative_to(r) for r in runs)}
        assert not new - ours
        assert {path for path in after if path.parent == run.folder / "run"} <= record
        assert_plain(run)

    def _outside(self) -> dict[Path, bytes | str]:
        """Everything but the software of runs and the stage's own company: bytes of files, kinds of all else."""
        found: dict[Path, bytes | str] = {}
        for root in (self.studio.folder, self.home):
            for path in root.rglob("*"):
                relative = path.relative_to(root).parts
                if relative[0] != "stage" and relative[2:3] != ("software",):
                    mode = path.lstat().st_mode
                    found[path] = path.read_bytes() if stat.S_ISREG(mode) else stat.filemode(mode)
        return found


def assert_plain(run: Run) -> None:
    """The software folder holds the software: plain files that nobody can start, and a repository like any new one."""
    files = {path: path.lstat() for path in run.software_folder.rglob("*")
             if path.relative_to(run.software_folder).parts[0] != ".git"}
    assert {path.relative_to(run.software_folder).as_posix(): path.read_bytes() for path, status in files.items()
            if not stat.S_ISDIR(status.st_mode)} == dict(run.software)
    assert all(stat.S_ISDIR(s.st_mode) or (stat.S_ISREG(s.st_mode) and not s.st_mode & 0o111) for s in files.values())
    git = run.software_folder / ".git"
    assert not (git / "hooks").exists()
    assert set((git / "config").read_text().split()) <= {
        "[core]", "repositoryformatversion", "=", "0", "filemode", "true", "bare", "false", "logallrefupdates"}
    assert blobs(run) == dict(run.software)


def blobs(run: Run) -> dict[str, bytes]:
    """What the last commit holds, byte for byte; nothing when there is none."""
    def git(*arguments: str) -> bytes:
        return subprocess.run(["git", "-c", "safe.directory=*", *arguments], cwd=run.software_folder, check=True,
                              capture_output=True).stdout

    if not git("for-each-ref"):
        return {}
    entries = [line.split(b"\t", 1) for line in git("ls-tree", "-r", "-z", "HEAD").split(b"\0") if line]
    assert all(head.split()[0] == b"100644" for head, _ in entries)
    return {path.decode(): git("cat-file", "blob", head.split()[2].decode()) for head, path in entries}
