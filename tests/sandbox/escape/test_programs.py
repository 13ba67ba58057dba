"""Hostile programs in the sandbox: nothing outside changes, and the verdict is right."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from chatdev.sandbox.base import Sandbox
from chatdev.sandbox.kinds import Unconfined
from tests.sandbox.escape.host import ESCAPED, KEY, PROGRAMS, Host, opened

pytestmark = pytest.mark.tool


IN_DOCKER = [program for number, program in enumerate(PROGRAMS) if number % 3 == 0 or "docker" in program]
"""A third of them, and those that end otherwise there: a container takes two seconds to come up."""


def each(programs: Iterable[dict[str, Any]]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("program", [*programs], ids=lambda program: program["name"])


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


@each(PROGRAMS)
def test_nothing_outside_changes_and_the_verdict_is_right(tmp_path: Path, bubblewrap: Sandbox,
                                                          program: dict[str, Any]) -> None:
    with opened(tmp_path, bubblewrap) as host:
        _assert_held(host, program, program.get("rule", "clean_exit"))


@pytest.mark.xdist_group("docker")
@each(IN_DOCKER)
def test_the_same_holds_in_docker(tmp_path: Path, docker: Sandbox, program: dict[str, Any]) -> None:
    with opened(tmp_path, docker) as host:
        _assert_held(host, program, program.get("docker", program.get("rule", "clean_exit")))


@each(program for program in PROGRAMS if program.get("open"))
def test_without_a_sandbox_it_gets_what_it_wants(tmp_path: Path, program: dict[str, Any]) -> None:
    with opened(tmp_path, Unconfined()) as host:
        assert host.escapes(program)


def _assert_held(host: Host, program: dict[str, Any], rule: str | list[str]) -> None:
    verdict = host.judge(program)
    assert ESCAPED not in verdict.report
    assert KEY not in verdict.report
    assert verdict.evidence["rule"] in ([rule] if isinstance(rule, str) else rule), verdict.report


def test_there_are_enough_of_them_and_each_is_another() -> None:
    assert len(PROGRAMS) >= 40
    assert len({program["name"] for program in PROGRAMS}) == len(PROGRAMS)
    assert len({str((program["code"], program.get("files"))) for program in PROGRAMS}) == len(PROGRAMS)
