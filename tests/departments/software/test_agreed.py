"""Checks that the company agreed on: they confirm, they are shown, and they fail nobody."""

from __future__ import annotations

import shutil
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatdev.departments.software.trial.agreed import read_checks
from chatdev.departments.software.trial.plan import any_command
from tests.departments.software.conftest import Use

pytestmark = pytest.mark.tool

TASK = "Develop an expense tracker for the terminal with categories and monthly reports."
TRACKER = """\
import argparse, json, os, sys
def load():
    return json.load(open("e.json")) if os.path.exists("e.json") else []
parser = argparse.ArgumentParser()
commands = parser.add_subparsers(dest="command", required=True)
add = commands.add_parser("add-expense")
add.add_argument("--amount", type=float, required=True)
add.add_argument("--category", required=True)
commands.add_parser("report")
given = parser.parse_args()
if given.command == "add-expense":
    json.dump([*load(), [given.amount, given.category]], open("e.json", "w"))
    print("added", given.amount, given.category)
else:
    for amount, category in load():
        print(f"{category}: {amount:.2f}")
"""
CHECKS: list[dict[str, Any]] = [
    {"about": "keeps an expense", "starts": [
        {"command": "python main.py add-expense --amount 12.5 --category food", "shows": ["food"]},
        {"command": "python main.py report", "shows": ["food: 12.50"], "status": 0}]},
    {"about": "a wrong use", "starts": [{"command": "python main.py dance", "shows": ["invalid choice"], "status": 2}]},
]


def test_a_right_program_of_several_commands_is_confirmed(use: Use) -> None:
    verdict = use(TRACKER, TASK, checks=CHECKS)
    assert (verdict.passed, verdict.judged) == (True, True)
    assert "All 2 checks that the company agreed on hold." in verdict.report
    assert verdict.evidence["agreed"] == {"checks": 2, "differing": []}


@pytest.mark.parametrize(("broken", "shows"), [
    (TRACKER.replace("[*load(), [", "[["), ""), (TRACKER.replace('{amount:.2f}', '{amount}'), "'food: 12.50'"),
    (TRACKER.replace('"e.json", "w"', '"f.json", "w"'), "'food: 12.50'")])
def test_a_mutant_is_no_success_and_no_failure(use: Use, broken: str, shows: str) -> None:
    twice = [{"about": "two", "starts": [*CHECKS[0]["starts"], CHECKS[0]["starts"][0],
                                         {"command": "python main.py report", "shows": ["food: 12.50\nfood: 12.50"]}]}]
    verdict = use(broken, TASK, checks=[*CHECKS, *twice])
    assert (verdict.passed, verdict.judged) == (True, False)
    assert "do not hold. The request does not say" in verdict.report or "does not hold. The request" in verdict.report
    assert f"it does not show {shows}" in verdict.report


def test_a_syntax_that_nobody_asked_for_fails_nobody(use: Use) -> None:
    guessed = [{"about": "adds", "starts": [{"command": "python main.py add 12.50 food", "shows": ["added"]}]}]
    verdict = use(TRACKER, TASK, checks=guessed)
    assert (verdict.passed, verdict.judged) == (True, False)
    assert "$ python main.py add 12.50 food" in verdict.report


HELD = {"about": "another", "starts": [{"command": "python main.py 5", "shows": ["10"]}]}


@pytest.mark.parametrize(("command", "shows", "more", "judged"), [
    ("python main.py 4", "nine", [HELD], False),  # program or check: one of them is wrong
    ("python main.py 4", "nine", [], True),  # the checks are about some other program
    ("python main.py double 4", "8", [HELD], True),  # it does not have to know this command
    ("python main.py 4", "8", [HELD], True)])
def test_a_check_beside_examples_that_hold(use: Use, command: str, shows: str, more: list[Any], judged: bool) -> None:
    task = "A program: `python main.py 3` prints `6`."
    program = "import sys\nif len(sys.argv) != 2: sys.exit('usage: N')\nprint(2 * int(sys.argv[1]))"
    verdict = use(program, task, checks=[*more, {"about": "x", "starts": [{"command": command, "shows": [shows]}]}])
    assert (verdict.passed, verdict.judged, verdict.examples) == (True, judged, (1, 1))
    assert judged or "it does not show 'nine'" in verdict.report


@pytest.mark.parametrize(("printed", "shows", "holds"), [
    ("-6\\n0.25", "6\n0.25", False), ("65", "6", False), ("16", "6", False), ("6.5", "6", False), ("0.6", "6", False),
    ("6", "6", True), ("6.00 EUR", "6", True), ("sum: 6.", "6", True), ("12.50", "12.5", True),
    ("12.55", "12.5", False),
    ("on 2024-03-05", "03-05", True), ("balance=-6", "6", False), ("n-6", "6", True), ("expenses", "expense", True)])
def test_a_number_that_is_shown_is_a_whole_one(use: Use, printed: str, shows: str, holds: bool) -> None:
    checks = [{"about": "x", "starts": [{"command": "python main.py report", "shows": [shows]}]}]
    verdict = use(f"import sys\nprint('{printed}' if sys.argv[1:] else 'usage: report')", "A tracker.", checks=checks)
    assert ("does not show" not in verdict.report) is holds


