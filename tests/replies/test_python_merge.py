"""Parts of a Python file are merged into it; every other byte stays."""

from __future__ import annotations

import pytest

from chatdev.replies import Unreadable, parse_files
from chatdev.replies.blocks import block_of
from chatdev.replies.files import Update
from chatdev.replies.python.reader import fault

SHOP = '''\
#!/usr/bin/env python3
"""A shop."""

from __future__ import annotations

import json  # for the file
from pathlib import Path

# what the state wants
TAX = 0.2
NAMES: list[str] = []


class Item:
    price = 1


class Shop(Base):
    """Sells."""

    limit = 3

    def __init__(self):
        self.items = []

    # the sum
    @property
    def total(self):
        return sum(self.items)  # slow

    @total.setter
    def total(self, value):
        self.items = [value]


def load(path):   # odd   spacing
    return json.loads(Path(path).read_text())



def main():
    print(Shop().total)
    # the end


# start here
if __name__ == "__main__":
    main()
'''


def merged(part: str, old: str = SHOP, info: str = "python") -> str:
    return parse_files(f"shop.py\n```{info}\n{part}```", {"shop.py": old.encode()}).software["shop.py"].decode()


def refusal(part: str, old: str = SHOP) -> str:
    with pytest.raises(Unreadable) as problem:
        merged(part, old)
    return str(problem.value)


@pytest.mark.parametrize(("part", "before", "after"), [
    ("def load(path):\n    return {}\n",
     "def load(path):   # odd   spacing\n    return json.loads(Path(path).read_text())\n",
     "def load(path):\n    return {}\n"),
    ("async def load(path):\n    return {}\n",
     "def load(path):   # odd   spacing\n    return json.loads(Path(path).read_text())\n",
     "async def load(path):\n    return {}\n"),
    ("class Item:\n    price = 2\n", "    price = 1\n", "    price = 2\n"),
    ("class Shop(Base):\n    def __init__(self):\n        self.items = [1]\n",
     "self.items = []", "self.items = [1]"),
    ("class Shop(Base):\n    @total.setter\n    def total(self, value):\n        pass\n",
     "        self.items = [value]\n", "        pass\n"),
    ("class Shop(Base):\n    limit = 9\n    size = 1\n", "    limit = 3\n", "    limit = 9\n    size = 1\n"),
    ("class Shop(Base, Other):\n    limit = 3\n", "class Shop(Base):", "class Shop(Base, Other):"),
    ("class Shop(Base):\n    def close(self):\n        pass\n",
     "        self.items = [value]\n", "        self.items = [value]\n\n    def close(self):\n        pass\n"),
    ("def __init__(self):\n    self.items = ['''\nx''']\n",
     "        self.items = []\n", "        self.items = ['''\nx''']\n"),
    ("    def __init__(self):\n        self.items = ()\n", "        self.items = []\n", "        self.items = ()\n"),
    ("TAX = 0.3\n", "TAX = 0.2\n", "TAX = 0.3\n"),
    ("NAMES: list[str] = ['a']\nMORE = 1\n", "NAMES: list[str] = []\n", "NAMES: list[str] = ['a']\nMORE = 1\n"),
    ("import json\nimport os\nfrom pathlib import Path, PurePath\n", "from pathlib import Path\n",
     "from pathlib import Path\nimport os\nfrom pathlib import PurePath\n"),
    ("if __name__ == '__main__':\n    load('x')\n", 'if __name__ == "__main__":\n    main()\n',
     "if __name__ == '__main__':\n    load('x')\n"),
    ("# saves\ndef save():\n    pass\n", "    # the end\n", "    # the end\n\n\n# saves\ndef save():\n    pass\n"),
    ("class New:\n    pass\n", "    # the end\n", "    # the end\n\n\nclass New:\n    pass\n"),
    ("SHOP = Shop()\n", "    # the end\n", "    # the end\nSHOP = Shop()\n"),
])
def test_a_part_replaces_or_adds_what_it_gives_and_nothing_else(part: str, before: str, after: str) -> None:
    assert SHOP.count(before) == 1
    assert merged(part) == SHOP.replace(before, after)


