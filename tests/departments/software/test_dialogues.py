"""Dialogues that a request shows: where the prompts of a program end and the answers begin, it tells itself."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from benchmarks.software.likely_examples import try_program
from chatdev.departments.software.cases.likely import likely_examples
from chatdev.departments.software.trial.likely_trial import goes_as_shown
from chatdev.departments.software.trial.plan import any_command

SHOWN = "Width: 5\nHeight: 2.5\nYou need 2 tins.\n"
REQUEST = f"A paint calculator. It asks for the width and the height.\n\nIt looks like this:\n\n{SHOWN}\nRounded up."
PAINT = """\
import math
width = float(input("Width: "))
height = float(input("Height: "))
print(f"You need {math.ceil(width * height / 12)} tins.")
"""
STACK = "A stack. A session:\n\n> 4\n[4]\n> 5\n[4, 5]\n> quit\nbye\n"


def says(*parts: str, over: str = "") -> Callable[[str], str]:
    """A program that reads a line after each part but the last; `over` is what it says where the input ends."""
    def say(typed: str) -> str:
        read = min(len(typed.splitlines()), len(parts) - 1)
        return "".join(parts[:read + 1]) + (over if read < len(parts) - 1 else "")
    return say


@pytest.mark.parametrize(("say", "goes"), [
    (says("Width: ", "Height: ", "You need 2 tins.\n"), True),
    (says("Width: ", "Height: ", "You need 2 tins.\n", over="\nno input\n"), True),
    (says("Width: ", "Height: ", "You need 2.0 tins.\n"), False),
    (says("Width: ", "Height: ", "You will need 2 tins.\n"), False),
    (says("Width: ", "Height: ", "You need 2 tins.\nBye.\n"), False),
    (says("Width: ", "You need 2 tins.\n"), False),
    (says("", ""), False),
    (lambda _: SHOWN, False)])
def test_a_dialogue_is_gone_through_as_it_is_shown(say: Callable[[str], str], goes: bool) -> None:
    assert goes_as_shown(SHOWN, say) is goes


def test_a_dialogue_without_an_end_ends() -> None:
    assert not goes_as_shown("? a\n" * 50, lambda typed: "? " * (typed.count("\n") + 1))


@pytest.mark.parametrize(("request_text", "shown"), [
    (REQUEST, True), (STACK, True), ("It adds.\n\nsum: 9\nbest: 4\n", False),
    ("Notes:\n\n> one two\n> three\n", False)])
def test_a_dialogue_is_surely_one_where_somebody_is_asked(request_text: str, shown: bool) -> None:
    found = [example.shown for example in likely_examples(request_text, any_command()) if example.dialogue]
    assert any(found) is shown


@pytest.mark.tool
@pytest.mark.parametrize(("program", "judged"), [
    (PAINT, True), (PAINT.replace("math.ceil(", "round("), False), (PAINT.replace("need", "have to buy"), False),
    (PAINT.replace("    ", "  ").replace("math.ceil(width * height / 12)", "width"), False)])
def test_a_program_that_says_something_else_is_not_confirmed(program: str, judged: bool) -> None:
    verdict = try_program(REQUEST, program)
    assert (verdict.passed, verdict.judged) == (True, judged)


LOG = "It skips what is no number. temps.txt has one reading per line:\n\n    21\n    x\n    19\n\nand I start\n\n" \
      "    python main.py < temps.txt\n\nThe output should then be:\n\n    lowest 19\n"


@pytest.mark.tool
def test_a_filter_that_needs_its_input_gets_what_a_shell_would_give_it() -> None:
    program = "import sys\nprint('lowest', min(line.strip() for line in sys.stdin if line.strip().isdigit()))"
    verdict = try_program(LOG, program)
    assert (verdict.passed, verdict.judged) == (True, True)


KEPT = """\
A pantry, kept in pantry.txt.

1. `python main.py add rice`
2. `python main.py add beans`

add says nothing. With that done in this order, `python main.py list` makes it

beans
rice
"""
PANTRY = """\
import os
import sys
things = open("pantry.txt").read().split() if os.path.exists("pantry.txt") else []
if sys.argv[1:2] == ["list"]:
    print("\\n".join(sorted(things)))
else:
    open("pantry.txt", "w").write("\\n".join([*things, *sys.argv[2:]]))
"""


@pytest.mark.tool
@pytest.mark.parametrize(("program", "judged"), [
    (PANTRY, True), (PANTRY.replace("sorted(things)", "things[::1]"), False), (PANTRY.replace("*things, ", ""), False)])
def test_commands_that_say_nothing_hold_where_nothing_is_shown_for_them(program: str, judged: bool) -> None:
    verdict = try_program(KEPT, program)
    assert (verdict.passed, verdict.judged) == (True, judged)
