"""Likely examples: what comes in is guessed, what comes out has to stand in the request."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from benchmarks.software.likely_examples import BEGIN, END, RESULTS, read_requests, table, try_program
from benchmarks.study import ROOT, read_results
from chatdev.departments.software.cases.likely import likely_examples
from chatdev.departments.software.cases.likely_example import best_of
from chatdev.departments.software.cases.whole import stands_whole
from chatdev.departments.software.trial.plan import any_command

STUDY = read_results(RESULTS)
TRAMS = """\
Trams leave at 7, 27 and 47 past the hour. I give the time as argument.

I enter: 14:30
It answers: 14:47, 17 minutes to go

I enter: 23:47
It answers: 23:47, 0 minutes to go
"""
PASTED = """\
My bees: I pipe in weights, one per line, and 0 is a broken scale.

The lines are, one under the other: 31.2, 0, 28.4

With these the whole output comes to

mean 29.8 kg from 2 hives
"""
MEAN = """\
import sys
weights = [float(line) for line in sys.stdin if float(line)]
print(f"mean {sum(weights) / len(weights):.1f} kg from {len(weights)} hives" if weights else "no data")
"""
SESSION = """\
A glass counter for my terminal.

~/water> python main.py drink        # the first one
1 of 8
~/water> python main.py drink 6      # a number may follow
7 of 8
"""


FIRST_TASKS = [task["task"] for task in yaml.safe_load(
    (ROOT / "benchmarks" / "first_runs" / "tasks.yaml").read_text(encoding="utf-8"))["tasks"]]
ORDINARY = {
    "features": "Write a diary.\n\nFeatures:\n- add an entry\n- list all entries\n- search by word\n\nKeep it small.",
    "commands": "A shopping list:\n- `python main.py add milk`: adds milk\n- `python main.py list`: shows all items",
    "table": "| command | what it does |\n|---|---|\n| add milk | adds milk to the list |\n| list | shows the list |\n",
    "usage": "Usage:\n\npython main.py add milk\npython main.py list\n\nThe items are kept in list.json.",
    "arrows": "- `python main.py add tea` -> prints the id of the new note\n- `python main.py list` -> shows all notes",
    "comments": "python main.py drink     # logs one glass\npython main.py drink 2   # logs two\n",
    "input only": "hours.txt looks like this:\n\n    ann 3\n    bob 4\n    ann 2\n\nAdd up the hours of each.",
    "figures": "`python main.py 25 5` starts a timer, and `python main.py 10 km mi` prints 10 kilometres in miles.",
    "numbers": "A timer for 25 5 and one for 50 10 minutes, with a longer break after four rounds.",
    "order": 'Give the other units in the order bar, psi, kpa; for one it does not know print "unknown unit".',
    "game": 'Whoever types "use key" in the garden opens the gate and reads "You win!".',
}


def starts_of(request: str) -> list[list[tuple[tuple[str, ...], str | None]]]:
    return [[(start.arguments, start.stdin) for start in example.starts]
            for example in likely_examples(request, any_command())]


def shows(text: str, output: str) -> bool:
    return stands_whole(output, text, (0, len(text)), any_command())


@pytest.mark.parametrize(("request_text", "starts"), [
    (TRAMS, [(("14:30",), None), (("23:47",), None)]),
    (PASTED, [((), "31.2\n0\n28.4\n")]),
    (SESSION, [(("drink",), None), (("drink", "6"), None)]),
    ("Two numbers, say main.py 6 8, and it shows me 3/4.", [(("6", "8"), None)]),
    ("Convert:\n\n| typed | screen |\n|---|---|\n| 5 km | 3.1 miles |\n| 8 km | 5.0 miles |\n",
     [(("5", "km"), None), (("8", "km"), None)]),
    ("If I give it 4, 6 and 2 it tells me 2 cans. With 4, 6 and 3, it's 4 cans.",
     [(("4", "6", "2"), None), (("4", "6", "3"), None)]),
    ('With Mia, Otto and Ruth typed in, it prints "Mia & Otto & Ruth".', [((), "Mia\nOtto\nRuth\n")]),
    ("With one, two and three typed it prints 6.", [((), "one\ntwo\nthree\n")]),
    ("I send it, each on its own line, Ana, Ben, Cleo, and I'd be happy with one car.", [((), "Ana\nBen\nCleo\n")])])
def test_what_comes_in_is_among_the_guesses(request_text: str, starts: list[object]) -> None:
    assert starts in starts_of(request_text)


@pytest.mark.parametrize("request_text", [
    "", "Roll a die at random with `python main.py 6`.", "It is started as python main.py FILE and counts the words.",
    "x" * 30_000, "Print 1.\nNothing else.\n\nPrint 3 instead.\nThat is all."])
def test_nothing_is_guessed_where_nothing_is_shown(request_text: str) -> None:
    assert not any(example.shown for example in likely_examples(request_text, any_command()))


@pytest.mark.parametrize("request_text", [*ORDINARY.values(), *FIRST_TASKS], ids=lambda text: text[:30])
def test_an_ordinary_request_shows_no_example(request_text: str) -> None:
    assert not any(example.shown for example in likely_examples(request_text, any_command()))


@pytest.mark.parametrize("request_text", [
    "A list:\n- `python main.py add milk` -> added milk\n- `python main.py list` -> 1 milk",
    "A counter:\n\n$ python main.py drink 6\n7 of 8",
    "python main.py drink 6    # a number may follow\n7 of 8\n",
    "python main.py 2 3    # 5\npython main.py 4 3    # 7",
    "Then `python main.py 96 8` is just `*k10, k2tog* 8 times`.",
    'If I write "python main.py 17 20", then "85 percent: good" has to appear.',
    "hours.txt looks like this:\n\n    ann 3\n    bob 4\n    ann 2\n\nand the output is\n\n    ann 5\n    bob 4\n",
    'With Mia, Otto and Ruth typed in, it prints "Mia & Otto & Ruth".',
    "Suppose codes.txt has the five lines K7, B2, K7, A1, B2. Then the screen shows:\n\n2 to swap",
    "Q: What do they type? A: python main.py 7\nQ: What do they see? A: 1750 m",
    "So python main.py 6 8 should say 53 tiles, because 6 times 8 is 48 and 5 more makes 53.",
], ids=lambda text: text[:30])
def test_a_request_that_gives_an_output_shows_an_example(request_text: str) -> None:
    assert any(example.shown for example in likely_examples(request_text, any_command()))


@pytest.mark.parametrize(("text", "output", "whole"), [
    ("It should print 96 jars and nothing else.", "96 jars", True),
    ("It should print 96 jars and nothing else.", "96", False),
    ("Then it says `3 cartons, 2 left over`.", "3 cartons, 2 left over", True),
    ("Then it says `3 cartons, 2 left over`.", "3 cartons", False),
    ("Then it says `one`, then `two`.", "one\ntwo", True),
    ("Then it says `one`, then `two`.", "one", False),
    ("So python main.py 6 8 should say 53 tiles, because 6 times 8 is 48 and 5 more makes 53.", "53 tiles", True),
    ("So python main.py 6 8 should say 53 tiles, because 6 times 8 is 48 and 5 more makes 53.", "53", False),
    ("Answer: not enough, balance 5.00", "not enough", False),
    ("Answer: not enough, balance 5.00", "not enough, balance 5.00", True),
    ("I get:\n\n    a | #\n    b | ##\n", "a | #\nb | ##", True),
    ("I get:\n\n    a | #\n    b | ##\n", "b | ##", False),
    ("I get:\n\n    a\n      b\n", "a\nb", False),
    ("要是敲这个，那就是“运费：19元”。", "运费：19元", True),
    ("anything", "", False)])
def test_an_output_has_to_stand_there_whole(text: str, output: str, whole: bool) -> None:
    assert shows(text, output) is whole


def test_an_output_may_stand_below_the_sentence_that_ends_in_a_colon() -> None:
    request = "Gebe ich „e3 b23“ ein, soll genau eine Zeile erscheinen:\n\nPfand: 4,99 EUR\n\nSonst nichts: 7."
    (given,) = [found for found in likely_examples(request, any_command())
                if [start.arguments for start in found.starts] == [("e3", "b23")]]
    assert given.count_held(["Pfand: 4,99 EUR"], request, any_command()) == 1
    assert given.count_held(["7"], request, any_command()) == 0


def test_a_part_that_holds_is_not_all() -> None:
    trams = next(example for example in likely_examples(TRAMS, any_command()) if len(example.starts) == 2)
    right = ["14:47, 17 minutes to go", "23:47, 0 minutes to go"]
    assert trams.count_held(right, TRAMS, any_command()) == 2
    assert trams.count_held(right[:1] * 2, TRAMS, any_command()) == 1  # the second stands behind the first input only
    assert trams.count_held([None, None], TRAMS, any_command()) == 0
    assert best_of([(trams, 1)]) == (1, 2)
    assert best_of([(trams, 0)]) == (0, 1)


@pytest.mark.tool
def test_a_program_is_confirmed_by_what_stands_in_its_request() -> None:
    right = try_program(PASTED, MEAN)
    assert (right.passed, right.judged, right.examples) == (True, True, (1, 1))
    assert "stands there" in right.report
    wrong = try_program(PASTED, MEAN.replace(" if float(line)]", "]"))
    assert (wrong.passed, wrong.judged, wrong.examples) == (True, False, None)  # an uncertain reading is not against it
    unshown = try_program("Add up the numbers that I pipe in, one per line.", MEAN)
    assert (unshown.passed, unshown.judged, unshown.examples) == (True, False, None)


@pytest.mark.tool
def test_a_table_that_does_not_hold_makes_no_success() -> None:
    verdict = try_program(TRAMS, "import sys\nprint('next tram: ' + sys.argv[1])")
    assert (verdict.passed, verdict.judged, verdict.examples) == (True, False, (0, 1))
    assert "is not known" in verdict.report
    right = 'import sys\nprint({"14:30": "14:47, 17 minutes to go"}.get(sys.argv[1], "23:47, 0 minutes to go"))'
    assert verdict.score < try_program(TRAMS, right).score


SONG = """\
I give a song's file name, like `python main.py song.txt`. Write marked.txt with "~ " in front, and print `done`.

