"""A study that takes days goes on in a new checkout with what was kept of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks import local_study
from benchmarks.local_study import LocalStudy
from chatdev.batch.ledger import Job, Ledger
from chatdev.runner.recorded import JOURNAL

DONE, OPEN = "single/to-do", "single/clock"


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LocalStudy:
    monkeypatch.setattr(local_study, "FOLDER", tmp_path / "studies")
    (tmp_path / "studies").mkdir()
    return LocalStudy(str, tmp_path / "rows.json", tmp_path / "page.md", ("", ""), "easy", (), tmp_path / "runs.tar.xz")


def test_what_is_kept_of_a_study_comes_back(study: LocalStudy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    row = {"variant": "single", "folder": "single/to-do", "tokens": 500, "solved": 1.0}
    ledger = _ledger(tmp_path / "studies")
    ledger.add(Job(key, {"variant": {"name": "single"}, "task": key}) for key in (DONE, OPEN))
    claim = ledger.claim("me")
    assert claim
    ledger.finish(claim, row, 12.5)
    run = tmp_path / "studies" / "easy" / "single" / "to-do" / "run"
    run.mkdir(parents=True)
    (run / JOURNAL).write_text(f'{{"at": "{tmp_path}/studies/easy/single"}}\n', encoding="utf-8")
    study.collect()

    elsewhere = tmp_path / "elsewhere" / "studies"
    monkeypatch.setattr(local_study, "FOLDER", elsewhere)
    study.restore()
    restored = _ledger(elsewhere)
    assert [(entry.key, entry.state, entry.spec["task"], entry.result["tokens"], entry.seconds)
            for entry in restored.entries()] == [(DONE, "done", DONE, 500, 12.5)]
    assert restored.expense().tokens == 500
    journal = elsewhere / "easy" / "single" / "to-do" / "run" / JOURNAL
    assert journal.read_text(encoding="utf-8") == '{"at": "studies/easy/single"}\n'

    restored.add([Job(OPEN, {"task": OPEN})])
    study.restore()  # a ledger that has jobs is left as it is
    assert restored.counts()["open"] == 1


def test_nothing_comes_back_where_nothing_is_kept(study: LocalStudy, tmp_path: Path) -> None:
    study.restore()
    replace(study, journals=tmp_path / "none.tar.xz").restore()
    assert not any(_ledger(tmp_path / "studies").counts().values())


def test_a_study_goes_on_with_the_step_that_has_open_jobs(
        study: LocalStudy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run: list[str] = []
    monkeypatch.setattr("benchmarks.local_study.subprocess.run", lambda command, **how: run.append(command[-1]))
    study = replace(study, steps=[("--companies", "single"), ("--companies", "drafts,chatdev"), ("judge", "--last")])
    study.run()
    assert run == ["single", "drafts,chatdev", "--last"]
    _ledger(tmp_path / "studies").add([Job("chatdev/clock", {"variant": {"name": "chatdev", "company": "chatdev"}})])
    study.run()
    assert run[3:] == ["drafts,chatdev", "--last"]


def _ledger(folder: Path) -> Ledger:
    return Ledger(str(folder / "ledger.sqlite"), "easy")
