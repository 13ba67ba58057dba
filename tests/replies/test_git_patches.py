"""What git writes of random changes of a folder is read as git reads it: files changed, moved, added and deleted."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

import pytest

from chatdev.replies import Unreadable, parse_files

WORDS = ["import os", "def f(x):", "    return x", "", "class A:", "    pass", "x = 1", "```", "- item", "-- note",
         "++i;", "}", "\tgo()", "  two", "trailing  ", "@@ not a hunk", "*** End of it", "é ü", "--- a/x", "+++ b/x"]
NAMES = ["a.txt", "src/b.txt", "src/deep/c.txt", "with blank.txt", "README", "b/d.txt", "e.sql"]


def git(folder: Path, *arguments: str) -> str:
    settings = ["-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "core.quotePath=false"]
    return subprocess.run(["git", *settings, *arguments], cwd=folder, check=True, capture_output=True).stdout.decode()


def content(rng: random.Random) -> list[str]:
    return [rng.choice(WORDS) if rng.random() < 0.4 else f"line {rng.randrange(10_000)}"
            for _ in range(rng.randrange(1, 40))]


def write(folder: Path, files: dict[str, bytes]) -> None:
    for path, data in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)


def data_of(rng: random.Random, lines: list[str]) -> bytes:
    return ("\n".join(lines) + "\n" * (rng.random() < 0.8)).encode()


def change(rng: random.Random, files: dict[str, bytes]) -> dict[str, bytes]:
    """Some files gone, moved and new, and of most some lines."""
    after: dict[str, bytes] = {}
    for path, data in files.items():
        lines = data.decode().split("\n")
        for _ in range(rng.randrange(4)):
            at = rng.randrange(len(lines))
            lines[at:at + rng.randrange(3)] = content(rng)[:rng.randrange(4)] or ["new"]
        kind = rng.random()
        if kind > 0.15:
            after[f"moved/{path}" if kind < 0.3 else path] = "\n".join(lines).encode() or b"\n"
    after[f"new{rng.randrange(9)}.txt"] = data_of(rng, content(rng))
    return after


@pytest.mark.parametrize("seed", range(12))
def test_a_diff_of_git_gives_the_folder_that_it_was_made_of(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    before = {name: data_of(rng, content(rng)) for name in NAMES if rng.random() < 0.8}
    after = change(rng, before)
    git(tmp_path, "init", "-q")
    write(tmp_path, before)
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "before")
    for path in before:
        (tmp_path / path).unlink()
    write(tmp_path, after)
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "after")
    for diff in (git(tmp_path, "diff", "-M", "HEAD~"), git(tmp_path, "diff", "--no-renames", "HEAD~"),
                 git(tmp_path, "format-patch", "--stdout", "HEAD~")):
        assert parse_files(f"`````diff\n{diff}`````\n", before).software == after
        assert bare(diff, before) in (after, None)


def bare(diff: str, before: dict[str, bytes]) -> dict[str, bytes] | None:
    """The folder after a reply that is the diff, and words behind it; None where it is refused."""
    try:
        return parse_files(f"Here it is:\n\n{diff}\nThat is all of it.\n", before).software
    except Unreadable:
        return None
