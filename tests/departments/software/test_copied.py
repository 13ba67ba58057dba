"""What a Tester copied out of a request counts only where it stands there whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from chatdev.departments.software.cases.case import Start
from chatdev.departments.software.cases.copied import copied_cases
from chatdev.departments.software.trial.plan import any_command, plan_of
from chatdev.sandbox.kinds import find_sandbox
from chatdev.tools.base import ToolContext

WHOLE = [
    ("`python main.py 3` prints `9`", "python main.py 3", None, "9"),
    ("`python main.py 3` prints `9`, then `10`.", "python main.py 3", None, "9\n10"),
    ("I type python main.py 4 12 and it should print 96 jars, nothing else.", "python main.py 4 12", None, "96 jars"),
    ("- python main.py lantern prints NRETNAL\n- python main.py key prints YEK", "python main.py key", None, "YEK"),
    ("me: python main.py king\nprogram: 4", "python main.py king", None, "4"),
    ("python main.py king -> 4 points", "python main.py king", None, "4 points"),
    ("| call | prints |\n|---|---|\n| `python main.py 3` | 9 |", "python main.py 3", None, "9"),
    ("Start it with python main.py. For the lines\n\n800\n1500\n\nit prints 1, since one is above 1000.",
     "python main.py", "800\n1500\n", "1"),
    ("For python main.py\n\nTyped:\n31\n54\nAnswer:\nlongest: 54 cm", "python main.py", "31\n54", "longest: 54 cm"),
    ("python main.py gets the lines red, green and blue and prints `3`.", "python main.py", "red\ngreen\nblue", "3"),
    ("python main.py 501 20\n481 left\n\nThat is the idea.", "python main.py 501 20", None, "481 left"),
    ("stdin:\nsocks\nhat\n\nstdout:\n1) socks\n2) hat\n", "python main.py", "socks\nhat\n", "1) socks\n2) hat"),
    ("`python main.py 3` gibt `9` aus.", "python main.py 3", None, "9"),
    ("运行 `python main.py 3` 输出 `9`。", "python main.py 3", None, "9"),
]


@pytest.mark.parametrize(("request_text", "command", "stdin", "prints"), WHOLE)
def test_what_is_whole_counts(request_text: str, command: str, stdin: str | None, prints: str) -> None:
    (start,) = _copied(request_text, command, stdin, prints)
    assert start.prints == prints


PARTS = [
    ("`python main.py 3` prints `9`, then `10`.", "python main.py 3", None, "9"),
    ("python main.py 4 12 should print 96 jars and nothing else.", "python main.py 4 12", None, "96"),
    ("python main.py 2\n\nprints\n\n2\n4\n6", "python main.py 2", None, "2\n4"),
    ("python main.py 2\n\nprints\n\n2\n4\n6", "python main.py 2", None, "4\n6"),
    ("Typed:\n31\n54\n27\nAnswer:\nlongest: 54 cm", "python main.py", "31\n54\n27", "54 cm"),
    ("Typed:\n31\n54\n27\nAnswer:\nlongest: 54 cm", "python main.py", "31\n54", "longest: 54 cm"),
    ("python main.py gets the lines red, green and blue and prints `3`.", "python main.py", "red\ngreen", "3"),
    ("python main.py 3 prints red, green and blue.", "python main.py 3", None, "red"),
    ("python main.py 3 prints something like `9`.", "python main.py 3", None, "9"),
    ("python main.py 3 might print 9.", "python main.py 3", None, "9"),
    ("`python main.py 3` druckt jetzt falsch `9`.", "python main.py 3", None, "9"),
    ("`python main.py 3` prints `...`.", "python main.py 3", None, "..."),
    ("`python main.py 3` prints `9`.\n`python main.py 4` prints `16`.", "python main.py 3", None, "16"),
    ("`python main.py 3` prints `9`.", "python main.py 4", None, "9"),
    ("`python main.py 3` prints `9`.", "python main.py 3", None, "``"),
    # no output, but what is made of what was given
    ("`python main.py 10 km mi` prints 10 kilometres in miles.", "python main.py 10 km mi", None,
     "10 kilometres in miles"),
    ("`python main.py hello` prints hello backwards.", "python main.py hello", None, "hello backwards"),
]


@pytest.mark.parametrize(("request_text", "command", "stdin", "prints"), PARTS)
def test_half_of_an_example_is_none(request_text: str, command: str, stdin: str | None, prints: str) -> None:
    assert _copied(request_text, command, stdin, prints) == []


GAME = 'A game for the terminal. Whoever types "use key" in the garden reads "You win!" and the game ends.'


@pytest.mark.parametrize(("said", "count"), [("", 0), (" Commands are arguments.", 1),
                                             (" It is started with python main.py.", 0)])
def test_what_is_typed_is_no_argument_where_nobody_speaks_of_arguments(said: str, count: int) -> None:
    assert len(_copied(GAME + said, "use key", None, "You win!")) == count


def test_the_program_is_no_file_of_the_customer() -> None:
    request = "The list words.txt has:\n\napple\npear\n\n`python main.py words.txt` prints `2`."
    start = {"command": "python main.py words.txt", "stdin": "", "prints": "2"}
    files = {"main.py": "print(2)", "words.txt": "apple\npear\n"}
    (case,) = copied_cases([{"files": files, "starts": [start]}], request, any_command())
    assert case.files == {"words.txt": "apple\npear\n"}
    for text in ("apple\n", "apple\nplum\n", "pear\n"):
        assert copied_cases([{"files": {"words.txt": text}, "starts": [start]}], request, any_command()) == []


def test_what_is_made_up_beside_what_is_copied_takes_nothing_away() -> None:
    request = "After python main.py, 90 12 should print \"7 pieces, 6 cm left\". A piece of 0 is refused."
    starts = [{"command": "python main.py 90 12", "prints": "7 pieces, 6 cm left"},
              {"command": "python main.py 60 0", "prints": "a piece needs a length"}]
    (case,) = copied_cases([{"starts": starts}], request, any_command())
    assert [start.arguments for start in case.starts] == [("90", "12")]
    kept = request + " It remembers the roll."
    assert copied_cases([{"starts": starts}], kept, any_command()) == []


def test_long_requests_are_looked_through_quickly() -> None:
    request = "`python main.py 3` prints `9`, 9, 9\n" * 500
    start = {"command": "python main.py 3", "prints": "9 " * 2000}
    assert copied_cases([{"starts": [start] * 20}] * 200, request, any_command()) == []


def _copied(request: str, command: str, stdin: str | None, prints: str) -> list[Start]:
    start = {"command": command, "prints": prints, **({"stdin": stdin} if stdin else {})}
    return [start for case in copied_cases([{"starts": [start]}], request, any_command()) for start in case.starts]


def test_what_the_program_makes_is_there_in_the_end() -> None:
    request = ("I give the song's file name, like `python main.py song.txt`. Write a new file marked.txt that has "
               "every line with \"~ \" in front, and print `done`.\n\nsong.txt:\nla\nsky\n\nmarked.txt:\n~ la\n~ sky\n")
    example = {"files": {"song.txt": "la\nsky\n", "marked.txt": "~ la\n~ sky\n"},
               "starts": [{"command": "python main.py song.txt", "prints": "done"}]}
    case, = copied_cases([example], request, any_command())
    assert case.files == {"song.txt": "la\nsky\n"}
    assert case.starts[-1].writes == {"marked.txt": "~ la\n~ sky\n"}


def test_what_a_request_shows_of_a_new_file_is_wanted_in_any_case() -> None:
    request = ("I give the song's file name, like `python main.py song.txt`. Write a new file marked.txt that has "
               "every line with \"~ \" in front, and print `done`.\n\nsong.txt:\nla\nsky\n\nmarked.txt:\n~ la\n~ sky\n")
    example = {"files": {"song.txt": "la\nsky\n"}, "starts": [{"command": "python main.py song.txt", "prints": "done"}]}
    folder = Path("unused")
    context = ToolContext({}, {"examples": [example]}, {"task": request}, find_sandbox(), folder, folder)
    (case,) = plan_of(context, any_command()).cases
    assert case.starts[-1].writes == {"marked.txt": "~ la\n~ sky\n"}
