"""Paths a model may name, and those that are refused."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from chatdev.errors import UnsafePath
from chatdev.workspace.file_tree import MAX_LEVELS, collisions, safe_path


@pytest.mark.parametrize(("name", "path"), [
    ("main.py", "main.py"),
    ("src/app/util.py", "src/app/util.py"),
    ("./main.py", "main.py"),
    ("src//./main.py", "src/main.py"),
    (r"src\app\util.py", "src/app/util.py"),
    ("Main.java", "Main.java"),
    (".gitignore", ".gitignore"),
    (".github/workflows/ci.yml", ".github/workflows/ci.yml"),
    ("my notes.txt", "my notes.txt"),
    ("größe/数.py", "größe/数.py"),
    ("console.py", "console.py"),
    ("a~b.txt", "a~b.txt"),
    ("..hidden", "..hidden"),
])
def test_a_harmless_path_is_made_relative_and_posix(name: str, path: str) -> None:
    assert safe_path(name) == path


@pytest.mark.parametrize(("name", "why"), [
    ("../evil.py", "leaves the software"),
    ("src/../../evil.py", "leaves the software"),
    (r"src\..\..\evil.py", "leaves the software"),
    ("..", "leaves the software"),
    ("/etc/passwd", "absolute"),
    (r"\\server\share\x.py", "absolute"),
    ("C:\\windows\\x.py", "absolute"),
    ("c:x.py", "absolute"),
    ("~/.bashrc", "home"),
    ("~root/x", "home"),
    (".//./~root/x", "home"),
    ("a\0b.py", "U\\+0000"),
    ("a\nb.py", "U\\+000A"),
    ("a\x7fb.py", "U\\+007F"),
    ("a\u202eyp.exe", "U\\+202E"),
    ("a\ud800.py", "U\\+D800"),
    (".git", "git metadata"),
    (".git/hooks/pre-commit", "git metadata"),
    ("sub/.GIT/config", "git metadata"),
    (".Git /config", "git metadata"),
    ("GIT~1/config", "git metadata"),
    ("．ｇｉｔ/config", "git metadata"),
    ("CON", "device"),
    ("nul.txt", "device"),
    ("src/com1.py", "device"),
    ("LPT9 .log", "device"),
    ("a.py.", "ends with a dot"),
    ("a.py ", "blank"),
    ("dir /a.py", "blank"),
    ("data:stream.py", "contains :"),
    ("what?.py", r"contains \?"),
    ("<x>.py", "contains"),
    ("", "is empty"),
    (".", "is empty"),
    ("src/", "names a folder"),
    ("a" * 256, "longer than 255"),
    ("ü" * 128, "longer than 255"),
    ("/".join(["a" * 200] * 6), "longer than 1024"),
    ("/".join(["a"] * (MAX_LEVELS + 1)), "levels"),
])
def test_a_path_that_leaves_the_software_or_exists_nowhere_is_refused(name: str, why: str) -> None:
    with pytest.raises(UnsafePath, match=why):
        safe_path(name)


def test_the_refusal_shows_a_long_name_shortened_and_escaped() -> None:
    with pytest.raises(UnsafePath) as refusal:
        safe_path("\x1b[31m" + "x" * 5000)
    assert len(str(refusal.value)) < 300
    assert "\x1b" not in str(refusal.value)


@example(".\\~")
@given(st.text(max_size=60) | st.text(alphabet="./\\~:gitGIT a", max_size=20))
def test_whatever_is_accepted_stays_inside_the_software(name: str) -> None:
    try:
        path = safe_path(name)
    except UnsafePath:
        return
    parts = PurePosixPath(path).parts
    assert safe_path(path) == path
    assert not PurePosixPath(path).is_absolute()
    assert ".." not in parts
    assert not any(part.casefold().rstrip(". ") == ".git" for part in parts)
    root = Path("/software")
    assert (root / path).resolve().is_relative_to(root)


@pytest.mark.parametrize(("paths", "pairs"), [
    ([], []),
    (["a.py", "b/a.py"], []),
    (["Main.py", "main.py"], [("Main.py", "main.py")]),
    (["src/A.py", "SRC/a.py"], [("SRC/a.py", "src/A.py")]),
    (["e\u0301.py", "\u00e9.py"], [("e\u0301.py", "\u00e9.py")]),
    (["data", "data/x.json"], [("data", "data/x.json")]),
    (["Data", "data/deep/x.json"], [("Data", "data/deep/x.json")]),
    (["a.py", "a.py"], []),
])
def test_paths_that_cannot_exist_side_by_side_are_found(paths: list[str], pairs: list[tuple[str, str]]) -> None:
    assert collisions(paths) == pairs
