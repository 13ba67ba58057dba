"""The budget of a study: the calls of all runs under way share it, and what was stopped is gone on with."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from chatdev.batch.attempt import Allowance
from chatdev.batch.local import BatchProgress, work_through
from chatdev.evaluation.study import STOPPED
from tests.evaluation.lab import GOOD, Lab
from tests.support.chat_server import ChatServer, Received, Scripted

pytestmark = pytest.mark.tool


class Provider:
    """Bills replies of 900 tokens, or of as many as it was asked for."""

    def __init__(self, *, obedient: bool = True) -> None:
        self.billed = 0
        self._obedient = obedient

    def answer(self, request: Received, _: str) -> Any:
        most = request.body.get("max_tokens") or 900
        tokens = min(900, most) if self._obedient else 900
        self.billed += 100 + tokens
        return Scripted(GOOD, usage=(100, tokens), finish_reason="length" if tokens < 900 else "stop", delay=0.02)


def work(lab: Lab, tokens: int | None = None) -> BatchProgress:
    """Three runs at once, of two calls each."""
    study, ledger = lab.study(), lab.ledger()
    study.enter(ledger, list(study.jobs(study.data.tasks(), lab.variants(lab.companies[1]))))
    ended = asyncio.run(work_through(ledger, study.work, at_once=3, allowance=Allowance(tokens=tokens)))
    ledger.close()
    return ended


@pytest.fixture
def lab(tmp_path: Any, chat_server: ChatServer) -> Lab:
    return Lab(tmp_path, chat_server)


def test_runs_at_once_keep_to_the_studys_tokens_and_go_on_later(lab: Lab) -> None:
    provider = Provider()
    lab.answer = provider.answer
    first = work(lab, 4000)
    assert first.status == "stopped"
    assert first.counts["failed"] == 0
    assert first.spent.tokens == provider.billed <= 4000
    assert first.counts["open"] > 0
    assert {entry["tokens"] for entry in lab.rows().values()} <= {2000}
    second = work(lab)
    assert second.status == "finished"
    assert second.counts["done"] == 3
    assert second.spent.tokens == provider.billed
    assert sum(row["tokens"] for row in lab.rows().values()) == provider.billed
    assert not list((lab.folder / "study" / STOPPED).rglob("journal.jsonl"))


def test_a_server_that_ignores_the_studys_budget_goes_one_call_too_far(lab: Lab) -> None:
    provider = Provider(obedient=False)
    lab.answer = provider.answer
    ended = work(lab, 2500)
    assert ended.status == "stopped"
    assert ended.spent.tokens == provider.billed <= 2500 + 3 * 1000
