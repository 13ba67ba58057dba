"""Software as a value, and which file starts it."""

from __future__ import annotations

from pathlib import Path

import pytest

from chatdev.workspace.file_tree import Software, find_entry

GUARD = b"if __name__ == '__main__':\n    print(1)\n"


def test_software_is_loaded_from_a_folder_and_equal_by_content(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").write_bytes(b"x = 1\ny = 2\n")
    (tmp_path / "main.py").write_bytes("print('ü')".encode())
    software = Software.load(tmp_path)
    assert software == Software({"main.py": "print('ü')".encode(), "src/a.py": b"x = 1\ny = 2\n"})
    assert hash(software) == hash(Software(dict(software)))
    assert software != Software()
    assert software.files == ("main.py", "src/a.py")
    assert software.lines == 3
    assert software.text("main.py") == "print('ü')"
    assert software["src/a.py"].startswith(b"x")
    assert software.main == "main.py"
    assert (len(Software()), Software().main) == (0, None)


def test_what_was_handed_in_can_change_without_changing_the_software() -> None:
    files = {"a.py": b"1"}
    software = Software(files)
    files["b.py"] = b"2"
    assert software.files == ("a.py",)


@pytest.mark.parametrize(("files", "path", "argv"), [
    ({"main.py": b"", "app.py": GUARD}, "main.py", ("main.py",)),
    ({"src/main.py": b"", "lib/x.py": b""}, "src/main.py", ("src/main.py",)),
    ({"a.py": b"", "b.py": GUARD}, "b.py", ("b.py",)),
    ({"game.py": b"print(1)"}, "game.py", ("game.py",)),
    ({"game.py": b"print(1)", "test_game.py": GUARD, "tests/x.py": GUARD, "setup.py": GUARD}, "game.py", ("game.py",)),
    ({"pkg/__init__.py": b"", "pkg/__main__.py": b"", "pkg/x.py": GUARD}, "pkg/__main__.py", ("-m", "pkg")),
    ({"a.py": GUARD, "b.py": GUARD}, None, ()),
    ({"broken.py": b"def ("}, "broken.py", ("broken.py",)),
    ({"readme.md": b""}, None, ()),
])
def test_the_entry_is_found(files: dict[str, bytes], path: str | None, argv: tuple[str, ...]) -> None:
    entry = find_entry(files)
    assert (entry.path, entry.argv) == (path, argv)


def test_an_undecided_entry_names_its_candidates() -> None:
    assert find_entry({"a.py": GUARD, "b.py": GUARD, "c.py": b""}).candidates == ("a.py", "b.py")