def test_what_is_printed_behind_all_that_was_agreed_is_told(use: Use) -> None:
    checks = [{"about": "x", "starts": [{"command": "python main.py top", "prints": "a 2\nb 2"}]}]
    longer = "import sys\nprint('a 2\\nb 2\\nc 1' if sys.argv[1:] else 'usage: top')"
    assert "it prints more behind" in use(longer, "A counter.", checks=checks).report
    assert use(longer.replace("\\nc 1", ""), "A counter.", checks=checks).judged


def test_a_crash_fails_where_the_request_names_the_command(use: Use) -> None:
    program = "import sys\nprint('total 0' if sys.argv[1:] != ['report'] else {}['x'])"
    checks = [{"about": "x", "starts": [{"command": f"python main.py {word}", "shows": ["total"]}]}
              for word in ("report", "other")]
    assert not use(program, "The command report prints the total.", checks=checks).passed
    assert use(program, "A tracker.", checks=checks).passed


@pytest.mark.parametrize(("task", "opened", "passed"), [
    ("`python main.py FILE` adds the numbers in it.", "sys.argv[1]", True),
    ("It shows the longest run of days in a file.", "sys.argv[1]", True),
    ("n.txt:\n\n    3\n\n`python main.py` run with it prints 3.", "'n.txt'", True),
    ("The command run keeps its days in days.txt.", "'days.txt'", False)])
def test_a_file_that_nobody_gave_is_no_fault(use: Use, task: str, opened: str, passed: bool) -> None:
    program = f"import sys\nprint(sum(map(int, open({opened}))) if len(sys.argv) > 1 else 3)"
    checks = [{"about": "x", "starts": [{"command": "python main.py run", "shows": ["3"]}]}]
    assert use(program, task, checks=checks).passed is passed


def test_a_program_that_only_refuses_is_not_confirmed(use: Use) -> None:
    checks = [{"about": "wrong use", "starts": [{"command": "python main.py dance", "shows": ["usage"], "status": 2}]}]
    verdict = use("import sys\nsys.exit('usage: none') if 0 else (print('usage'), sys.exit(2))", TASK, checks=checks)
    assert not verdict.judged or not verdict.passed


def test_a_check_that_shows_what_the_request_shows_is_an_example(use: Use) -> None:
    task = "`python main.py 1 2` adds its numbers, and the sum is `3`."
    checks = [{"about": "sum", "starts": [{"command": "python main.py 1 2", "prints": "3"}]}]
    assert use("import sys\nprint(sum(map(int, sys.argv[1:])))", task, checks=checks).examples == (1, 1)
    assert not use("import sys\nprint(len(sys.argv))\nprint()\nprint(4)", task, checks=checks).passed


IN_EVERY_LANGUAGE = {
    "JavaScript": ("node", "node main.js", """\
const words = process.argv.slice(2).map(Number);
console.log(words[0] + words[1]);
"""),
    "Go": ("go", "./main", """\
package main

import (
	"fmt"
	"os"
	"strconv"
)

func main() {
	if len(os.Args) < 3 {
		fmt.Println("usage: main A B")
		os.Exit(2)
	}
	a, _ := strconv.Atoi(os.Args[1])
	b, _ := strconv.Atoi(os.Args[2])
	fmt.Println(a + b)
}
"""),
    "C": ("gcc", "./main", """\
#include <stdio.h>
#include <stdlib.h>
int main(int count, char **words) {
    if (count < 3) { puts("usage: main A B"); return 2; }
    printf("%d\\n", atoi(words[1]) + atoi(words[2]));
    return 0;
}
"""),
    "C++": ("g++", "./main", """\
#include <iostream>
#include <string>
int main(int count, char **words) {
    if (count < 3) { std::cout << "usage: main A B\\n"; return 2; }
    std::cout << std::stoi(words[1]) + std::stoi(words[2]) << "\\n";
}
"""),
    "Java": ("javac", "java Main", """\
public class Main {
    public static void main(String[] words) {
        if (words.length < 2) { System.out.println("usage: Main A B"); System.exit(2); }
        System.out.println(Integer.parseInt(words[0]) + Integer.parseInt(words[1]));
    }
}
"""),
    "Shell": ("bash", "./main.sh", "echo $(($1 + $2))")}
FILES = {"JavaScript": "main.js", "Go": "main.go", "C": "main.c", "C++": "main.cpp", "Java": "Main.java",
         "Shell": "main.sh"}


@pytest.mark.parametrize("language", IN_EVERY_LANGUAGE)
def test_checks_are_tried_in_every_language(use: Use, language: str) -> None:
    needs, command, source = IN_EVERY_LANGUAGE[language]
    if not shutil.which(needs):
        pytest.skip(f"{needs} is not here")
    checks = [{"about": "adds", "starts": [{"command": f"{command} 20 3", "shows": ["23"], "status": 0}]}]
    right = use({FILES[language]: source}, "A tool that adds two numbers.", checks=checks)
    assert (right.passed, right.judged) == (True, True), right.report
    wrong = use({FILES[language]: source.replace("+ ", "- ")}, "A tool that adds two numbers.", checks=checks)
    assert not (wrong.passed and wrong.judged), wrong.report


KEYS = st.sampled_from(["about", "starts", "files", "command", "shows", "status", "stdin", "prints", "steps", "press"])


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), lambda inner: st.lists(inner, max_size=4)
                    | st.dictionaries(KEYS, inner, max_size=5), max_leaves=20))
def test_whatever_a_model_writes_is_read_or_left_out(value: Any) -> None:
    for check in read_checks(value, any_command()):
        assert check.starts or check.steps
