"""The ledger: every job once in the results, whoever dies; on SQLite and on PostgreSQL."""

from __future__ import annotations

import math
import multiprocessing
import sqlite3
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chatdev.batch.attempt import Expense
from chatdev.batch.ledger import MOST_LOST, Job, JobClaim, Ledger
from chatdev.errors import ConfigError, WorkspaceError

JOBS = [Job(f"job-{n}", {"n": n}) for n in range(20)]
TEXT = st.text(st.characters(exclude_categories=[]))  # lone surrogates and NUL, too
VALUE = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT


@pytest.fixture
def ledger(url: str) -> Iterator[Ledger]:
    opened = Ledger(url, "study")
    yield opened
    opened.close()


def claimed(ledger: Ledger, worker: str = "me") -> JobClaim:
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


def test_a_dead_workers_job_is_claimed_and_its_late_result_refused(url: str) -> None:
    ledger = Ledger(url, "study", lease=0.1)
    ledger.add(JOBS[:1])
    dead = claimed(ledger, "dead")
    assert ledger.claim("other") is None
    time.sleep(0.15)
    other = claimed(ledger, "other")
    assert ledger.renew(dead, other) == [dead]
    assert not ledger.finish(dead, {"by": "dead"}, 1)
    assert ledger.finish(other, {"by": "other"}, 1)
    assert [entry.result for entry in ledger.entries()] == [{"by": "other"}]
    ledger.close()


def test_a_renewed_lease_keeps_the_job(url: str) -> None:
    ledger = Ledger(url, "study", lease=0.3)
    ledger.add(JOBS[:1])
    claim = claimed(ledger)
    for _ in range(4):
        time.sleep(0.1)
        assert ledger.renew(claim) == []
        assert ledger.claim("other") is None
    ledger.close()


def test_batches_in_one_database_do_not_see_each_other(url: str) -> None:
    first, second = (Ledger(url, name) for name in ("first", "second"))
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


def enter_and_work(url: str, number: int) -> list[str]:
    """What one of several workers does that are started at once; the jobs that it did."""
    ledger, keys = Ledger(url, "study"), []
    ledger.add(JOBS)
    while claim := ledger.claim(f"worker-{number}"):
        assert ledger.finish(claim, {"by": number}, 0)
        keys.append(claim.key)
    ledger.close()
    return keys


def test_processes_that_enter_and_claim_at_once_get_every_job_once(url: str) -> None:
    with multiprocessing.get_context("spawn").Pool(3) as pool:
        keys = [key for found in pool.starmap(enter_and_work, [(url, n) for n in range(3)]) for key in found]
    assert sorted(keys) == sorted(job.key for job in JOBS)


def test_a_job_whose_attempt_failed_comes_after_those_that_nobody_tried(ledger: Ledger) -> None:
    ledger.add(JOBS[:3])
    ledger.fail(claimed(ledger), "out of luck")
    assert [claimed(ledger).key for _ in range(3)] == ["job-1", "job-2", "job-0"]


def test_a_claim_that_was_given_back_can_write_nothing_any_more(ledger: Ledger) -> None:
    ledger.add(JOBS[:1])
    old = claimed(ledger)
    ledger.give_back(old)
    assert not ledger.finish(old, {}, 1)
    new = claimed(ledger)
    assert not ledger.finish(old, {"by": "old"}, 1)
    assert ledger.finish(new, {"by": "new"}, 1)


def test_a_job_that_kills_its_workers_is_given_up_after_a_while(url: str) -> None:
    ledger = Ledger(url, "study", lease=-1.0)
    ledger.add(JOBS[:1])
    for _ in range(MOST_LOST + 1):
        assert claimed(ledger).tries == 1
    assert ledger.claim("me") is None
    [entry] = ledger.entries("failed")
    assert "died or fell silent in each of 11 attempts" in entry.problem
    assert ledger.retry_failed() == 1
    claimed(ledger)
    ledger.close()


def test_what_all_attempts_cost_is_summed(ledger: Ledger) -> None:
    ledger.add(JOBS[:2])
    ledger.fail(claimed(ledger), "broken off", spent=Expense(0.5, 100))
    for _ in range(2):
        ledger.finish(claimed(ledger), {"cost": 0.25, "tokens": 10}, 1)
    assert ledger.expense() == Expense(1.0, 120)
    assert [entry.spent for entry in ledger.entries()] == [Expense(0.75, 110), Expense(0.25, 10)]


