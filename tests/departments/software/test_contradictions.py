"""A request that contradicts itself: what does so is told and counts for nothing, and the rest counts."""

from __future__ import annotations

import pytest

from tests.departments.software.conftest import Use

pytestmark = pytest.mark.tool


def test_a_request_that_contradicts_itself_counts_for_nothing(use: Use) -> None:
    task = "`python main.py 3` prints `7`.\n\n$ python main.py 3\n8\n\n`python main.py 4` prints `8`."
    verdict = use("print(8)", task)
    assert (verdict.passed, verdict.examples) == (True, (1, 1))
    told = "counts:\n- `python main.py 3` prints '7'\n- `python main.py 3` prints '8'"
    assert verdict.report.endswith(told)
    assert [note[-len(told):] for note in verdict.evidence["notes"]] == [told]


@pytest.mark.parametrize("task", [
    "`python main.py 3` prints `7`, and `python main.py 3` prints `8`.",
    "Un programme :\n- `python main.py 3` affiche `7`\n- `python main.py 3` affiche `8`"])
def test_one_paragraph_that_contradicts_itself_counts_for_nothing(use: Use, task: str) -> None:
    verdict = use("print(8)", task)
    assert (verdict.passed, verdict.examples) == (True, None)
    assert "The request contradicts itself" in verdict.report


def test_only_the_starts_that_contradict_each_other_count_for_nothing(use: Use) -> None:
    said = " ".join(f"`python main.py {given}` prints `{printed}`." for given, printed in ("37", "48", "38", "37"))
    verdict = use("print(8)", f"It doubles. {said}", examples=["python main.py 3 => 7"])
    assert (verdict.passed, verdict.examples) == (True, (1, 1))
    assert verdict.report.partition("counts:\n")[2].count("- ") == 2


def test_what_was_done_before_is_told_with_what_contradicts_itself(use: Use) -> None:
    sessions = ["A number.", *(f"```\n$ python main.py add 3\nadded\n$ python main.py show\n{shown}\n```"
                                for shown in (3, 4))]
    verdict = use("import sys\nprint('added' if 'add' in sys.argv else 3)", "\n\n".join(sessions))
    assert verdict.report.endswith("- `python main.py add 3` prints 'added'\n  then `python main.py show` prints '3'\n"
                                   "- `python main.py add 3` prints 'added'\n  then `python main.py show` prints '4'")
