"""Programs that keep things: what is added is listed and can be removed, and who does so in his own way passes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from benchmarks.software.keeping import BEGIN, END, PAGE, RESULTS, read_cases, table, try_case
from benchmarks.study import read_results
from chatdev.departments.software.cases.case import Start
from chatdev.departments.software.trial.keeping import Listing
from chatdev.sandbox.kinds import find_sandbox
from chatdev.tools.base import ToolContext, Verdict
from chatdev.tools.registry import registry

pytestmark = pytest.mark.tool

TODO = """\
import pathlib, sys

store = pathlib.Path("tasks.txt")
tasks = store.read_text().splitlines() if store.exists() else []
command, *words = sys.argv[1:] or [""]
if command == "add" and words:
    store.write_text("".join(f"{task}\\n" for task in [*tasks, words[0]]))
    print("Added", words[0])
elif command == "list":
    for number, task in enumerate(tasks, 1):
        print(number, task)
elif command == "remove" and words:
    if words[0] in tasks:
        tasks.remove(words[0])
        store.write_text("".join(f"{task}\\n" for task in tasks))
        print("Removed", words[0])
    else:
        print("There is no", words[0])
else:
    sys.exit("usage: main.py add TASK | list | remove TASK")
"""
PLAN = tuple(f"python main.py {words}" for words in ("list", "add 'Buy milk'", "add 'Call Anna'", "list"))
WRITES = 'store.write_text("".join(f"{task}\\n" for task in [*tasks, words[0]]))'
FORGETS = TODO.replace(WRITES, "tasks.append(words[0])")
NEVER_FINDS = TODO.replace("splitlines()", "splitlines(True)").replace("number, task)", "number, task, end='')")
BY_NUMBER = TODO.replace("words[0] in tasks:\n        tasks.remove(words[0])",
                         "words[0].isdigit() and int(words[0]) <= len(tasks):\n        tasks.pop(int(words[0]) - 1)")
TWO_WORDS = TODO.replace('"remove" and words', '"remove" and len(words) == 2 and words[1] == "now"')
NO_COMMAND = TODO.replace('command == "remove"', 'command == "archive"').replace("store.exists()",
                                                                                 '"remove" and store.exists()')
SUM = "import sys\nprint({'add': sum}[sys.argv[1]](map(int, sys.argv[2:])))"


def use(program: str, folder: Path, plan: Sequence[str] = PLAN, task: str = "Develop a to-do list.") -> Verdict:
    (scratch := folder / "scratch").mkdir(parents=True)
    context = ToolContext({"main.py": program.encode()}, {"commands": list(plan)}, {"task": task}, find_sandbox(),
                          folder, scratch)
    verdict = registry()["software.use"].call(context, {})
    assert isinstance(verdict, Verdict)
    assert list(scratch.iterdir()) == []
    return verdict


def test_a_command_that_is_not_in_the_plan_is_tried(tmp_path: Path) -> None:
    verdict = use(TODO, tmp_path)
    assert verdict.passed
    assert verdict.report.endswith("$ python main.py remove 'Buy milk'\nRemoved Buy milk")


def test_what_is_added_and_not_kept_fails(tmp_path: Path) -> None:
    verdict = use(FORGETS, tmp_path)
    assert (verdict.passed, verdict.evidence["cases"][0]["from"]) == (False, "program")
    assert "It says the same before anything is added" in verdict.report


def test_what_is_added_and_never_found_fails(tmp_path: Path) -> None:
    verdict = use(NEVER_FINDS, tmp_path)
    assert not verdict.passed
    assert "$ python main.py remove 'Buy milk'\nThere is no Buy milk\nIt does the same with something" in verdict.report
    assert 5 < verdict.score < 10


@pytest.mark.parametrize("program", [
    BY_NUMBER, TWO_WORDS, NO_COMMAND, SUM,
    TODO.replace('        print("Removed", words[0])\n', ""),
    TODO.replace('print("There is no", words[0])', 'sys.exit("There is no such task")'),
    "import sys\nif 'remove' in sys.argv: input('Really? ')\n" + TODO,
    "import sys\nwhile 'remove' in sys.argv and 'zq7' not in sys.argv: pass\n" + TODO])
def test_a_right_program_of_another_kind_passes(tmp_path: Path, program: str) -> None:
    verdict = use(program, tmp_path, ["python main.py add 2 3"] if program == SUM else PLAN)
    assert verdict.passed, verdict.report


def test_examples_of_the_request_leave_nothing_to_guess(tmp_path: Path) -> None:
    assert use(NEVER_FINDS, tmp_path, task="`python main.py add tea` prints `Added tea`.").passed


def test_a_plan_without_additions_tries_nothing_more(tmp_path: Path) -> None:
    assert use(FORGETS, tmp_path, ["python main.py list"]).passed


UNCHANGED = TODO.replace("tasks.remove(words[0])", "words[0]")


def test_what_says_that_it_removes_and_does_not_fails(tmp_path: Path) -> None:
    verdict = use(UNCHANGED, tmp_path)
    assert not verdict.passed
    assert "Removed Buy milk\nIt says so, but no file has changed" in verdict.report


def test_what_removes_everything_fails(tmp_path: Path) -> None:
    verdict = use(TODO.replace("tasks.remove(words[0])", "tasks.clear()"), tmp_path)
    assert not verdict.passed
    assert "Removed Buy milk\nNothing is listed any more after that." in verdict.report


@pytest.mark.parametrize("program", [
    BY_NUMBER.replace("words[0]) - 1)", "words[0]) % len(tasks))"),
    TODO.replace("tasks.remove(words[0])", "tasks.pop(tasks.index(words[0]) - 1)")])
def test_what_removes_another_thing_fails(tmp_path: Path, program: str) -> None:
    verdict = use(program, tmp_path)
    assert not verdict.passed
    assert "Something else is gone from the list after that" in verdict.report


@pytest.mark.parametrize("plan", [
    ("add 'Buy milk'", "remove 'Buy milk'", "list"), ("add tea 2", "add tea 3", "remove tea", "list")])
def test_what_may_empty_a_list_passes(tmp_path: Path, plan: Sequence[str]) -> None:
    program = TODO.replace("tasks.remove(words[0])", "tasks = [task for task in tasks if task != words[0]]")
    verdict = use(program, tmp_path, [f"python main.py {words}" for words in plan])
    assert verdict.passed, verdict.report


ASKING = """\
import sys
command = sys.argv[1]
if command == "add":
    print("Added", input("Enter task: "))
