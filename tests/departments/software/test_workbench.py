"""What agents do with software while they work on it: look, read, search, start and test."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from chatdev.sandbox.kinds import find_sandbox
from chatdev.tools.base import ToolContext, registry
from tests.support.products import CALCULATOR, SERVICE, TODO

Ask = Callable[..., str]
MAIN = "import sys\nfrom shop.prices import total\nprint(total(map(int, sys.argv[1:])), sys.stdin.read().strip())\n"
SHOP = {
    "main.py": MAIN, "shop/__init__.py": "", "shop/prices.py": "def total(numbers):\n    return sum(numbers)\n",
    "tests/test_prices.py": "import unittest\nfrom shop.prices import total\nclass Prices(unittest.TestCase):\n"
                            "    def test_sum(self):\n        self.assertEqual(total([1, 2]), 3)\n"
                            "    def test_none(self):\n        self.assertEqual(total([]), 1)\n"}


@pytest.fixture
def ask(tmp_path: Path) -> Ask:
    def call(name: str, software: dict[str, str] = SHOP, **arguments: Any) -> str:
        (scratch := tmp_path / "scratch").mkdir(exist_ok=True)
        files = {path: text.encode() for path, text in software.items()}
        context = ToolContext(files, {}, {}, find_sandbox(), tmp_path, scratch)
        said = registry()[f"software.{name}"].call(context, arguments)
        assert list(scratch.iterdir()) == []
        return str(said)

    return call


def test_the_tree_shows_files_and_their_lines(ask: Ask) -> None:
    assert ask("tree").splitlines() == ["main.py  3 lines", "shop/__init__.py  0 lines", "shop/prices.py  2 lines",
                                        "tests/test_prices.py  7 lines"]
    assert ask("tree", folder="tests/") == "tests/test_prices.py  7 lines"
    assert ask("tree", folder="none") == "There are no files below none."
    assert "… and 100 more; name a folder" in ask("tree", {f"{n:03}.txt": "" for n in range(500)})


def test_a_file_is_read_in_parts(ask: Ask) -> None:
    assert ask("read", path="shop/prices.py", first=2) == "    2     return sum(numbers)"
    assert ask("read", path="nothing.py").startswith("There is no file 'nothing.py'. There are: main.py, ")
    long = ask("read", {"a.txt": "x\n" * 1000}, path="a.txt", first=11)
    assert (long.splitlines()[0], long.splitlines()[-1]) == ("   11 x", "… up to line 1000")
    assert ask("read", path="main.py", first=50) == "main.py has 3 lines."


def test_lines_are_found_by_what_they_hold(ask: Ask) -> None:
    assert "shop/prices.py:1: def total(numbers):" in ask("search", text="TOTAL").splitlines()
    assert ask("search", text="total", below="shop") == "shop/prices.py:1: def total(numbers):"
    assert ask("search", text="(a+)+$") == "No line holds '(a+)+$'."


@pytest.mark.tool
def test_a_program_is_started_with_words_and_input(ask: Ask) -> None:
    assert ask("try", arguments=["1", "2"], stdin="apples\n") == "$ python main.py 1 2\n3 apples\n(exit status 0)"
    failed = ask("try", arguments=["x"], stdin="")
    assert "ValueError: invalid literal" in failed
    assert "(exit status 1)" in failed
    lying = ask("try", {"main.py": "print(open('data.csv').read())"}, files={"data.csv": "a,1\n"})
    assert "a,1" in lying


@pytest.mark.tool
def test_what_cannot_be_started_says_why(ask: Ask) -> None:
    assert "SyntaxError" in ask("try", {"main.py": "print((1)\n"})
    assert ask("try", files={"../x": ""}) == "The files cannot be put beside it: give texts by relative paths."
    assert ask("try", arguments=["\0"]) == "Nobody can type that (signs)."


@pytest.mark.tool
@pytest.mark.skipif(not shutil.which("Xvfb"), reason="Xvfb is not here")
def test_a_window_is_used_by_steps(ask: Ask) -> None:
    window = {"main.py": CALCULATOR}
    said = ask("try", window, steps=[{"press": "5"}, {"press": "+"}, {"press": "3"}, {"press": "="}, {"reads": "8"}])
    assert said.splitlines()[-4:-1] == ["(it shows)", "Calculator", "8"]
    assert said.splitlines()[-1].startswith("(can be pressed) 7 | 8 | 9")
    assert "(can be pressed) 7 | 8" in ask("try", window, steps=[])
    lacking = ask("try", window, steps=[{"press": "5"}, {"press": "√"}, {"press": "3"}])
    assert "→ there is no “√”\n(not done) press “3”\n(it shows)\nCalculator\n5\n" in lacking


@pytest.mark.tool
@pytest.mark.skipif(not shutil.which("chromium"), reason="chromium is not here")
def test_a_page_is_used_by_steps(ask: Ask) -> None:
    said = ask("try", TODO, steps=[{"type": "Milk", "into": "Task"}, {"press": "Add"}])
    assert said.startswith("- type “Milk” into “Task”\n- press “Add”\n(it shows)\nTo-do\n")
    assert "Milk (home)" in said
    assert "→ it does not show “Tea”" in ask("try", TODO, steps=[{"reads": "Tea"}])


@pytest.mark.tool
def test_a_service_is_asked_and_its_answers_are_shown(ask: Ask) -> None:
    said = ask("try", {"main.py": SERVICE}, steps=[{"request": "POST /items", "body": {"name": "milk"}},
                                                   {"request": "GET /items"}])
    assert '- POST /items\n201 {"name": "milk"}\n- GET /items\n200 [{"name": "milk"}]' in said
    assert "at least one request" in ask("try", {"main.py": SERVICE}, steps=[])
    assert "→ nothing listens" in ask("try", {"main.py": "print(1)"}, steps=[{"request": "GET /"}])


def test_steps_that_are_none_are_named(ask: Ask) -> None:
    window = {"main.py": "print(1)"}
    assert ask("try", window, steps=[{"press": "a"}, {"push": "b"}]).endswith("can do: {'push': 'b'}")
    assert ask("try", window, steps=[{"press": "a"}] * 31).endswith("give at most 30")
    assert ask("try", window, steps=[{"press": "a"}], arguments=["x"]).startswith("Give either steps or")


def test_the_schemas_of_the_tools_are_short() -> None:
    tools = [registry()[f"software.{name}"] for name in ("tree", "read", "search", "try", "test")]
    assert sum(len(json.dumps({"about": tool.about, **tool.parameters})) for tool in tools) < 2600


@pytest.mark.tool
def test_the_tests_of_the_software_are_run(ask: Ask) -> None:
    said = ask("test")
    assert "Its own tests do not pass" in said
    assert "test_none" in said
    assert ask("test", {"main.py": "print(1)"}) == "No test was found to run."
