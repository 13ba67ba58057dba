"""Programs that have their commands typed, where the request leaves that open: a trial types them, and judges on."""

from __future__ import annotations

import pytest

from chatdev.tools.base import Verdict
from tests.departments.software.conftest import Use

pytestmark = pytest.mark.tool

TASK = "Develop a command-line to-do list"
COMMANDS = [f"python main.py {words}" for words in ("add 'Buy milk'", "list", "add 'Call Anna'", "list", "nonsense")]
STORE = """\
import pathlib, sys

store = pathlib.Path("tasks.txt")


def tasks():
    return store.read_text().splitlines() if store.exists() else []


def save(tasks):
    store.write_text("".join(f"{task}\\n" for task in tasks))


def show():
    for number, task in enumerate(tasks(), 1):
        print(f"{number}. {task}")


"""
ANSWERED = STORE + """\
command = sys.argv[1] if len(sys.argv) > 1 else ""
if command == "add":
    save([*tasks(), input("Enter task: ")])
    print("Task added.")
elif command == "list":
    show()
elif command == "remove":
    number = int(input("Number: "))
    save(tasks()[:number - 1] + tasks()[number:])
    print("Task removed.")
else:
    print("Unknown command.")
"""
IN_ONE_LINE = STORE + """\
while True:
    command, _, rest = input("Enter a command: ").partition(" ")
    if command == "add":
        save([*tasks(), rest])
    elif command == "list":
        show()
    elif command == "exit":
        break
    else:
        print("Invalid command. Use add, list or exit.")
"""
LINE_BY_LINE = STORE + """\
while True:
    print("add, list or exit")
    command = input("> ")
    if command == "add":
        save([*tasks(), input("Enter task: ")])
        print("Task added.")
    elif command == "list":
        show()
    elif command == "exit":
        break
    else:
        print("Invalid command.")
"""


def is_open(verdict: Verdict) -> bool:
    """Whether nothing speaks against a program, nor for it."""
    return verdict.passed and not verdict.judged


@pytest.mark.parametrize(("program", "shown"), [
    (ANSWERED, "$ python main.py add\n(typed) Buy milk\nEnter task: Task added."),
    (IN_ONE_LINE, "$ python main.py\n(typed) add Buy milk\n"),
    (LINE_BY_LINE, "$ python main.py\n(typed) add\n(typed) Buy milk\n"),
    (LINE_BY_LINE.replace("while True:", "for _ in range(9):"), "$ python main.py\n(typed) add\n(typed) Buy milk\n"),
])
def test_a_program_that_keeps_what_is_typed_passes(use: Use, program: str, shown: str) -> None:
    verdict = use(program, TASK, COMMANDS)
    assert verdict.passed, verdict.report
    assert shown in verdict.report
    assert "1. Buy milk\n2. Call Anna" in verdict.report


@pytest.mark.parametrize("program", [ANSWERED, IN_ONE_LINE, LINE_BY_LINE])
def test_it_fails_where_the_request_says_how_commands_are_given(use: Use, program: str) -> None:
    assert not use(program, f"{TASK}: `python main.py add TASK` adds a task.", COMMANDS).passed


@pytest.mark.parametrize("program", [
    "while True:\n    print('You said', input('> '))\n",
    "while input('Choose 1 or 2: ') not in ('1', '2'):\n    print('Invalid choice.')\n",
    "import sys\nprint('Hello', *sys.argv[1:])\ninput('Press Enter')\ninput('Press Enter again')\n"])
def test_one_that_knows_no_command_is_not_confirmed(use: Use, program: str) -> None:
    assert is_open(use(program, TASK, COMMANDS))


def test_a_command_that_crashes_at_what_it_asked_for_is_told(use: Use) -> None:
    verdict = use(ANSWERED.replace('input("Enter task: ")]', 'input("Enter task: ")] + None'), TASK, COMMANDS)
    assert is_open(verdict)
    assert "TypeError" in verdict.report


