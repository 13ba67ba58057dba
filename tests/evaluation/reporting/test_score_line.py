"""The line that whoever has a model sends back."""

from __future__ import annotations

from datetime import date
from typing import Any

from chatdev.evaluation.reporting.formats import score_lines
from chatdev.evaluation.reporting.study_results import FailedJob, Results
from chatdev.version import __version__

DAY = date(2026, 11, 27)


def row(variant: str, task: str, solved: float | None, **more: Any) -> dict[str, Any]:
    return {"variant": variant, "task": task, "acceptance": solved, "solved": solved, "calls": 4, "cost": 0.5,
            "model": "large", **more}


def test_a_line_has_model_solved_calls_cost_version_and_date() -> None:
    rows = [row("single", "a", 1.0), row("single", "b", 0.0), row("chatdev", "a", 1.0, calls=8, cost=None)]
    assert score_lines(Results("s", rows, [], ["single", "chatdev"]), "easy", DAY) == [
        f"chatdev {__version__}, 2026-11-27 | large | easy, 2 tasks | single: 50.0% solved in 2 runs, 4.0 calls, "
        "$0.5000 | chatdev: 100.0% solved in 1 run, 8.0 calls, cost unknown"]


def test_repeats_count_once_for_their_task() -> None:
    rows = [row("single", "a", 1.0), row("single", "a", 1.0), row("single", "a", 1.0), row("single", "b", 0.0)]
    assert "single: 50.0% solved in 4 runs" in score_lines(Results("s", rows, [], ["single"]), "easy", DAY)[0]


def test_each_model_has_a_line_of_its_own() -> None:
    rows = [row("single", "a", 1.0), row("single · b", "a", 0.0, model="small")]
    lines = score_lines(Results("s", rows, [], ["single", "single · b"]), "easy", DAY)
    assert [line.split(" | ")[1] for line in lines] == ["large", "small"]


def test_what_has_no_hidden_test_and_what_failed_is_no_score() -> None:
    rows = [row("single", "a", 1.0), row("single", "b", None)]
    failed = [FailedJob("x", "single", "filtered", 3)]
    line = score_lines(Results("s", rows, failed, ["single"], unfinished=1), "acceptance", DAY)[0]
    assert "acceptance, 1 task | single: 100.0% solved in 1 run" in line
    assert line.endswith("2 runs without a result")
    assert score_lines(Results("s", rows[1:], [], ["single"]), "acceptance", DAY) == []
