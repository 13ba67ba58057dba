"""What is known of a program without running it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatdev.departments.software.reading.static import data_errors, undefined_names
from chatdev.packages.imports import distributions, imports, requirements, third_party_names
from chatdev.workspace.python_errors import syntax_errors


@pytest.mark.parametrize(("source", "required", "optional"), [
    ("import os.path, numpy.linalg as la", {"os", "numpy"}, set()),
    ("from PIL import Image\nfrom . import x\nfrom .y import z", {"PIL"}, set()),
    ("def f():\n    import yaml", {"yaml"}, set()),
    ("try:\n    import rich\nexcept ImportError:\n    rich = None", set(), {"rich"}),
    ("try:\n    import rich\nexcept (OSError, ModuleNotFoundError): pass\nimport json", {"json"}, {"rich"}),
    ("try:\n    import rich\nexcept ValueError: pass", {"rich"}, set()),
    ("try:\n    import rich\nexcept Exception: pass\nimport rich", {"rich"}, set()),
    ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import pandas", {"typing"}, set()),
])
def test_imports_are_found_with_those_that_may_fail_apart(source: str, required: set[str],
                                                          optional: set[str]) -> None:
    found = imports({"main.py": source.encode()})
    assert (set(found.required), set(found.optional)) == (required, optional)


def test_own_modules_and_tests_do_not_count() -> None:
    found = imports({"main.py": b"import util, pkg.a\nfrom game.board import B", "util.py": b"",
                     "src/game/board.py": b"", "pkg/a.py": b"",
                     "test_main.py": b"import pytest", "tests/conftest.py": b"import hypothesis"})
    assert found.required == set()


def test_the_standard_library_is_not_third_party() -> None:
    assert third_party_names(frozenset({"os", "tkinter", "sqlite3", "cv2"})) == {"cv2"}


def test_requirements_are_read_by_name() -> None:
    text = b"# tools\nPillow>=9 ; python_version > '3'\nflask[async]==2.0\n-r more.txt\nhttps://x/y.whl\na_b.C\nx @ file:///y\n"
    assert requirements({"requirements.txt": text}) == {"pillow", "flask", "a-b-c"}
    assert requirements({}) == set()


def test_the_paper_s_usual_suspects_are_known() -> None:
    known = distributions()
    assert len(known) >= 60
    assert {name: known[name] for name in ("cv2", "PIL", "yaml", "sklearn", "bs4")} == {
        "cv2": "opencv-python-headless", "PIL": "pillow", "yaml": "PyYAML", "sklearn": "scikit-learn",
        "bs4": "beautifulsoup4"}
    assert not third_party_names(frozenset(known)) ^ set(known)


@given(st.binary(max_size=200))
def test_any_bytes_are_judged_without_an_exception(source: bytes) -> None:
    if not syntax_errors({"main.py": source}):
        imports({"main.py": source})


@pytest.mark.parametrize("source", ["(" * 500, "-" * 100_000 + "1", "x = '\\d'", "1 is 1", "\ufeffx = 1", "if 1:\nx"])
def test_odd_sources_are_judged_without_warnings(source: str) -> None:
    for error in syntax_errors({"a.py": source.encode()}):
        assert error.message


def undefined(source: str, path: str = "main.py") -> list[tuple[int, str]]:
    return [(error.line, error.message) for error in undefined_names({path: source.encode()})]


def test_a_button_without_its_function() -> None:
    source = "import tkinter as tk\nroot = tk.Tk()\ntk.Button(root, command=lambda: handle(1))\nhandle\n"
    assert undefined(source) == [(3, "NameError: name 'handle' is not defined")]


def test_a_dictionary_that_takes_a_unit_for_a_name() -> None:
    assert undefined("units = {'C': {'K': C + 273.15}}\n") == [(1, "NameError: name 'C' is not defined")]


@pytest.mark.parametrize("source", [
    "from tkinter import *\nTk()\n", "def f():\n    global made\n    made = 1\ndef g():\n    return made\n",
    "try:\n    unicode\nexcept NameError:\n    unicode = str\n", "print(__file__, __name__)\n", "print(_('text'))\n",
    "exec('x = 1')\nprint(x)\n", "class A:\n    b: 'A'\n    def f(self) -> 'A': return self\n",
    "def f():\n    return g()\ndef g():\n    return 1\n", "match 1:\n    case int(n):\n        print(n)\n",
    "x = [n for n in range(3) if (y := n)]\nprint(y)\n", "try:\n    exit(1)\nfinally:\n    quit()\n",
    "def show(x: 'Widget') -> 'list[Widget]':\n    return [x]\n", "from typing import cast\nprint(cast('Widget', 1))\n",
    "from __future__ import annotations\nclass A:\n    n: Optional[int] = None\n    def f(self, x: B) -> C: pass\n",
    "def f():\n    names: List[int] = []\n    return names\n", "try:\n    profile\nexcept Exception:\n    pass\n",
    "import sys\nif sys.version_info[0] == 2:\n    input = raw_input\nprint(input())\n",
    "import sys\nPY2 = sys.version_info < (3,)\ntext = unicode if PY2 else str\n",
    "try:\n    shell = get_ipython()\nexcept:\n    shell = None\n",
    "import builtins\nbuiltins.log = print\nlog('x')\n",
])
def test_what_only_looks_so(source: str) -> None:
    assert undefined(source) == []


@pytest.mark.parametrize("source", [
    "def show(x: Widget): pass\n", "class A:\n    n: Widget = 1\n", "n: Widget = 1\n", "x = f'{Widget} is shown'\n",
    "from __future__ import annotations\ndef f(x: A) -> B:\n    return Widget(x)\n", "print('Widget', Widget)\n",
    "def f():\n    x: A = Widget()\n    return x\n", "import sys\nif sys.argv[1:]:\n    Widget()\n",
    "try:\n    Widget()\nexcept Exception as error:\n    print(error)\n",
    "try:\n    Widget()\nexcept ValueError:\n    pass\n",
    "try:\n    print()\n    Widget()\nexcept Exception:\n    print('wrong input')\n",
    "try:\n    print()\nexcept Exception:\n    Widget()\n",
])
def test_what_crashes_where_it_is_reached(source: str) -> None:
    assert [message for _, message in undefined(source)] == ["NameError: name 'Widget' is not defined"]


def test_the_line_is_the_one_that_python_counts() -> None:
    errors = undefined_names({"main.py": '"""One\x0ctwo\u2028three."""\nWidget()\nprint()\n'.encode()})
    assert [(error.line, error.source) for error in errors] == [(2, "Widget()")]
    [broken] = syntax_errors({"main.py": b'"""One\x0ctwo."""\nx = (\n'})
    assert (broken.line, broken.source) == (2, "x = (")


def test_a_line_that_is_there_for_python_alone_is_no_error_of_ours() -> None:
    assert undefined("# coding: utf-7\nprint(1)+AAoACg-Widget()\n") == [(4, "NameError: name 'Widget' is not defined")]


def test_a_name_may_come_from_another_file() -> None:
    assert not undefined_names({"main.py": b"log('x')\n", "setup_log.py": b"import builtins\nbuiltins.log = print\n"})


JSON_LINES = '{"a": 1}\n\n{"a": 2}\n'


@pytest.mark.parametrize(("path", "text"), [
    ("tsconfig.json", "{\n  // strict\n  \"strict\": true,\n}"), ("tsconfig.app.json", "{,}"),
    (".eslintrc.json", "{,}"), (".vscode/settings.json", "{} // mine"),
    ("tasks.json", ""), ("tasks.json", " \n"), ("events.json", JSON_LINES),
    ("tasks.json", "\ufeff[]"), ("tests/bad.json", "{"), ("tasks.json", "[1]\n")])
def test_json_that_some_program_can_read(path: str, text: str) -> None:
    assert data_errors({path: text.encode()}) == []


@pytest.mark.parametrize(("text", "line"), [
    ("{", 1), ("[\n  1, // one\n  2\n]", 2), ('{"a": 1}\n{"a": }\n', 2), ("# The tasks\n[]", 1), ("[1,]", 1)])
def test_json_that_no_program_can_read(text: str, line: int) -> None:
    assert [error.line for error in data_errors({"data/tasks.json": text.encode()})] == [line]


def test_tests_and_other_files_are_left_alone() -> None:
    assert undefined("nothing_here\n", "test_main.py") == undefined("nothing_here\n", "notes.txt") == []


def test_code_nested_beyond_reason_is_no_error_of_ours() -> None:
    assert undefined(f"x = {'[' * 90}{']' * 90}\n") == []
