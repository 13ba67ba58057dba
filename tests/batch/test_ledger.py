"""The ledger: every job once in the results, whoever dies."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from chatdev.batch.ledger import Claim, Job, Ledger
from chatdev.errors import ConfigError, WorkspaceError

JOBS = [Job(f"job-{n}", {"n": n}) for n in range(20)]


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    opened = Ledger(str(tmp_path / "studies" / "ledger.sqlite"), "study")
    yield opened
    opened.close()


def claimed(ledger: Ledger, worker: str = "me") -> Claim:
    claim = ledger.claim(worker)
    assert claim is not None
    return claim


def test_jobs_are_entered_once_and_claimed_in_order(ledger: Ledger) -> None:
    assert ledger.add(JOBS) == 20
    assert ledger.add([*JOBS, Job("more", {})]) == 1
    assert [claimed(ledger).key for _ in range(3)] == ["job-0", "job-1", "job-2"]
    assert ledger.counts() == {"open": 18, "running": 3, "done": 0, "failed": 0}


def test_a_result_is_kept_and_its_job_never_claimed_again(ledger: Ledger) -> None:
    ledger.add(JOBS[:1])
    claim = claimed(ledger)
    assert ledger.finish(claim, {"quality": 0.5, "text": "ä"}, 1.5)
    assert ledger.claim("me") is None
    [entry] = ledger.entries("done")
    assert (entry.key, entry.result, entry.seconds, entry.tries) == ("job-0", {"quality": 0.5, "text": "ä"}, 1.5, 1)
    assert ledger.add(JOBS[:1]) == 0


def test_a_failed_attempt_is_tried_again_until_the_tries_are_used_up(ledger: Ledger) -> None:
    ledger.add(JOBS[:1])
    for attempt in (1, 2, 3):
        claim = claimed(ledger)
        assert claim.tries == attempt
        ledger.fail(claim, f"attempt {attempt}")
    assert ledger.claim("me") is None
    [entry] = ledger.entries("failed")
    assert entry.problem == "attempt 3"
    assert ledger.retry_failed() == 1
    assert claimed(ledger).tries == 1


def test_a_failure_for_good_is_not_tried_again(ledger: Ledger) -> None:
    ledger.add(JOBS[:1])
    ledger.fail(claimed(ledger), "unknown company", final=True)
    assert ledger.counts()["failed"] == 1


def test_an_attempt_that_is_given_back_does_not_count(ledger: Ledger) -> None:
    ledger.add(JOBS[:1])
    ledger.give_back(claimed(ledger))
    assert claimed(ledger).tries == 1


def test_a_dead_workers_job_is_claimed_by_another_and_its_late_result_is_refused(tmp_path: Path) -> None:
    ledger = Ledger(str(tmp_path / "ledger.sqlite"), "study", lease=0.1)
    ledger.add(JOBS[:1])
    dead = claimed(ledger, "dead")
    assert ledger.claim("other") is None
    time.sleep(0.15)
    other = claimed(ledger, "other")
    assert not ledger.renew(dead)
    assert not ledger.finish(dead, {"by": "dead"}, 1)
    assert ledger.finish(other, {"by": "other"}, 1)
    assert [entry.result for entry in ledger.entries()] == [{"by": "other"}]
    ledger.close()


def test_a_renewed_lease_keeps_the_job(tmp_path: Path) -> None:
    ledger = Ledger(str(tmp_path / "ledger.sqlite"), "study", lease=0.3)
    ledger.add(JOBS[:1])
    claim = claimed(ledger)
    for _ in range(4):
        time.sleep(0.1)
        assert ledger.renew(claim)
        assert ledger.claim("other") is None
    ledger.close()


def test_batches_in_one_database_do_not_see_each_other(tmp_path: Path) -> None:
    first, second = (Ledger(str(tmp_path / "ledger.sqlite"), name) for name in ("first", "second"))
    first.add(JOBS[:2])
    second.add(JOBS[:1])
    claimed(second)
    assert first.counts()["open"] == 2
    assert second.claim("me") is None
    first.close()
    second.close()


def test_threads_that_claim_at_once_get_every_job_once(ledger: Ledger) -> None:
    ledger.add(JOBS)

    def work(number: int) -> list[str]:
        keys = []
        while claim := ledger.claim(f"worker-{number}"):
            assert ledger.finish(claim, {}, 0)
            keys.append(claim.key)
        return keys

    with ThreadPoolExecutor(8) as pool:
        keys = [key for found in pool.map(work, range(8)) for key in found]
    assert sorted(keys) == sorted(job.key for job in JOBS)


def work_in_a_process(file: str, number: int) -> list[str]:
    ledger, keys = Ledger(file, "study"), []
    while claim := ledger.claim(f"worker-{number}"):
        assert ledger.finish(claim, {"by": number}, 0)
        keys.append(claim.key)
    ledger.close()
    return keys


def test_processes_that_claim_at_once_get_every_job_once(tmp_path: Path) -> None:
    file = str(tmp_path / "ledger.sqlite")
    ledger = Ledger(file, "study")
    ledger.add(JOBS)
    ledger.close()
    with multiprocessing.get_context("spawn").Pool(3) as pool:
        keys = [key for found in pool.starmap(work_in_a_process, [(file, n) for n in range(3)]) for key in found]
    assert sorted(keys) == sorted(job.key for job in JOBS)


@pytest.mark.parametrize("url", ["://", "nosuchsql://host/name"])
def test_an_address_that_is_none(url: str) -> None:
    with pytest.raises(ConfigError, match="postgresql"):
        Ledger(url, "study")


def test_a_file_that_is_no_database(tmp_path: Path) -> None:
    (tmp_path / "ledger.sqlite").write_text("not a database at all, but text that is long enough to be looked at")
    with pytest.raises(WorkspaceError, match="not a database"):
        Ledger(str(tmp_path / "ledger.sqlite"), "study")


def test_a_server_that_is_not_there_and_its_password() -> None:
    with pytest.raises(WorkspaceError) as raised:
        Ledger("postgresql+psycopg://me:a-password-to-keep@127.0.0.1:1/name", "study")
    assert "cannot be used" in str(raised.value)
    assert "a-password-to-keep" not in str(raised.value)