elif command == "list":
    print("Tasks:")
else:
    sys.exit("usage: main.py add | list")
"""


def test_two_things_in_one_line_without_anything_between_fail(tmp_path: Path) -> None:
    merging = TODO.replace(WRITES, 'store.open("a").write(words[0])')
    verdict = use(merging, tmp_path / "wrong")
    assert not verdict.passed
    assert "Two things that were added are then listed as one." in verdict.report
    joining = TODO.replace("for number, task in enumerate(tasks, 1):\n        print(number, task)",
                           "print(', '.join(tasks))")
    assert use(joining, tmp_path / "right").passed


def test_things_that_run_together_when_one_is_removed_fail(tmp_path: Path) -> None:
    head, _, tail = TODO.rpartition('"".join(f"{task}\\n" for task in tasks)')
    verdict = use(f'{head}"".join(tasks){tail}', tmp_path, [*PLAN, "python main.py add 'Feed Tom'"])
    assert not verdict.passed
    assert "Two things that were added are then listed as one." in verdict.report


@pytest.mark.parametrize(("text", "merges"), [
    ("Test\nTestTest\n", False), ("1. TestTest, 2. Test", False), ("TestTestTest\n", True), ("TestTest\n" * 2, False)])
def test_a_thing_that_is_another_one_twice_is_one(text: str, merges: bool) -> None:
    listing = Listing("", "")
    listing.note("Test\n", Start(("add", "Test")))
    listing.note(text, Start(("add", "TestTest")))
    assert listing.is_merged == merges


CALLS = 'command == "remove":\n    (lambda task: tasks.remove(task))(GIVEN)\nelif command == "remove"'


@pytest.mark.parametrize(("given", "passes"), [("", False), ("*words[:0]", False), ("*words", True)])
def test_a_command_that_calls_a_function_wrongly_fails(tmp_path: Path, given: str, passes: bool) -> None:
    program = TODO.replace('command == "remove" and words', CALLS.replace("GIVEN", given) + " and words")
    program = program.replace("tasks.remove(task)", "store.write_text(store.read_text().replace(task, '').lstrip())", 1)
    verdict = use(program, tmp_path)
    assert verdict.passed == passes, verdict.report
    assert passes or "missing 1 required positional argument" in verdict.report


def test_what_asks_for_what_it_was_given_fails(tmp_path: Path) -> None:
    verdict = use(ASKING, tmp_path, task="A to-do list: `python main.py add TASK` adds a task.")
    assert not verdict.passed
    assert verdict.report.count("It asks for input, whatever is typed behind the command.") == 1


@pytest.mark.parametrize(("program", "task"), [
    (ASKING, "An interactive to-do list that asks for each task."),
    (ASKING.replace('"Enter task: "', 'f"Add {sys.argv[2:]}? "'), "A list.")])
def test_what_may_ask_passes(tmp_path: Path, program: str, task: str) -> None:
    verdict = use(program, tmp_path, task=task)
    assert verdict.passed, verdict.report


def test_what_goes_on_asking_fails_and_what_asks_for_more_passes(tmp_path: Path) -> None:
    first, _, rest = TODO.partition("command, *words")
    body = "".join(f"    {line}\n" for line in f"command, *words{rest}".splitlines())
    asking = first + "while True:\n" + body + '    input("Press Enter to continue...")\n'
    verdict = use(asking, tmp_path / "wrong", task="Develop a to-do list with add and list.")
    assert not verdict.passed
    assert "It goes on asking, whatever is answered." in verdict.report
    wants = TODO.replace('    print("Added", words[0])', '    print("Added", words[0], "until", input("When? "))')
    assert use(wants, tmp_path / "right").passed


def test_a_list_that_crashes_before_anything_is_added_fails(tmp_path: Path) -> None:
    program = TODO.replace(" if store.exists() else []", " if store.exists() or command == 'list' else []").replace(
        "tasks = store", "command = (sys.argv[1:] or [''])[0]\ntasks = store", 1)
    verdict = use(program, tmp_path, PLAN[1:])
    assert not verdict.passed
    assert "FileNotFoundError" in verdict.report


def test_what_no_command_shows_fails(tmp_path: Path) -> None:
    verdict = use(TODO.replace('command == "list"', "command is None").replace('"remove"', '"add"'), tmp_path)
    assert not verdict.passed
    assert "The program does not know this command, and no other one shows what was added." in verdict.report


@pytest.mark.parametrize("changed", [('command == "list"', 'command == ""'), ('"list"', '"agenda"')])
def test_what_any_command_shows_passes(tmp_path: Path, changed: tuple[str, str]) -> None:
    verdict = use(TODO.replace(*changed).replace('"remove"', '"add"'), tmp_path)
    assert verdict.passed, verdict.report
    assert verdict.report.startswith("It starts, and 2 of these 4 commands were carried out.\n2 commands that it")


def test_what_fails_at_the_last_thing_is_found(tmp_path: Path) -> None:
    program = BY_NUMBER.replace('print("Removed", words[0])', 'print("Removed", tasks[int(words[0]) - 1])')
    verdict = use(program, tmp_path)
    assert not verdict.passed
    assert "$ python main.py remove 2\n" in verdict.report
    assert "IndexError: list index out of range" in verdict.report


def test_a_command_that_crashes_whatever_it_is_given_is_found(tmp_path: Path) -> None:
    program = """\
import sys
word, *rest = sys.argv[1:] or ["help"]
if word == "help":
    print("add, list, remove")
elif word == "add":
    print(rest[0], file=open("todo.txt", "a"))
elif word == "remove":
    with open("todo.txt") as file:
        lines = file.readlines()
    with open("todo.txt", "w") as file:
        file.writelines(line for line in lines if line.strip() != rest[0])
        print("left:", len(LEFT))
else:
    print(*open("todo.txt"))
"""
    verdict = use(program.replace("LEFT", "file.readlines()"), tmp_path / "wrong", ["python main.py add 'Buy milk'"])
    assert not verdict.passed
    assert "UnsupportedOperation: not readable" in verdict.report
    assert use(program.replace("LEFT", "lines"), tmp_path / "right", ["python main.py add 'Buy milk'"]).passed


def test_what_takes_a_thing_by_its_name_must_know_it(tmp_path: Path) -> None:
    shows = TODO.replace('"remove"', '"more"').replace("remove TASK", "more TASK")
    wrong = shows.replace("words[0] in tasks", "words in tasks")
    plan = [*PLAN, "python main.py more 'Buy milk'", "python main.py more 'Buy milk'"]
    assert use(shows, tmp_path / "right", plan).passed
    assert "nobody added" in use(wrong, tmp_path / "wrong", plan).report


def test_what_leaves_a_named_pipe_is_judged_by_the_rest(tmp_path: Path) -> None:
    assert use(f"import os\nos.path.exists('p') or os.mkfifo('p')\n{TODO}", tmp_path).passed


@pytest.mark.parametrize("number", [2, 4, 9, 16, 20, 28])
def test_a_right_program_of_another_author_passes(number: int) -> None:
    case = dict(read_cases())[f"{number:02}"]
    verdict = try_case(case["task"], case["plan"], case["programs"]["right"])
    assert verdict.passed, verdict.report


def test_no_right_program_fails_and_the_page_says_so() -> None:
    study = read_results(RESULTS)
    assert all(row["passed"] for row in study["rows"] if row["kind"] == "right")
    assert sum(row["by_keeping"] for row in study["rows"]) >= 30
    shown = PAGE.read_text(encoding="utf-8").partition(BEGIN)[2].partition(END)[0].strip()
    assert shown == table(study).strip()
