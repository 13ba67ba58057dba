"""Which file a block without a name is for."""

from __future__ import annotations

import pytest

from chatdev.replies import Unreadable, parse_files


def written(info: str, content: str, software: dict[str, bytes] | None = None) -> tuple[str, ...]:
    return parse_files(f"```{info}\n{content}```", software or {}).written


@pytest.mark.parametrize(("info", "content", "path"), [
    ("java", "public class Shop {}\n", "Shop.java"),
    ("java", "class Shop {}\n", "Main.java"),
    ("js", "f();\n", "main.js"),
    ("make", "all:\n\tcc a.c\n", "Makefile"),
    ("python", "class Shop:\n    pass\n", "shop.py"),
    ("python", "class Shop:\n    pass\n\n\nShop()\n", "main.py"),
    ("python", "class _Shop:\n    pass\n", "main.py"),
    ("python", "print (1\n", "main.py"),
    ("", "import os\nprint(os.name)\n", "main.py"),
])
def test_a_new_program_is_called_by_what_it_defines(info: str, content: str, path: str) -> None:
    assert written(info, content) == (path,)


@pytest.mark.parametrize(("info", "content"), [
    ("", "Dear all,\n"), ("", "x = 1\n"), ("json", "{}\n"), ("text", "hi\n"),
])
def test_what_is_no_program_is_no_file(info: str, content: str) -> None:
    with pytest.raises(Unreadable, match="no fenced code block with a file name was found"):
        written(info, content)


@pytest.mark.parametrize("content", ["def h():\n    return 3\n", "x = (\n"])
def test_a_program_that_may_be_meant_for_each_is_asked_about(content: str) -> None:
    software = {"main.py": b"def f():\n    return 1\n", "b.py": b"x = (\n"}
    with pytest.raises(Unreadable, match=r"say which file it changes \(b.py, main.py\)"):
        written("python", content, software)


def test_a_main_program_replaces_main_among_several_files() -> None:
    guard = "\nif __name__ == '__main__':\n    print(1)\n"
    software = {"main.py": b"print(1)\n", "b.py": b"y = 1\n"}
    assert written("python", f"def start():\n    pass\n{guard}", software) == ("main.py",)


@pytest.mark.parametrize(("files", "count"), [({"a.css": b"p {}\n", "b.css": b"p {}\n"}, 2), ({"a.css": b"a {}\n"}, 0)])
def test_changes_whose_lines_are_not_in_one_file_are_asked_about(files: dict[str, bytes], count: int) -> None:
    with pytest.raises(Unreadable, match=f"have no file name, and their lines are in {count} files"):
        written("css", "<<<<<<< SEARCH\np {}\n=======\np {color: red}\n>>>>>>> REPLACE\n", files)


def test_changes_that_end_early_are_told_without_a_file_name() -> None:
    with pytest.raises(Unreadable, match="a block without a file name: a SEARCH block has no ======= line"):
        written("css", "<<<<<<< SEARCH\np {}\n", {"a.css": b"p {}\n"})