song.txt:
la la la
blue sky

marked.txt:
~ la la la
~ blue sky
"""
PEAKS = """\
Sort mountains by their height.

peaks.txt:
Snowtop:980
Grimhorn:2410

python main.py

1. Grimhorn
2. Snowtop
"""


@pytest.mark.tool
@pytest.mark.parametrize(("request_text", "program", "examples"), [
    (SONG, "import sys\nopen('marked.txt', 'w').writelines('~ ' + line for line in open(sys.argv[1]))\nprint('done')",
     (1, 1)),
    (SONG, "import sys\nopen('marked.txt', 'w').writelines('# ' + line for line in open(sys.argv[1]))\nprint('done')",
     (0, 1)),
    (PEAKS, "found = sorted((line.split(':') for line in open('peaks.txt')), key=lambda row: -int(row[1]))\n"
            "for place, row in enumerate(found, 1):\n    print(f'{place}. {row[0]}')", (1, 1)),
    (PEAKS, "import sys\nif len(sys.argv) < 2:\n    print('which file?')\n    sys.exit(1)\n"
            "print('1. Grimhorn')\nprint('2. Snowtop')", None)],
    ids=["writes it", "writes something else", "started as shown", "wants what is not shown"])
def test_files_are_looked_at_and_starts_are_those_shown(request_text: str, program: str,
                                                             examples: tuple[int, int] | None) -> None:
    verdict = try_program(request_text, program)
    assert (verdict.passed, verdict.examples) == (True, examples)


@pytest.mark.tool
def test_programs_that_never_end_end_the_trial() -> None:
    verdict = try_program(PASTED, "import sys, time\nif sys.stdin.read():\n    time.sleep(60)\nprint('no data')")
    assert verdict.passed
    assert verdict.examples is None


LIFT = """\
A lift that remembers its floor. Each start of the program is one move, given as a single argument.

