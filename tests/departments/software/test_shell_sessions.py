"""Examples as a shell shows them: what a here-document brings, what goes through a file, and commands in turn; and
scenarios, whose steps say the same in words."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.software.foreign_requests import try_program
from chatdev.departments.software.cases.case import join_lines
from tests.departments.software.request_cases import cases, only, prints

SUM = {"arguments": [], "stdin": "3\n4\n", "prints": "7"}
SUMS = {
    "a here-document": "$ python main.py <<EOF\n3\n4\nEOF\n7\n",
    "one with a mark around its end": "```\npython main.py << 'END'\n3\n4\nEND\n7\n```\n",
    "one with the signs of a terminal": "    $ python main.py <<EOF\n    > 3\n    > 4\n    > EOF\n    7\n",
    "one that is piped": "$ cat <<EOF | python main.py\n3\n4\nEOF\n7\n",
    "one without a block": "It adds.\n\npython main.py <<X\n3\n4\nX\n\ngives\n\n7\n",
    "input that is named before": "It reads lines such as `1` from stdin.\n\n$ printf '3\\n4\\n' | python main.py\n7\n",
    "a scenario": 'Scenario: two\n  Given the input\n    """\n    3\n    4\n    """\n  When I call `python main.py`\n'
                  '  Then it prints\n    """\n    7\n    """\n',
    "a file by its name": ("n.txt:\n\n    3\n    4\n\nWrite main.py which adds.\n\n"
                           "    $ python main.py < n.txt\n    7\n"),
}


@pytest.mark.parametrize("request_text", SUMS.values(), ids=SUMS)
def test_what_a_shell_brings_is_certain(request_text: str) -> None:
    [case] = only(request_text)["starts"]
    assert case == SUM


@pytest.mark.parametrize("request_text", [
    "$ python main.py <<EOF\n$HOME\nEOF\n7\n", "$ python main.py <<EOF\n`date`\nEOF\n7\n",
    "$ python main.py <<EOF\n3\n7\n",
    "$ python main.py <<EOF\nEOF\n7\n", "$ python main.py <<EOF > sum.txt\n3\nEOF\n7\n",
    "$ python main.py < $FILE\n7\n", "$ sort <<EOF | python main.py\n3\nEOF\n7\n"])
def test_what_only_a_shell_could_tell_is_not(request_text: str) -> None:
    assert cases(request_text) == []


def test_a_word_may_be_what_comes_in() -> None:
    start = only("$ python main.py -v <<< 'a | b'\nA | B\n")["starts"]
    assert start == [{**prints("-v", "A | B"), "stdin": "a | b\n"}]


def test_files_that_a_session_makes_lie_there() -> None:
    request = "$ cat > a.txt <<EOF\n3\n4\nEOF\n$ cat << EOF > b.txt\n5\nEOF\n$ python main.py a.txt b.txt\n12\n"
    assert only(request) == {"files": {"a.txt": "3\n4\n", "b.txt": "5\n"}, "starts": [prints("a.txt b.txt", "12")]}


def test_output_that_goes_through_a_file_is_that_of_the_command() -> None:
    assert only("$ python main.py 3 > out.txt\n$ cat out.txt\n9\n") == {"starts": [prints("3", "9")]}
    assert cases("$ python main.py 3 > out.txt\n$ cat other.txt\n9\n") == []
    assert cases("$ python main.py 3 > out.txt\n9\n") == []
    assert cases("Do `ls > in.txt`. It reads in.txt.\n\n$ python main.py 3\n9\n") == []
    assert cases("> in.txt\n\nIt reads in.txt.\n\n$ python main.py 3\n9\n") == []


IN_TURN: dict[str, tuple[str, list[dict[str, Any]]]] = {
    "in a sentence": ("It keeps points. When I run `python main.py win Al`, then `python main.py win Bo` and ask with "
                      "`python main.py table`, the screen shows\n\nAl 1\nBo 1\n",
                      [{"arguments": ["win", "Al"]}, {"arguments": ["win", "Bo"]}, prints("table", "Al 1\nBo 1")]),
    "after a list": ("It remembers them.\n\n1. `python main.py win Al`\n2. `python main.py win Bo`\n\n"
                     "After these two, `python main.py table` prints:\n\nAl 1\nBo 1\n",
                     [{"arguments": ["win", "Al"]}, {"arguments": ["win", "Bo"]}, prints("table", "Al 1\nBo 1")]),
    "a scenario": ("It keeps points.\nWhen I run `python main.py win Al`\nThen it prints `Al 1`\n",
                   [prints("win Al", "Al 1")]),
    "German": ("Es merkt sich alles. Rufe ich `python main.py rein Al` und dann `python main.py tafel` auf, zeigt "
               "es:\n\nAl 1\nBo 1\n", [{"arguments": ["rein", "Al"]}, prints("tafel", "Al 1\nBo 1")]),
    "Chinese": ("数据保存在文件中。运行 `python main.py add 甲`，然后运行 `python main.py list`，屏幕显示：\n\n"
                "1 甲\n\nadd 命令不输出任何内容。\n",
                [{"arguments": ["add", "甲"]}, prints("list", "1 甲")]),
}


@pytest.mark.parametrize(("request_text", "starts"), IN_TURN.values(), ids=IN_TURN)
def test_commands_that_come_one_after_the_other_are_one_case(request_text: str, starts: list[dict[str, Any]]) -> None:
    assert only(request_text) == {"starts": starts}


@pytest.mark.parametrize("words", [
    "`python main.py add milk` adds it, `python main.py list` shows `1. milk`.",
    "It keeps what I add. If I run `python main.py list` and then `python main.py all`, it prints `1. milk`.",
    "`python main.py add tea` or `python main.py new tea` adds, `python main.py list` shows `1`."])
def test_commands_beside_each_other_are_none(words: str) -> None:
    assert cases(words) == []


def test_the_steps_of_a_scenario_part_no_other_text() -> None:
    poem = "poem.txt:\n\n    When it rains\n    Then it pours\n\n$ python main.py poem.txt\n2\n"
    assert only(poem)["files"] == {"poem.txt": "When it rains\nThen it pours\n"}


def test_three_quotes_that_only_close_something_open_nothing() -> None:
    request = 'def area(r):\n    """The area\n"""\n\n$ python main.py 3\n9\n'
    assert only(request) == {"starts": [prints("3", "9")]}


def test_lines_that_do_not_belong_together_stay() -> None:
    lines = ["$ python main.py <<EOF", "3", "$ cat a.txt", "4 << 2", "x > y"]
    assert join_lines(lines, lambda line: "main.py" in line) == lines
    assert join_lines([], bool) == []


@pytest.mark.tool
@pytest.mark.parametrize(("program", "passed"), [
    ("import sys\nprint(sum(map(int, sys.stdin)))", True),
    ("print(sum(int(input('Number: ')) for _ in range(2)))", False),
    ("import sys\nprint(sum(map(int, open('numbers.txt'))))", False),
    ("import sys\nprint('sum', sum(map(int, sys.stdin)))", False)])
def test_programs_are_held_to_what_a_here_document_shows(program: str, passed: bool) -> None:
    request = f"It adds what comes in on standard input.\n\n{SUMS['a here-document']}"
    assert try_program(request, program).passed is passed
