"""What the trial says of the drafts that kept runs drew: rows, and one run judged anew."""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest

from benchmarks.software.easy_local import AGAIN, study_of, tasks_of
from benchmarks.software.easy_verdicts import KINDS, STUDY, judge_drafts

ROWS = STUDY.read()["rows"]


def test_no_right_draft_is_called_wrong() -> None:
    said = [row["says"] for row in ROWS if row["kind"] == KINDS[0]]
    assert len(said) >= 20
    assert "failure" not in said


@pytest.mark.tool
def test_a_kept_run_is_judged_as_its_rows_say(tmp_path: Path) -> None:
    with tarfile.open(study_of(AGAIN).journals) as archive:
        members = [member for member in archive if "/Year-Gap-" in member.name and "/chatdev-local/" in member.name]
        archive.extractall(tmp_path, members, filter="data")
    (run,) = tmp_path.glob("*/*/*")
    found = list(judge_drafts(run, {task.description: task for task in tasks_of(AGAIN)}))
    assert found == [row for row in ROWS if row["task"] == found[0]["task"]]
