"""What counts as printed, and what a program that is in the way gets."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from chatdev.evaluation.cases import Case, tried, written
from chatdev.evaluation.trial import Program, program_copy
from chatdev.sandbox.bubblewrap import Bubblewrap, why_not

pytestmark = pytest.mark.tool

PROGRAM = """import pathlib, sys
status, out, err = sys.argv[1:4]
print(out.replace("|", "\\n"), end="")
print(err, end="", file=sys.stderr)
if status == "file":
    pathlib.Path("out.txt").write_text(pathlib.Path("in.txt").read_text() + sys.stdin.read())
elif status == "obstacles":
    pathlib.Path("in.txt").unlink()
    pathlib.Path("in.txt").mkdir()
    pathlib.Path("out.txt").unlink()
    pathlib.Path("out.txt").symlink_to("/etc/passwd")
else:
    sys.exit(int(status))
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    if reason := why_not():
        pytest.skip(reason)
    folder = tmp_path_factory.mktemp("software")
    (folder / "main.py").write_text(PROGRAM)
    with program_copy(folder, Bubblewrap()) as found:
        yield found


@pytest.mark.parametrize(("started", "case", "passed"), [
    (("0", "a", ""), ("a", 0), True),
    (("0", "a  |b|||", ""), ("a\nb", 0), True),  # blanks at line ends, empty lines at the end
    (("0", " a", ""), ("a", 0), False),
    (("0", "|a", ""), ("a", 0), False),
    (("0", "a|b", ""), ("a", 0), False),
    (("0", "a", "a warning"), ("a", 0), True),
    (("0", "", "a"), ("a", 0), False),
    (("1", "a", ""), ("a", 0), False),
    (("1", "", "bad"), ("bad", 1), True),
    (("1", "bad", ""), ("bad", 1), True),
    (("1", "first", "bad"), ("bad", 1), False),
    (("2", "bad", ""), ("bad", 1), False),
    (("2", "none", ""), ("none", None), True),
    (("0", "anything", ""), (None, 0), True),
    (("1", "", "ValueError: bad"), ("ValueError: bad", 1), False),  # what Python says of a program that crashed
])
def test_what_a_program_prints_is_compared_by_lines(program: Program, started: tuple[str, ...],
                                                    case: tuple[str | None, int | None], passed: bool) -> None:
    assert tried(program, "it", Case(started, *case)).passed is passed


def test_the_first_case_that_fails_is_told(program: Program) -> None:
    cases = [Case((str(status), "seen", ""), "seen") for status in (0, 3, 4)]
    check = tried(program, "all three", *cases)
    assert not check.passed
    assert check.name == "all three"
    assert check.detail == "3 seen : wanted 'seen' with status 0, saw 'seen' with status 3"


def test_files_go_in_and_come_out_and_links_lead_nowhere(program: Program) -> None:
    case = Case(("file", "", ""), "", files={"in.txt": "ä\n"}, stdin="end")
    assert tried(program, "files", case).passed
    assert written(program, "out.txt") == "ä\nend".encode()
    assert tried(program, "obstacles", Case(("obstacles", "", ""), "")).passed
    assert written(program, "out.txt") is None
    again = tried(program, "files", case)
    assert not again.passed
    assert "in.txt" in again.detail


def test_nothing_is_written_yet(program: Program) -> None:
    assert written(program, "never.txt") is None
