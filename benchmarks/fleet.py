"""A fleet of companies in one process: how near it comes to the ideal time, what it costs, and that memory stays flat.

1,200 jobs of a ledger are worked through by the local engine. Each is a whole run of `fleet.yaml` – choices, coding
with feedback, dehallucination, review, parallel documents, folders, journal, git – with 13 calls over HTTP to a server
in a process of its own, which answers after 100 ms. The ideal is the time that the answers alone take: jobs × calls ×
latency / jobs at once. A second, smaller fleet has far more jobs at once than the processor can serve, and tells how
many calls a second it can. Last, what the ledger itself takes with many jobs in it.

    python -m benchmarks.fleet [--jobs N] [--at-once N] [--latency SECONDS]
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import os
import re
import resource
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from benchmarks.study import (
    RESULTS_FOLDER,
    ROOT,
    machine,
    markdown_table,
    write_between,
    write_results,
)
from chatdev import Company
from chatdev.batch.ledger import Job, Ledger
from chatdev.batch.local import work_through
from chatdev.batch.progress import Progress
from tests.support.chat_server import ChatServer, Scripted

COMPANY = Path(__file__).with_suffix(".yaml")
CALLS = 13
JOBS, AT_ONCE, LATENCY = 1200, 8, 0.1
CROWD = 200
"""Jobs at once of the second fleet."""
BOOKED, CLAIMED = 100_000, 500
"""Jobs in the ledger that is measured by itself, and those of them that are done."""
PAGE = ROOT / "docs" / "scaling.md"
BEGIN, END = "<!-- fleet: written by python -m benchmarks.fleet -->", "<!-- end of fleet -->"
TYPICAL_LATENCY = 5.0
"""Seconds that a large model takes to answer; for the estimate of how many companies a core can serve."""
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


def serve(connection: Connection, latency: float) -> None:
    """The fake model, in a process of its own; ends when the connection does."""
    with ChatServer(remembers=False) as server, suppress(EOFError):
        server.route(lambda request: Scripted(
            answer(request.headers["X-ChatDev-Phase"], request.headers["X-ChatDev-Activity"]), delay=latency))
        connection.send(server.url)
        connection.recv()


@contextmanager
def served(latency: float) -> Iterator[str]:
    """The address of a fake model."""
    here, there = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=serve, args=(there, latency), daemon=True)
    process.start()
    there.close()
    yield here.recv()
    here.close()
    process.join(10)


@dataclass(frozen=True, slots=True)
class Sample:
    """The process at one moment; memory in MiB, times in seconds."""

    seconds: float
    done: int
    memory: float

    @classmethod
    def now(cls, started: float, done: int) -> Sample:
        """Measure."""
        (resident,) = re.findall(r"VmRSS:\s+(\d+) kB", Path("/proc/self/status").read_text(encoding="ascii"))
        return cls(round(time.monotonic() - started, 1), done, round(int(resident) / 1024, 1))


@dataclass(slots=True)
class Fleet:
    """One fleet, and what was measured of it; `own_cpu` of this process, `git_cpu` of its children."""

    jobs: int
    at_once: int
    latency: float
    seconds: float = 0.0
    own_cpu: float = 0.0
    git_cpu: float = 0.0
    load: float = 0.0
    failed: int = 0
    samples: list[Sample] = field(default_factory=list)

    @property
    def ideal(self) -> float:
        """Seconds that the answers alone take."""
        return self.jobs * CALLS * self.latency / self.at_once

    def figures(self) -> dict[str, Any]:
        """All as plain values."""
        calls, cpu = self.jobs * CALLS, self.own_cpu + self.git_cpu
        return {"jobs": self.jobs, "at_once": self.at_once, "latency_s": self.latency, "calls": calls,
                "failed": self.failed, "seconds": round(self.seconds, 1), "ideal_seconds": round(self.ideal, 1),
                "ratio_to_ideal": round(self.seconds / self.ideal, 3),
                "calls_per_second": round(calls / self.seconds, 1),
                "own_cpu_ms_per_call": round(1000 * self.own_cpu / calls, 2),
                "git_cpu_ms_per_call": round(1000 * self.git_cpu / calls, 2),
                "dialogues_per_core": round(TYPICAL_LATENCY * calls / cpu),
                "memory_mib": {"after_a_tenth": self.memory(0.1), "at_the_end": self.samples[-1].memory},
                "load_of_the_machine_before": self.load, "samples": [asdict(sample) for sample in self.samples]}

    def memory(self, share: float) -> float:
        """Resident memory after this share of the jobs, MiB."""
        return next(sample.memory for sample in self.samples if sample.done >= share * self.jobs)


async def sail(fleet: Fleet, url: str, folder: Path) -> None:
    """Work through all jobs, and measure."""
    company = Company.load(COMPANY)
    ledger = Ledger(str(folder / "ledger.sqlite"), "fleet")
    ledger.add(Job(f"job-{n}", {"task": f"Write program {n}."}) for n in range(fleet.jobs))

    async def work(spec: Mapping[str, Any]) -> Mapping[str, Any]:
        run = await company.arun(spec["task"], model="m", base_url=url, sandbox="none", warehouse=folder / "warehouse")
        return {"success": run.success and run.usage.calls == CALLS, "calls": run.usage.calls}

    await work({"task": "Import everything."})
    fleet.load = round(os.getloadavg()[0], 1)
    before, started = _cpu(), time.monotonic()
    every = max(1, fleet.jobs // 50)

    def measure(progress: Progress) -> None:
        if progress.over >= len(fleet.samples) * every:
            fleet.samples.append(Sample.now(started, progress.over))

    await work_through(ledger, work, at_once=fleet.at_once, on_change=measure)
    fleet.seconds = time.monotonic() - started
    fleet.own_cpu, fleet.git_cpu = (after - then for after, then in zip(_cpu(), before, strict=True))
    fleet.samples.append(Sample.now(started, fleet.jobs))
    fleet.failed = sum(not entry.result.get("success") for entry in ledger.entries())
    ledger.close()


def measured(fleet: Fleet, url: str) -> dict[str, Any]:
    """The figures of a fleet that is run in this process, in a folder that is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="chatdev-fleet-") as folder:
        asyncio.run(sail(fleet, url, Path(folder)))
    return fleet.figures()


