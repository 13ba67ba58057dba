"""Input that the request has the program refuse: made into a case where it is certain which input that is."""

from __future__ import annotations

import pytest

from chatdev.departments.software.cases.case import Case, Start
from chatdev.departments.software.cases.extract import read_request
from chatdev.departments.software.trial.plan import any_command
from tests.departments.software.conftest import Use

CUB = "`python main.py bear` prints `cub`. "
CARDS = 'import sys\nyoung = {"bear": "cub", "swan": "cygnet"}\n'
NOTES = "notes.txt holds:\n\n    one\n    two\n\n`python main.py notes.txt` prints `2`. "
REFUSING = f"""{CARDS}
if sys.argv[1] in young:
    print(young[sys.argv[1]])
else:
    print("no idea")
    sys.exit(1)
"""
UNKNOWN = CUB + "Any other animal: print `no idea`, exit status 1."


def refused(request: str) -> tuple[str, ...] | None:
    case = read_request(request, any_command()).refusal
    return case.starts[0].arguments if case else None


@pytest.mark.parametrize(("request_text", "arguments"), [
    (UNKNOWN, ("zq7",)),
    (CUB + "If the animal isn't one of these, it prints `no idea` and ends with exit status 1.", ("zq7",)),
    ("`python main.py Bär` gibt `Junges` aus. Bei jedem anderen Tier gibt es `weiß nicht` aus, Status 2.", ("zq7",)),
    (NOTES + "If the file isn't there, print `no notes`, exit status 1.", ("zq7.txt",)),
    (NOTES + "When notes.txt is missing, it says `no notes` and ends with status 1.", ("notes.txt",)),  # without it
    ("`python main.py 12 30` prints `2.50`. If one of the numbers is 0, print `no teeth` and exit with status 1.",
     ("0", "0")),
    ("`python main.py half 30` prints `15`. If it is not a number, it prints `a number!` with exit status 2.",
     ("half", "zq7")),
    ("`python main.py 7` prints `odd`. Print `no number` and exit with status 1 if it is not a positive integer.",
     ("zq7",)),
])
def test_input_that_is_certainly_refused_makes_a_case(request_text: str, arguments: tuple[str, ...]) -> None:
    assert refused(request_text) == arguments


@pytest.mark.parametrize(("request_text", "arguments"), [
    ("`python main.py 30` prints all primes up to 30. If the number is missing or is not a whole number, it prints a "
     "short usage message instead.", ("zq7",)),
    ("`python main.py 10 km mi` prints 10 kilometres in miles. An unknown unit, or two units that do not fit together, "
     "gives an error message instead of a result.", ("10", "zq7", "zq7")),
    ("`python main.py bear` prints `cub`. For everything else it shows a message.", ("zq7",)),
])
def test_a_message_that_is_not_shown_makes_a_case_without_text(request_text: str, arguments: tuple[str, ...]) -> None:
    assert read_request(request_text, any_command()).refusal == Case("request", (Start(arguments),))


def test_the_case_wants_the_text_and_the_status() -> None:
    start = Start(("zq7",), prints="no idea", status=1)
    assert read_request(UNKNOWN, any_command()).refusal == Case("request", (start,))


def test_a_file_that_the_program_reads_by_itself_is_left_out() -> None:
    request = ("peaks.txt holds:\n\n    Rigi 1797\n    Säntis 2502\n\nSo it is:\n\n    $ python main.py\n    Säntis\n\n"
               "When peaks.txt is missing, print `no peaks` and exit with status 1.")
    reading = read_request(request, any_command())
    assert [dict(case.files) for case in reading.cases] == [{"peaks.txt": "Rigi 1797\nSäntis 2502\n"}]
    assert reading.refusal == Case("request", (Start((), prints="no peaks", status=1),))


@pytest.mark.parametrize("request_text", [
    "Any other animal: print `no idea`, exit status 1.",  # no example
    CUB + "Any other animal: print `no idea`.",  # perhaps to the other stream
    CUB + "Any other animal: print `no idea` to standard error, exit status 1.",
    CUB + "Any other animal: print `no ANIMAL here`, exit status 1. Its form is `python main.py ANIMAL`.",
    "`python main.py bear` prints `cub`. Any other animal: print `bear only`, exit status 1.",
    CUB + "Any other number of arguments: print `one animal`, exit status 1.",
    CUB + "If the word is not in lower case, print `lower case`, exit status 1.",
    CUB + "Animals are kept. Any other animal: print `no idea`, exit status 1.",  # one that was added before is known
    CUB + "`python main.py add cat kitten` prints `2`. Any other animal: print `no idea`, exit status 1.",
    CUB + "Any other animal: print `no idea`, exit status 1. Any other plant: print `no seed`, exit status 1.",
    "`python main.py young bear` prints `cub`. Any other animal: print `no idea`, exit status 1.",
    "`python main.py add milk` adds a thing. Anything else prints a usage message.",  # another command, or thing?
    "`python main.py notes.txt` prints `2`. For an unknown word in notes.txt it prints a message.",
    "`python main.py 7` prints `Uri`. An unknown number: print `no idea`, exit status 1.",  # which number is unknown?
    "`python main.py 7 7` prints `0`. If the difference is 0, print `same` and exit with status 1.",
    NOTES + "If the heading is missing, print `no heading`, exit status 1.",
    NOTES + "If the file name is missing, print `which file?`, exit status 2.",
    "It reads standard input. For the line `bear`, `python main.py` prints `cub`. Any other animal: print `no idea`, "
    "exit status 1.",
])
def test_what_is_not_certain_makes_none(request_text: str) -> None:
    assert refused(request_text) is None