SPENDING = STORE + """\
command, *words = sys.argv[1:] or [""]
if command == "add":
    CHECK
    save([*tasks(), f"{words[0]} {float(words[1])}"])
elif command == "list":
    show()
else:
    print("Unknown command.")
"""
CHECKS = ["pass", "len(words) == 2 or sys.exit('Usage: add CATEGORY AMOUNT')",
          "if len(words) < 2: print('usage: add CATEGORY AMOUNT'); sys.exit()", "category, amount = words"]


@pytest.mark.parametrize("check", CHECKS)
def test_what_a_command_needs_and_the_plan_lacks_is_filled_up(use: Use, check: str) -> None:
    verdict = use(SPENDING.replace("CHECK", check), "Develop an expense tracker", COMMANDS)
    assert verdict.passed, verdict.report
    assert "$ python main.py add 'Buy milk' 1\n" in verdict.report
    assert "1. Buy milk 1.0\n2. Call Anna 1.0" in verdict.report


@pytest.mark.parametrize("check", ["words[5]", "sys.exit('usage: none')"])
def test_a_command_that_nothing_is_enough_for_is_left_as_it_is(use: Use, check: str) -> None:
    verdict = use(SPENDING.replace("CHECK", check), "Develop an expense tracker", COMMANDS[:1])
    assert is_open(verdict)
    assert "$ python main.py add 'Buy milk'\n" in verdict.report


CREATED = STORE + """\
import sys

command, *words = sys.argv[1:] or [""]
if command == "create":
    save([])
    print("List created.")
elif not store.exists():
    print("There is no list.")
elif command == "add":
    save([*tasks(), *words])
    print("Added.")
elif command == "list":
    show()
"""


def test_a_command_that_the_program_wants_first_is_given_first(use: Use) -> None:
    verdict = use(CREATED, TASK, COMMANDS[:4])
    assert verdict.passed
    assert verdict.report.index("main.py create") < verdict.report.index("main.py add")
    assert "2. Call Anna" in verdict.report


def test_a_command_that_nothing_needs_is_not_given(use: Use) -> None:
    verdict = use(CREATED.replace("not store.exists()", "False"), TASK, COMMANDS[:4])
    assert verdict.passed
    assert "main.py create" not in verdict.report


def test_nothing_is_put_before_commands_that_the_request_shows(use: Use) -> None:
    verdict = use(CREATED, f"{TASK}: `python main.py add TASK` adds a task.", COMMANDS[:4])
    assert "main.py create" not in verdict.report


DEAF = "import os\nos.makedirs('books', exist_ok=True)\nprint('Ready for commands.')\n"
REJECTING = "import sys\nfor word in sys.argv[1:]:\n    print(f'Unknown command: {word}')\n"


@pytest.mark.parametrize("program", [DEAF, REJECTING])
def test_a_program_that_does_nothing_with_any_command_is_not_confirmed(program: str, use: Use) -> None:
    task = "Escribe un programa para llevar la cuenta de mis libros"
    assert is_open(use(program, task, ["python main.py add 'The cat'"]))


@pytest.mark.parametrize(("program", "task"), [
    ("print('Hello, World!')", "Develop a hello world program"),
    ("print(7919)", "Compute the 1000th prime number"),
    ("print('Be happy.')", "A program that prints a proverb"),
    ("import random\nprint(random.choice(['Heads', 'Tails', 'Edge', 'Lost'] + [hex(n) for n in range(10 ** 4)]))",
     "Toss a coin"),
    ("import sys\nopen('books.txt', 'a').write(''.join(sys.argv[1:]))", "Keep a list of my books"),
    ("print('One.')\nprint('Two.')", "Develop a nursery rhyme")])
def test_a_program_without_commands_may_do_the_same_whatever_it_is_given(program: str, task: str, use: Use) -> None:
    assert use(program, task, ["python main.py add 'The cat'"]).passed