def apart(fleet: Fleet) -> dict[str, Any]:
    """The figures of a fleet that has a fresh process for itself."""
    with served(fleet.latency) as url, multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(measured, (fleet, url))


def booked(jobs: int = BOOKED, claims: int = CLAIMED) -> dict[str, Any]:
    """What a claim and a result take in a SQLite file with so many jobs, in processor milliseconds."""
    with tempfile.TemporaryDirectory(prefix="chatdev-ledger-") as folder:
        ledger = Ledger(str(Path(folder, "ledger.sqlite")), "booked")
        ledger.add(Job(f"job-{n}", {"task": f"Write program {n}."}) for n in range(jobs))
        started = time.process_time()
        claimed = [claim for _ in range(claims) if (claim := ledger.claim("worker"))]
        between = time.process_time()
        for claim in claimed:
            ledger.finish(claim, {"quality": 0.5, "cost": 0.1, "tokens": 10}, 1.0)
        ended = time.process_time()
        ledger.close()
    return {"jobs": jobs, "claim_ms": round(1000 * (between - started) / claims, 2),
            "result_ms": round(1000 * (ended - between) / claims, 2)}


def told(study: Mapping[str, Any]) -> str:
    """The figures for the page."""
    rows = [(f"{one['jobs']:,} runs, {one['calls']:,} calls", one["at_once"], one["seconds"], one["ideal_seconds"],
             one["ratio_to_ideal"], one["calls_per_second"], one["own_cpu_ms_per_call"], one["git_cpu_ms_per_call"],
             f"{one['memory_mib']['after_a_tenth']} → {one['memory_mib']['at_the_end']}",
             one["load_of_the_machine_before"]) for one in (study["fleet"], study["crowd"])]
    table = markdown_table(["fleet", "at once", "seconds", "ideal", "ratio", "calls a second", "CPU ms a call",
                            "and in git", "memory, MiB", "load before"], rows)
    fleet, book = study["fleet"], study["ledger"]
    return (f"{table}\n\nMemory: after a tenth of the runs and after the last. A model that answers after "
            f"{TYPICAL_LATENCY:g} seconds instead of {fleet['latency_s']:g} leaves room for about "
            f"{fleet['dialogues_per_core']} companies on each core. With {book['jobs']:,} jobs in a SQLite file, a "
            f"claim takes {book['claim_ms']} ms of the processor, and a result {book['result_ms']}.\n\n"
            f"{study['date']}; {study['machine']}.")


def _cpu() -> tuple[float, float]:
    """Processor seconds of this process and of its children that have ended."""
    own, children = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return own.ru_utime + own.ru_stime, children.ru_utime + children.ru_stime


def main() -> None:
    """Measure, write it down, and print it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=JOBS)
    parser.add_argument("--at-once", type=int, default=AT_ONCE)
    parser.add_argument("--latency", type=float, default=LATENCY, help="seconds until an answer")
    options = parser.parse_args()
    fleets = {"fleet": apart(Fleet(options.jobs, options.at_once, options.latency)),
              "crowd": apart(Fleet(options.jobs // 3, CROWD, options.latency))}
    study = {"date": datetime.now(UTC).date().isoformat(), "machine": machine(), **fleets, "ledger": booked()}
    write_results(RESULTS_FOLDER / "fleet.json", study)
    write_between(PAGE, BEGIN, END, told(study))
    print(told(study))


if __name__ == "__main__":
    main()
