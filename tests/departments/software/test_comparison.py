"""What may differ between what a program prints and what its request shows."""

from __future__ import annotations

import pytest

from tests.departments.software.conftest import Use

GREET = "Input:\n\n    Ada\n\nOutput:\n\n    Hello Ada\n\nIt asks for the name."


@pytest.mark.parametrize(("program", "passed"), [
    ("print('Hello', input())", True), ("print('Hello', input('Name: '))", True),
    ("name = input('Who? ')\nprint(f'Hello {name}  ')\ninput('> ')", True),
    ("print('It says: Hello', input())", False), ("print('Hello', input('Name '))", False),
    ("print('Hello', input('Name: ') + '!')", False), ("print('Hi', input('Name: '))", False)])
def test_only_prompts_may_stand_before_what_is_wanted(use: Use, program: str, passed: bool) -> None:
    assert use(program, GREET).passed == passed


LOOP = """\
print("*** Greeter ***")
while True:
    try:
        name = input("Name: ")
    except EOFError:
        FAREWELL
        break
    print(f"Hello {name}")
"""


@pytest.mark.parametrize("farewell", ["print()", "print('Goodbye!')", "print('\\nGoodbye!')", "print('')", "pass"])
def test_a_greeting_and_a_farewell_may_stand_around_what_is_wanted(use: Use, farewell: str) -> None:
    program = LOOP.replace("FAREWELL", farewell)
    assert use(program, GREET).passed, program
    assert not use(program.replace("Hello", "Hi"), GREET).passed
    assert not use(program.replace("Hello {name}", "Hello {name}\\nNice!"), GREET).passed


MENU = "while True:\n print('1. Greet')\n print('2. Quit')\n if input('Choose: ') != '1': break\n "
TWICE = ("Input:\n\n    1\n    Ada\n    1\n    Bo\n    2\n\nOutput:\n\n    Hello Ada\n    Hello Bo\n\n"
         "It asks for the name.")
BILL = "for one in ('first', 'second', 'third'): input(f'How much does the {one} thing cost? $')\nprint('Sum: 9')"


@pytest.mark.parametrize(("program", "task", "passed"), [
    (f"{MENU}print('Hello', input('Name: '))", TWICE, True),
    (f"{MENU}print('Hello', input('Name: ')[:2])", TWICE, False),
    (f"{MENU}print('Hello', input('Name: '), end='!')", TWICE, False),
    (BILL, "Input:\n\n    2\n    3\n    4\n\nOutput:\n\n    Sum: 9\n\nIt asks for the prices.", True)])
def test_a_menu_and_several_prompts_may_stand_before_what_is_wanted(use: Use, program: str, task: str,
                                                                   passed: bool) -> None:
    verdict = use(program, task)
    assert (verdict.passed, verdict.examples) == (passed, (int(passed), 1)), verdict.report


@pytest.mark.parametrize("words", ["It reads standard input.", "It asks for the name without any prompt."])
def test_no_prompt_may_stand_where_nobody_is_asked(use: Use, words: str) -> None:
    task = GREET.replace("It asks for the name.", words)
    assert use("print('Hello', input())", task).passed
    assert not use("print('Hello', input('Name: '))", task).passed


COLOURED = "`python main.py` prints `done` in green."


@pytest.mark.parametrize(("program", "task", "passed"), [
    (r"print('\033[1;32mdone\033[0m')", COLOURED, True), (r"print('\033[2J\033[Hdone')", COLOURED, True),
    (r"print('\033[32mdone!\033[0m')", COLOURED, False), (r"print('[32mdone[0m')", COLOURED, False),
    (r"print('\033[32mdone\033[0m')", COLOURED.replace(" in green", ""), False)])
def test_colours_that_are_wanted_are_seen_and_not_read(use: Use, program: str, task: str, passed: bool) -> None:
    assert use(program, task).passed == passed


PANTRY = """\
```
$ python main.py tea
{"tea": {"count": 1}}
```
pantry.json then holds `{"tea": 1}`."""
STORE = """\
import json, sys
json.dump({sys.argv[1]: 1}, open("pantry.json", "w"), indent=4)
print(json.dumps({sys.argv[1]: {"count": 1}}, indent=2))
"""


@pytest.mark.parametrize(("program", "task", "passed"), [
    (STORE, PANTRY, True), (STORE, f"{PANTRY} The output is compact.", False),
    (STORE.replace('"count": 1', '"count": 2'), PANTRY, False), (STORE.replace("1}, open", "2}, open"), PANTRY, False),
    (STORE.replace(", indent=2)", ", indent=2), 1"), PANTRY, False)])
def test_json_may_be_laid_out_in_another_way(use: Use, program: str, task: str, passed: bool) -> None:
    assert use(program, task).passed == passed
