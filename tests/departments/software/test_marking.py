"""What programs mark as finished, and other things that a list shows wrongly: found without understanding the list."""

from __future__ import annotations

import pytest

from tests.departments.software.conftest import Use

pytestmark = pytest.mark.tool

TASK = ('A to-do list in todo.json. `python main.py add "Buy milk"` adds the task Buy milk, `python main.py list` '
        "shows all tasks and marks the finished ones with [x], `python main.py done 1` marks task 1 as finished, and "
        "`python main.py remove 1` deletes it.")
TODO = """\
import json, pathlib, sys

store = pathlib.Path("todo.json")
tasks = json.loads(store.read_text()) if store.exists() else []
command, *words = sys.argv[1:] or [""]
chosen = tasks[int(words[0]) - 1:][:1] if words and words[0] in "123456789" else []
if command == "add" and words:
    tasks.append([words[0], " "])
elif command == "list":
    for number, (name, sign) in enumerate(tasks, 1):
        print(f"{number}. [{sign}] {name}")
elif command == "done" and chosen:
    chosen[0][1] = "x"
elif command == "remove" and chosen:
    tasks.remove(chosen[0])
elif command == "save":
    print("Saved")
else:
    sys.exit("usage: main.py add TASK | list | done NUMBER | remove NUMBER | save")
store.write_text(json.dumps(tasks))
"""
PLAN = [f"python main.py {words}" for words in (
    'add "Buy milk"', 'add "Call Anna"', "list", "done 1", "list", "remove 1", "list", "dance")]


@pytest.mark.parametrize("program", [
    TODO, TODO.replace('= "x"', '= "X"'), TODO.replace('print("Saved")', 'print("Saved [x]")'),
    TODO.replace('elif command == "list":\n', 'elif command == "list":\n    print("[x] is finished:")\n'),
    TODO.replace("in enumerate(tasks, 1)", "in sorted(enumerate(tasks, 1), key=str)")])
def test_a_list_that_marks_what_is_finished_passes(use: Use, program: str) -> None:
    verdict = use(program, TASK, PLAN)
    assert verdict.passed, verdict.report


@pytest.mark.parametrize(("right", "wrong", "told"), [
    ('chosen[0][1] = "x"', "tasks.remove(chosen[0])", "No list marks after that what is finished"),
    ("[{sign}] {name}", "{name}", "No list marks after that what is finished"),
    ("[{sign}] {name}", "[{' x'[number % 2]}] {name}", "Something is marked as finished that nobody has finished"),
    ('chosen[0][1] = "x"', "tasks = [[name, 'x'] for name, sign in tasks]", "that nobody has finished"),
    ('tasks.append([words[0], " "])', 'tasks += [[word, " "] for word in words[0].split()]', "shown here as several"),
    ('print("Saved")', "tasks = []", "Nothing is listed any more after that")])
def test_what_a_list_shows_wrongly_is_told(use: Use, right: str, wrong: str, told: str) -> None:
    verdict = use(TODO.replace(right, wrong), TASK, PLAN)
    assert not verdict.passed
    assert told in verdict.report


def test_what_no_request_asks_for_is_not_judged(use: Use) -> None:
    program = TODO.replace('chosen[0][1] = "x"', "tasks.remove(chosen[0])")
    assert use(program, "A to-do list: add, list, done, which takes a task from the list, and remove.", PLAN).passed
