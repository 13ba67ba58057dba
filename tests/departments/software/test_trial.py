"""A trial of software by cases: what is wanted, what counts, and what the report says of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from chatdev.sandbox.kinds import find_sandbox
from chatdev.tools.base import ToolContext, registry
from tests.departments.software.conftest import Use

pytestmark = pytest.mark.tool


JAR = """\
import pathlib, sys
jar = pathlib.Path("jar.txt")
now = int(jar.read_text()) if jar.exists() else 0
if sys.argv[1:2] == ["in"]:
    now += int(sys.argv[2])
    jar.write_text(f"{now}\\n")
print("jar:", now)
"""
SESSION = """It remembers the money.

$ python main.py in 20
jar: 20
$ python main.py in 5
jar: 25
"""


def test_the_starts_of_a_case_follow_each_other(use: Use) -> None:
    verdict = use(JAR, SESSION)
    assert (verdict.passed, verdict.score, verdict.examples) == (True, 10, (2, 2))
    assert verdict.report.startswith("It starts, and all 2 examples that the customer's request gives hold.")


def test_each_case_has_a_fresh_copy(use: Use) -> None:
    verdict = use(JAR, SESSION, ["python main.py"])
    assert verdict.passed
    assert "$ python main.py\njar: 0" in verdict.report


def test_what_is_wanted_and_seen_is_told_of_a_case(use: Use) -> None:
    verdict = use(JAR.replace("now += int", "now = int"), SESSION)
    assert (verdict.passed, verdict.examples) == (False, (1, 2))
    told = "$ python main.py in 5\nwanted, as the customer's request says:\n  jar: 25\nseen:\n  jar: 5"
    assert told in verdict.report
    [case] = verdict.evidence["cases"]
    assert [(start["wanted"], start["seen"], start["failed"]) for start in case["starts"]] == [
        ("jar: 20", "jar: 20", False), ("jar: 25", "jar: 5", True)]


def test_the_line_that_fails_is_shown_with_its_function(use: Use) -> None:
    verdict = use("import sys\ndef last(words):\n    return words[9]\nprint(last(sys.argv))\n",
                  "`python main.py a b` prints `b`.")
    assert (verdict.passed, verdict.score, verdict.examples) == (False, 3, (0, 1))
    assert "IndexError: list index out of range" in verdict.report
    assert "def last(words):\n    return words[9]\n    ^^^^^^^^^^^^^^^ line 3" in verdict.report
    assert verdict.evidence["cases"][0]["starts"][0]["line"] == "main.py:3"


HOURS = """hours.txt:

```
roof 3
roof 4
```

report.txt afterwards:

```
roof: 7
```

screen:

```
hours: 7
```

No arguments."""
REPORT = """\
total = sum(int(line.split()[1]) for line in open("hours.txt"))
with open("report.txt", "w") as file:
    print("roof:", total, file=file)
