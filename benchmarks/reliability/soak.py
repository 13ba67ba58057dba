"""Run 300 companies in one process, 50 at a time: memory stays flat, no file is lost, and no run meets another.

They work in waves. After each wave the process is measured: its resident memory, and what it has open. Every reply
names the run that it is meant for, and so does everything that comes of it; whatever names another run has crossed.
"""

from __future__ import annotations

import asyncio
import gc
import os
import re
import sys
import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from threading import Barrier
from typing import Any

from benchmarks.reliability import small
from benchmarks.reliability.left import Left, places
from benchmarks.reliability.proof import Claim, Proof, Study
from benchmarks.reliability.room import room
from benchmarks.study import markdown_table
from chatdev.runner.api import Company
from chatdev.runner.report import Run

AT_ONCE = 50
WAVES = 6
FLAT = 1.05
"""What the memory may grow by after the first wave, as a factor."""
_THREADS = 8
_NAME = re.compile(rb"soak\d{4}")


@dataclass(frozen=True, slots=True)
class Measured:
    """The process between two waves; memory in MiB."""

    memory: float
    files: int
    threads: int
    tasks: int
    children: int

    @classmethod
    def now(cls) -> Measured:
        """Measure. What is garbage already does not count."""
        gc.collect()
        status = Path("/proc/self/status").read_text(encoding="ascii")
        (resident,) = re.findall(r"VmRSS:\s+(\d+) kB", status)
        children = Path(f"/proc/self/task/{os.getpid()}/children").read_text(encoding="ascii").split()
        return cls(round(int(resident) / 1024, 1), len([*Path("/proc/self/fd").iterdir()]), threading.active_count(),
                   len(asyncio.all_tasks()), len(children))

    @property
    def open(self) -> tuple[int, ...]:
        """What is open, memory aside."""
        return self.files, self.threads, self.tasks, self.children


@dataclass(slots=True)
class Soak:
    """Waves of companies in one warehouse."""

    warehouse: Path
    at_once: int
    runs: int = 0

    async def wave(self) -> list[str]:
        """Run so many companies at once; what is wrong with what they leave."""
        names = [f"soak{self.runs + n:04}" for n in range(self.at_once)]
        self.runs += self.at_once
        runs = await asyncio.gather(*map(self._run, names))
        return [f"{name}: {fault}" for name, run in zip(names, runs, strict=True) for fault in faults(name, run)]

    async def _run(self, name: str) -> Run:
        return await Company.load(small.COMPANY).arun("Two greetings", name=name, warehouse=self.warehouse,
                                                      sandbox="none")


def faults(name: str, run: Run) -> list[str]:
    """What is wrong with a run and what it leaves."""
    if not run.success:
        return [f"{run.status}: {run.reason}"]
    found, left = [], Left.of(run.folder)
    if left.software != small.software(name) or left.software != {**run.software}:
        found.append(f"its software is not its own: {sorted(left.software)}")
    if left.uncommitted:
        found.append(f"not committed: {left.uncommitted}")
    if len(asked := places(run.folder)) != len({*asked}) or run.usage.calls != small.CALLS:
        found.append(f"{run.usage.calls} calls, {asked}")
    seen = {other for path in run.folder.rglob("*") if path.is_file() for other in _NAME.findall(path.read_bytes())}
    if crossed := seen - {name.encode()}:
        found.append(f"it knows of {sorted(crossed)}")
    return found


async def _soaked(warehouse: Path, waves: int, at_once: int) -> tuple[list[Measured], list[str]]:
    await _filled_pool()
    soak, measured, wrong = Soak(warehouse, at_once), [], []
    for _ in range(waves):
        wrong += await soak.wave()
        measured.append(Measured.now())
    if len(folders := list(warehouse.iterdir())) != soak.runs:
        wrong.append(f"{soak.runs} runs left {len(folders)} folders")
    return measured, wrong


async def _filled_pool() -> None:
    """Start every thread that the event loop may use. It starts them as it needs them, which chance decides, and keeps
    them: that is no leak."""
    pool, together = ThreadPoolExecutor(_THREADS), Barrier(_THREADS)
    asyncio.get_running_loop().set_default_executor(pool)
    await asyncio.gather(*(asyncio.to_thread(together.wait) for _ in range(_THREADS)))


def prove(seed: int, quick: bool) -> Proof:
    """Run them all, and measure; nothing is left to chance, so the seed is not needed."""
    waves, at_once = (3, 5) if quick else (WAVES, AT_ONCE)
    with room(lambda request: small.answer(request.headers), {}) as warehouse:
        measured, wrong = asyncio.run(_soaked(warehouse, waves, at_once))
    return Proof(claims(measured, wrong, at_once), {"at_once": at_once, "waves": [asdict(m) for m in measured],
                                                   "faults": wrong})


def claims(measured: list[Measured], wrong: list[str], at_once: int) -> list[Claim]:
    """What the waves show."""
    first, last = measured[0], measured[-1]
    return [
        Claim("no file is lost, no run gets anything that belongs to another, and each ends with its own software",
              not wrong, "; ".join(wrong[:3]) or f"{len(measured) * at_once} runs, {at_once} at a time"),
        Claim(f"memory is flat: the last {at_once} runs leave at most {FLAT} times what the first {at_once} leave",
              last.memory <= FLAT * first.memory, f"{first.memory} MiB, then {last.memory} MiB"),
        Claim("nothing stays open: files, threads, tasks and child processes are as many after the last run as after "
              f"the first {at_once}", last.open == first.open, f"{first.open}, then {last.open}"),
    ]


def table(figures: Mapping[str, Any]) -> str:
    """The measurements as a table."""
    rows = ([n * figures["at_once"], *wave.values()] for n, wave in enumerate(figures["waves"], start=1))
    return markdown_table(["runs", "resident memory, MiB", "open files", "threads", "tasks", "child processes"], rows)


STUDY = Study.of("soak", prove, table)

if __name__ == "__main__":
    sys.exit(STUDY.main(__doc__))
