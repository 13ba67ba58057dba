"""The cases that a request itself gives: what is certain is read in every layout, and what is not makes none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from chatdev.sandbox.kinds import find_sandbox
from chatdev.tools.base import ToolContext
from chatdev.tools.registry import registry


def cases(request: str, folder: Path = Path("unused")) -> list[dict[str, Any]]:
    context = ToolContext({}, {}, {"task": request}, find_sandbox(), folder, folder)
    found = registry()["software.examples"].call(context, {})
    assert isinstance(found, list)
    assert all(case["from"] == "request" for case in found)
    return found


def only(request: str) -> dict[str, Any]:
    [case] = cases(request)
    return {name: value for name, value in case.items() if name != "from"}


def prints(words: str, printed: str) -> dict[str, Any]:
    return {"arguments": words.split(), "prints": printed}


READ = {
    "in a sentence": "`python main.py 3 5 4` prints `6`, the fewest moves that leave 4 litres.",
    "with words between": "When I type `python main.py 3 5 4` (two jugs and a target) I want to read `6`.",
    "in quotes": 'Typing "python main.py 3 5 4" it shows "6".',
    "a session": "Two jugs.\n\n```\n$ python main.py 3 5 4\n6\n```\n\nMoves are counted.",
    "a session without marks": "Two jugs.\n\n> python main.py 3 5 4\n6\n\nMoves are counted.",
    "a session without prompts": "Two jugs.\n\n    python main.py 3 5 4\n    6\n",
    "two blocks": "I run\n\n    python main.py 3 5 4\n\nand it prints\n\n    6\n\nand no more.",
    "a table": "| call | output |\n|---|---|\n| `python main.py 3 5 4` | `6` |\n",
    "a plain table": "What I type            What it says\npython main.py 3 5 4   6\n",
    "arrows": "python main.py 3 5 4  =>  6\n",
    "labels": "Input: python main.py 3 5 4\nOutput: 6\n",
    "German": "`python main.py 3 5 4` gibt `6` aus, die kleinste Zahl von Zügen.",
    "German, the verb at the end": "Nach dem Aufruf `python main.py 3 5 4` soll `6` ausgegeben werden.",
    "Chinese": "运行 `python main.py 3 5 4` 应输出 `6`，即最少的步数。",
}


@pytest.mark.parametrize("request_text", READ.values(), ids=READ)
def test_one_example_is_read_in_every_layout(request_text: str) -> None:
    assert only(request_text) == {"starts": [prints("3 5 4", "6")]}


UNCERTAIN = {
    "a placeholder": "`python main.py add NAME` prints `added NAME`.",
    "a file that is not shown": "`python main.py moves.txt` prints `X wins`.",
    "a condition": "`python main.py 3 5 4` prints `6` if the jugs are empty.",
    "a choice": "`python main.py 3` prints `odd` or `even`.",
    "the form of a line": "`python main.py up` goes up. Each prints where the player is, in the form `You are up.`",
    "a rule": "`python main.py 3 5` compares. Print `same` where both agree.",
    "another subject": "`python main.py 3 5` adds, anything else prints `what`.",
    "what is read": "`python main.py 3` reads `frame value` pairs.",
    "more lines than one": "`python main.py 3` prints `a`, `b` and `c`.",
    "a description": "| command | effect |\n|---|---|\n| python main.py list | all entries |\n",
    "a usage": "python main.py list -> shows the entries\npython main.py help -> this text\n",
    "an ellipsis": "    $ python main.py 3\n    one\n    ...\n",
    "no more than the state of things": "It remembers what I add. `python main.py list` prints `milk`.",
    "input and output in words": "Input:\nThe numbers of a line.\n\nOutput:\nTheir sum.\n\nIt reads standard input.",
}


@pytest.mark.parametrize("request_text", UNCERTAIN.values(), ids=UNCERTAIN)
def test_what_is_not_certain_makes_no_case(request_text: str) -> None:
    assert cases(request_text) == []