print("hours:", total)
"""


@pytest.mark.parametrize(("program", "told"), [
    (REPORT, ""),
    (REPORT.replace("roof:", "Roof:"), "wanted in the file report.txt:\n  roof: 7\nseen in it:\n  Roof: 7"),
    (REPORT.replace('"report.txt"', '"r.txt"'), "(there is no such file)"),
    (REPORT.replace("sum(", "max("), "The file hours.txt lies beside the program:\n  roof 3\n  roof 4\n")])
def test_files_are_given_and_files_are_wanted(use: Use, program: str, told: str) -> None:
    verdict = use(program, HOURS)
    assert (verdict.passed, verdict.examples) == (not told, (0 if told else 1, 1))
    assert told in verdict.report


def test_a_folder_in_the_way_of_a_users_file_is_the_softwares_fault(tmp_path: Path) -> None:
    (scratch := tmp_path / "scratch").mkdir()
    software = {"main.py": REPORT.encode(), "hours.txt/old": b"1"}
    context = ToolContext(software, {}, {"task": HOURS}, find_sandbox(), tmp_path, scratch)
    verdict = registry()["software.use"].call(context, {})
    assert (verdict.passed, verdict.examples) == (False, (0, 1))


COUNTS = "import sys\nprint(len(sys.stdin.read()))"
PIPED = "`printf 'abc' | python count.py` prints `3`."


@pytest.mark.parametrize(("task", "passed"), [
    (PIPED, True), (PIPED.replace("`3`", "`4`"), False), (PIPED.replace("printf", "echo"), False),
    (PIPED.replace("printf", "echo").replace("`3`", "`4`"), True)])
def test_what_comes_in_is_given_as_it_stands(use: Use, task: str, passed: bool) -> None:
    verdict = use(COUNTS, task)
    assert (verdict.passed, verdict.examples) == (passed, (int(passed), 1)), verdict.report


def test_what_the_tester_copied_ends_its_last_line(use: Use) -> None:
    copied = {"starts": [{"command": "python main.py", "stdin": "abc", "prints": "4"}]}
    task = "It reads standard input and counts its characters.\n\nSomebody sends it these:\n\nabc\n\nand sees\n\n4"
    assert use(COUNTS, task, examples=[copied]).examples == (1, 1)


def test_a_line_is_typed_as_one_whatever_is_in_it(use: Use) -> None:
    assert "\n4" in use("print(len(input()))", "", ["python main.py", "a\u2028\x0cb"]).report.partition("(typed)")[2]


def test_what_needs_a_file_that_nobody_gives_is_not_run(use: Use) -> None:
    program = "import sys\nfor line in open(sys.argv[1]): print(line)\n"
    verdict = use(program, "`python main.py poem.txt` turns a poem.", ["python main.py poem.txt", "python main.py"])
    assert verdict.passed
    assert "Not tried, because nobody gives the file that they name: poem.txt" in verdict.report


def test_repeated_commands_and_the_sample_of_the_prompt_are_dropped(use: Use) -> None:
    commands = ["python main.py 1", 'python main.py add "Feed the cat"', "python main.py 1"]
    verdict = use("print(1)", "Feed cats.", commands)
    assert [command["command"] for command in verdict.evidence["commands"]] == ["python main.py 1"]


LOST = """\
import pathlib, sys
tasks = pathlib.Path("tasks.txt")
if sys.argv[1] == "add":
    tasks.write_text(sys.argv[2])
elif sys.argv[1] == "remove":
    tasks.unlink() if tasks.exists() else sys.exit("there is no such task")
else:
    print(int(tasks.read_text()) if tasks.exists() else "nothing to do")
"""


def test_the_list_at_the_end_is_tried_there_again(use: Use) -> None:
    verdict = use(LOST, "A to-do list.", [f"python main.py {word}" for word in ("list", "add milk", "list", "list")])
    failed = [(start["command"], start["failed"]) for start in verdict.evidence["commands"]]
    assert failed == [("python main.py list", False), ("python main.py add milk", False), ("python main.py list", True)]
    assert (verdict.passed, "ValueError" in verdict.report) == (False, True)


def test_what_cannot_be_done_twice_may_be_refused_at_the_end(use: Use) -> None:
    remove = "python main.py remove milk"
    task = f"A to-do list. `{remove}` forgets a task."
    verdict = use(LOST, task, ["python main.py add milk", remove, "python main.py list", remove])
    assert verdict.passed, verdict.report
    assert verdict.report.count(f"$ {remove}") == 2


ASKS = "while True:\n    print('You said', input('> '))\n"


def test_a_program_that_asks_instead_of_reading_its_arguments_fails(use: Use) -> None:
    commands = ["python main.py add milk", "python main.py list"]
    verdict = use(ASKS, "A to-do list: `python main.py add TASK` adds one.", commands)
    assert not verdict.passed
    assert verdict.report.count("asks for input instead of doing what the command says") == 1
    verdict = use(ASKS, "Develop a command-line to-do list", commands)
    assert (verdict.passed, verdict.judged) == (True, False), "nobody has said how commands are given"


@pytest.mark.parametrize(("task", "commands"), [
    ("Develop a text adventure.", ["python main.py look"]), ("It asks for two numbers.", ["python main.py 1 2"]),
    ("Entwickle ein Ratespiel mit Eingabe.", ["python main.py 3"]), ("开发一个猜数字游戏。", ["python main.py 3"]),
    ("Develop a to-do list.", ["python main.py add milk", "python main.py", "add milk"])])
def test_a_program_that_is_to_ask_may_do_so(use: Use, task: str, commands: list[str]) -> None:
    assert use(ASKS, task, commands).passed


@pytest.mark.parametrize(("printed", "passes"), [("'add TASK, list'", False), ("next(numbers)", True)])
def test_a_command_that_prints_the_same_for_ever_fails(use: Use, printed: str, passes: bool) -> None:
    program = ("import itertools, time\nnumbers = itertools.count()\n"
               f"while not time.sleep(.001):\n    print({printed})\n")
    verdict = use(program, "Develop a to-do list.", ["python main.py list"])
    assert verdict.passed == passes
    assert ("It prints the same again and again, and does not end." in verdict.report) != passes


def test_a_command_that_is_to_go_on_for_ever_may_do_so(use: Use) -> None:
    program = "import sys, time\nwhile not time.sleep(.001):\n    print(sys.argv[-1])\n"
    assert use(program, "Print the word I give again and again, until Ctrl-C.", ["python main.py yes"]).passed


def test_a_program_that_fails_at_an_empty_file_of_its_own_does_not_ask(use: Use) -> None:
    program = "import pickle\nopen('a.bin', 'ab').close()\nprint(pickle.load(open('a.bin', 'rb')))"
    verdict = use(program, "A to-do list.", ["python main.py list"])
    assert (verdict.passed, "EOFError: Ran out of input" in verdict.report) == (False, True)


ROOMS = """The game reads commands from standard input, one per line. For the lines east and north it answers

