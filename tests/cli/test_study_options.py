"""How many runs of a study work at a time where nobody says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from chatdev.cli.study_options import StudyOptions
from chatdev.paths import settings_file


def jobs_at_once(workers: int = 1, **given: Any) -> int:
    options = {**{each.name: None for each in fields(StudyOptions)}, "models": (), **given}
    return StudyOptions(**options).jobs_at_once(workers)


@pytest.mark.parametrize(("models", "jobs"), [(["local"], 1), (["gpt-4o", "local:x.gguf"], 1), (["gpt-4o"], 8)])
def test_one_run_at_a_time_where_the_local_model_is_named(models: Sequence[str], jobs: int) -> None:
    assert jobs_at_once(2, models=models) == jobs


def test_one_run_at_a_time_where_the_local_model_is_the_default(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert jobs_at_once() == 1
    assert jobs_at_once(base_url="http://127.0.0.1:9/v1") == 4
    assert jobs_at_once(at_once=3) == 3
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-nobody-1234")
    assert jobs_at_once() == 4
    settings_file().parent.mkdir(parents=True)
    settings_file().write_text("model: local\n", encoding="utf-8")
    assert jobs_at_once() == 1
