"""The Ray engine on two machines: what the local engine promises, whoever dies."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import psycopg
import pytest

from chatdev.batch.attempt import Allowance, Expense
from chatdev.batch.ledger import MOST_LOST, Ledger
from chatdev.batch.local import BatchProgress
from chatdev.batch.ray_cluster import Cluster, joined, shares_of, work_through_on
from chatdev.errors import ConfigError
from tests.batch.ray_work import Refuses, Workshop, jobs
from tests.support.postgres import Postgres, new_database
from tests.support.ray_machines import OTHER, Machines, environment, machines

pytestmark = [pytest.mark.tool, pytest.mark.xdist_group("postgres")]


@pytest.fixture(scope="module")
def both() -> Iterator[Machines]:
    with machines() as running:
        yield running


@pytest.fixture
def cluster(both: Machines, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cluster]:
    """Two machines, a worker on each."""
    both.add_other()
    for name, value in environment(both.folder).items():
        monkeypatch.setenv(name, value)
    with joined(both.address, workers=2) as cluster:
        yield cluster


@pytest.fixture
def database(server: Postgres) -> str:
    return new_database(server.url)


@pytest.fixture
def ledger(database: str) -> Iterator[Ledger]:
    opened = Ledger(database, "study")
    yield opened
    opened.close()


@pytest.fixture
def workshop(tmp_path: Path) -> Workshop:
    return Workshop(tmp_path / "notes", together=2)


class Session:
    """One session of the engine, and what it told."""

    def __init__(self, cluster: Cluster, ledger: Ledger, work: Workshop, **options: Any) -> None:
        self.told: list[BatchProgress] = []
        self._work = partial(work_through_on, cluster, ledger, work,
                             **{"at_once": 4, "on_change": self.told.append, **options})

    def run(self, meanwhile: Callable[[], bool] = lambda: True) -> BatchProgress:
        """Until its end; `meanwhile` is called again and again until it is true."""
        return asyncio.run(self._run(meanwhile, cancel=False))

    def cancel(self, when: Callable[[], bool]) -> None:
        """As soon as `when` is true."""
        with pytest.raises(asyncio.CancelledError):
            asyncio.run(self._run(when, cancel=True))

    @property
    def troubles(self) -> str:
        return "\n".join(progress.trouble for progress in self.told)

    async def _run(self, meanwhile: Callable[[], bool], *, cancel: bool) -> BatchProgress:
        working = asyncio.create_task(self._work())
        while not meanwhile() and not working.done():
            await asyncio.sleep(0.02)
        if cancel:
            working.cancel()
        return await asyncio.wait_for(working, 60)


def assert_all_done(ledger: Ledger, number: int) -> None:
    """Every job has its own result."""
    assert [entry.result["n"] for entry in ledger.entries("done")] == list(range(number))


def test_two_machines_share_the_jobs_and_do_each_once(cluster: Cluster, ledger: Ledger, workshop: Workshop) -> None:
    ledger.add(jobs(16))
    session = Session(cluster, ledger, workshop)
    last = session.run()
    assert (last.status, last.finished_jobs, last.means["n"], last.spent) == ("finished", 16, 7.5, Expense(0.0, 160))
    assert_all_done(ledger, 16)
    assert set(workshop.seen("begun").values()) == {1}
    assert OTHER in (found := {entry.result["machine"] for entry in ledger.entries("done")})
    assert len(found) == 2
    assert session.told[0].counts["open"] == 16
    assert session.run().finished_jobs == 16
    assert workshop.seen("begun").total() == 16


def test_failed_attempts_are_repeated_elsewhere_and_listed(cluster: Cluster, ledger: Ledger,
                                                           workshop: Workshop) -> None:
    ledger.add(jobs(6, n2="fails"))
    assert Session(cluster, ledger, workshop).run().counts == {"open": 0, "running": 0, "done": 5, "failed": 1}
    [entry] = ledger.entries("failed")
    assert (entry.problem, entry.tries) == ("ModelUnavailable: the provider is down", 3)
    assert workshop.seen("begun")[2] == 3


def test_a_budget_stops_all_workers_and_a_greater_one_goes_on(cluster: Cluster, ledger: Ledger,
                                                              workshop: Workshop) -> None:
    ledger.add(jobs(40))
    last = Session(cluster, ledger, workshop, allowance=Allowance(tokens=50)).run()
    assert (last.status, last.problem) == ("stopped", "")
    assert "budget of 50 tokens is used up" in last.reason
    assert 5 <= last.counts["done"] < 40
    assert last.counts["running"] == 0
    assert Session(cluster, ledger, workshop, allowance=Allowance(tokens=5000)).run().status == "finished"
    assert set(workshop.seen("begun").values()) == {1}


def test_a_worker_whose_attempts_all_fail_leaves_the_rest_to_others(cluster: Cluster, ledger: Ledger,
                                                                    workshop: Workshop) -> None:
    ledger.add(jobs(60))
    session = Session(cluster, ledger, replace(workshop, broken=OTHER))
    assert session.run().counts["done"] == 60
    assert "a worker gives up" in session.troubles
    assert f"the disk of {OTHER} is full" in session.troubles


def test_when_everything_fails_all_workers_stop(cluster: Cluster, ledger: Ledger, workshop: Workshop) -> None:
    ledger.add(jobs(100, **{f"n{n}": "costs" for n in range(100)}))
    last = Session(cluster, ledger, workshop).run()
    assert (last.status, last.problem) == ("stopped", "broken off")
    assert last.counts["failed"] == last.counts["running"] == 0
    assert 10 <= workshop.seen("begun").total() < 60


def test_a_killed_worker_is_replaced_and_its_jobs_are_free_at_once(
        cluster: Cluster, ledger: Ledger, workshop: Workshop) -> None:
    ledger.add(jobs(100))
    workshop = replace(workshop, seconds=0.4)  # time for another worker to start, also on a busy machine

    def kill() -> bool:
        if workshop.seen("finished").total() < 8:
            return False
        os.kill(workshop.workers()[0], signal.SIGKILL)
        return True

    session = Session(cluster, ledger, workshop)
    assert session.run(kill).counts["done"] == 100
    assert_all_done(ledger, 100)
    assert "died (Worker unexpectedly exits" in session.troubles
    assert session.told[-1].trouble == ""
    assert len(workshop.workers()) == 3
    assert workshop.seen("begun").total() - 100 <= 2  # what it had under way


def test_a_machine_that_loses_its_power_costs_what_it_had_under_way(
        both: Machines, cluster: Cluster, ledger: Ledger, workshop: Workshop) -> None:
    ledger.add(jobs(40))

    def kill() -> bool:
        if workshop.seen("finished").total() < 8:
            return False
        both.kill_other()
        return True

    assert Session(cluster, ledger, workshop).run(kill).counts["done"] == 40
    assert_all_done(ledger, 40)
    assert workshop.seen("begun").total() - 40 <= 2


def test_a_job_that_kills_its_workers_fails_alone(cluster: Cluster, database: str, ledger: Ledger,
                                                  workshop: Workshop) -> None:
    ledger.add(jobs(8, n3="kills"))
    with psycopg.connect(database) as connection:  # as if it had killed some before
        connection.execute("update chatdev_jobs set lost = %s where key = 'job-3'", [MOST_LOST - 3])
    assert Session(cluster, ledger, workshop).run().counts == {"open": 0, "running": 0, "done": 7, "failed": 1}
    [entry] = ledger.entries("failed")
    assert entry.key == "job-3"
    assert "its worker died" in entry.problem


def test_cancelling_gives_back_what_is_unfinished(cluster: Cluster, ledger: Ledger, tmp_path: Path) -> None:
    ledger.add(jobs(8))
    workshop = Workshop(tmp_path / "notes", seconds=60)
    Session(cluster, ledger, workshop).cancel(when=lambda: workshop.seen("begun").total() == 4)
    assert ledger.counts()["open"] == 8
    assert {entry.tries for entry in ledger.entries()} == {0}


def test_a_machine_where_nothing_can_be_done_gets_no_jobs(cluster: Cluster, ledger: Ledger,
                                                          workshop: Workshop) -> None:
    ledger.add(jobs(40))
    session = Session(cluster, ledger, workshop, check=Refuses(workshop, (OTHER,)))
    assert session.run().status == "finished"
    assert f"there is no sandbox on {OTHER}" in session.troubles
    assert OTHER not in {entry.result["machine"] for entry in ledger.entries("done")}


def test_when_no_machine_can_do_anything_its_reason_is_raised(cluster: Cluster, ledger: Ledger,
                                                              workshop: Workshop) -> None:
    ledger.add(jobs(4))
    with pytest.raises(ConfigError, match="there is no sandbox on") as raised:
        Session(cluster, ledger, workshop, check=Refuses(workshop)).run()
    assert type(raised.value) is ConfigError
    assert ledger.counts()["open"] == 4


def test_a_file_is_refused_where_there_are_several_machines(cluster: Cluster, tmp_path: Path,
                                                            workshop: Workshop) -> None:
    ledger = Ledger(str(tmp_path / "ledger.sqlite"), "study")
    with pytest.raises(ConfigError, match=f"no ledger for several machines .*{OTHER}.*--ledger postgresql"):
        Session(cluster, ledger, workshop).run()
    ledger.close()


def test_jobs_are_spread_evenly_over_no_more_workers_than_jobs() -> None:
    assert shares_of(10, 4) == [3, 3, 2, 2]
    assert shares_of(2, 4) == [1, 1]
    assert shares_of(4, 1) == [4]
