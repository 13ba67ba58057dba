"""The minutes of a run end whatever is under way, leave nothing running, and are no loss: the run can be resumed."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import time
from pathlib import Path
from typing import Any

import pytest

from chatdev import Company, Run, resume
from chatdev.errors import BudgetExhausted
from chatdev.tools.base import ToolContext
from tests.engine.studio import CHECK, TALK, WRITE, Studio, program, talk
from tests.support.chat_server import Scripted

SLEEPER = "import time\ntime.sleep(300)"
RUN = {"tool": "software.run", "writes": "test"}
FIRST = "write#1/round-1/assistant"


def children() -> set[str]:
    """The child processes of this one, without the one that reads sources and stays."""
    found = set[str]()
    for task in Path("/proc/self/task").iterdir():
        with contextlib.suppress(FileNotFoundError):  # a thread that ends meanwhile
            found |= set((task / "children").read_text().split())
    return {pid for pid in found if b"chatdev.isolation.isolate" not in Path(f"/proc/{pid}/cmdline").read_bytes()}


def stopped_by_minutes(studio: Studio, company: Path, replies: dict[str, Any], seconds: float, **options: Any) -> Run:
    """The run that its minutes ended, a little later at most."""
    started = time.monotonic()
    run = studio.run(company, replies, max_minutes=seconds / 60, **options)
    assert time.monotonic() - started < seconds + 10
    assert run.status == "stopped", run.reason
    assert isinstance(run.error, BudgetExhausted)
    assert run.error.limit == "minutes"
    return run


@pytest.mark.tool
@pytest.mark.parametrize("sandbox", ["none", "bubblewrap"])
def test_a_program_that_sleeps_is_ended_and_run_again(studio: Studio, sandbox: str) -> None:
    if sandbox != "none" and shutil.which("bwrap") is None:
        pytest.skip("bubblewrap is not installed")
    company = studio.company({"write": WRITE}, [{"phase": "write"}, RUN])
    replies = {FIRST: "<SOLUTION>\n" + program(SLEEPER)}
    studio.server.route(lambda request: replies.get(request.headers["X-ChatDev-Activity"]))
    loaded, before, started = Company.load(company), children(), time.monotonic()
    run = loaded.run("TASK", model="m", base_url=studio.server.url, sandbox=sandbox,
                     warehouse=studio.folder / "warehouse", max_minutes=3 / 60)
    assert time.monotonic() - started < 15
    assert run.status == "stopped", run.reason
    assert "the budget of 0.05 minutes is used up" in run.reason
    assert children() == before
    journal = (run.folder / "run/journal.jsonl").read_text()
    assert journal.count('"kind": "Activity"') == 1
    assert run.software.text("main.py") == SLEEPER + "\n"
    assert resume(run.folder, base_url=studio.server.url, sandbox=sandbox, max_minutes=4 / 60).status == "stopped"
    assert len(studio.server.requests) == 1


def test_waits_between_attempts_end_with_the_minutes(studio: Studio) -> None:
    busy = Scripted("", status=429, headers={"Retry-After": "50"}, body={"error": {"message": "busy"}})
    stopped_by_minutes(studio, studio.company({"talk": TALK}), {"talk#1/round-1/assistant": busy}, 0.5)


def test_branches_that_hang_end_with_the_minutes(studio: Studio) -> None:
    phases = {f"p{n}": talk(f"v{n}") for n in range(1, 4)}
    company = studio.company(phases, [{"parallel": [{"phase": name} for name in phases]}, CHECK])
    late = Scripted("late", delay=30)
    stopped_by_minutes(studio, company, {f"parallel#1/branch-{n}/p{n}#1/round-1/assistant": late for n in (1, 2, 3)},
                       0.5)


def test_a_function_of_ones_own_does_not_keep_the_run(studio: Studio) -> None:
    company = studio.company({"talk": TALK}, [{"phase": "talk"}, {"tool": "mine.rest", "writes": "test"}])
    studio.server.route(lambda _: "<SOLUTION> Ada")

    def rest(_: ToolContext) -> str:
        """Rest for a while."""
        time.sleep(3)
        return "rested"

    async def work() -> tuple[Run, float]:
        loaded, started = Company.load(company, tools=[rest]), time.monotonic()
        run = await loaded.arun("TASK", model="m", base_url=studio.server.url, sandbox="none",
                                warehouse=studio.folder / "warehouse", max_minutes=1 / 60)
        return run, time.monotonic() - started

    run, seconds = asyncio.run(work())
    assert run.status == "stopped"
    assert seconds < 2.9
