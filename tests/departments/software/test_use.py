"""`software.use`: the software in the hands of its users."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatdev.departments.software.cases.case import MOST_STARTS, Start
from chatdev.departments.software.cases.copied import example_lines, examples, plan_lines, starts_of
from chatdev.sandbox.kinds import find_sandbox
from chatdev.tools.base import ToolContext, Verdict, registry

pytestmark = pytest.mark.tool

TODO = """\
import json, sys
def load():
    with open("todo.json") as file:
        return json.load(file)
if sys.argv[1:2] == ["add"]:
    tasks = load()
    json.dump([*tasks, sys.argv[2]], open("todo.json", "w"))
    print("added", sys.argv[2])
elif sys.argv[1:2] == ["list"]:
    print(*load(), sep="\\n")
else:
    sys.exit("usage: main.py add TASK | list")
"""
MENDED = TODO.replace("import json, sys", "import json, os, sys").replace(
    "    with open", "    if not os.path.exists('todo.json'): return []\n    with open")
GAME = """\
place = "hall"
while place != "out":
    word = input("> ")
    if word == "north": place = "library"
    elif word == "win" and place == "library": print("You win!"); break
    elif word == "dig": print({}["spade"])
"""
PLAN = ['python main.py add "Buy milk"', "python main.py list", "python main.py dance"]


def used(software: str | dict[str, str], plan: list[str] | None, folder: Path, *, task: str = "",
         promised: Sequence[str] = ()) -> Verdict:
    texts = {"main.py": software} if isinstance(software, str) else software
    files = {path: text.encode() for path, text in texts.items()}
    values = {"examples": list(promised)} if plan is None else {"commands": plan, "examples": list(promised)}
    scratch = folder / "scratch"
    scratch.mkdir(parents=True)
    context = ToolContext(files, values, {"task": task}, find_sandbox(), folder, scratch)
    verdict = registry()["software.use"].call(context, {})
    assert isinstance(verdict, Verdict)
    assert list(scratch.iterdir()) == []
    return verdict


def test_a_crash_on_a_users_command_is_found_with_its_place(tmp_path: Path) -> None:
    verdict = used(TODO, PLAN, tmp_path, task="A to-do list with the commands add and list.")
    assert not verdict.passed
    assert verdict.score == pytest.approx(5 + 4 / 3)
    assert "2 of these 3 commands do not work" in verdict.report
    assert "$ python main.py add 'Buy milk'\n  main.py:6 in <module>" in verdict.report
    assert "FileNotFoundError: [Errno 2] No such file or directory: 'todo.json'" in verdict.report
    assert [command["failed"] for command in verdict.evidence["commands"]] == [True, True, False]


def test_the_function_that_fails_is_shown_once_with_its_line_marked(tmp_path: Path) -> None:
    source = "import sys\n\n\ndef price(text):\n    total = int(text)\n    return total\n\n\nprint(price(sys.argv[1]))"
    report = used(source, ["python main.py x", "python main.py y"], tmp_path).report
    assert report.count("def price(text):\n    total = int(text)\n    ^^^^^^^^^^^^^^^^^ line 5\n    return total") == 1
    assert report.count("main.py:5 in price") == 2


def test_what_one_command_keeps_the_next_one_finds(tmp_path: Path) -> None:
    verdict = used(MENDED, PLAN, tmp_path)
    assert (verdict.passed, verdict.score, verdict.evidence["rule"]) == (True, 10, "wants_arguments")
    assert "$ python main.py list\nBuy milk" in verdict.report
    assert "$ python main.py dance\nusage: main.py add TASK | list" in verdict.report


def test_lines_are_typed_into_a_game_until_they_end(tmp_path: Path) -> None:
    verdict = used(GAME, ["python main.py", "north", "win"], tmp_path)
    assert verdict.passed
    assert "$ python main.py\n(typed) north\n(typed) win\n> > You win!" in verdict.report


def test_a_game_that_asks_for_more_than_was_typed_is_no_mistake(tmp_path: Path) -> None:
    assert used(GAME, ["python main.py", "north"], tmp_path).passed


def test_a_game_that_crashes_on_a_word_fails(tmp_path: Path) -> None:
    assert used(GAME, ["north", "dig"], tmp_path / "unnamed").passed, "somebody made these words up"
    verdict = used(GAME, ["north", "dig"], tmp_path, task="A game: one can go north and dig.")
    assert not verdict.passed
    assert "KeyError: 'spade'" in verdict.report


@pytest.mark.parametrize("plan", [None, [], ["", "  "]])
def test_without_commands_it_judges_as_software_run_does(tmp_path: Path, plan: list[str] | None) -> None:
    verdict = used("print('hi')", plan, tmp_path)
    assert (verdict.passed, verdict.judged, verdict.evidence["rule"]) == (True, False, "clean_exit")
    assert "exit status 0" in verdict.report
    assert "Nothing that was tried confirms that it does what the request says" in verdict.report


def test_what_does_not_start_is_not_used(tmp_path: Path) -> None:
    verdict = used("1 / 0", PLAN, tmp_path)
    assert (verdict.passed, verdict.score) == (False, 3)
    assert "ZeroDivisionError" in verdict.report


@pytest.mark.parametrize(("lines", "expected"), [
    (["python main.py add \"Buy milk\""], [Start(("add", "Buy milk"))]),
    (["`$ python3 todo.py list`"], [Start(("list",))]),
    (["`python main.py 7 +1` prints `8`: the sum"], [Start(("7", "+1"))]),
    (["python -m app x"], [Start(("x",))]),
    (["python main.py 3 | sort", "python main.py 4 > out.txt", "python main.py 5; rm -r /"],
     [Start(("3",)), Start(("4",)), Start(("5",))]),
    (["python main.py 3 # three"], [Start(("3",))]),
    (["python main.py (2+3)*4", "python main.py it's"], [Start(("(2+3)*4",)), Start(("it's",))]),
    (["python main.py", "north", "> look"], [Start((), "north\nlook\n")]),
    (["north", "python is fun", "python main.py 1"], [Start((), "north\npython is fun\n"), Start(("1",))]),
    (["python main.py"] * 99, [Start()] * MOST_STARTS),
])
def test_a_plan_is_read_as_its_starts(lines: list[str], expected: list[Start]) -> None:
    assert starts_of(lines) == expected


@given(st.lists(st.text()))
def test_any_plan_can_be_read(lines: list[str]) -> None:
    assert len(starts_of(lines)) <= MOST_STARTS
    assert len(examples(lines, "\n".join(lines))) <= MOST_STARTS


ADD = "`python main.py 3 4` prints the sum, here `7`; `python main.py x` prints `bad number` with exit status 1."
ADDER = """\
import sys
try:
    print(sum(map(int, sys.argv[1:])))
