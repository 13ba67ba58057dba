"""The text around a failing line: the function whole, the line marked, whatever the file holds."""

from __future__ import annotations

import pytest

from chatdev.workspace.python_errors import excerpt

PROGRAM = '''\
import sys


class Shop:
    @property
    def total(self):
        return sum(item.price for item in self.items)

    def add(self, text):
        name, price = text.split(",")
        def number():
            return float(price)
        self.items.append((name, number()))


Shop().add(sys.argv[1])
'''
FILES = {"main.py": PROGRAM.encode()}


def test_a_function_stands_whole_with_its_line_marked() -> None:
    assert excerpt(FILES, "main.py", 10).splitlines() == [
        "    def add(self, text):", '        name, price = text.split(",")',
        "        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ line 10", "        def number():",
        "            return float(price)", "        self.items.append((name, number()))"]


def test_of_nested_functions_it_is_the_innermost_with_its_decorators() -> None:
    assert excerpt(FILES, "main.py", 12).splitlines() == [
        "        def number():", "            return float(price)", "            ^^^^^^^^^^^^^^^^^^^ line 12"]
    assert excerpt(FILES, "main.py", 7).splitlines()[0] == "    @property"


def test_outside_functions_it_is_what_stands_around() -> None:
    shown = excerpt(FILES, "main.py", 16).splitlines()
    assert shown[0] == "        def number():"
    assert shown[5:] == ["Shop().add(sys.argv[1])", "^^^^^^^^^^^^^^^^^^^^^^^ line 16"]


@pytest.mark.parametrize("line", [1, 2, 40, 99, 101])
def test_a_long_function_is_shown_by_its_head_and_around_the_line(line: int) -> None:
    text = "def f(x):\n" + "".join(f"    x += {n}\n" for n in range(2, 102))
    shown = excerpt({"a.py": text.encode()}, "a.py", line).splitlines()
    assert shown[0] == "def f(x):"
    marks = [at for at, row in enumerate(shown) if "^" in row]
    assert [shown[at - 1] for at in marks] == [text.splitlines()[line - 1]]
    assert len([row for row in shown if row not in ("…", *(shown[at] for at in marks))]) == 30
    assert 1 <= shown.count("…") <= 2


@pytest.mark.parametrize(("path", "source"), [
    ("a.py", b"def f(:\n    return 1\n"), ("a.js", b"function f() {\n  return 1;\n}\n"),
    ("a.py", b"x\r\ny = 1 / 0\r\n"),
])
def test_what_is_no_readable_python_is_shown_by_its_lines(path: str, source: bytes) -> None:
    assert f"{source.splitlines()[1].decode()}\n" in excerpt({path: source}, path, 2)


@pytest.mark.parametrize(("path", "line"), [("main.py", 0), ("main.py", -3), ("main.py", 10**30), ("lib.py", 1),
                                            ("main.py", 2)])
def test_a_line_that_is_not_there_has_no_excerpt(path: str, line: int) -> None:
    assert excerpt(FILES, path, line) == ""


def test_a_line_without_end_is_cut() -> None:
    assert len(excerpt({"a.py": b"x = '" + b"a" * 9000 + b"'\n"}, "a.py", 1)) < 300
