"""Never worse: what speaks against a delivery without running it."""

from __future__ import annotations

import pytest

from chatdev.config.schema import bundled_problems
from chatdev.replies import objections

PROGRAM = "import sys\n" + "".join(f"\n\ndef f{n}(x):\n    y = x + {n}\n    return y\n" for n in range(5))
SCRIPT = "".join(f"let a{n} = {n};\n" for n in range(20))


def objected(path: str, old: str, new: str, **others: str) -> list[str]:
    before = {path: old.encode(), "same.txt": b"same\n"}
    added = {f"{name}.{path.rsplit('.')[-1]}": text.encode() for name, text in others.items()}
    found = objections(before, {**before, path: new.encode(), **added})
    return [problem.words(bundled_problems()) for problem in found]


@pytest.mark.parametrize(("path", "old", "new", "why"), [
    ("a.py", "x = 1\n", "x = (\n", "a.py: parsed before and does not now: line 1: '(' was never closed"),
    ("a.py", PROGRAM, "pip install requests\n", "a.py: parsed before and does not now: line 1: "),
    ("a.json", "{}", "{,}", "a.json: was valid JSON before and is not now: line 1: "),
    ("a.py", PROGRAM, "print('hi')\n",
     "a.py: shrank from 16 to 1 lines and lost f0, f1, f2, f3, f4: give it completely"),
    ("a.py", PROGRAM, "", "a.py: shrank from 16 to 0 lines"),
    ("a.py", "import os\n" + "print(1)\n" * 20, "print(1)\n", "a.py: shrank from 21 to 1 lines: give it completely"),
    ("a.js", SCRIPT, "let a0 = 0;\n", "a.js: shrank from 20 to 1 lines"),
    ("a.js", SCRIPT, "npm install express\nnode a.js\n",
     "a.js: was a program before and holds only shell commands now"),
    ("a.js", SCRIPT, "I changed the loop so that\nit ends\n" * 9,
     "a.js: was a program before and holds only prose now"),
])
def test_a_delivery_for_the_worse_is_objected_to(path: str, old: str, new: str, why: str) -> None:
    assert [text[:len(why)] for text in objected(path, old, new)] == [why]


@pytest.mark.parametrize(("path", "old", "new"), [
    ("a.py", "x = (\n", "y = [\n"),
    ("a.py", PROGRAM, PROGRAM + "x = 1\n"),
    ("a.py", PROGRAM, PROGRAM[:len(PROGRAM) // 2].rsplit("\n\n\n", 1)[0] + "\n"),
    ("a.py", "x = 1\ny = 2\n", "print(1)\n"),
    ("a.py", "x = 1\n", "x = '\\d'\n"),
    ("a.json", "{,}", "{,"),
    ("a.json", '{"a": [1,\n2,\n3,\n4,\n5,\n6,\n7,\n8,\n9]}', "{}"),
    ("README.md", "line (x)\n" * 50, "short\n"),
    ("requirements.txt", "a==1\n" * 20, "pip install a\n"),
    ("a.st", "x := 1;\n" * 20, "y := 1;\n" * 19),
])
def test_ordinary_changes_are_not_objected_to(path: str, old: str, new: str) -> None:
    assert objected(path, old, new) == []


def test_what_is_added_to_a_program_must_parse() -> None:
    assert objected("a.py", PROGRAM, PROGRAM, b="=======\ndef f(): pass\n") == [
        "b.py: does not parse: line 1: invalid syntax"]
    assert objected("a.py", PROGRAM, PROGRAM, b="def f(): pass\n") == []
    assert objections({}, {"a.py": b"x = (\n"}) == []
    assert objections({"data.csv": b"1\n"}, {"data.csv": b"1\n", "a.py": b"x = (\n"}) == []


def test_what_moved_to_another_file_is_not_lost() -> None:
    assert objected("a.py", PROGRAM, "from b import f0\n", b=PROGRAM) == []
    assert objected("a.py", PROGRAM, "from b import f0\n", b=PROGRAM.replace("f4", "g")) != []
    assert objected("a.js", SCRIPT, "import './b.js';\n", b=SCRIPT) == []


def test_whoever_says_that_he_replaces_the_whole_file_may_shrink_it() -> None:
    before, after = {"a.py": PROGRAM.encode()}, {"a.py": b"print(1)\n"}
    assert objections(before, after)
    assert objections(before, after, whole=("a.py",)) == []


def test_deleting_files_and_adding_whole_ones_is_never_objected_to() -> None:
    assert objections({"a.py": PROGRAM.encode()}, {"b.py": b"x = ()\n"}) == []


def test_files_that_are_no_text_are_compared_without_failing() -> None:
    assert objections({"a.png": b"\xff\x00" * 99, "b.py": b"\xff"}, {"a.png": b"\xfe", "b.py": b"\x00\xff"}) == []


@pytest.mark.parametrize("hostile", [
    "(" * 100_000, "-" * 100_000 + "1", "x = " + "[" * 90 + "]" * 90, "\0", "x." * 9999, "1" + "+1" * 50_000,
])
def test_hostile_python_is_an_objection_not_a_crash(hostile: str) -> None:
    assert len(objected("a.py", "x = 1\n", hostile)) <= 1
