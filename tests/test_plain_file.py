"""Files that the user names: whatever really is there, nobody waits for it, and nothing without end is read."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from chatdev.paths import read_named
from tests.support.odd_files import make

BYTES = os.fsdecode(b"caf\xe9")


KINDS = ["pipe", "link to a pipe", "folder", "loop", "nothing", "/dev/zero", "/dev/random", "/dev/tty", "half\ud800",
         "a\0b", "long"]


@pytest.mark.parametrize("kind", KINDS, ids=ascii)
def test_what_is_no_file_is_an_error_at_once(tmp_path: Path, kind: str) -> None:
    place, began = make(tmp_path, kind), time.monotonic()
    with pytest.raises(OSError, match=".") as refused:
        read_named(place)
    assert refused.value.strerror
    assert time.monotonic() - began < 1


def test_a_file_is_read_through_a_link_and_up_to_a_limit(tmp_path: Path) -> None:
    (tmp_path / BYTES).write_bytes(b"words")
    (tmp_path / "link").symlink_to(tmp_path / BYTES)
    assert read_named(tmp_path / "link", 5) == b"words"
    with pytest.raises(OSError, match="larger than"):
        read_named(tmp_path / "link", 4)


def test_what_the_shell_hands_over_is_read_to_its_end() -> None:
    code = ("import sys; from pathlib import Path; from chatdev.paths import read_named; "
            "print(read_named(Path(sys.argv[1])))")
    for path in ("/dev/stdin", "/dev/fd/0"):
        done = subprocess.run([sys.executable, "-c", code, path], input="late words", capture_output=True, text=True,
                              check=True)
        assert done.stdout == "b'late words'\n"
