"""`software.mend`: slips that are certain are gone from a program before anybody judges it, and nothing else is."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatdev.departments.software import knowledge
from chatdev.departments.software.reading.python_reader import mend_python
from chatdev.sandbox.kinds import find_sandbox
from chatdev.tools.base import ToolContext, Verdict, registry


def mended(source: str, path: str = "main.py") -> str:
    text, slips = mend_python(source, path, knowledge.importable())
    assert (text == source) == (not slips)
    return text


@pytest.mark.parametrize(("source", "added"), [
    ("print(sys.argv)\n", "import sys\n"),
    ("print(os.path.join('a', 'b'), os.sep)\n", "import os\n"),
    ("print(datetime.now())\n", "from datetime import datetime\n"),
    ("print(datetime(2026, 1, 2) - datetime.min)\n", "from datetime import datetime\n"),
    ("print(datetime.datetime.now())\n", "import datetime\n"),
    ("count = defaultdict(int)\n", "from collections import defaultdict\n"),
    ("@dataclass\nclass Task:\n    name: str\n", "from dataclasses import dataclass\n"),
    ("print(json.dumps(1), sys.path)\n", "import json\nimport sys\n"),
])
def test_a_forgotten_import_is_added(source: str, added: str) -> None:
    assert mended(source) == added + source


@pytest.mark.parametrize("source", [
    "import sys\nprint(sys.argv)\n",
    "print(tasks)\n",  # nobody knows what it was to be
    "print(time + 1)\n",  # rather a variable than the module
    "print(json.read('tasks.json'))\n",  # no function of that module
    "print(date.today())\n",  # not in the table
    "from os import *\nprint(sys.argv)\n",
    "def f(sys):\n    return sys.argv\n",
    "try:\n    print(sys.argv)\nexcept NameError:\n    pass\n",
    "exec('import sys')\nprint(sys.argv)\n",
    "# main.py\nprint(1)\n",
    "main = 1\nmain\n",
    "",
])
def test_what_is_no_slip_stays(source: str) -> None:
    assert mended(source) == source


def test_an_import_comes_behind_what_has_to_come_first() -> None:
    source = ('#!/usr/bin/env python3\n"""A list."""\nfrom __future__ import annotations\n\n'
              "@f\ndef g():\n    os.getcwd()\n")
    assert mended(source) == source.replace("@f", "import os\n@f")
    assert mended('"""A list."""; os.getcwd()\n') == 'import os\n"""A list."""; os.getcwd()\n'
    assert mended("x = 1\r\nos.getcwd()\r\n") == "import os\r\nx = 1\r\nos.getcwd()\r\n"


def test_lines_are_counted_as_python_counts_them() -> None:
    source = '"""One\x0ctwo\u2028three\x85four."""\nx = "\x1c"\nos.getcwd()\n'
    assert mended(source) == source.replace("x = ", "import os\nx = ")


def test_the_name_of_the_file_is_no_line_of_it() -> None:
    assert mended("\nmain.py\nprint(1)\n") == "print(1)\n"
    assert mended("store.py\nprint(1)\n", "todo/store.py") == "print(1)\n"
    assert mended("main.py\n\nprint(sys.argv)\n") == "\nimport sys\nprint(sys.argv)\n"


@pytest.mark.parametrize("source", ["def f(:\n", "print(sys.argv\n", "\0", "x = " + "(" * 5000, "main.py\ndef f(:\n"])
def test_a_file_that_cannot_be_read_is_refused(source: str) -> None:
    with pytest.raises(SyntaxError):
        mend_python(source, "main.py", knowledge.importable())


def test_every_import_of_the_table_works() -> None:
    for name, modules in knowledge.importable().items():
        for module in modules:
            assert (module or name) in sys.stdlib_module_names
            assert not module or hasattr(import_module(module), name)


@given(st.text(alphabet="main.pysotuj =():\n\"'#\\\r\f\ufeff", max_size=60))
def test_whatever_is_mended_can_be_read_and_needs_no_second_mending(source: str) -> None:
    try:
        text, slips = mend_python(source, "main.py", knowledge.importable())
    except SyntaxError:
        return
    compile(text.encode(), "main.py", "exec")
    assert not slips or mend_python(text, "main.py", knowledge.importable())[0] == text


def test_the_tool_mends_the_files_that_need_it_and_says_so(tmp_path: Path) -> None:
    software = {"main.py": b"import store\nprint(store.names(sys.argv))\n", "store.py": b"store.py\nnames = list\n",
                "right.py": b"import os\n", "wrong.py": b"def f(:\n", "odd.py": b"\xff\n", "notes.txt": b"notes.txt\n"}
    context = ToolContext(software, {}, {}, find_sandbox("none"), tmp_path, tmp_path)
    found = registry()["software.mend"].call(context, {})
    assert not isinstance(found, Verdict)
    assert found["files"] == {"main.py": "import sys\nimport store\nprint(store.names(sys.argv))\n",
                              "store.py": "names = list\n"}
    assert found["report"] == ("main.py was mended where that needs no thought:\nadded: import sys\n"
                               "store.py was mended where that needs no thought:\nleft out: store.py")


KEEPS = b"open('tasks.txt', 'a').write('x')\n"


@pytest.mark.parametrize(("software", "files"), [
    ({"main.py": KEEPS, "tasks.txt": b"# The list of tasks\n\n# One a line\n"}, {"tasks.txt": ""}),
    ({"main.py": KEEPS, "tasks.txt": b"# Tasks\nBuy milk\n"}, {}), ({"main.py": KEEPS, "tasks.txt": b""}, {}),
    ({"main.py": b"print(open('tasks.txt').read())\n", "tasks.txt": b"# The list of tasks\n"}, {}),
    ({"main.py": b"def f(:\n", "tasks.txt": b"# The list of tasks\n"}, {}),
    ({"main.py": KEEPS.replace(b".txt", b".py"), "tasks.py": b"# The list of tasks\n"}, {})])
def test_comments_are_left_out_of_what_a_program_keeps(tmp_path: Path, software: dict[str, bytes],
                                                       files: dict[str, str]) -> None:
    context = ToolContext(software, {}, {}, find_sandbox("none"), tmp_path, tmp_path)
    assert registry()["software.mend"].call(context, {})["files"] == files