def test_a_program_that_refuses_as_it_should_passes(use: Use) -> None:
    verdict = use(REFUSING, UNKNOWN)
    assert (verdict.passed, verdict.examples) == (True, (2, 2))


@pytest.mark.parametrize(("faulty", "seen"), [
    (f"{CARDS}print(young[sys.argv[1]])\n", "KeyError"),
    (REFUSING.replace("    sys.exit(1)\n", ""), "status 0"),
    (REFUSING.replace("no idea", "unknown"), "unknown"),
])
def test_a_program_that_does_not_is_told_what_was_wanted(use: Use, faulty: str, seen: str) -> None:
    verdict = use(faulty, UNKNOWN)
    assert (verdict.passed, verdict.examples) == (False, (1, 2))
    assert "$ python main.py zq7\nwanted, as the customer's request says" in verdict.report
    assert seen in verdict.report


def test_to_refuse_alone_is_no_example_that_holds(use: Use) -> None:
    verdict = use('import sys\nprint("no idea")\nsys.exit(1)\n', UNKNOWN)
    assert (verdict.passed, verdict.examples) == (False, (0, 2))
    assert verdict.score < use(f"{CARDS}print(young[sys.argv[1]])\n", UNKNOWN).score


def test_what_the_tester_copied_is_tried_once(use: Use) -> None:
    copied = [{"arguments": ["zq7"], "prints": "no idea", "status": 1}]
    assert use(REFUSING, UNKNOWN, examples=copied).examples == (2, 2)


def test_an_example_that_contradicts_the_refusal_is_kept_without_it(use: Use) -> None:
    request = "`python main.py zq7` prints `robot`. Any other name: print `no idea`, exit status 1."
    assert use("import sys\nprint('robot')\n", request).examples == (1, 1)


PRIMES = "`python main.py 30` prints all primes up to 30. If that is not a number, it prints a usage message."


def test_a_crash_is_no_message(use: Use) -> None:
    crashing = "import sys\nfor n in range(2, int(sys.argv[1] if sys.argv[1:] else 2)):\n    print(n)\n"
    verdict = use(crashing, PRIMES, ["python main.py 7"])
    assert (verdict.passed, verdict.examples) == (False, None)
    assert "$ python main.py zq7" in verdict.report
    assert "ValueError" in verdict.report


@pytest.mark.parametrize("answer", ['print("Usage: main.py N")', 'sys.exit("Usage: main.py N")'])
def test_any_message_will_do(use: Use, answer: str) -> None:
    asking = f"import sys\nif not sys.argv[-1].isdigit():\n    {answer}\nelse:\n    print(2, 3, 5)\n"
    assert use(asking, PRIMES, ["python main.py 7"]).passed


MADE = ("Called with `python main.py bear`, that makes\n\n```\ncub\n```\n\n"
        "Any other animal: print `no idea` and leave with status 1.")
FORGIVING = REFUSING.replace("    sys.exit(1)\n", "")
COPIED = [{"arguments": ["bear"], "prints": "cub"}]


def test_an_example_that_only_the_tester_reads_has_a_refusal_beside_it(use: Use) -> None:
    assert read_request(MADE, any_command()).cases == ()
    right, faulty = use(REFUSING, MADE, examples=COPIED), use(FORGIVING, MADE, examples=COPIED)
    assert (right.passed, right.examples) == (True, (2, 2))
    assert (faulty.passed, faulty.examples) == (False, (1, 2))
    assert "$ python main.py zq7\nwanted, as the customer's request says" in faulty.report


def test_the_same_start_without_its_file_is_another_case(use: Use) -> None:
    request = ("peaks.txt:\nRigi:1797\nRax:2007\n\npython main.py\n\n1. Rax\n2. Rigi\n\n"
               "And when peaks.txt is missing, please print \"no peaks\" and exit with status 1.")
    example = {"files": {"peaks.txt": "Rigi:1797\nRax:2007\n"}, "starts": [{"prints": "1. Rax\n2. Rigi\n"}]}
    sort = ("import os, sys\nif not os.path.exists('peaks.txt'):\n    print('no peaks')\n    sys.exit(1)\n"
            "peaks = sorted((line.split(':')[0] for line in open('peaks.txt')))\n"
            "for place, name in enumerate(peaks, 1):\n    print(f'{place}. {name}')\n")
    assert use(sort, request, examples=[example]).examples == (2, 2)
    assert use(sort.replace("    sys.exit(1)", "    sys.exit(0)"), request, examples=[example]).examples == (1, 2)
