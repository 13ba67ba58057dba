"""A driver of Ray workers as a process of its own, with a cluster of this machine alone, killed and interrupted."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from chatdev.batch.ledger import Ledger
from tests.batch.ray_work import AT_ONCE, Workshop
from tests.support.ray_machines import environment, ray_folder

JOBS = 60
PATIENCE = 60.0
ROOT = Path(__file__).parents[2]


class Drivers:
    """Starts drivers on one ledger."""

    def __init__(self, folder: Path, ray: Path) -> None:
        self.url, self.workshop = str(folder / "ledger.sqlite"), Workshop(folder / "notes")
        self._environment = {**os.environ, **environment(ray)}

    def start(self) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "tests.batch.ray_work", self.url, str(self.workshop.notes), str(JOBS)], cwd=ROOT,
            env=self._environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)

    def end(self, driver: subprocess.Popen[str]) -> str:
        """Wait for its end; what it said."""
        return "".join(driver.communicate(timeout=PATIENCE))

    @property
    def finished(self) -> int:
        return self.workshop.seen("finished").total()


@pytest.fixture
def drivers(tmp_path: Path) -> Iterator[Drivers]:
    with ray_folder() as ray:
        yield Drivers(tmp_path, ray)


def until(true: Callable[[], bool]) -> None:
    give_up = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < give_up
        time.sleep(0.02)


def lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return "Z" not in Path(f"/proc/{process}/stat").read_text().rpartition(")")[2][:3]


def test_after_the_deaths_of_worker_and_driver_a_start_does_the_rest(drivers: Drivers) -> None:
    first, workshop = drivers.start(), drivers.workshop
    until(lambda: drivers.finished >= 4)
    os.kill(workshop.workers()[0], signal.SIGKILL)
    until(lambda: len(workshop.workers()) == 3)
    first.kill()
    drivers.end(first)
    until(lambda: not any(map(lives, workshop.workers())))  # they end with their driver, some seconds later
    before = drivers.finished
    assert before < JOBS

    assert drivers.end(drivers.start()) == "finished\n"
    ledger = Ledger(drivers.url, "study")
    assert [entry.result["n"] for entry in ledger.entries("done")] == list(range(JOBS))
    ledger.close()
    assert workshop.seen("begun").total() - JOBS <= AT_ONCE // 2 + AT_ONCE  # what the two deaths found under way
    assert drivers.finished - JOBS <= AT_ONCE  # and had not yet been written down
    assert len(workshop.workers()) > 3


def test_a_driver_that_is_asked_to_end_gives_its_jobs_back(drivers: Drivers) -> None:
    driver = drivers.start()
    until(lambda: drivers.finished >= 4)
    driver.terminate()
    assert "KeyboardInterrupt" in drivers.end(driver)
    ledger = Ledger(drivers.url, "study")
    counts = ledger.counts()
    assert (counts["running"], counts["failed"], counts["done"]) == (0, 0, drivers.finished)
    assert {entry.tries for entry in ledger.entries("open")} == {0}
    ledger.close()
    until(lambda: not any(map(lives, drivers.workshop.workers())))