@pytest.mark.parametrize("elided", [
    "class Shop(Base):\n    # ... existing code ...\n\n    def __init__(self):\n        self.items = [1]\n    # ...\n",
    "# ... imports stay the same\n\nclass Shop(Base):\n    ...\n    def __init__(self):\n        self.items = [1]\n",
    "class Item:\n    # existing code\n\nclass Shop(Base):\n    def __init__(self):\n        self.items = [1]\n\n"
    "    @property\n    def total(self): ...\n\n# rest of the code remains unchanged\n",
    "class Item: ...\n\nclass Shop(Base):\n    def __init__(self):\n        self.items = [1]\n",
])
def test_lines_that_stand_for_code_left_out_are_dropped(elided: str) -> None:
    assert merged(elided) == SHOP.replace("self.items = []", "self.items = [1]")


def test_a_function_that_leaves_code_out_is_refused() -> None:
    part = "def load(path):\n    check(path)\n    # ... rest of the code\n"
    assert refusal(part) == "shop.py: `load` leaves code out: give it completely"


def test_a_body_of_pass_under_such_a_comment_leaves_the_function_as_it_is() -> None:
    part = "def load(path):\n    # ... existing code ...\n    pass\n\nTAX = 0\n"
    assert merged(part) == SHOP.replace("TAX = 0.2", "TAX = 0")


@pytest.mark.parametrize("example", ["main()\n", "print(load('x'), 1)\n", "# Example usage\nShop()\n"])
def test_an_example_of_use_is_not_added_to_a_program_that_starts(example: str) -> None:
    assert merged(f"TAX = 0.3\n\n{example}") == SHOP.replace("TAX = 0.2", "TAX = 0.3")


def test_a_file_with_everything_the_old_one_has_replaces_it() -> None:
    whole = SHOP.replace("# what the state wants\n", "").replace("print(", "return (") + "\n\n# done\n"
    assert merged(whole) == whole


def test_a_program_of_its_own_replaces_the_old_one() -> None:
    old = "def ask():\n    return input()\n\n\nprint(ask())\n"
    new = "import sys\n\n\ndef run(args):\n    print(args)\n\n\nif __name__ == '__main__':\n    run(sys.argv)\n"
    assert merged(new, old) == new


def test_a_short_program_is_a_part_and_what_it_leaves_out_stays() -> None:
    new = merged("def main():\n    print('bye')\n\n\nif __name__ == '__main__':\n    main()\n")
    assert "class Shop" in new
    assert "print('bye')" in new


def test_the_word_whole_forces_replacement() -> None:
    assert merged("x = 1\n", info="python whole") == "x = 1\n"


def test_protocol_stubs_are_no_code_left_out() -> None:
    old = "class P(Protocol):\n    def f(self): ...\n\n\nprint(1)\n"
    assert merged(old.replace("1", "2"), old) == old.replace("1", "2")


def test_line_ends_of_the_file_are_kept() -> None:
    old = "x = 1\r\n\r\n\r\ndef f():\r\n    return 1\r\n"
    assert merged("def f():\n    return 2\n\ndef g():\n    return 3\n", old) == (
        "x = 1\r\n\r\n\r\ndef f():\r\n    return 2\r\n\r\n\r\ndef g():\r\n    return 3\r\n")


def test_a_script_without_functions_gets_them_before_its_action() -> None:
    old = "import os\nx = 1\nprint(x)\n"
    assert merged("def f():\n    pass\n", old) == "import os\nx = 1\n\n\ndef f():\n    pass\n\n\nprint(x)\n"


def test_an_import_goes_behind_the_comments_at_the_top() -> None:
    old = "#!/usr/bin/python\n# (c)\n\ndef f():\n    return 1\n\n\nf()\n"
    new = merged("import os\n\ndef f():\n    return 2\n", old)
    assert new.startswith("#!/usr/bin/python\n# (c)\nimport os\n\ndef f")


ONE = "class A:\n    def save(self):\n        return 1\n\n\n"
METHODS = ONE + "class B:\n    def {}(self):\n        return 2\n\n\nA()\n"


def test_a_bare_method_goes_into_the_only_class_that_has_it() -> None:
    old = METHODS.format("load")
    assert merged("def save(self):\n    return 3\n", old) == old.replace("return 1", "return 3")


def test_a_bare_method_of_several_classes_is_asked_about() -> None:
    assert refusal("def save(self):\n    return 3\n", METHODS.format("save")) == (
        "shop.py: `save` is a method of several classes (A, B): give it inside its class")


