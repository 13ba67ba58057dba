"""How many runs of a study work at a time where nobody says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from chatdev.cli.shared_options import StudyOptions
from chatdev.cli.study_run import StudyPlan, study_of
from chatdev.departments.software.evaluation.srdd import EasyTier
from chatdev.evaluation.study import Conditions
from chatdev.evaluation.variants import variants
from chatdev.paths import settings_file

SERVER = "http://127.0.0.1:9/v1"


def jobs_at_once(workers: int = 1, companies: Sequence[str] = ("single",), **given: Any) -> int:
    unset = {each.name: None for each in fields(StudyOptions)}
    options = StudyOptions(**{**unset, "study": "s", "models": (), "sets": (), "trust": False, **given})
    study = study_of(EasyTier.bundled("tuning"), Conditions(), options)
    found = variants(companies, models=options.models, sets=options.sets)
    return StudyPlan(found, [], study).jobs_at_once(options, workers)


@pytest.mark.parametrize(("models", "jobs"), [(["local"], 1), (["gpt-4o", "local:x.gguf"], 1), (["gpt-4o"], 8)])
@pytest.mark.usefixtures("here")
def test_one_run_at_a_time_where_the_local_model_is_named(models: Sequence[str], jobs: int) -> None:
    assert jobs_at_once(2, models=models) == jobs


def test_one_run_at_a_time_where_the_local_model_is_the_default(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert jobs_at_once() == 1
    assert jobs_at_once(base_url=SERVER) == 4
    assert jobs_at_once(at_once=3) == 3
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-nobody-1234")
    assert jobs_at_once() == 4
    settings_file().parent.mkdir(parents=True)
    settings_file().write_text("model: local\n", encoding="utf-8")
    assert jobs_at_once() == 1
    assert jobs_at_once(models=["gpt-4o"]) == 4


@pytest.mark.parametrize("field", ["model", "roles.programmer.model", "phases.coding.model"])
def test_one_run_at_a_time_where_any_role_has_the_local_model(here: Path, field: str) -> None:
    """A role's own model goes before `--model`; the company's model does not."""
    named = here / "own" / "company.yaml"
    named.parent.mkdir()
    path = "".join(f"{'  ' * depth}{name}:\n" for depth, name in enumerate(field.split(".")))
    named.write_text(f"company: own\nextends: chatdev\n{path}{'  ' * len(field.split('.'))}name: local\n",
                     encoding="utf-8")
    companies = ["single", str(named.parent)]
    assert jobs_at_once(2, companies, models=["gpt-4o"], base_url=SERVER) == (8 if field == "model" else 1)
    assert jobs_at_once(2, companies, base_url=SERVER) == 1
    assert jobs_at_once(2, companies, base_url=SERVER, at_once=5) == 5
    assert jobs_at_once(2, ["single"], base_url=SERVER) == 8
