"""A worker as a process of its own: `python -m tests.batch.worker URL JOBS SECONDS`. Every result says that its work
was finished once by writing a line into a file, before the engine hears of it."""

from __future__ import annotations

import asyncio
import random
import sys
from collections.abc import Mapping
from typing import Any

from chatdev.batch.ledger import Job, Ledger
from chatdev.batch.local import work_through
from chatdev.cli.outcome import heed_signals

AT_ONCE = 8
LEASE = 1.0  # seconds


async def run(url: str, jobs: int, seconds: float) -> None:
    """Enter the jobs and work through them; says how many there are in each state when it ends."""
    ledger = Ledger(url, "study", lease=LEASE)
    ledger.add(Job(f"job-{n}", {"n": n}) for n in range(jobs))

    async def work(spec: Mapping[str, Any]) -> Mapping[str, Any]:
        await asyncio.sleep(random.uniform(0, 2 * seconds))
        print("finished", spec["n"], flush=True)
        return {"n": spec["n"]}

    try:
        await work_through(ledger, work, at_once=AT_ONCE, on_change=lambda p: print(dict(p.counts), flush=True))
    finally:
        ledger.close()


if __name__ == "__main__":
    with heed_signals():
        asyncio.run(run(sys.argv[1], int(sys.argv[2]), float(sys.argv[3])))
