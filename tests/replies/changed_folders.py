"""Random folders, random changes of them, and what git writes of these: lines of code, of prose, and lines that look
like parts of a patch."""

from __future__ import annotations

import random
import subprocess
from dataclasses import dataclass
from pathlib import Path

WORDS = ["import os", "def f(x):", "    return x", "", "class A:", "    pass", "x = 1", "```", "- item", "-- note",
         "++i;", "}", "\tgo()", "  two", "trailing  ", "@@ not a hunk", "*** End of it", "é ü", "--- a/x", "+++ b/x"]
NAMES = ["a.txt", "src/b.txt", "src/deep/c.txt", "with blank.txt", "README", "b/d.txt", "e.sql"]


@dataclass(frozen=True, slots=True)
class ChangedFolder:
    """A repository whose newest commit changes some files, moves, adds and deletes others."""

    folder: Path
    before: dict[str, bytes]
    after: dict[str, bytes]

    def diff(self, *options: str) -> str:
        """What git says of the change."""
        return _git(self.folder, "diff", *options, "HEAD~")

    def mail(self) -> str:
        """The change as git sends it."""
        return _git(self.folder, "format-patch", "--stdout", "HEAD~")


def changed_folder(folder: Path, seed: int) -> ChangedFolder:
    """The repository of a seed, in an empty folder."""
    rng = random.Random(seed)
    before = {name: _data(rng, _lines(rng)) for name in NAMES if rng.random() < 0.8}
    after = _change(rng, before)
    _git(folder, "init", "-q")
    for files in (before, after):
        for path in before:
            (folder / path).unlink(missing_ok=True)
        for path, data in files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(data)
        _git(folder, "add", "-A")
        _git(folder, "commit", "-qm", "change", "--allow-empty")
    return ChangedFolder(folder, before, after)


def _change(rng: random.Random, files: dict[str, bytes]) -> dict[str, bytes]:
    after: dict[str, bytes] = {}
    for path, data in files.items():
        lines = data.decode().split("\n")
        for _ in range(rng.randrange(4)):
            at = rng.randrange(len(lines))
            lines[at:at + rng.randrange(3)] = _lines(rng)[:rng.randrange(4)] or ["new"]
        kind = rng.random()
        if kind > 0.15:
            after[f"moved/{path}" if kind < 0.3 else path] = "\n".join(lines).encode() or b"\n"
    after[f"new{rng.randrange(9)}.txt"] = _data(rng, _lines(rng))
    return after


def _lines(rng: random.Random) -> list[str]:
    return [rng.choice(WORDS) if rng.random() < 0.4 else f"line {rng.randrange(10_000)}"
            for _ in range(rng.randrange(1, 40))]


def _data(rng: random.Random, lines: list[str]) -> bytes:
    return ("\n".join(lines) + "\n" * (rng.random() < 0.8)).encode()


def _git(folder: Path, *arguments: str) -> str:
    settings = ["-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "core.quotePath=false"]
    return subprocess.run(["git", *settings, *arguments], cwd=folder, check=True, capture_output=True).stdout.decode()
