"""What holds of the parsers of files and markers whatever a model writes, and of the time that reading takes."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from chatdev.replies import Unreadable, objections, parse_files, read_marker, strip_thoughts
from chatdev.replies.files import MAX_FILES
from chatdev.workspace.file_tree import collisions, safe_path

PROGRAM = """\
\"\"\"A program.\"\"\"
import os
LIMIT = 3


class A:
    @property
    def f(self):
        return 1

    def g(self):
        if LIMIT:
            return self.f


def h(x=LIMIT):
    return A().g()  # x


if __name__ == '__main__':
    h()
"""
SOFTWARE = {"main.py": PROGRAM.encode(), "app.js": b"f();\n  g();\n", "pkg/broken.py": b"x = (\n", "logo.png": b"\xff",
            "style.css": b"a {}\r\n"}
"""What there is before a reply is read."""

TOKENS = [
    "```", "````", "~~~", "```python\n", "```js\n", "```md\n", "```diff\n", "python", "\n", "\n\n", " ", "    ", "\t",
    "\r\n", *SOFTWARE, "new.py", "../x.py", ".git/config", "C:\\x.py", "# main.py\n", "**main.py**\n", "`main.py`:\n",
    "FILENAME: ", "File: ", "title=", "filename=", "delete", "whole", '"', "'", "class A:\n", "    def g(self):\n",
    "        return 2\n", "def h():\n", "    pass\n", "import os\n", "from os import path\n", "LIMIT = 4\n",
    "@property\n", "if __name__ == '__main__':\n", "...", "# ... rest of the code\n", "// ...\n", "<<<<<<< SEARCH\n",
    "=======\n", ">>>>>>> REPLACE\n", "f();\n", "- a\n", "1. ", "# ", "> ", "**", "*", "_", "$ ls\n",
    "pip install x\n", "print(h())\n", "*** Begin Patch\n", "*** Update File: main.py\n", "*** End Patch\n",
    "--- a/main.py\n", "+++ b/main.py\n", "@@\n", "@@ -1,2 +1,2 @@\n", " import os\n", "-LIMIT = 3\n", "+LIMIT = 5\n",
    "<SOLUTION>", "</SOLUTION>", "<QUESTION>", "＜SOLUTION＞", "[SOLUTION]",
    "< / solution >", "<think>", "</think>", "<thinking>", ":", "：", "\0", "\ufeff", "\ud800", "é", "\u2028", "\f",
    "\\", "{", "}", "(", ")", "[", "]",
]
"""Pieces that mean something to a parser."""


def files(text: str) -> None:
    """The file parser reads `text` or says what is unreadable, and does nothing else."""
    try:
        delivery = parse_files(text, SOFTWARE)
    except Unreadable as problem:
        _is_for_a_reader(problem)
        return
    after = delivery.software
    assert {*delivery.written} == {path for path in after if after[path] != SOFTWARE.get(path)}
    assert {*delivery.deleted} == SOFTWARE.keys() - after.keys()
    assert all(safe_path(path) == path for path in delivery.written)
    assert not collisions(after)
    assert len(after) <= MAX_FILES
    came_in = len(text.encode("utf-8", "surrogatepass"))
    assert sum(map(len, after.values())) <= _size() + 130 * came_in  # what moves deeper grows by 120 columns a line
    objections(SOFTWARE, after, whole=delivery.whole)


def markers(text: str) -> None:
    """The marker parser takes something away and adds nothing."""
    answer = strip_thoughts(text)
    assert _is_part(answer, text)
    for said in (text, answer):
        marked = read_marker(said)
        assert marked.kind in (None, "solution", "question")
        assert _is_part(marked.body, said) if marked.kind else marked.body == said
    with suppress(Unreadable):
        parse_files(read_marker(answer).body, {})


@contextmanager
def in_time(text: str) -> Iterator[None]:
    """What the worst short reply may cost on a busy machine, and a second for each 100 KB."""
    started = time.process_time()
    yield
    taken = time.process_time() - started
    assert taken < 15 + len(text) / 100_000, f"{taken:.1f} s for {len(text)} characters"


def decoded(data: bytes) -> str:
    """The text that a file of cases or of a corpus holds; half a character may stand in it."""
    try:
        return data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return data.decode("utf-8", "replace")


def _is_for_a_reader(problem: Unreadable) -> None:
    """It goes back to the model, whose context window is small."""
    assert problem.problems
    assert len(str(problem)) < 20_000


def _size() -> int:
    return sum(map(len, SOFTWARE.values()))


def _is_part(part: str, whole: str) -> bool:
    """Whether all characters of `part` stand in `whole` in this order."""
    left = iter(whole)
    return all(character in left for character in part)
