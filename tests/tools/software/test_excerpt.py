"""The text around a failing line: the function whole, the line marked, whatever the file holds."""

from __future__ import annotations

import pytest

from chatdev.tools.software.excerpt import excerpt

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
        "   9 |     def add(self, text):", '> 10 |         name, price = text.split(",")',
        "  11 |         def number():", "  12 |             return float(price)",
        "  13 |         self.items.append((name, number()))"]


def test_of_nested_functions_it_is_the_innermost_with_its_decorators() -> None:
    assert excerpt(FILES, "main.py", 12).splitlines()[:2] == [
        "  11 |         def number():", "> 12 |             return float(price)"]
    assert excerpt(FILES, "main.py", 7).splitlines()[0] == "  5 |     @property"


def test_outside_functions_it_is_what_stands_around() -> None:
    shown = excerpt(FILES, "main.py", 16).splitlines()
    assert (shown[0], shown[5], len(shown)) == ("  11 |         def number():", "> 16 | Shop().add(sys.argv[1])", 7)


@pytest.mark.parametrize("line", [1, 2, 40, 99, 101])
def test_a_long_function_is_shown_by_its_head_and_around_the_line(line: int) -> None:
    text = "def f(x):\n" + "".join(f"    x += {n}\n" for n in range(2, 102))
    shown = excerpt({"a.py": text.encode()}, "a.py", line).splitlines()
    assert "def f(x):" in shown[0]
    assert len([row for row in shown if "|" in row]) == 30
    assert [row for row in shown if row.startswith(">")] == [f"> {line:>3} | {text.splitlines()[line - 1]}"]
    assert ("  " + " " * 2 + "…" in shown) == (len(text.splitlines()) > 30)


@pytest.mark.parametrize(("path", "source"), [
    ("a.py", b"def f(:\n    return 1\n"), ("a.js", b"function f() {\n  return 1;\n}\n"),
    ("a.py", b"x\r\ny = 1 / 0\r\n"),
])
def test_what_is_no_readable_python_is_shown_by_its_lines(path: str, source: bytes) -> None:
    assert f"> 2 | {source.splitlines()[1].decode()}" in excerpt({path: source}, path, 2)


@pytest.mark.parametrize(("path", "line"), [("main.py", 0), ("main.py", -3), ("main.py", 10**30), ("lib.py", 1),
                                            ("main.py", 2)])
def test_a_line_that_is_not_there_has_no_excerpt(path: str, line: int) -> None:
    assert excerpt(FILES, path, line) == ""


def test_a_line_without_end_is_cut() -> None:
    assert len(excerpt({"a.py": b"x = '" + b"a" * 9000 + b"'\n"}, "a.py", 1)) < 300