except ValueError:
    sys.exit("bad number")
"""
PROMISED = ["`python main.py 3 4` => `7`", "python main.py x => bad number"]


def test_a_result_that_is_not_what_the_request_says_fails(tmp_path: Path) -> None:
    verdict = used(ADDER.replace("sum(", "max("), ["python main.py 1 1"], tmp_path, task=ADD, promised=PROMISED)
    assert not verdict.passed
    assert 5 + 3 / 2 < verdict.score < 5 + 3
    assert verdict.examples == (1, 2)
    assert "1 of the 2 examples that the customer's request gives does not hold" in verdict.report
    assert "$ python main.py 3 4\nwanted, as the customer's request says:\n  7\nseen:\n  4\n" in verdict.report
    failed = [command["command"] for command in verdict.evidence["commands"] if command["failed"]]
    assert failed == ["python main.py 3 4"]


def test_a_program_that_does_what_the_request_says_passes(tmp_path: Path) -> None:
    verdict = used(ADDER, ["python main.py 3 4"], tmp_path, task=ADD, promised=PROMISED)
    assert (verdict.passed, verdict.score) == (True, 10)
    assert sorted(command["command"] for command in verdict.evidence["commands"]) == ["python main.py 3 4",
                                                                                      "python main.py x"]


def test_an_example_is_all_that_is_printed_and_no_part_of_it(tmp_path: Path) -> None:
    task = "`python main.py 3 4` prints `7`."
    within = used("print('the sum is 7')", [], tmp_path / "within", task=task)
    beside = used("print('the sum is')\nprint('7')", [], tmp_path / "beside", task=task)
    alone = used("print('7  ')\nprint()", [], tmp_path / "alone", task=task)
    assert (within.passed, beside.passed, alone.passed) == (False, False, True)


@pytest.mark.parametrize("guess", [
    "python main.py 3 5 => 8", "python main.py 3 4 => 12", "python main.py 3 4", "python main.py 3 4 =>", "=> 7", "7",
    "the sum => 7", "python main.py 3 => 4", "ython main.py 3 4 => 7", "none",
])
def test_what_the_request_does_not_say_is_no_example(guess: str) -> None:
    assert examples([guess], "`python main.py 3 4` prints the sum, here `7`.") == []


def test_a_request_without_backticks_gives_examples_too() -> None:
    request = "python main.py 3 4 prints 7, and python main.py x an error."
    assert examples(["python main.py 3 4 => 7"], request) == [Start(("3", "4"), prints="7")]


def test_the_first_example_of_a_command_counts() -> None:
    assert examples([*PROMISED, "python main.py 3 4 => bad number"], ADD) == [
        Start(("3", "4"), prints="7"), Start(("x",), prints="bad number")]


JS = """\
const fs = require("fs"), [verb, task] = process.argv.slice(2);
if (verb === "add") fs.appendFileSync("todo.txt", task + "\\n");
else if (verb === "list") console.log(fs.existsSync("todo.txt") ? fs.readFileSync("todo.txt", "utf8") : "");
else console.log("usage: main.js add TASK | list");
"""
GUESS = """\
#include <stdio.h>
int main(void) {
    int n, left = 3;
    while (left-- && scanf("%d", &n) == 1) {
        if (n == 7) { puts("You win!"); return 0; }
        printf("%d\\n", 100 / n);
    }
    puts("You lose.");
}
"""


def test_other_languages_are_used_like_python(tmp_path: Path) -> None:
    plan = ['$ node main.js add "Buy milk"', "node main.js list"]
    verdict = used({"main.js": JS}, plan, tmp_path)
    assert verdict.passed, verdict.report
    assert "$ node main.js list\nBuy milk" in verdict.report


def test_a_crash_of_another_language_is_told_with_its_place(tmp_path: Path) -> None:
    verdict = used({"main.js": JS.replace('"list")', '"list" && {}.x.y)')}, ["npm start -- list"], tmp_path,
                   task="Add tasks and list them.")
    assert not verdict.passed
    assert "at Object.<anonymous> (main.js:3:34)" in verdict.report


@pytest.mark.parametrize(("typed", "passed", "shown"), [
    (["3", "7"], True, "33\nYou win!"), (["5", "x"], True, "20\nYou lose."), (["0"], False, "ended by SIGFPE")])
def test_lines_are_typed_into_a_built_program(tmp_path: Path, typed: list[str], passed: bool, shown: str) -> None:
    verdict = used({"guess.c": GUESS}, ["./guess", *typed], tmp_path)
    assert verdict.passed == passed
    assert shown in verdict.report


def test_a_page_is_only_opened(tmp_path: Path) -> None:
    verdict = used({"index.html": "<p>Hi"}, ["./x", "y"], tmp_path)
    assert (verdict.passed, verdict.evidence["rule"], verdict.evidence["commands"]) == (True, "page_opened", [])


ODD_PLANS = [[{"command": "python main.py 2 3"}], [["python main.py 2 3"]], {"commands": ["python main.py 2 3"]},
             "python main.py 2 3", [{"cmd": "python main.py 2 3", "expected": "5", "a": None}, None, True, {}, [[]]]]


@pytest.mark.parametrize("plan", ODD_PLANS, ids=range(len(ODD_PLANS)))
def test_a_plan_of_objects_and_lists_is_read(plan: object) -> None:
    assert starts_of(plan_lines(plan)) == [Start(("2", "3"))]


def test_a_plan_that_is_nested_beyond_reason_is_read() -> None:
    plan: object = ["python main.py 2", 3]
    for _ in range(5000):
        plan = [{"commands": plan}]
    assert list(plan_lines(plan)) == ["python main.py 2", "3"]


def test_numbers_and_fields_of_an_object_are_typed() -> None:
    plan = [{"command": "python main.py", "inputs": [3, "north", 2.5]}, 7, {"description": "wins"}]
    assert starts_of(plan_lines(plan)) == [Start((), "3\nnorth\n2.5\n7\n")]


@pytest.mark.parametrize("promised", [[{"command": "python main.py 3 4", "output": 7}],
                                      [["`python main.py 3 4` => `7`"]], "python main.py 3 4 => 7"])
def test_examples_of_objects_and_lists_are_read(promised: object) -> None:
    assert examples(example_lines(promised), ADD) == [Start(("3", "4"), prints="7")]


UNFIT = {"long": ("x" * 200_000, "it is longer than anything that a user types"),
         "words": ("x " * 10_000, "no user types so many words"),
         "NUL": ("a\0b", "no keyboard has such signs"), "half": ("\ud800", "no keyboard has such signs"),
         "typed": ("\n" + "y" * 30_000, "it is longer than anything that a user types")}


@pytest.mark.parametrize(("odd", "why"), UNFIT.values(), ids=UNFIT)
def test_what_no_user_types_is_no_case_and_the_others_run(tmp_path: Path, odd: str, why: str) -> None:
    verdict = used(ADDER, [*f"python main.py {odd}".split("\n"), "python main.py 3 4"], tmp_path)
    assert [command["command"] for command in verdict.evidence["commands"]] == ["python main.py 3 4"]
    assert verdict.passed
    assert f"Not tried, because {why}: " in verdict.report
    assert "$ python main.py 3 4\n7" in verdict.report
    assert len(verdict.report) < 2000


def test_where_nothing_else_is_planned_the_reason_is_told(tmp_path: Path) -> None:
    verdict = used(ADDER, ["python main.py " + "1 " * 10_000], tmp_path)
    assert (verdict.passed, verdict.judged) == (True, False)
    assert "no user types so many words" in verdict.report


@pytest.mark.parametrize("example", [
    {"files": {f"{n}.txt": "x\n" for n in range(1000)}, "starts": [{"command": "python main.py 3 4", "prints": "7"}]},
    {"starts": [{"command": "python main.py " + "3 " * 10_000, "prints": "7"}]},
    {"starts": [{"arguments": ["3"] * 10_000, "prints": "7"}]},
    {"starts": [{"arguments": ["a\0b"], "prints": "7"}]}, {"starts": [{"arguments": ["\ud800"], "prints": "7"}]},
    {"starts": [{"command": "python main.py 3 4", "stdin": "x\n" * 200_000, "prints": "7"}]}])
def test_an_example_beyond_every_limit_is_no_case(tmp_path: Path, example: object) -> None:
    context = ToolContext({"main.py": ADDER.encode()}, {"examples": [example]},
                          {"task": "`python main.py 3 4` prints `7`."}, find_sandbox(), tmp_path, tmp_path)
    verdict = registry()["software.use"].call(context, {})
    assert isinstance(verdict, Verdict)
    assert (verdict.passed, verdict.judged, verdict.examples) == (True, True, (1, 1))
