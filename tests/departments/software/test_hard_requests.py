"""Requests that look as if they showed examples, beside those that do: what is uncertain never speaks against
a program."""

from __future__ import annotations

import time
from typing import Any

import pytest

from chatdev.departments.software.cases.copied import copied_cases
from chatdev.departments.software.cases.extract import read_request
from chatdev.departments.software.trial.plan import any_command

FENCE = "```\n{}\n```"
ASKS = "It asks for a name.\n\n"
CERTAIN = {
    # behind a command in its line
    "marked": ("- `python main.py greet Bob`: `Hello Bob`\n- `python main.py greet Ann`: `Hello Ann`\n", "Hello Bob"),
    "in quotes": ('- `python main.py greet Bob` -> "Hello Bob"\n', "Hello Bob"),
    "figures": ("- python main.py 12 8 5 => 25 slices in 3 loaves\n", "25 slices in 3 loaves"),
    "a figure that was not given": ("python main.py 2 weeks: 14 days\n", "14 days"),
    "a sign and a figure": ("python main.py in 20 -> jar: 20\n", "jar: 20"),
    "capital letters": ("python main.py 14 -> XIV\n", "XIV"),
    "a label that says so": ("Command: python main.py 7\nOutput: odd\n", "odd"),
    "a heading that says so": ("| call | output |\n|---|---|\n| python main.py 3 | nine |\n", "nine"),
    "beside a description": ("python main.py add 2 3 -> 5\npython main.py help -> how to use it\n", "5"),
    # lines that look like a dialogue
    "a question in one word": ("`python main.py 7` prints `prime? yes`.", "prime? yes"),
    "labels of what was given": (f"`python main.py Ann 3` prints\n\n{FENCE.format('Name: Ann' + chr(10) + 'Ann: 3')}",
                                 "Name: Ann\nAnn: 3"),
    "a prompt and no answer": (f"{ASKS}`printf 'Bob\\n' | python main.py` prints `Enter your name: Hello Bob`.",
                               "Enter your name: Hello Bob"),
    "a label behind input": ("Standard input.\n\nInput:\n\n    7\n\nOutput:\n\n    Double: 14\n", "Double: 14"),
    "a label above what is further in": (
        "Command line:\n    python main.py 1:05 0:58\nAnswer:\n    total 2:03\n    fastest: 2\n",
        "total 2:03\nfastest: 2"),
    # a left margin
    "a margin in a fence": ("`python main.py 3` prints\n\n```\n   *\n  ***\n```", "   *\n  ***"),
    "a margin in a session": ("```\n$ python main.py 3\n  *\n ***\n```", "  *\n ***"),
    "a session further in": ("```\n    $ python main.py 3\n      *\n     ***\n```", "  *\n ***"),
    "a fence further in": ("- `python main.py 3` prints\n\n    ```\n     *\n    ***\n    ```\n", " *\n***"),
    "an indented block": ("`python main.py 3` prints\n\n      *\n     ***\n    *****\n", "  *\n ***\n*****"),
    "an empty line": ("`python main.py 3` prints\n\n```\n\n9\n```", "\n9"),
    "an empty line above a session": ("```\n\n$ python main.py 3\n9\n```", "9"),
    # what comes from what was given
    "a date of a date": ("`python main.py 2024-05-01 10` prints `2024-05-11`.", "2024-05-11"),
    "a date of a year": ("`python main.py easter 2024` prints `2024-03-31`.", "2024-03-31"),
    "a time of minutes": ("`python main.py 90` prints `1:30`.", "1:30"),
    "a time of times": ("`python main.py 08:15 45` prints `arrives at 09:00`.", "arrives at 09:00"),
    "a code": ("`python main.py encode aB` prints `aK9xQ2zT7p`, the encoded text.", "aK9xQ2zT7p"),
    "dots that are meant": ("`python main.py SOS` prints `... --- ...`.", "... --- ..."),
    "dots behind a word": (f"`python main.py 3` prints\n\n{FENCE.format('Wait...' + chr(10) + '3')}", "Wait...\n3"),
}


@pytest.mark.parametrize(("request_text", "printed"), CERTAIN.values(), ids=CERTAIN)
def test_what_can_only_be_an_output_is_one(request_text: str, printed: str) -> None:
    assert _first_output(request_text) == printed


