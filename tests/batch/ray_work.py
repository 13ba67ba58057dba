"""Work for the workers of a Ray cluster, and a driver as a process of its own: `python -m tests.batch.ray_work LEDGER
NOTES JOBS`."""

from __future__ import annotations

import asyncio
import os
import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chatdev.batch.attempt import AttemptFailed, Expense
from chatdev.batch.ledger import Job, Ledger
from chatdev.batch.ray_cluster import joined, work_through_on
from chatdev.cli.outcome import heed_signals
from chatdev.errors import ConfigError, ModelUnavailable

AT_ONCE = 4
LEASE = 2.0  # seconds
SECONDS = 0.4  # a job


@dataclass(frozen=True)
class Workshop:
    """Does jobs of the kind that their spec says, none on the machine that is `broken`, and notes what it begins and
    finishes. Nothing is finished before `together` workers have noted something."""

    notes: Path
    seconds: float = 0.1
    broken: str = ""
    together: int = 1

    async def __call__(self, spec: Mapping[str, Any]) -> Mapping[str, Any]:
        self.note("begun", spec["n"])
        await asyncio.sleep(self.seconds)
        while len(self.workers()) < self.together:
            await asyncio.sleep(0.02)
        if machine() == self.broken:
            raise OSError(f"the disk of {self.broken} is full")
        match spec.get("kind"):
            case "kills":
                os._exit(1)
            case "fails":
                raise ModelUnavailable("the provider is down")
            case "costs":
                raise AttemptFailed("broken off", Expense(1.0, 100))
        self.note("finished", spec["n"])
        return {"n": spec["n"], "machine": machine(), "tokens": 10}

    def seen(self, what: str) -> Counter[int]:
        """How often jobs were begun or finished."""
        return Counter(int(line[1]) for line in self._lines() if line[0] == what)

    def workers(self) -> list[int]:
        """The processes that have noted something, the latest first."""
        return list(dict.fromkeys(int(line[2]) for line in reversed(self._lines())))

    def note(self, what: str, number: int = 0) -> None:
        """One line, by this process."""
        with self.notes.open("a") as notes:
            notes.write(f"{what} {number} {os.getpid()}\n")

    def _lines(self) -> list[list[str]]:
        return [line.split() for line in self.notes.read_text().splitlines()] if self.notes.exists() else []


@dataclass(frozen=True)
class Refuses:
    """A check that some machines do not pass (empty: none passes), which is noted."""

    workshop: Workshop
    machines: tuple[str, ...] = ()

    def __call__(self) -> None:
        if not self.machines or machine() in self.machines:
            self.workshop.note("refused")
            raise ConfigError(f"there is no sandbox on {machine()}")


def machine() -> str:
    """The address of the machine where this is called."""
    import ray

    return str(ray.util.get_node_ip_address())  # type: ignore[no-untyped-call]  # Ray gives it no types


def jobs(number: int, **kinds: str) -> list[Job]:
    """So many jobs; `n3="fails"` makes the fourth one of that kind."""
    return [Job(f"job-{n}", {"n": n, "kind": kinds.get(f"n{n}", "")}) for n in range(number)]


def drive(url: str, notes: str, number: str) -> None:
    """Enter jobs, and work through them on a cluster of this machine."""
    ledger = Ledger(url, "study", lease=LEASE)
    ledger.add(jobs(int(number)))
    with joined(workers=2) as cluster, heed_signals():
        work = work_through_on(cluster, ledger, Workshop(Path(notes), SECONDS), at_once=AT_ONCE)
        print(asyncio.run(work).status)
    ledger.close()


if __name__ == "__main__":
    drive(*sys.argv[1:])
