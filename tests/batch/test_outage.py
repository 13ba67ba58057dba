"""A database that goes away in the middle of a batch: it is waited for, and nothing that was finished is lost."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from chatdev.batch.database import RetryingExecutor
from chatdev.batch.ledger import Job, Ledger
from chatdev.batch.local import BatchProgress, work_through
from chatdev.errors import WorkspaceError
from tests.support.postgres import Postgres, new_database

pytestmark = [pytest.mark.tool, pytest.mark.xdist_group("postgres")]


def test_a_server_that_is_restarted_is_waited_for(server: Postgres) -> None:
    ledger = Ledger(new_database(server.url), "study")
    ledger.add(Job(f"job-{n}", {"n": n}) for n in range(20))
    begun: list[int] = []
    seen: list[BatchProgress] = []

    async def work(spec: Mapping[str, Any]) -> Mapping[str, Any]:
        begun.append(spec["n"])
        await asyncio.sleep(0.05)
        return {}

    async def scene() -> BatchProgress:
        working = asyncio.create_task(work_through(ledger, work, at_once=4, on_change=seen.append))
        while len(begun) < 8:
            await asyncio.sleep(0.01)
        server.stop()
        await asyncio.sleep(0.5)
        server.start()
        return await asyncio.wait_for(working, 60)

    assert asyncio.run(scene()).counts["done"] == 20
    assert sorted(begun) == list(range(20))
    troubles = [progress.trouble for progress in seen]
    assert any("cannot be used" in trouble for trouble in troubles)
    assert troubles[-1] == ""
    ledger.close()


def test_the_retries_of_a_call_have_an_end(server: Postgres) -> None:
    ledger = Ledger(new_database(server.url), "study")
    troubles: list[str] = []
    executor = RetryingExecutor(troubles.append, retry_seconds=0.5)
    server.stop()
    try:
        with pytest.raises(WorkspaceError, match="go on with the same command"):
            asyncio.run(executor.run(lambda: ledger.claim("me")))
    finally:
        server.start()
        asyncio.run(executor.close())
        ledger.close()
    assert troubles


def test_an_error_that_no_retry_fixes_is_raised_at_once(tmp_path: Path) -> None:
    executor = RetryingExecutor(list[str]().append)

    def broken() -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        asyncio.run(executor.run(broken))
    asyncio.run(executor.close())


def test_the_call_under_way_has_ended_when_the_executor_is_closed() -> None:
    started, ended = threading.Event(), threading.Event()

    def call() -> None:
        started.set()
        time.sleep(0.3)
        ended.set()

    async def session() -> None:
        executor = RetryingExecutor(list[str]().append)
        task = asyncio.create_task(executor.run(call))
        await asyncio.to_thread(started.wait)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert not ended.is_set()
        await executor.close()

    asyncio.run(session())
    assert ended.is_set()
