"""Hostile programs in the sandbox: nothing outside changes, and the verdict is right."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from chatdev.sandbox.base import Sandbox
from tests.sandbox.escape.host import ESCAPED, KEY, Host, opened

PROGRAMS: list[dict[str, Any]] = yaml.safe_load(Path(__file__).with_name("programs.yaml").read_text(encoding="utf-8"))

pytestmark = pytest.mark.tool


by_name = pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program["name"])


@by_name
def test_nothing_outside_changes_and_the_verdict_is_right(tmp_path: Path, bubblewrap: Sandbox, program: dict[str, Any],
                                                          monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with opened(tmp_path, bubblewrap) as host:
        _assert_held(host, program)


@pytest.mark.xdist_group("docker")
@by_name
def test_the_same_holds_in_docker(tmp_path: Path, docker: Sandbox, program: dict[str, Any],
                                  monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with opened(tmp_path, docker) as host:
        _assert_held(host, program)


def _assert_held(host: Host, program: dict[str, Any]) -> None:
    verdict = host.judge(program)
    assert ESCAPED not in verdict.report
    assert KEY not in verdict.report
    rule = program.get("rule", "clean_exit")
    wanted = [rule] if isinstance(rule, str) else rule
    if host.sandbox.name == "docker":  # which ends a process that takes too much, not all of them
        wanted = [*wanted, *program.get("docker", ())]
    assert verdict.evidence["rule"] in wanted, verdict.report


def test_there_are_enough_of_them_and_each_is_another() -> None:
    assert len(PROGRAMS) >= 40
    assert len({program["name"] for program in PROGRAMS}) == len(PROGRAMS)
    assert len({str((program["code"], program.get("files"))) for program in PROGRAMS}) == len(PROGRAMS)
