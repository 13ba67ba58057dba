"""What a reply may ask for at most, and what happens beyond it."""

from __future__ import annotations

import json

import pytest

from chatdev.config.schema import bundled_problems
from chatdev.replies import Unreadable, objections, parse_files
from chatdev.replies.forms import read_choice, read_json


def block(path: str, content: str) -> str:
    return f"{path}\n```{path.rpartition('.')[2]}\n{content}```\n"


def change(search: str, replace: str) -> str:
    return f"<<<<<<< SEARCH\n{search}=======\n{replace}>>>>>>> REPLACE\n"


def refusal(text: str, software: dict[str, bytes]) -> str:
    with pytest.raises(Unreadable) as error:
        parse_files(text, software)
    return str(error.value)


def test_more_than_300_changes_of_a_file_are_refused() -> None:
    text = block("a.js", "".join(change(f"a{n};\n", f"b{n};\n") for n in range(301)))
    software = {"a.js": "".join(f"a{n};\n" for n in range(301)).encode()}
    assert refusal(text, software) == "a.js: 301 SEARCH blocks; give the whole file instead"


def test_more_than_1000_statements_to_merge_are_refused() -> None:
    software = {"a.py": b"def f():\n    return 1\n\n\nf()\n"}
    assert refusal(block("a.py", "x = f\n" * 1001), software) == (
        "a.py: 1001 statements to put into the file; give the whole file instead, marked `whole` behind the fence")


def test_many_changes_of_a_long_file_are_refused_before_any_work() -> None:
    text = block("a.js", "".join(change(f"a{n};\n", "") for n in range(200)))
    assert refusal(text, {"a.js": b"x;\n" * 150_000}).startswith("a.js: too many blocks for files of this length; ")


def test_a_nameless_block_that_is_too_much_work_is_called_by_its_language() -> None:
    text = "".join(f"```js\nf({n});\n```\nand\n" for n in range(300))
    software = {f"{n}.js": b"x;\n" * 100_000 for n in range(3)}
    assert "a block without a file name (js): too many blocks for files of this length" in refusal(text, software)


@pytest.mark.parametrize("part", [change("x = 1\n", "x = 2\n"), "def g(self):\n    return 2\n"])
def test_lines_that_would_move_too_deep_are_refused(part: str) -> None:
    deep = " " * 121
    old = f"class A:\n{deep}x = 1\n\n{deep}def g(self):\n{deep} return 1\n"
    assert refusal(block("a.py", part), {"a.py": old.encode()}) == (
        "a.py: lines are indented by 121 columns; give the whole file, indented less")


def test_json_that_is_nested_too_deeply_is_no_answer() -> None:
    with pytest.raises(Unreadable, match="the answer is not valid JSON: nested too deeply"):
        read_json("[" * 101 + "]" * 101, {})
    assert read_json(json.dumps([[1]]), {}) == [[1]]


def test_json_that_is_nested_too_deeply_does_not_replace_what_was_valid() -> None:
    problems = objections({"a.json": b"{}"}, {"a.json": b"[" * 200_000})
    assert [problem.code for problem in problems] == ["broke_json"]
    assert problems[0].words(bundled_problems()).startswith("a.json: was valid JSON before and is not now: ")


def test_without_options_nothing_can_be_chosen() -> None:
    with pytest.raises(Unreadable, match="exactly one of"):
        read_choice("GUI", [])
