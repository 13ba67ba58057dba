"""The easy tasks: their rules, and that their reference programs pass. A failure names a task and no more."""

from __future__ import annotations

from pathlib import Path

import pytest

from chatdev.evaluation.easy_tasks import SETS, EasyTask, load_easy_tasks
from chatdev.paths import bundled_folder
from chatdev.sandbox.base import Sandbox
from chatdev.sandbox.bubblewrap import Bubblewrap, why_not
from tests.evaluation.quick_trial import try_programs

EASY = bundled_folder("srdd") / "easy"


@pytest.fixture(scope="module")
def sandbox() -> Sandbox:
    if reason := why_not():
        pytest.skip(reason)
    return Bubblewrap()


@pytest.fixture(params=SETS)
def tasks(request: pytest.FixtureRequest) -> list[EasyTask]:
    return load_easy_tasks(EASY / request.param)


@pytest.mark.tool
def test_every_reference_program_passes(tasks: list[EasyTask], sandbox: Sandbox, tmp_path: Path) -> None:
    found = try_programs(tasks, lambda task: task.reference, sandbox, tmp_path)
    assert [slug for slug, checks in found.items() if not all(check.passed for check in checks)] == []
