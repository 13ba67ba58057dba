"""Hostile programs in the sandbox: nothing outside changes, and the verdict is right."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from chatdev.sandbox.base import Sandbox
from tests.sandbox.escape.host import ESCAPED, KEY, Host, opened

PROGRAMS: list[dict[str, Any]] = yaml.safe_load(Path(__file__).with_name("programs.yaml").read_text(encoding="utf-8"))

pytestmark = pytest.mark.tool


@pytest.fixture
def host(tmp_path: Path, bubblewrap: Sandbox, monkeypatch: pytest.MonkeyPatch) -> Iterator[Host]:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with opened(tmp_path, bubblewrap) as host:
        yield host


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program["name"])
def test_nothing_outside_changes_and_the_verdict_is_right(host: Host, program: dict[str, Any]) -> None:
    verdict = host.judge(program)
    assert ESCAPED not in verdict.report
    assert KEY not in verdict.report
    wanted = program.get("rule", "clean_exit")
    assert verdict.evidence["rule"] in ([wanted] if isinstance(wanted, str) else wanted), verdict.report


def test_there_are_enough_of_them_and_each_is_another() -> None:
    assert len(PROGRAMS) >= 40
    assert len({program["name"] for program in PROGRAMS}) == len(PROGRAMS)
    assert len({str((program["code"], program.get("files"))) for program in PROGRAMS}) == len(PROGRAMS)