UNCERTAIN = {
    # a list of commands
    "descriptions": "- python main.py add milk: one more item\n- python main.py list: items so far\n",
    "descriptions behind arrows": "- `python main.py add milk` -> item stored\n- `python main.py list` -> items now\n",
    "a description with a figure": "Commands:\n* python main.py top -> 10 most common words\n",
    "a description of what is given": "python main.py remove 2 -> item 2 is gone\n",
    "descriptions below": "python main.py add milk\n    item is stored\npython main.py list\n    items so far\n",
    "descriptions in Chinese": "- `python main.py list`：任务清单\n- `python main.py stats`：统计\n",
    "descriptions in a table": "| call | result |\n|---|---|\n| python main.py list | shows all |\n",
    # a dialogue
    "a question and its answer": FENCE.format("$ python main.py 2\nWhat is 2+2? 4\nCorrect!"),
    "a prompt and its answer": FENCE.format("$ python main.py\nEnter your name: Bob\nHello Bob"),
    "an answer that comes again": f"`python main.py` prints\n\n{FENCE.format('Name: Bob' + chr(10) + 'Hello Bob')}",
    "a menu": FENCE.format("$ python main.py\n1) Add\n2) Quit\nYour choice: 2\nBye"),
    "yes or no": FENCE.format("$ python main.py clear\nReally delete all? [y/N] y\nDeleted."),
    "a shell of its own": FENCE.format("$ python main.py\ncalc> 1 + 2\n3"),
    "a program that asks": "It asks the user for a name. `python main.py` prints `Hello Bob`.",
    "what is typed stands in the output": (
        f"{ASKS}Input:\n\n    Bob\n\nOutput:\n\n    Enter your name: Bob\n    Hello Bob\n"),
    # a left margin
    "a block of unknown margin": "`python main.py 3` prints\n\n       *\n      ***\n     *****\n",
    "a paragraph of unknown margin": "`python main.py 3` prints\n\n  *\n ***\n",
    "a quote of unknown margin": "`python main.py 3` prints\n\n>    *\n>   ***\n",
    # another output in every run
    "a time stamp": FENCE.format("$ python main.py add milk\nadded milk at 12:01:33"),
    "a date": FENCE.format("$ python main.py start\nstarted 2024-05-01"),
    "a day": "`python main.py start` prints `started on 1 May 2024`.",
    "today": "`python main.py` prints `Today is Monday`.",
    "a duration": FENCE.format("$ python main.py sort 3 1 2\n1 2 3\nsorted in 0.002 seconds"),
    "a password": FENCE.format("$ python main.py password 8\naK9$xQ2z"),
    "what a generator makes": "A password generator.\n\n" + FENCE.format("$ python main.py 4\nkqzw"),
    "a unique name": "`python main.py new` prints `task 550e8400-e29b-41d4-a716-446655440000`.",
    "a place on a disk": "`python main.py save x` prints `saved to /home/ann/x.txt`.",
    "a gap in a line": FENCE.format("$ python main.py 30\n1 2 3 ... 30"),
    "a gap at the end of a line": FENCE.format("$ python main.py 30\n1, 2, 3, ..."),
}


@pytest.mark.parametrize("request_text", UNCERTAIN.values(), ids=UNCERTAIN)
def test_what_may_be_something_else_makes_no_case(request_text: str) -> None:
    assert read_request(request_text, any_command()).cases == ()


STATUSES = {
    "and exits with status 2": 2, "and exits with code 3": 3, "exit status 4": 4, "and ends with status 0": 0,
    "exit code 255": 255, "status 2": 2,
    "since the page has status code 404": None, "and exits with code 404": None, "with area code 30": None,
    "for error code 50": None, "as the server returns status code 200": None,
}


@pytest.mark.parametrize(("words", "status"), STATUSES.items(), ids=STATUSES)
def test_only_what_the_program_ends_with_is_its_status(words: str, status: int | None) -> None:
    (case,) = read_request(f"`python main.py x` prints `bad`, {words}.", any_command()).cases
    assert case.starts[0].status == status


COPIED: dict[str, tuple[str, dict[str, Any]]] = {
    "a description": ("- python main.py list: items so far\n",
                      {"command": "python main.py list", "prints": "items so far"}),
    "a dialogue": (FENCE.format("$ python main.py\nEnter a name: Bob\nHello Bob"),
                   {"command": "python main.py", "prints": "Enter a name: Bob\nHello Bob"}),
    "another condition": ("`python main.py ROOM` prints the way out. hall: east. If the room is unknown, print `lost`.",
                          {"command": "python main.py hall", "prints": "lost"}),
    "a time": ("`python main.py add x` prints `added x at 12:01`.",
               {"command": "python main.py add x", "prints": "added x at 12:01"}),
}


@pytest.mark.parametrize(("request_text", "start"), COPIED.values(), ids=COPIED)
def test_what_a_tester_copies_is_no_more_certain(request_text: str, start: dict[str, Any]) -> None:
    assert [case for case in copied_cases([{"starts": [start]}], request_text, any_command()) if case.expects] == []


def test_an_uncertain_output_leaves_the_others_of_its_session() -> None:
    session = "It keeps them.\n\n```\n$ python main.py add milk\nadded at 12:01\n$ python main.py list\n1. milk\n```"
    (case,) = read_request(session, any_command()).cases
    assert [start.prints for start in case.starts] == [None, "1. milk"]


SIGNS = "`\"“«(|-=:.> \ta0"
UNITS = ("a\n\n", "!a", "“a", "«a", "`a`. ", "| a ", "a 1 ", "python main.py a. ", "$ python main.py 1\n2\n",
         "a.txt has the lines K7, B2, A1.\n", 'With Mia, Otto and Ruth typed in it prints "a". ', "it prints:\n\nx\n")
ENDED = {",a": (",", "a"), "...a": (".", "a"), "a mark behind": ("~", "`"), "a rule": ("-", "a"),
         "a -> b": ("a", " -> b"), "a bracket": ("(", "a" * 9_000), "blanks between": (" ", "b"),
         "many files": (" ".join(f"f{number}.txt" for number in range(2_200)), "")}
SIZE, SECONDS = 20_000, 3


@pytest.mark.parametrize("unit", [*SIGNS, *UNITS, *ENDED], ids=repr)
def test_a_long_request_is_read_soon(unit: str) -> None:
    begin, end = ENDED.get(unit, (unit, ""))
    text = "a" * (begin == " ") + begin * ((SIZE - len(end) - 1) // len(begin)) + end
    start = {"command": "python main.py a", "prints": "a"}
    started = time.process_time()
    read_request.cache_clear()
    read_request(text, any_command())
    copied_cases([{"starts": [start]}], text, any_command())
    assert time.process_time() - started < SECONDS


def _first_output(request: str) -> str | None:
    case, *_ = read_request(request, any_command()).cases
    return case.starts[0].prints