def test_a_new_bare_method_goes_to_the_only_class_or_is_asked_about() -> None:
    new = merged("def g(self):\n    pass\n", ONE + "A()\n")
    assert new == ONE.replace("return 1\n", "return 1\n\n    def g(self):\n        pass\n") + "A()\n"
    assert "could belong to several classes (A, B)" in refusal("def g(self):\n    pass\n", METHODS.format("load"))


def test_tabs_and_other_widths_are_adapted_to_the_class() -> None:
    old = "class A:\n\tdef f(self):\n\t\treturn 1\n\n\nA()\n"
    assert merged("class A:\n    def g(self):\n        pass\n", old) == old.replace(
        "return 1\n", "return 1\n\n\tdef g(self):\n\t    pass\n")


@pytest.mark.parametrize(("part", "why"), [
    ("Shop().total = 3\n", "shop.py: it is not clear where `Shop().total = 3` belongs"),
    ("# nothing to do\n", "shop.py: the block holds no code"),
    ("# ... existing code ...\n", "shop.py: the block holds no code"),
    ("def load(path:\n    pass\n", "shop.py: the block does not parse: line 1: "),
    ("I fixed it.\n", "shop.py: the block does not parse: line 1: "),
    ("def load(path): pass\ndef load(path): return 1\n", "shop.py: `load` stands 1 times in the file and 2 times"),
    ("from x import (\n    y\n); TAX = 1\n", "shop.py: `TAX` shares a line with other code"),
    ("def f():\n    # rest of the code\n    return 1\n", "shop.py: `f` leaves code out"),
])
def test_a_part_that_is_not_clear_is_refused(part: str, why: str) -> None:
    assert refusal(part).startswith(why)


LIST = """\
import sys


# What there is.
def show(tasks):
    for task in tasks:
        print(f"{task} [{'x'] if task.done else ''}")

# What is new.
def add(tasks, text):
    tasks.append(text)


class Shop:
    tax = 2

    def price(self, net):
        return net * (1 +

    # In words.
    def say(self):
        return "shop"


show([])
"""
SHOW = """\
def show(tasks):
    for task in tasks:
        print(task)
"""
PRICE = """\
    def price(self, net):
        return net + self.tax
"""


@pytest.mark.parametrize("part", [SHOW, PRICE, SHOW + "\n\nclass Shop:\n" + PRICE])
def test_a_function_that_does_not_parse_is_replaced_by_a_whole_one(part: str) -> None:
    merged = Update("list.py", LIST, block_of(part)).text()
    kept = [line for line in LIST.splitlines() if "'x']" not in line and "(1 +" not in line]
    assert [line for line in merged.splitlines() if line in kept] == kept
    assert ("print(task)" in merged, "self.tax" in merged) == (SHOW in part, PRICE in part)
    assert (fault(merged) is None) == (SHOW in part and PRICE in part)


def test_a_whole_program_takes_the_place_of_one_that_does_not_parse() -> None:
    whole = LIST.replace("{'x'] if", "{'x' if").replace("(1 +", "2")
    assert Update("list.py", LIST, block_of(whole)).text() == whole


def test_what_is_broken_outside_of_functions_cannot_be_merged_into() -> None:
    old = SHOP + "\nx = (\n"
    assert "does not parse at the moment (line 50" in refusal("def load(path):\n    return {}\n", old)
    assert merged(SHOP, old) == SHOP


@pytest.mark.parametrize(("path", "content"), [
    ("a.js", "function f() {}\n// ... rest of the code\n"),
    ("a.js", "function f() {}\n// existing code\n"),
    ("a.html", "<p>\n<!-- ... unchanged ... -->\n"),
    ("a.css", "/* existing code */\np {}\n"),
    ("a.c", "int f();\n...\n"),
    ("a.v", "// ...\nendmodule\n"),
])
def test_code_left_out_in_other_languages_is_never_stored(path: str, content: str) -> None:
    for software in ({path: b"old\n"}, {}):
        with pytest.raises(Unreadable, match=r"line \d leaves code out"):
            parse_files(f"{path}\n```\n{content}```", software)


@pytest.mark.parametrize(("path", "content"), [
    ("a.js", "const b = {\n  ...rest,\n};\n// Loading...\n// same as above\n// other methods\n"),
    ("a.md", "...\n\n[existing code]\n"),
    ("a.c", "#else\n// keep going until the rest is done...\n"),
])
def test_ordinary_lines_are_not_taken_for_code_left_out(path: str, content: str) -> None:
    assert parse_files(f"{path}\n```\n{content}```", {path: b"old\n"}).software[path] == content.encode()
