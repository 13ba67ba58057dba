"""The cases that a request itself gives: what is certain is read in every layout, and what is not makes none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from chatdev.departments.software.trial.plan import MOST_TRIED, any_command, plan_of
from chatdev.sandbox.kinds import find_sandbox
from chatdev.tools.base import ToolContext
from tests.departments.software.request_cases import cases, only, prints

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
    "a line and what stands below it": "Two jugs:\npython main.py 3 5 4\n6\n\nMoves are counted.",
    "words that lead to a command": "I want this from python main.py 3 5 4:\n\n    6\n",
    "a form": "Small jugs: `python main.py SMALL LARGE WANTED`, so `python main.py 3 5 4` prints `6`.",
    "no marks": "Typing python main.py 3 5 4 I see 6, because six moves are needed.",
    "nothing else": "So it is python main.py 3 5 4, which should print 6 and nothing else.",
    "a colon": "- python main.py 3 5 4: 6\n",
    "a comment behind a command": "    $ python main.py 3 5 4   # two jugs\n    6\n",
    "a list of labels": "- call: `python main.py 3 5 4`\n- output: `6`\n",
    "bold labels": "**Command:** `python main.py 3 5 4`\n**Output:** `6`\n",
    "labels above": "Command:\npython main.py 3 5 4\n\nOutput:\n6\n",
    "a talk": "me: python main.py 3 5 4\nprogram: 6\n",
    "arguments alone": "The three numbers are arguments.\n\n3 5 4 -> 6\n",
    "one block for each": "```\npython main.py 3 5 4\n```\n\n```\n6\n```\n",
    "a quote": "Two jugs:\n> python main.py 3 5 4\n> 6\n",
    "German, no marks": "Zwei Krüge. Der Aufruf python main.py 3 5 4 gibt 6 aus.",
    "German, a talk": "Ich: python main.py 3 5 4\nProgramm: 6\n",
    "Chinese, a colon": "运行 `python main.py 3 5 4`：\n\n    6\n",
    "Chinese, no marks": "程序量水。python main.py 3 5 4 输出 6。",
    "German": "`python main.py 3 5 4` gibt `6` aus, die kleinste Zahl von Zügen.",
    "German, the verb at the end": "Nach dem Aufruf `python main.py 3 5 4` soll `6` ausgegeben werden.",
    "Chinese": "运行 `python main.py 3 5 4` 应输出 `6`，即最少的步数。",
}


@pytest.mark.parametrize("request_text", READ.values(), ids=READ)
def test_one_example_is_read_in_every_layout(request_text: str) -> None:
    assert only(request_text) == {"starts": [prints("3 5 4", "6")]}


FILE = "The file data.csv looks like this:\n\n```\na,1\nb,2\n```\n\n"
ROWS = [{"files": {"data.csv": "a,1\nb,2\n"}, "starts": [prints("data.csv", "rows 2\nsum 3")]}]
WHOLE: dict[str, tuple[str, list[dict[str, Any]]]] = {
    "a session": ("```\n$ python main.py add milk\n$ python main.py list\n1. milk\n2. tea\n$\n```",
                  [{"starts": [{"arguments": ["add", "milk"]}, prints("list", "1. milk\n2. tea")]}]),
    "labels in a story": ("Say I run python main.py 5: it prints In the jar: 5. Then I run python main.py 7: it prints "
                          "In the jar: 12.",
                          [{"starts": [prints("5", "In the jar: 5"), prints("7", "In the jar: 12")]}]),
    "German, a label": ("Der Aufruf python main.py 5 gibt Übrig: 5 aus.", [{"starts": [prints("5", "Übrig: 5")]}]),
    "a story": ("It keeps money. I enter `python main.py in 20` and it says `jar: 20`. "
                "Then I enter `python main.py out 5` and it tells me `jar: 15`.",
                [{"starts": [prints("in 20", "jar: 20"), prints("out 5", "jar: 15")]}]),
    "paragraphs": ("`python main.py 1 2` prints `3`.\n\n`python main.py 2 2` prints `4`.",
                   [{"starts": [prints("1 2", "3")]}, {"starts": [prints("2 2", "4")]}]),
    "a file": (FILE + "`python main.py data.csv` prints\n\n```\nsum 3\n```",
               [{"files": {"data.csv": "a,1\nb,2\n"}, "starts": [prints("data.csv", "sum 3")]}]),
    "a file in a sentence": ('If data.csv has the two lines "a,1" and "b,2", `python main.py data.csv` prints `sum 3`.',
                             [{"files": {"data.csv": "a,1\nb,2\n"}, "starts": [prints("data.csv", "sum 3")]}]),
    "a file between marks, behind an order": (
        "Write a program in Python: with a file `data.csv` that holds the lines `a,1` and `b,2`, the command "
        "`python main.py data.csv` prints two lines: `rows 2` and `sum 3`.", ROWS),
    "a file between quotes": (
        'Sums. With a file "data.csv" containing the lines "a,1" and "b,2", the command "python main.py data.csv" '
        'prints two lines: "rows 2" and "sum 3".', ROWS),
    "a file with lines": ("Sums. Given a file `data.csv` with the lines `a,1` and `b,2`, `python main.py data.csv` "
                          "prints `rows 2` and then `sum 3`.", ROWS),
    "a file with a content below": ("With a file `data.csv` with the content\n\n```\na,1\nb,2\n```\n\nthe command "
                                    "`python main.py data.csv` prints:\n\n```\nrows 2\nsum 3\n```\n", ROWS),
    "a file with its lines in a list": ("With a file `data.csv` that holds these lines:\n\n- `a,1`\n- `b,2`\n\nthe "
                                        "command `python main.py data.csv` prints `rows 2` and then `sum 3`.", ROWS),
    "two files": ("Sums. With two files, `a.txt` holding the line `1` and `b.txt` with the lines `2` and `3`, "
                  "`python main.py a.txt b.txt` prints `6`.",
                  [{"files": {"a.txt": "1\n", "b.txt": "2\n3\n"}, "starts": [prints("a.txt b.txt", "6")]}]),
    "a file that is there after the run": (
        "After it the file `out.txt` holds the line `5`. `python main.py 2 3` prints `ok`.",
        [{"starts": [{**prints("2 3", "ok"), "writes": {"out.txt": "5\n"}}]}]),
    "a file without arguments": (FILE.replace("\n\n", "\n") + "It reads it and prints:\n\n    sum 3\n",
                                 [{"files": {"data.csv": "a,1\nb,2\n"}, "starts": [prints("", "sum 3")]}]),
    "lines that are typed": ("Standard input. Input:\n\n    3\n    4\n\nOutput:\n\n    7\n",
                             [{"starts": [{"arguments": [], "stdin": "3\n4\n", "prints": "7"}]}]),
    "lines that are piped": ("`printf '3\\n4\\n' | python main.py` prints `7`.",
                             [{"starts": [{"arguments": [], "stdin": "3\n4\n", "prints": "7"}]}]),
    "a file that is piped": (FILE.replace("csv", "txt") + "`python main.py < data.txt` prints `sum 3`.",
                             [{"files": {"data.txt": "a,1\nb,2\n"},
                               "starts": [{"arguments": [], "stdin": "a,1\nb,2\n", "prints": "sum 3"}]}]),
    "two lines": ("`python main.py 3` prints `a` and below it `b`.", [{"starts": [prints("3", "a\nb")]}]),
    "counted lines": ("`python main.py 3` prints three lines: `a`, `b` and `c`.",
                      [{"starts": [prints("3", "a\nb\nc")]}]),
    "a status": ("`python main.py x` prints `bad` and exits with status 2.",
                 [{"starts": [{**prints("x", "bad"), "status": 2}]}]),
    "German lines": ("Beispiel:\n\n```\n$ python main.py drei\n1\n2\n```\n\nFalsches wird mit `nein` beantwortet.",
                     [{"starts": [prints("drei", "1\n2")]}]),
    "a file on the screen": ("$ cat data.csv\na,1\nb,2\n$ python main.py data.csv\nsum 3\n",
                             [{"files": {"data.csv": "a,1\nb,2\n"}, "starts": [prints("data.csv", "sum 3")]}]),
    "a file at another prompt": ("C:\\> type data.csv\na,1\nb,2\nC:\\> python main.py data.csv\nsum 3\n",
                                 [{"files": {"data.csv": "a,1\nb,2\n"}, "starts": [prints("data.csv", "sum 3")]}]),
    "a file that is made": ("```\n$ printf 'a,1\\nb,2\\n' > data.csv\n$ python main.py data.csv\nsum 3\n```",
                            [{"files": {"data.csv": "a,1\nb,2\n"}, "starts": [prints("data.csv", "sum 3")]}]),
    "a file that is left": ("```\n$ cat a.txt\nb\na\n$ python main.py a.txt\nsorted\n$ cat a.txt\na\nb\n```",
                            [{"files": {"a.txt": "b\na\n"}, "starts": [{**prints("a.txt", "sorted"),
                                                                        "writes": {"a.txt": "a\nb\n"}}]}]),
    "a file before and after": ("a.txt before:\n2\n1\n\n`python main.py a.txt` prints `done`.\n\na.txt after:\n1\n2\n",
                                [{"files": {"a.txt": "2\n1\n"}, "starts": [{**prints("a.txt", "done"),
                                                                            "writes": {"a.txt": "1\n2\n"}}]}]),
    "a file in a list": ("* data.csv has the lines a1, b2, c3\n* I type python main.py data.csv\n* I get `sum 6`\n",
                         [{"files": {"data.csv": "a1\nb2\nc3\n"}, "starts": [prints("data.csv", "sum 6")]}]),
    "before and after": ("It sorts standard input.\n\nbefore:\n  Tea for us.\n  Ale for you all.\nafter:\n"
                         "  Ale for you all.\n  Tea for us.\n",
                         [{"starts": [{"arguments": [], "stdin": "Tea for us.\nAle for you all.\n",
                                       "prints": "Ale for you all.\nTea for us."}]}]),
    "lines in one": ("in: 3, 4 (each on its own line)\nout: 7\n\nStandard input.",
                     [{"starts": [{"arguments": [], "stdin": "3\n4\n", "prints": "7"}]}]),
    "unfinished sentences": ("It reads standard input. For the lines\n\n3\n4\n\nit prints 7, since that is their sum.",
                             [{"starts": [{"arguments": [], "stdin": "3\n4\n", "prints": "7"}]}]),
    "what was shown above": ("```\n3\n4\n```\nIf I pipe these lines into main.py, I see 7. It adds them.",
                             [{"starts": [{"arguments": [], "stdin": "3\n4\n", "prints": "7"}]}]),
    "the next time": ("It keeps them. First time, `python main.py x`:\nx\n\nNext time, `python main.py y`:\nx\ny\n",
                      [{"starts": [prints("x", "x"), prints("y", "x\ny")]}]),
    "commands without marks": ("Kept in all.txt.\n\npython main.py 2\n2\npython main.py 3\n5\n",
                               [{"starts": [prints("2", "2"), prints("3", "5")]}]),
    "a drawing": ("$ python main.py 2\n *\n***\n\nThese are two lines.", [{"starts": [prints("2", " *\n***")]}]),
    "a list that is printed": ("Standard input.\n\nstdin:\nsocks\nhat\n\nstdout:\n1) socks\n2) hat\n", [
        {"starts": [{"arguments": [], "stdin": "socks\nhat\n", "prints": "1) socks\n2) hat"}]}]),
    "a list below a file": ("`python main.py a.txt` marks it.\n\na.txt:\nsocks\nhat\n\nIt prints:\n- socks\n- hat\n",
                            [{"files": {"a.txt": "socks\nhat\n"}, "starts": [prints("a.txt", "- socks\n- hat")]}]),
    "Chinese labels": ("从标准输入读取。\n\n输入：\n3\n4\n输出：\n7\n",
                       [{"starts": [{"arguments": [], "stdin": "3\n4\n", "prints": "7"}]}]),
    "Chinese": ("程序从标准输入读取。\n\n输入:\n```\n3\n4\n```\n输出:\n```\n7\n```\n",
                [{"starts": [{"arguments": [], "stdin": "3\n4\n", "prints": "7"}]}]),
}


@pytest.mark.parametrize(("request_text", "expected"), WHOLE.values(), ids=WHOLE)
def test_files_input_and_several_lines_are_read(request_text: str, expected: list[dict[str, Any]]) -> None:
    assert [{name: value for name, value in case.items() if name != "from"} for case in cases(request_text)] == expected


UNCERTAIN = {
    "lines of a file with the signs of a list": (
        "With a file `a.md` that holds the lines:\n\n- milk\n- tea\n\n`python main.py a.md` prints `2`."),
    "a file of which nobody knows whether these are lines": (
        "With a file `data.csv` containing `a,1` and `b,2`, `python main.py data.csv` prints `sum 3`."),
    "a file that the program makes": (
        "Write a program: it makes a file `out.txt` that holds the line `5`. `python main.py out.txt` prints `5`."),
    "a file only for example": ("Write a program in Python: for a file `x.csv`, such as one that holds the lines `a,1` "
                                "and `b,2`, `python main.py x.csv` prints `sum 3`."),
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
    "a file of which two texts are shown": FILE + FILE.replace("a,1", "c,1") + "`python main.py data.csv` prints `3`.",
    "a state of things": "`python main.py add milk` adds it, `python main.py list` shows `1. milk`.",
    "more behind it": "`python main.py 3` prints `a` on the first line and `b` on the second.",
    "what follows": "`python main.py 3` prints `three` followed by `3`.",
    "a dialogue": "```\n$ python main.py\nName: Ada\nHello Ada\n```\nThe program asks for the name.",
    "a comment": "```\npython main.py 3\n# prints three\n```",
    "a shell": "`python main.py 3 > out.txt && cat out.txt` prints `three`.",
    "another case": "Call it as `python main.py 3 4`. For negative numbers the output is `bad`.",
    "an example that is called wrong": "This is wrong:\n\npython main.py 3\n10\n",
    "an example that is taken back": "It printed:\n\n    $ python main.py 3\n    10\n\nbut it should be 9.",
    "how it is not": "Not like this:\n\n    $ python main.py 3\n    10\n",
    "chance": "python main.py 6 prints a random number.\n\n    $ python main.py 6\n    4\n",
    "something like it": "python main.py 3 prints something like\n\n    9\n",
    "a possibility": "python main.py 3 might print 9.",
    "a wrapped sentence": "The sum comes from\npython main.py data.csv reads the file and\nprints 3.",
    "a sentence below a command": "python main.py 3\nThis prints nine.\n",
    "a description behind the output": "$ python main.py 3\n9\nThis is the square of what I gave.\n",
    "a remark behind the output": "    $ python main.py 3\n    9   <- the square\n",
    "numbers in a row": "python main.py 3 prints 2, 4 and 6.",
    "a label and more": "python main.py 5 prints Total: 5 and the date.",
    "labels in a row": "python main.py a b prints Words: 3, Lines: 4.",
    "an open end": "python main.py 3 prints 2...",
    "a number of things": "python main.py 3 prints 3 stars and nothing else.",
    "an adverb": "python main.py always prints 3.",
    "help": "- python main.py list: everything\n- python main.py help: usage\n",
    "labels that are printed": "Command: python main.py 3\nOutput: total: 9\nand more\n",
    "where input goes": "Put words into words.txt and start python main.py words.txt:\n\n    apple\n    bee\n",
    "another command": "$ rm data.txt\n$ python main.py 3\n9\n",
    "the form of a file": ("words.txt has lines like this:\n\n    WORD = meaning\n\n"
                           "    $ python main.py apple\n    fruit\n"),
    "rules and no arguments": "It takes two arguments. Replace:\n\n& hash -> and\n+ hash -> plus\n",
    "remarks": "Input: 3 4 (two numbers)\nOutput: 7 (their sum)\n\nStandard input.",
    "input and output in words": "Input:\nThe numbers of a line.\n\nOutput:\nTheir sum.\n\nIt reads standard input.",
}


@pytest.mark.parametrize("request_text", UNCERTAIN.values(), ids=UNCERTAIN)
def test_what_is_not_certain_makes_no_case(request_text: str) -> None:
    assert cases(request_text) == []


@pytest.mark.parametrize(("added", "known", "words"), [
    ("add tea", True, ""), ("remove tea", True, ""), ("fill tea", True, "It uses a database."), ("add 2 3", False, ""),
    ("fill tea", False, "")])
def test_what_another_block_has_added_may_be_there(added: str, known: bool, words: str) -> None:
    found = cases(f"{words}\n\npython main.py {added}\n5 cups\n\npython main.py tea\n6 cups\n")
    assert [len(case["starts"]) for case in found] == ([1] if known else [1, 1])
    assert found[0]["starts"][0]["arguments"] == added.split()


@pytest.mark.parametrize("sign", ["", "$ "])
@pytest.mark.parametrize("end", ["", ":"])
@pytest.mark.parametrize("gap", ["\n", "\n\n"])
def test_the_title_of_a_step_is_no_output(sign: str, end: str, gap: str) -> None:
    steps = [("Add a book", "add Dune", "Book 1 added."), ("List the books", "list", "1 | Dune"),
             ("Borrow it", "borrow 1", "Yours.")]
    request = gap.join(f"{number}. {title}{end}\n   {sign}python main.py {command}\n   {output}"
                       for number, (title, command, output) in enumerate(steps, 1))
    shown = [(start["arguments"], start["prints"]) for case in cases(request) for start in case["starts"]]
    assert shown in ([], [(command.split(), output) for _, command, output in steps])


def test_what_may_be_printed_in_another_way_is_not_certain() -> None:
    request = 'A moon: `python main.py 2024-01-25` shows "Full moon"{}. No argument: today.'
    assert cases(request.format("")) != []
    assert cases(request.format(" (with an emoji if possible, e.g. \U0001f315)")) == []


def test_a_request_of_many_sessions_makes_no_trial_without_an_end() -> None:
    request = "\n\n".join(f"```\n{session(n)}```" for n in range(9))
    context = ToolContext({}, {}, {"task": request}, find_sandbox(), Path("unused"), Path("unused"))
    plan = plan_of(context, any_command())
    assert [len(case.starts) for case in plan.cases] == [15] * (MOST_TRIED // 15)


def session(first: int) -> str:
    """Fifteen starts in a terminal."""
    return "".join(f"$ python main.py {first} {n}\n{n}\n" for n in range(15))


def test_a_new_file_is_written_and_does_not_lie_there() -> None:
    case = only("`python main.py song.txt` marks the lines of song.txt in a new file marked.txt.\n\nsong.txt:\n\n"
                "    la\n    sky\n\n$ python main.py song.txt\ndone\n\nmarked.txt:\n\n    ~ la\n    ~ sky\n")
    assert case["files"] == {"song.txt": "la\nsky\n"}
    assert case["starts"] == [{"arguments": ["song.txt"], "prints": "done", "writes": {"marked.txt": "~ la\n~ sky\n"}}]