def test_one_unknown_price_makes_the_sum_unknown(ledger: Ledger) -> None:
    ledger.add(JOBS[:2])
    ledger.finish(claimed(ledger), {"cost": None, "tokens": 10}, 1)
    assert ledger.finish(claimed(ledger), {"cost": 0.25}, 1)
    assert ledger.expense() == Expense(None, 10)


@pytest.mark.parametrize("value", [math.nan, math.inf, {1, 2}, Path()])
def test_what_is_no_json_is_refused_and_named(ledger: Ledger, value: object) -> None:
    with pytest.raises(ConfigError, match="the spec of the job odd"):
        ledger.add([Job("odd", {"value": value})])
    ledger.add(JOBS[:1])
    claim = claimed(ledger)
    with pytest.raises(ConfigError, match="the result of the job job-0"):
        ledger.finish(claim, {"value": value}, 1)
    assert ledger.finish(claim, {"value": None}, 1)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.dictionaries(TEXT, VALUE | st.lists(VALUE, max_size=3), max_size=5), TEXT)
def test_every_json_comes_back_as_it_was(ledger: Ledger, result: dict[str, Any], problem: str) -> None:
    key = f"job {ledger.counts()['done']}"
    ledger.add([Job(key, result)])
    claim = claimed(ledger)
    assert claim.spec == result
    ledger.fail(claim, problem)
    assert ledger.finish(claimed(ledger), result, 1)
    entry = list(ledger.entries("done"))[-1]
    assert (entry.spec, entry.result) == (result, result)


def test_a_name_that_does_not_fit_its_column_is_refused_everywhere(ledger: Ledger) -> None:
    with pytest.raises(ConfigError, match="at most 300 characters"):
        ledger.add([Job("k" * 301, {})])
    assert ledger.add([Job("k" * 300, {})]) == 1


def test_reading_all_entries_keeps_nobody_from_writing(ledger: Ledger) -> None:
    ledger.add(JOBS)
    for number, entry in enumerate(ledger.entries()):
        claim = claimed(ledger)
        assert claim.key == entry.key
        assert ledger.finish(claim, {}, number)
    assert ledger.counts()["done"] == len(JOBS)


@pytest.mark.parametrize("address", ["://", "nosuchsql://host/name"])
def test_an_address_that_is_none(address: str) -> None:
    with pytest.raises(ConfigError, match="postgresql"):
        Ledger(address, "study")


@pytest.mark.parametrize(("column", "value"), [
    ("spec", '"x"'), ("spec", "{half"), ("spec", "[" * 100_000), ("spec", b"\xff"), ("result", "[1]"),
    ("problem", b"\xff"), ("cost", "much"), ("tries", "x"), ("tokens", 0.5)])
def test_rows_that_nobody_of_us_wrote_are_refused(tmp_path: Path, column: str, value: object) -> None:
    file = tmp_path / "ledger.sqlite"
    ledger = Ledger(str(file), "study")
    ledger.add(JOBS[:1])
    with closing(sqlite3.connect(file)) as other, other:
        other.execute(f"UPDATE chatdev_jobs SET {column} = ?", (value,))
    with pytest.raises(ConfigError, match="something else than jobs"):
        list(ledger.entries())
    ledger.close()


def test_a_file_that_acts_is_no_ledger(tmp_path: Path) -> None:
    file = tmp_path / "ledger.sqlite"
    with closing(sqlite3.connect(file)) as other, other:
        other.execute("CREATE VIEW chatdev_jobs AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x FROM n) "
                      "SELECT * FROM n")
    with pytest.raises(ConfigError, match="acts when the file is used"):
        Ledger(str(file), "study")


def test_no_ledger_gives_anything_back(ledger: Ledger) -> None:
    ledger.add(JOBS[:2])
    assert ledger.finish(claimed(ledger), {"cost": 0.5, "tokens": 10}, 1)
    assert ledger.finish(claimed(ledger), {"cost": -100.0, "tokens": -10**6}, 1)
    assert ledger.expense() == Expense(0.5, 10)


def test_a_file_that_is_no_database(tmp_path: Path) -> None:
    (tmp_path / "ledger.sqlite").write_text("not a database at all, but text that is long enough to be looked at")
    with pytest.raises(ConfigError, match="not a database"):
        Ledger(str(tmp_path / "ledger.sqlite"), "study")


def test_a_server_that_is_not_there_and_its_password() -> None:
    with pytest.raises(WorkspaceError) as raised:
        Ledger("postgresql+psycopg://me:a-password-to-keep@127.0.0.1:1/name", "study")
    assert "cannot be used" in str(raised.value)
    assert "a-password-to-keep" not in str(raised.value)