room 1 0
room 1 1

and ends."""
COPIED = {"starts": [{"command": "python main.py", "stdin": "east\nnorth\n", "prints": "room 1 0\nroom 1 1"}]}


@pytest.mark.parametrize("given", [[COPIED], COPIED, {"examples": [COPIED]}, [COPIED["starts"][0]], [COPIED, COPIED]])
def test_what_the_tester_copied_from_the_request_is_wanted(use: Use, given: object) -> None:
    verdict = use("print('room 1 0\\nroom 1 1')", ROOMS, examples=json.loads(json.dumps(given)))
    assert (verdict.passed, verdict.examples) == (True, (1, 1))


@pytest.mark.parametrize("change", [
    {"prints": "room 1 0\nroom 2 1"}, {"stdin": "west\n"}, {"prints": "room 1 1\nroom 1 0"}, {"prints": "room"},
    {"command": "python main.py 3"}, {"stdin": None}, {"prints": ""}, {"status": 1}, {"writes": {"a.txt": "east\n"}},
    {"prints": "east"}, {"arguments": {"a": 1}}])
def test_what_the_tester_made_up_is_not_wanted(use: Use, change: dict[str, object]) -> None:
    start = {**COPIED["starts"][0], **change}
    verdict = use("print(1)", ROOMS.replace("command", "word"), examples=[{"starts": [start]}])
    assert (verdict.passed, verdict.judged, verdict.examples) == (True, False, None)


def test_scores_order_what_works(use: Use) -> None:
    task = "`python main.py 1` prints `1` and nothing else.\n\n`python main.py 2` prints `2`."
    programs = ["print(", "1 / 0", "print(9)", "import sys\nprint(len(sys.argv) - 1)",
                "import sys\nprint(*sys.argv[1:])"]
    verdicts = [use(program, task, ["python main.py x"]) for program in programs]
    assert [verdict.examples for verdict in verdicts] == [(0, 2), (0, 2), (0, 2), (1, 2), (2, 2)]
    scores = [verdict.score for verdict in verdicts]
    assert scores == sorted(set(scores))


HOSTILE = {
    "prints without an end": "while True: sys.stdout.write('x' * 1_000_000)",
    "deletes all that is there": "shutil.rmtree(os.getcwd(), ignore_errors=True)",
    "leaves a pipe where its file belongs": "os.mkfifo('jar.txt'); print('jar: 20')",
    "leaves a way out where its file belongs": "os.symlink('/etc/passwd', 'jar.txt'); print('jar: 20')",
}


@pytest.mark.parametrize("act", HOSTILE.values(), ids=HOSTILE)
def test_what_a_program_does_in_an_example_stays_a_failed_example(use: Use, act: str) -> None:
    software = f"import os, shutil, sys\nif sys.argv[1:]:\n    {act}\n"
    verdict = use(software, "`python main.py in 20` prints `jar: 20` and jar.txt then holds `20`.")
    assert (verdict.passed, verdict.examples) == (False, (0, 1))
    assert len(verdict.report) < 20_000


@pytest.mark.parametrize(("status", "passes"), [(1, True), (2, False)])
def test_a_filter_may_refuse_nothing_with_the_status_that_is_asked_for(use: Use, status: int, passes: bool) -> None:
    program = f"import sys\nrows = [*sys.stdin]\nif not rows:\n    sys.exit({status})\nprint(rows[0])\n"
    request = "A filter for CSV on stdin: it writes the header. If nothing is left, exit with status 1."
    assert use(program, request).passed == passes
