"""Where a part goes that the file does not have yet, and parts for a file that does not parse."""

from __future__ import annotations

import pytest

from chatdev.replies import Unreadable, parse_files
from chatdev.replies.blocks import block_of
from chatdev.replies.files import Update
from chatdev.replies.python.merge import merge
from chatdev.replies.python.reader import fault, read, read_part


@pytest.mark.parametrize(("old", "part", "new"), [
    ("def f():\n    return 1\n", "if __name__ == '__main__':\n    f()\n",
     "def f():\n    return 1\n\n\nif __name__ == '__main__':\n    f()\n"),
    ("# licence\n\nx = 1\n", "import os\n", "# licence\nimport os\n\nx = 1\n"),
    ("# about x\nx = 1\n", "import os\n", "import os\n# about x\nx = 1\n"),
    ("#!/bin/sh\n# about x\nx = 1\n", "import os\n", "#!/bin/sh\nimport os\n# about x\nx = 1\n"),
    ("#!/bin/sh\n# -*- coding: ascii -*-\nx = 1\n", "import os\n",
     "#!/bin/sh\n# -*- coding: ascii -*-\nimport os\nx = 1\n"),
    ("# only comments\n", "import os\n", "# only comments\nimport os\n"),
    ("", "import os\n", "import os\n"),
    ('"""Doc."""\nimport os\n', "from __future__ import annotations\n",
     '"""Doc."""\nfrom __future__ import annotations\nimport os\n'),
    ("x = 1", "y = 2\n", "x = 1\ny = 2\n"),
    ("class A:\n    def f(self):\n        return 1\n", "class A:\n    size = 1\n",
     "class A:\n    size = 1\n    def f(self):\n        return 1\n"),
    ("class A:\n    def f(self):\n        return 1\n", "class A:\n    pass\n    ...\n",
     "class A:\n    def f(self):\n        return 1\n"),
    ("import os\r\nprint(os)\r\n", "def f():\n    return 1\n",
     "import os\r\n\r\n\r\ndef f():\r\n    return 1\r\n\r\n\r\nprint(os)\r\n"),
    ("def f():\n    return 1\n\n\nif __name__ == '__main__':\n    f()\n", "def g():\n    return 2\n",
     "def f():\n    return 1\n\n\ndef g():\n    return 2\n\n\nif __name__ == '__main__':\n    f()\n"),
    ("if __name__ == '__main__':\n    print(1)\n", "def g():\n    return 2\n",
     "def g():\n    return 2\n\n\nif __name__ == '__main__':\n    print(1)\n"),
    ("import a, b\n", "import a, c as d; import b\n", "import a, b\nimport c as d\n"),
    ("class A:\n    # about x\n    x = 1\n    y = 2\n", "class A(B):\n    x = 3\n",
     "class A(B):\n    # about x\n    x = 3\n    y = 2\n"),
    ("def f():\n    return 1\n\n\nx = 1", "x = 2\n", "def f():\n    return 1\n\n\nx = 2"),
])
def test_a_part_goes_where_it_belongs(old: str, part: str, new: str) -> None:
    assert merge("a.py", read(old), read_part(part)) == new


@pytest.mark.parametrize(("old", "part", "why"), [
    ("class A: x = 1\n", "class A:\n    y = 2\n", "a.py: class `A` stands on one line: give it as a whole"),
    ("class A:\n    x = 1\n", "class A: y = 2\n", "a.py: class `A` stands on one line: give it as a whole"),
    ("class A:\n    x = 1\n", "class A(B): ...\n", "a.py: class `A` stands on one line: give it as a whole"),
    ("x = 1; y = 2\n", "x = 3\n", "a.py: `x` shares a line with other code: use SEARCH/REPLACE"),
    ("def f():\n    return 1\n", "'''about'''\n", "a.py: the block holds no code to put into the file"),
    ("def f():\n    return 1\n", "def g():\n    # ... rest of the code\n    return 2\n",
     "a.py: `g` leaves code out: give it completely"),
    ("class A:\n    x = 1\nclass B:\n    x = 1\n", "def f(self):\n    return 1\n",
     "a.py: `f` could belong to several classes (A, B): give it inside its class"),
])
def test_what_has_no_clear_place_is_refused(old: str, part: str, why: str) -> None:
    with pytest.raises(Unreadable) as error:
        merge("a.py", read(old), read_part(part))
    assert str(error.value) == why


def broken(count: int) -> str:
    return "\n\n".join(f"def f{n}():\n    return ]\n" for n in range(count)) + "\n\nx = 1\n"


def test_a_function_finds_its_place_among_eight_broken_ones() -> None:
    text = Update("a.py", broken(8), block_of("def f7():\n    return 7\n")).text()
    assert text == broken(8).replace("def f7():\n    return ]\n", "def f7():\n    return 7\n")


@pytest.mark.parametrize(("old", "part"), [
    (broken(9), "def f8():\n    return 8\n"),  # each broken one costs another look at the file
    ("x = (\n\n\ndef f():\n    return 1\n" * 2, "def f():\n    return 2\n"),  # broken outside of functions
    ("def f(): return (\nx = 1\ny = ]\n" * 3, "def f():\n    return 2\n"),
    (broken(1), "x = 2\n"),  # no function
])
def test_into_what_cannot_be_read_around_no_part_is_merged(old: str, part: str) -> None:
    with pytest.raises(Unreadable, match="does not parse at the moment"):
        Update("a.py", old, block_of(part)).text()


def test_a_broken_function_on_one_line_is_replaced() -> None:
    text = Update("a.py", "x = 1\ny = 2\n\n\ndef f(): return (\n", block_of("def f():\n    return 1\n")).text()
    assert text == "x = 1\ny = 2\n\n\ndef f():\n    return 1\n"
    assert fault(text) is None


def test_a_file_given_first_as_it_was_and_then_in_part_is_both() -> None:
    """A second block that is part of the first, in Python and in a language that is not read."""
    change = "<<<<<<< SEARCH\n<b>\n=======\n<i>\n>>>>>>> REPLACE\n"
    page = f"a.html\n```html\n<p>\n<b>\n```\na.html\n```html\n{change}```\n"
    assert parse_files(page, {}).software == {"a.html": b"<p>\n<i>\n"}
    text = "a.py\n```python\nx = (\n```\na.py\n```python\nx = [\ny = 1\nz = 2\n```\n"
    assert parse_files(text, {}).software == {"a.py": b"x = [\ny = 1\nz = 2\n"}
    with pytest.raises(Unreadable, match="line 2 leaves code out"):
        parse_files("a.css\n```css\np {}\nb {}\n```\na.css\n```css\np {}\n/* ... rest */\n```\n", {})
