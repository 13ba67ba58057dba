"""Workers in processes of their own, killed, terminated and interrupted: a second start does exactly the rest."""

from __future__ import annotations

import random
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from chatdev.batch.ledger import Ledger
from tests.batch.worker import AT_ONCE
from tests.support.copies import start_module

JOBS, SECONDS = 60, 0.1  # about a second of work for one worker
DEATHS = 3
PATIENCE = 60.0


class Workers:
    """Starts workers on one ledger, and counts the lines in which they say that they finished a job."""

    def __init__(self, url: str) -> None:
        self.url, self.lines = url, [""]

    def start(self) -> subprocess.Popen[str]:
        return start_module("tests.batch.worker", self.url, str(JOBS), str(SECONDS), stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2])

    def end(self, worker: subprocess.Popen[str], number: signal.Signals | None = None) -> str:
        """End it with a signal, or wait for its end; what it wrote to standard error."""
        if number is not None:
            worker.send_signal(number)
        out, err = worker.communicate(timeout=PATIENCE)
        self.lines += out.splitlines()
        return err

    @property
    def finished(self) -> int:
        return sum(line.startswith("finished") for line in self.lines)


@pytest.fixture
def workers(url: str) -> Workers:
    return Workers(url)


@pytest.fixture
def ledger(url: str) -> Iterator[Ledger]:
    opened = Ledger(url, "study")
    yield opened
    opened.close()


def wait_for(ledger: Ledger, done: int) -> None:
    give_up = time.monotonic() + PATIENCE
    while ledger.counts()["done"] < done:
        assert time.monotonic() < give_up
        time.sleep(0.01)


def assert_all_done(ledger: Ledger) -> None:
    """Every job has its own result, and none failed for a death."""
    assert [entry.result for entry in ledger.entries("done")] == [{"n": n} for n in range(JOBS)]


def test_a_worker_killed_again_and_again_leaves_exactly_the_rest(workers: Workers, ledger: Ledger) -> None:
    done = 0
    for _ in range(DEATHS):
        worker = workers.start()
        wait_for(ledger, done + random.randint(1, 6))
        time.sleep(random.uniform(0, 0.05))
        workers.end(worker, signal.SIGKILL)
        before, done = done, ledger.counts()["done"]
        assert done > before
    assert workers.end(workers.start()) == ""
    assert_all_done(ledger)
    assert workers.finished - JOBS <= DEATHS * AT_ONCE  # a death costs at most what was being written just then


def test_of_two_workers_one_is_killed_and_the_other_does_the_rest(workers: Workers, ledger: Ledger) -> None:
    both = [workers.start() for _ in range(2)]
    wait_for(ledger, 10)
    workers.end(both[0], signal.SIGKILL)
    assert workers.end(both[1]) == ""
    assert_all_done(ledger)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_worker_that_is_asked_to_end_gives_its_jobs_back(workers: Workers, ledger: Ledger,
                                                           number: signal.Signals) -> None:
    worker = workers.start()
    wait_for(ledger, 5)
    workers.end(worker, number)
    assert worker.returncode != 0
    counts = ledger.counts()
    assert (counts["running"], counts["failed"]) == (0, 0)
    assert {entry.tries for entry in ledger.entries("open")} == {0}
    assert counts["done"] == workers.finished
    workers.end(workers.start())
    assert_all_done(ledger)
    assert workers.finished == JOBS
