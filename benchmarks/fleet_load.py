"""One load on the real engine: whole runs of `fleet.yaml` out of a ledger, over HTTP, measured.

A run has choices, coding with feedback, dehallucination, review, parallel documents, folders, journal and history, and
13 calls to a server in a process of its own, which answers after the latency of the load and counts tokens by letters.
"""

from __future__ import annotations

import asyncio
import math
import multiprocessing
import os
import random
import re
import resource
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from benchmarks.simulate_fleet import CALLS, Load
from chatdev import Company, RateLimit
from chatdev.batch.ledger import Job, Ledger
from chatdev.batch.local import BatchProgress, work_through
from chatdev.events import Event, RunStarted
from tests.support.chat_server import ChatServer, Received, Scripted

COMPANY = Path(__file__).with_name("fleet.yaml")
ALONE = 5
"""Runs one by one before the load: they import what is needed, and tell what the start of a run takes."""
_LETTERS = 4  # of a token
_FUNCTIONS = "\n".join(f'def step_{n}(value):\n    """Step {n}."""\n    return value + {n}\n' for n in range(12))


def program(result: str) -> str:
    """A delivery of a program of fifty lines, the last function of which has this body."""
    return f"main.py\n```python\n{_FUNCTIONS}\ndef last():\n    {result}\n\n\nprint(last())\n```\n"


def answer(phase: str, place: str) -> str:
    """The model's reply to the call at a place."""
    speaker = place.rpartition("/")[2]
    if phase == "completion":
        return {"ask-1": "<QUESTION> Which value?", "answer-1": "One."}.get(speaker) or program("return 1")
    if phase == "review":
        number = int(re.findall(r"round-(\d+)", place)[0])
        if speaker == "instructor":
            return "<SOLUTION>" if number == 3 else f"The function last returns {number}; it has to return more."
        return program(f"return {number + 1}")
    return {"modality": "<SOLUTION> Command-line application", "language": "<SOLUTION> Python",
            "coding": program("pass"), "requirements": "<SOLUTION>\n# nothing", "manual": "# Manual\n\nRun it."}[phase]


def scripted_reply(request: Received, latencies: Iterator[float]) -> Scripted:
    """The reply to a request, with the tokens of both."""
    text = answer(request.headers["X-ChatDev-Phase"], request.headers["X-ChatDev-Activity"])
    prompt = sum(len(message["content"]) for message in request.body["messages"])
    return Scripted(text, delay=next(latencies), usage=(prompt // _LETTERS, len(text) // _LETTERS))


def latencies(load: Load) -> Iterator[float]:
    """Seconds until each answer, in the order in which requests come."""
    drawn = random.Random(2)
    while True:
        yield (drawn.lognormvariate(math.log(load.latency) - load.spread ** 2 / 2, load.spread) if load.spread
               else load.latency)


def run_server(connection: Connection, load: Load) -> None:
    """The fake model, in a process of its own; ends when the connection does."""
    delays = latencies(load)
    with ChatServer(remembers=False) as server, suppress(EOFError):
        server.route(lambda request: scripted_reply(request, delays))
        connection.send(server.url)
        connection.recv()


@contextmanager
def model_server(load: Load) -> Iterator[str]:
    """The address of a fake model."""
    here, there = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=run_server, args=(there, load), daemon=True)
    process.start()
    there.close()
    yield here.recv()
    here.close()
    process.join(10)


@dataclass(slots=True)
class Fleet:
    """A load on its way, and what was measured of it; `cpu` of this process and its children."""

    load: Load
    url: str
    folder: Path
    start: float = 0.0
    seconds: float = 0.0
    cpu: float = 0.0
    before: float = 0.0
    failed: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    memory: list[float] = field(default_factory=list)
    _company: Company = field(default_factory=lambda: Company.load(COMPANY))
    _limit: RateLimit | None = None

    async def run(self) -> None:
        """Work through all jobs, and measure."""
        ledger = Ledger(str(self.folder / "ledger.sqlite"), "fleet")
        ledger.add(Job(f"job-{n}", {"task": f"Write program {n}."}) for n in range(self.load.jobs))
        self.start = await self._cost_of_a_start()
        self.before = round(os.getloadavg()[0], 1)
        self._limit = RateLimit(self.load.requests, self.load.tokens)
        cpu, began = _cpu(), time.monotonic()
        await work_through(ledger, self._work, at_once=self.load.at_once, on_change=self._note_memory)
        self.seconds, self.cpu = time.monotonic() - began, _cpu() - cpu
        self.memory.append(resident_mib())
        self.failed = sum(not entry.result.get("success") for entry in ledger.entries())
        ledger.close()

    async def _work(self, spec: Mapping[str, Any], on_event: Any = None) -> Mapping[str, Any]:
        run = await self._company.arun(spec["task"], model="m", base_url=self.url, sandbox="none", on_event=on_event,
                                       warehouse=self.folder / "warehouse", rate_limit=self._limit)
        self.prompt_tokens += run.usage.prompt_tokens
        self.completion_tokens += run.usage.completion_tokens
        return {"success": run.success and run.usage.calls == CALLS}

    async def _cost_of_a_start(self) -> float:
        """What a run takes of the processor before its first phase, in seconds; the first runs import everything."""
        taken: list[float] = []

        def note_start(event: Event) -> None:
            if isinstance(event, RunStarted):
                taken.append(_cpu() - began)

        for _ in range(ALONE):
            began = _cpu()
            await self._work({"task": "Warm up."}, note_start)
        self.prompt_tokens = self.completion_tokens = 0
        return min(taken)

    def _note_memory(self, progress: BatchProgress) -> None:
        """Look at the memory after every tenth of the jobs."""
        if progress.finished_jobs * 10 >= len(self.memory) * self.load.jobs:
            self.memory.append(resident_mib())

    def figures(self) -> dict[str, Any]:
        """All as plain values."""
        calls = self.load.jobs * CALLS
        return {"failed": self.failed, "seconds": round(self.seconds, 1),
                "calls_per_second": round(calls / self.seconds, 1),
                "cpu_ms_per_call": round(1000 * self.cpu / calls, 3),
                "cpu_ms_per_start": round(1000 * self.start, 2),
                "prompt_tokens_per_call": self.prompt_tokens // calls,
                "completion_tokens_per_call": self.completion_tokens // calls,
                "memory_mib": self.memory, "load_of_the_machine_before": self.before}


def resident_mib() -> float:
    """The memory of this process, MiB."""
    (found,) = re.findall(r"VmRSS:\s+(\d+) kB", Path("/proc/self/status").read_text(encoding="ascii"))
    return round(int(found) / 1024, 1)


def measure_load(load: Load, url: str) -> dict[str, Any]:
    """The figures of a load that is run in this process, in a folder that is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="chatdev-fleet-") as folder:
        fleet = Fleet(load, url, Path(folder))
        asyncio.run(fleet.run())
    return fleet.figures()


def measure_apart(load: Load) -> dict[str, Any]:
    """The figures of a load that has a fresh process for itself."""
    with model_server(load) as url, multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(measure_load, (load, url))


def _cpu() -> float:
    """Processor seconds of this process and of its children that have ended."""
    own, children = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime
