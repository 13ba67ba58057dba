"""The Tester's own commands: a program that refuses what its request asks for fails, and one that refuses what somebody
made up does not."""

from __future__ import annotations

import pytest

from tests.departments.software.conftest import Use

pytestmark = pytest.mark.tool

USAGE = "import sys\nsys.exit('usage: main.py WORD')\n"
WORDS = "Words go in with `python main.py add WORD` and out with `python main.py list`."


@pytest.mark.parametrize(("commands", "failed"), [
    (["python main.py", "python main.py dance"], [False, False]),  # nobody has asked for these
    (["python main.py add milk", "python main.py cat"], [True, False]),  # the form stands in the request
    (["python main.py list", "python main.py add", "python main.py dance 3"], [False, False, False])])
def test_a_refusal_fails_where_the_request_has_its_form(use: Use, commands: list[str], failed: list[bool]) -> None:
    program = "import sys\nif sys.argv[1:] in (['list'], ['cat']): print('milk')\nelse: sys.exit('usage: main.py')\n"
    verdict = use(program, WORDS, commands)
    assert [start["failed"] for start in verdict.evidence["commands"]] == failed
    assert verdict.passed != any(failed)
    assert ("This is refused, and it should work." in verdict.report) == any(failed)


def test_a_program_that_only_explains_its_usage_is_not_confirmed(use: Use) -> None:
    verdict = use(USAGE, "Count letters.", [f"python main.py {word}" for word in ("a", "b", "c")])
    assert (verdict.passed, verdict.judged) == (True, False)
    assert "takes none of these 3 commands" in verdict.report
    assert "whether it works is not known" in verdict.report


TRACKER = """\
import argparse, json, pathlib

parser = argparse.ArgumentParser()
commands = parser.add_subparsers(dest="command", required=True)
add = commands.add_parser("add-expense")
add.add_argument("--amount", type=float, required=True)
add.add_argument("--category", required=True)
commands.add_parser("monthly-report")
given = parser.parse_args()
store = pathlib.Path("expenses.json")
kept = json.loads(store.read_text()) if store.exists() else []
if given.command == "add-expense":
    store.write_text(json.dumps([*kept, [given.amount, given.category]]))
print(sum(amount for amount, _ in kept))
"""
GUESSED = [f"python main.py {words}" for words in ("add 12.50 food lunch", "list", "report 2026-11", "bogus")]


def test_a_syntax_that_the_tester_made_up_fails_no_right_program(use: Use) -> None:
    task = "Develop an expense tracker for the terminal with categories and monthly reports"
    verdict = use(TRACKER, task, GUESSED)
    assert (verdict.passed, verdict.judged) == (True, False)
    assert "takes none of these 4 commands" in verdict.report
    assert "$ python main.py add 12.50 food lunch" in verdict.report, "it is told what was tried"
    stated = f"{task}. `python main.py monthly-report` prints `0` at first."
    assert use(TRACKER, stated, GUESSED).judged
    assert not use(TRACKER.replace("print(sum", "print(1 + sum"), stated, GUESSED).passed


def test_a_command_that_the_request_names_speaks_for_a_program(use: Use) -> None:
    task = "A converter. `python main.py CELSIUS` says how much that is in Fahrenheit."
    program = "import sys\nprint(float(sys.argv[1]) * 9 / 5 + 32)\n"
    assert use(program, task, ["python main.py 100"]).judged
    assert not use("print('It is warm.')\n", task, ["python main.py 100"]).judged, "it says the same of everything"


def test_a_refusal_in_the_words_of_the_request_is_right(use: Use) -> None:
    program = "import sys\nprint('no such word')\nsys.exit(1)\n"
    assert use(program, "An unknown word prints `no such word`.", ["python main.py x"]).passed


def test_the_form_of_a_command_is_none(use: Use) -> None:
    program = "import sys\nprint(int(sys.argv[1]) * int(sys.argv[2]))\n"
    verdict = use(program, "`python main.py CRATES WEIGHT` multiplies.", [
        "python main.py CRATES WEIGHT", "python main.py 3 4"])
    assert verdict.passed
    assert [start["command"] for start in verdict.evidence["commands"]] == ["python main.py 3 4"]


NUMBERED = """\
import sys
if len(sys.argv) != 1:
    sys.exit('usage: main.py')
for number, line in enumerate(sys.stdin, 1):
    print(f'{number}: {line.strip()}')
"""
INVENTED = ["python main.py add socks", 'python main.py add "rain coat"']


def test_a_program_that_reads_lines_may_refuse_made_up_arguments(use: Use) -> None:
    assert use(NUMBERED, "Number the lines of standard input.", INVENTED).passed
    said = use(NUMBERED, "Number the lines of standard input, or the socks, which you add.", INVENTED[:1])
    assert said.passed, "these words stand in the request, and no command"


def test_where_an_example_holds_what_is_made_up_may_be_refused(use: Use) -> None:
    task = "A glass counter.\n\n```\n$ python main.py drink\n1 of 8\n```\n"
    program = "import sys\nif sys.argv[1:] != ['drink']: sys.exit('usage: main.py drink')\nprint('1 of 8')\n"
    assert use(program, task, INVENTED).judged
    assert not use(program.replace("1 of", "2 of"), task, INVENTED).passed


def test_where_an_example_holds_what_is_made_up_may_crash(use: Use) -> None:
    task = "A glass counter.\n\n~/water> python main.py 1        # the first one\n1 of 8\n"
    program = "import sys\nprint(int(sys.argv[1]), 'of 8')\n"
    assert use(program, task, INVENTED).passed
    assert use(program, task, ["python main.py glass"]).passed, "a word of the request, and no command of it"


NAMED = ("`python main.py add milk` puts a word in, `python main.py drop 1` takes it out, and "
         "`python main.py list` shows all.")
COUNTS_WRONG = """\
import sys
if len(sys.argv) == 2 and sys.argv[1] == 'list': print('1. milk')
elif sys.argv[1:2] == ['drop']: sys.exit('no such word')
else: print('Usage: main.py add WORD | drop NUMBER | list')
"""


def test_a_command_of_the_request_that_is_never_taken_fails(use: Use) -> None:
    plan = [f"python main.py {words}" for words in ("add tea", "list", "drop 9", "add", "dance now")]
    verdict = use(COUNTS_WRONG, NAMED, plan)
    assert [start["failed"] for start in verdict.evidence["commands"]] == [True, False, False, False, False]
    sometimes = COUNTS_WRONG.replace("elif", "elif sys.argv[1:] == ['add', 'tea']: print('Added')\nelif", 1)
    verdict = use(sometimes, NAMED, ["python main.py add tea", "python main.py add coffee"])
    assert [start["failed"] for start in verdict.evidence["commands"][:2]] == [False, False]


def test_a_program_that_calls_every_command_invalid_is_not_confirmed(use: Use) -> None:
    knows = "import sys\nknown = {'add': print, 'list': print}\n"
    counts = f"{knows}print('Invalid number of arguments.' if len(sys.argv) > 2 else 'Invalid command.')\n"
    plan = ["python main.py add milk", "python main.py list", "python main.py add bread"]
    verdict = use(counts, "Develop a shopping list.", plan)
    assert (verdict.passed, verdict.judged) == (True, False)


def test_a_program_that_calls_some_commands_invalid_may_be_right(use: Use) -> None:
    adds = "import sys\nprint('Invalid number.' if sys.argv[1:] == ['half', 'x'] else 2)\n"
    assert use(adds, "Develop a calculator.", ["python main.py half 4", "python main.py half x"]).passed
