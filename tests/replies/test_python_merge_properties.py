"""What holds for merging whatever the Python file is."""

from __future__ import annotations

import ast
import pickle
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import chatdev
from chatdev.replies import Unreadable, parse_files
from chatdev.replies.blocks import block_of
from chatdev.replies.files import Update
from chatdev.replies.python.merge import merge
from chatdev.replies.python.reader import Statement, read, read_part

SOURCES = sorted(Path(chatdev.__file__).parent.rglob("*.py"))

comments = st.sampled_from(["", "# about\n", "\n", "\n\n# two\n\n", "    # odd\n"])
bodies = st.sampled_from(["    return 1\n", "    '''doc\n  text'''\n    x = '''\na\n'''\n    return x  # end\n",
                          "    pass\n", "    if 1:\n        pass\n    # last\n"])
names = st.sampled_from(["f", "g", "h", "save", "load"])
functions = st.builds(lambda comment, name, body: f"{comment}def {name}():\n{body}", comments, names, bodies)
methods = st.builds(lambda name, body: f"def {name}(self):\n{body}", names, bodies)
classes = st.builds(
    lambda comment, name, own: f"{comment}class {name.upper()}:\n    size = 1\n" + "".join(
        f"    {line}\n" if line.strip() else "\n" for method in own for line in method.splitlines()),
    comments, names, st.lists(methods, max_size=3, unique_by=lambda method: method.split("(")[0]))
statements = st.sampled_from(["import os\n", "from a import (\n    b,\n)\n", "LIMIT = 3  # most\n", "x: int = 1\n",
                              "print(1)\n", "if x:\n    y = 1\n", "\n\n", "# note\n"])
ends = st.sampled_from(["", "\n", "if __name__ == '__main__':\n    f()\n", "# the end"])


def defined(text: str) -> list[str]:
    return [node.name for node in ast.parse(text).body if isinstance(node, ast.FunctionDef | ast.ClassDef)]


pieces = st.lists(functions | classes | statements, max_size=7)
modules = st.builds(lambda parts, end: "".join(parts) + end, pieces, ends).filter(
    lambda text: len(set(defined(text))) == len(defined(text)))


def source(text: str, statement: Statement) -> str:
    return "".join(read(text).lines[statement.start:statement.end])


PLAIN = read("class A: ...").statements[0].header


def parts_of(text: str) -> list[str]:
    """Every definition of a module, and every method inside its class; not those that share their name (`_`)."""
    found = []
    for statement in read(text).statements:
        if statement.defines:
            found.append(source(text, statement))
        if statement.kind == "class" and statement.header == PLAIN:
            given = Counter(member.name for member in statement.members)
            found += [f"class {statement.name}:\n" + source(text, member) for member in statement.members
                      if member.kind == "function" and given[member.name] == 1
                      and len(given) > 1 + ("" in given)]  # else it leaves nothing out, and is replaced
    return found


@given(modules)
def test_what_is_read_of_a_module_is_plain_data(text: str) -> None:
    """So that a process of its own can read it: it comes out of a pickle as it went in, and holds no syntax tree."""
    outline = read(text)
    assert pickle.loads(pickle.dumps(outline)) == outline
    assert b"ast" not in pickle.dumps(outline.statements)


def test_only_the_reader_sees_syntax_trees() -> None:
    modules = (Path(chatdev.__file__).parent / "replies").rglob("*.py")
    assert [path.name for path in modules if "import ast" in path.read_text(encoding="utf-8")] == ["reader.py"]


@given(modules)
def test_merging_back_a_part_of_the_file_changes_nothing(text: str) -> None:
    for part in parts_of(text):
        assert merge("a.py", read(text), read_part(part)) == text


@pytest.mark.parametrize("path", SOURCES[::12], ids=lambda path: path.stem)
def test_merging_back_parts_of_real_files_changes_nothing(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    for part in parts_of(text):
        try:
            new = merge("a.py", read(text), read_part(part))
        except Unreadable as problem:  # a nested class without its outer one, and the like
            pytest.fail(f"{problem}\n{part}")
        assert new == text


@given(modules, names)
def test_replacing_a_function_keeps_every_other_byte(text: str, name: str) -> None:
    function = next((found for found in read(text).statements if found.kind == "function" and found.name == name),
                    None)
    if function is None:
        return
    lines = read(text).lines
    new = f"def {name}(a):\n    return 'new'\n"
    ending = "" if not lines[function.end - 1].endswith("\n") else "\n"
    expected = "".join(lines[:function.start]) + new.rstrip("\n") + ending + "".join(lines[function.end:])
    assert merge("a.py", read(text), read_part(new)) == expected


@given(modules)
def test_adding_a_function_keeps_every_line_and_its_order(text: str) -> None:
    new = merge("a.py", read(text), read_part("def brand_new():\n    return 'new'\n"))
    added = {"def brand_new():", "    return 'new'"}
    kept = [line for line in new.splitlines() if line.strip() and line not in added]
    assert kept == [line for line in text.splitlines() if line.strip()]
    assert sorted(defined(new)) == sorted([*defined(text), "brand_new"])


@given(modules, modules)
def test_whatever_is_merged_parses_and_loses_no_definition(old: str, part: str) -> None:
    try:
        software = parse_files(f"a.py\n```python\n{part}\n```", {"a.py": old.encode()}).software
    except Unreadable:
        return
    new = software["a.py"].decode()
    assert set(defined(part)) <= set(defined(new))


garbage = st.sampled_from(["x = (", "x = ]", "if x", "return return", "  y = 1", "def"])


@given(st.integers(1, 6), st.integers(0, 5), garbage)
def test_whichever_function_is_broken_a_whole_one_mends_the_file(count: int, place: int, garbage: str) -> None:
    functions = [f"def f{n}():\n    a = {n}\n    return a\n" for n in range(count)]
    broken, new = place % count, f"def f{place % count}():\n    return 'new'\n"
    old = [text.replace("return a", garbage) if n == broken else text for n, text in enumerate(functions)]
    text = Update("a.py", "\n\n".join([*old, "f0()\n"]), block_of(new)).text()
    assert text == "\n\n".join([*functions[:broken], new, *functions[broken + 1:], "f0()\n"])
