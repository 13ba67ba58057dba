"""`simulink.check` as a company uses it: over an investigation, or over the model in the software."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from chatdev.departments.simulink.checks import check
from chatdev.sandbox.kinds import find_sandbox
from chatdev.tools.base import ToolContext, Verdict

RIGHT: dict[str, Any] = {"blocks": [{"name": "Rate", "type": "Constant"}, {"name": "Scope", "type": "Scope"}],
                         "connections": ["Rate/1 -> Scope/1"]}


def judged(tmp_path: Path, software: dict[str, bytes] | None = None, **values: Any) -> Verdict:
    context = ToolContext(software or {}, values, {}, find_sandbox("none"), tmp_path, tmp_path)
    verdict = check.call(context, {})
    assert isinstance(verdict, Verdict)
    return verdict


def test_a_right_investigation_passes(tmp_path: Path) -> None:
    verdict = judged(tmp_path, investigation=RIGHT)
    assert (verdict.passed, verdict.score, verdict.report) == (True, 1.0, "All eight checks pass.")


def test_errors_are_told_with_place_and_fix(tmp_path: Path) -> None:
    wrong = RIGHT | {"connections": ["Scope/1 -> Rate/1"]}
    verdict = judged(tmp_path, investigation=wrong)
    assert not verdict.passed
    assert "port types, error: connection Scope/1 -> Rate/1: Scope/1 is an input" in verdict.report
    assert verdict.to_dict()["findings"][0]["connection"] == "Scope/1 -> Rate/1"


def test_fewer_errors_score_higher(tmp_path: Path) -> None:
    extra = {"name": "Lost", "type": "Scope"}
    versions = [RIGHT, RIGHT | {"blocks": [*RIGHT["blocks"], extra]}, RIGHT | {"blocks": RIGHT["blocks"][:1]},
                RIGHT | {"connections": []}, {"connections": ["a", "b"]}]
    scores = [judged(tmp_path, investigation=version).score for version in versions]
    assert scores == sorted(scores, reverse=True)
    assert scores[1] > 0.5 >= scores[2]


@pytest.mark.parametrize(("software", "report"), [
    ({}, "nothing to check"),
    ({"model.yaml": b"model: m\n"}, "there is no block"),
    ({"model.yaml": b"model: [\n"}, "not YAML"),
    ({"model.yaml": b"\xff"}, "not UTF-8"),
])
def test_a_model_that_cannot_be_read_fails_with_the_reason(tmp_path: Path, software: dict[str, bytes],
                                                           report: str) -> None:
    verdict = judged(tmp_path, software)
    assert not verdict.passed
    assert report in verdict.report
