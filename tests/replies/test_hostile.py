"""No text makes the parsers fail in any other way than by saying what is unreadable, and none takes them long."""

from __future__ import annotations

import contextlib
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatdev.config.phases import Solution
from chatdev.replies import Unreadable, objections, parse_files, parse_solution, read_marker, strip_thoughts, tidy_body

SOFTWARE = {
    "main.py": b"import os\n\n\nclass A:\n    def f(self):\n        return 1\n\n\nif __name__ == '__main__':\n    1\n",
    "app.js": b"f();\n", "broken.py": b"x = (\n", "logo.png": b"\xff\xfe",
}
FENCES = ["```", "````", "~~~", "python", "js", "md", " ", "\n", "\n\n", *SOFTWARE, "../x.py"]
PIECES = [
    "# ", "class A:\n", "    def f(self):\n", "        return 2\n", "def f(self):\n", "    return 3\n", "import os\n",
    "<<<<<<< SEARCH\n", "=======\n", ">>>>>>> REPLACE\n", "f();\n", "...", "# ... rest of the code\n", "delete",
    "whole", "title=", '"', "'", "<think>", "</think>", "<SOLUTION>", "{", "}", "[", "]", ":", ",", "- a\n", "\0",
    "\r\n", "\ud800", "x = 1; y = 2\n", "if __name__ == '__main__':\n    A()\n", "@", "x.setter\n", "\\",
    "pip install x\n", "$ ls\n",
]
replies = st.lists(st.sampled_from(FENCES + PIECES), max_size=40).map("".join) | st.text()
bodies = st.lists(st.sampled_from(PIECES), max_size=12).map("".join)


@given(replies)
def test_files_are_read_or_refused(text: str) -> None:
    with contextlib.suppress(Unreadable):
        delivery = parse_files(strip_thoughts(text), SOFTWARE)
        assert delivery.is_unchanged == (delivery.software == SOFTWARE)
        objections(SOFTWARE, delivery.software)


@given(st.sampled_from(sorted(SOFTWARE)), st.sampled_from(["python", "js", "", "python whole", "delete"]), bodies)
def test_any_block_for_an_existing_file_is_read_or_refused(path: str, info: str, body: str) -> None:
    try:
        delivery = parse_files(f"{path}\n`````{info}\n{body}\n`````", SOFTWARE)
    except Unreadable:
        return
    assert {name: content for name, content in delivery.software.items() if name != path} == {
        name: content for name, content in SOFTWARE.items() if name != path}


@given(st.sampled_from(["text", "choice", "json", "list"]), replies)
def test_every_other_form_is_read_or_refused(form: str, text: str) -> None:
    solution = Solution.model_validate({"form": form, "options": ["a", "f();", "python"]})
    with contextlib.suppress(Unreadable):
        assert parse_solution(solution, read_marker(text).body, {}) is not None or form == "json"


@pytest.mark.parametrize("text", [
    "main.py\n```python\n" + "x = 1\n" * 330_000,
    "main.py\n```python\n" + "x = 1\n" * 330_000 + "```",
    "app.js\n```js\n" + "f();\n" * 170_000 + "```\n" + "app.js\n```js\n" + "g();\n" * 170_000 + "```",
    "word " * 400_000,
    "(" * 2_000_000,
    "`" * 2_000_000,
    "**" * 1_000_000,
    "<think>" * 300_000,
    "\n" * 2_000_000,
    "# " * 1_000_000 + "\n```python\nx\n```",
    "a.py\n" * 400_000 + "```python\nx\n```",
    "```\n" * 300_000,
    "a.txt\n```\n```\n" * 120_000,
    "</SOLUTION>\n" * 150_000,
    "app.js\n```js\n" + "// " + "." * 1_000_000 + "\n```",
    "app.js\n```js\n" + "/* " * 300_000 + "\n```",
    "```python\n# " + "a" * 1_000_000 + "\n```",
    "main.py\n```python\n<<<<<<< SEARCH\n" + "a\n" * 400_000 + "=======\n>>>>>>> REPLACE\n```",
    "main.py\n```\n<<<<<<< SEARCH" + " " * 2_000_000 + "x\n```",
    *(f"```c\n{begin}{piece * 1_900}x\n```\n" for begin, piece in (("/*", " "), ("/", "*"), ("<!", "-"), ("(", "*"))),
    "```java\n" + "\n" * 1_000_000 + "x\n```",
    "</think>" * 250_000,
    "--- a\n+++ b\n" * 150_000,
    "*** Begin Patch\n" * 120_000,
    "*** Update File: app.js\n-f();\n" * 50_000,
    "```diff\n" + "-f();\n+g();\n" * 150_000 + "```",
    "```diff\n--- a/app.js\n+++ b/app.js\n" + "@@\n-f();\n+f();\n" * 100_000 + "```",
    "--- a/app.js\n+++ b/app.js\n@@ -1 +1 @@\n" + "\nword\n" * 300_000,
    "--- a/app.js\n+++ b/app.js\n@@ -1 +1 @@\n" + "word\n" * 300_000 + "+x",
    "```diff\n" + "diff --git a/app.js b/app.js\n" * 60_000 + "```",
    "```diff\n--- a/app.js\n+++ b/app.js\n" + "@@ f\n" * 300_000 + "-f();\n+g();\n```",
    ("app.js\n```\n" + "".join(f"<<<<< SEARCH\nx{n}\n=====\n>>>>> REPLACE\n" for n in range(290)) + "```\n") * 95,
], ids=lambda text: text[:24])
def test_two_megabytes_take_no_time(text: str) -> None:
    start = time.process_time()
    with contextlib.suppress(Unreadable):
        parse_files(read_marker(strip_thoughts(text)).body, SOFTWARE)
    assert time.process_time() - start < 2


@pytest.mark.parametrize(("form", "text"), [
    ("choice", "yes" + " " * 2_000_000 + "x"), ("choice", "x\nyes" + " , " * 600_000),
    ("list", "- a\n" + "  b\n" * 500_000), ("list", "- a\n" * 100_000),
    ("json", "{" * 2_000_000), ("json", "```\n{'x'}\n```\n" * 2_000),
    ("text", "```\nx\n```\n" * 50_000)], ids=lambda text: text[:24])
def test_no_form_takes_long(form: str, text: str) -> None:
    solution = Solution.model_validate({"form": form, "options": ["yes", "no"]})
    start = time.process_time()
    with contextlib.suppress(Unreadable):
        parse_solution(solution, text, {})
    assert time.process_time() - start < 4


def test_markers_around_many_blocks_are_found_at_once() -> None:
    start = time.process_time()
    tidy_body(Solution(form="files", only=["main.py"]), "```\n<SOLUTION>\n```\n" * 100_000)
    assert time.process_time() - start < 4


@pytest.mark.parametrize("statement", ["print({})", "if {}: pass", "assert {}", "class A:\n    x = {}",
                                       "match {}:\n  case 1: 0", "x[{}]", "def f(x={}): pass",
                                       "@f({})\ndef g(): pass", "x += {}", "x = {}"])
def test_numbers_that_python_does_not_print_are_read(statement: str) -> None:
    program = statement.format("0x" + "f" * 4_000) + "\n"
    assert parse_files(f"new.py\n```python\n{program}```\n", {}).software["new.py"] == program.encode()
