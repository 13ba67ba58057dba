"""What may differ between what a program prints and what its request shows."""

from __future__ import annotations

import pytest

from tests.tools.software.conftest import Use

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


@pytest.mark.parametrize("words", ["It reads standard input.", "It asks for the name without any prompt."])
def test_no_prompt_may_stand_where_nobody_is_asked(use: Use, words: str) -> None:
    task = GREET.replace("It asks for the name.", words)
    assert use("print('Hello', input())", task).passed
    assert not use("print('Hello', input('Name: '))", task).passed