me: up
lift: You are on floor 1.
me: up
lift: You are on floor 2.

With any other word it prints "up or down?" and ends with exit status 1.
"""


@pytest.mark.tool
@pytest.mark.parametrize("program", [
    "import time\nwhile True:\n    time.sleep(1)",
    "import sys\nprint('up or down?' if sys.argv[1:] else 'one move')\nsys.exit(1)"],
    ids=["goes on for ever", "refuses everything"])
def test_what_says_nothing_of_a_shown_example_makes_no_success(program: str) -> None:
    assert any(example.shown for example in likely_examples(LIFT, any_command()))
    verdict = try_program(LIFT, program)
    assert (verdict.judged and verdict.passed, verdict.examples) == (False, (0, 1))


@example("*,*", "")
@given(st.text("ab1 \n`\"':|->,.=$*#", max_size=300), st.text("ab1 \n`\"',.", max_size=40))
def test_no_request_and_no_output_breaks_the_search(request_text: str, output: str) -> None:
    for found in likely_examples(request_text, any_command())[:5]:
        assert 0 <= found.count_held([output] * len(found.starts), request_text, any_command()) <= len(
            found.starts)


def test_the_study_has_every_request_and_the_page_its_table() -> None:
    assert {row["request"] for row in STUDY["rows"]} == {request.name for request in read_requests()}
    page = (ROOT / "docs" / "execution.md").read_text(encoding="utf-8")
    assert f"{BEGIN}\n{table(STUDY)}\n{END}" in page


def test_few_wrong_programs_are_taken_for_right_ones() -> None:
    shown = [row for row in STUDY["rows"] if row["shows"]]
    wrong = [word for row in shown for word in row["wrong"]]
    assert wrong.count("passed") / len(wrong) < 0.4
    assert [row["right"] for row in shown].count("failed") == 0
