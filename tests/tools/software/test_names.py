"""Names that are defined nowhere, and names that only look so."""

from __future__ import annotations

import pytest

from chatdev.tools.software.static import undefined_names


def found(source: str, path: str = "main.py") -> list[tuple[int, str]]:
    return [(error.line, error.message) for error in undefined_names({path: source.encode()})]


def test_a_button_without_its_function() -> None:
    source = "import tkinter as tk\nroot = tk.Tk()\ntk.Button(root, command=lambda: handle(1))\nhandle\n"
    assert found(source) == [(3, "NameError: name 'handle' is not defined")]


def test_a_dictionary_that_takes_a_unit_for_a_name() -> None:
    assert found("units = {'C': {'K': C + 273.15}}\n") == [(1, "NameError: name 'C' is not defined")]


@pytest.mark.parametrize("source", [
    "from tkinter import *\nTk()\n", "def f():\n    global made\n    made = 1\ndef g():\n    return made\n",
    "try:\n    unicode\nexcept NameError:\n    unicode = str\n", "print(__file__, __name__)\n", "print(_('text'))\n",
    "exec('x = 1')\nprint(x)\n", "class A:\n    b: 'A'\n    def f(self) -> 'A': return self\n",
    "def f():\n    return g()\ndef g():\n    return 1\n", "match 1:\n    case int(n):\n        print(n)\n",
    "x = [n for n in range(3) if (y := n)]\nprint(y)\n",
])
def test_what_only_looks_so(source: str) -> None:
    assert found(source) == []


def test_tests_and_other_files_are_left_alone() -> None:
    assert found("nothing_here\n", "test_main.py") == found("nothing_here\n", "notes.txt") == []


def test_code_nested_beyond_reason_is_no_error_of_ours() -> None:
    assert found(f"x = {'[' * 90}{']' * 90}\n") == []
