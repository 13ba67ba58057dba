"""The local engine: many jobs at once, each done once, whatever they raise and whoever stops them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from chatdev.batch.attempt import Allowance, AttemptFailed, AttemptStopped, Expense, Work
from chatdev.batch.ledger import Job, Ledger
from chatdev.batch.local import BatchProgress, work_through
from chatdev.errors import ConfigError, MissingModel, ModelUnavailable

JOBS = [Job(f"job-{n}", {"n": n}) for n in range(20)]
Spec = Mapping[str, Any]


@pytest.fixture
def ledger(url: str) -> Iterator[Ledger]:
    opened = Ledger(url, "study", lease=3.0)
    opened.add(JOBS)
    yield opened
    opened.close()


class Workshop:
    """Squares numbers, and remembers how many it had on its bench at once. It begins with `together` of them."""

    def __init__(self, seconds: float = 0.01, together: int = 1) -> None:
        self.seconds, self.begun, self.here, self.most = seconds, 0, 0, 0
        self.together = together

    async def square(self, spec: Spec) -> Spec:
        self.begun += 1
        self.here += 1
        self.most = max(self.most, self.here)
        try:
            await asyncio.sleep(self.seconds)
            while self.most < self.together:
                await asyncio.sleep(0.01)
        finally:
            self.here -= 1
        return {"square": spec["n"] ** 2, "cost": 0.5, "tokens": 10, "even": spec["n"] % 2 == 0, "name": "x"}


def through(ledger: Ledger, work: Work, **options: Any) -> BatchProgress:
    return asyncio.run(work_through(ledger, work, **options))


def test_every_job_is_done_with_so_many_at_once_and_no_more(ledger: Ledger) -> None:
    workshop = Workshop(together=4)
    progress = through(ledger, workshop.square, at_once=4)
    assert [entry.result["square"] for entry in ledger.entries("done")] == [n * n for n in range(20)]
    assert workshop.most == 4
    assert (progress.status, progress.finished_jobs, progress.total) == ("finished", 20, 20)


def test_progress_tells_counts_means_and_the_time_that_is_left(ledger: Ledger) -> None:
    seen: list[BatchProgress] = []
    last = through(ledger, Workshop(together=4).square, at_once=4, on_change=seen.append)
    assert seen[0].counts == {"open": 20, "running": 0, "done": 0, "failed": 0}
    assert seen[0].seconds_left is None
    assert max(p.counts["running"] for p in seen) == 4
    assert all(0 <= (p.seconds_left or 0) < 60 for p in seen)
    assert last.means == {"square": 123.5, "cost": 0.5, "tokens": 10, "even": 0.5}
    assert (last.spent, last.seconds_left) == (Expense(10.0, 200), 0)


def test_a_listener_that_raises_ends_no_batch(ledger: Ledger) -> None:
    def fails(_: BatchProgress) -> None:
        raise OSError("the terminal hung up")

    assert through(ledger, Workshop().square, at_once=4, on_change=fails).finished_jobs == 20


def test_a_second_session_finds_the_means_of_the_first(ledger: Ledger) -> None:
    through(ledger, Workshop().square, at_once=4)
    again = through(ledger, Workshop().square, at_once=4)
    assert again.means["square"] == 123.5
    assert again.finished_jobs == 20


def test_a_failed_attempt_is_repeated_last_and_up_to_the_limit(ledger: Ledger) -> None:
    order: list[int] = []

    async def fails(spec: Spec) -> Spec:
        order.append(spec["n"])
        if spec["n"] == 0 or (spec["n"] == 1 and order.count(1) < 3):
            raise ModelUnavailable("the provider is down")
        if spec["n"] == 2 and order.count(2) < 2:
            raise ZeroDivisionError("a bug")
        return {}

    progress = through(ledger, fails, at_once=1)
    assert order[:20] == list(range(20))
    assert [order.count(n) for n in range(4)] == [3, 3, 2, 1]
    assert progress.counts == {"open": 0, "running": 0, "done": 19, "failed": 1}
    [entry] = ledger.entries("failed")
    assert entry.problem == "ModelUnavailable: the provider is down"


@pytest.mark.parametrize("error", [ConfigError("no such company"), MissingModel("no model"),
                                   AttemptFailed("hopeless", final=True)])
def test_an_error_that_no_retry_fixes_is_final(ledger: Ledger, error: Exception) -> None:
    begun = 0

    async def fails(_: Spec) -> Spec:
        nonlocal begun
        begun += 1
        raise error

    assert (through(ledger, fails, at_once=4)).counts["failed"] == begun == 20
    assert str(error) in next(ledger.entries("failed")).problem


def test_a_result_that_is_no_json_fails_its_job_and_no_other(ledger: Ledger) -> None:
    async def odd(spec: Spec) -> Spec:
        return {"value": float("nan") if spec["n"] == 3 else 1}

    assert (through(ledger, odd, at_once=4)).counts["failed"] == 1
    assert "plain JSON" in next(ledger.entries("failed")).problem


def test_a_cancellation_within_the_work_is_a_failed_attempt(ledger: Ledger) -> None:
    async def cancelled(_: Spec) -> Spec:
        raise asyncio.CancelledError

    assert (through(ledger, cancelled, at_once=4)).counts["failed"] == 20


def test_cancelling_gives_back_what_is_unfinished(ledger: Ledger) -> None:
    async def scene() -> None:
        workshop = Workshop(30)
        working = asyncio.create_task(work_through(ledger, workshop.square, at_once=4))
        while workshop.here < 4:
            await asyncio.sleep(0.01)
        working.cancel()
        with pytest.raises(asyncio.CancelledError):
            await working
        assert ledger.counts() == {"open": 20, "running": 0, "done": 0, "failed": 0}
        assert {entry.tries for entry in ledger.entries()} == {0}

    asyncio.run(scene())


def test_a_stop_lets_what_is_under_way_be_finished(ledger: Ledger) -> None:
    stop, workshop = asyncio.Event(), Workshop(together=4)

    def stop_soon(progress: BatchProgress) -> None:
        if progress.counts["running"] == 4:
            stop.set()

    progress = through(ledger, workshop.square, at_once=4, stop=stop, on_change=stop_soon)
    assert (progress.status, progress.counts["done"], progress.counts["running"]) == ("stopped", 4, 0)
    assert "asked to stop" in progress.reason


@pytest.mark.parametrize(("allowance", "said"), [(Allowance(cost=2.0), "budget of $2 is used up"),
                                                 (Allowance(tokens=40), "budget of 40 tokens is used up")])
def test_a_budget_stops_the_batch_and_a_greater_one_goes_on(ledger: Ledger, allowance: Allowance,
                                                                  said: str) -> None:
    workshop = Workshop()
    progress = through(ledger, workshop.square, at_once=2, allowance=allowance)
    assert progress.status == "stopped"
    assert said in progress.reason
    assert 4 <= progress.counts["done"] <= 5  # one more may have been under way
    assert (through(ledger, workshop.square, at_once=2, allowance=allowance)).counts["done"] == workshop.begun
    assert (through(ledger, workshop.square, at_once=2, allowance=Allowance(100.0, 10_000))).status == "finished"
    assert workshop.begun == 20


def test_failed_attempts_count_for_the_budget(ledger: Ledger) -> None:
    async def fails(_: Spec) -> Spec:
        raise AttemptFailed("broken off", Expense(1.0, 100))

    progress = through(ledger, fails, at_once=1, allowance=Allowance(cost=3.0))
    assert (progress.status, progress.spent, progress.counts["open"]) == ("stopped", Expense(3.0, 300), 20)


def test_a_budget_in_dollars_is_not_kept_by_guessing(ledger: Ledger) -> None:
    async def unpriced(_: Spec) -> Spec:
        return {"cost": None}

    progress = through(ledger, unpriced, at_once=1, allowance=Allowance(cost=3.0))
    assert (progress.status, progress.counts["done"]) == ("stopped", 1)
    assert "price of a model that was used is unknown" in progress.reason


def test_leases_are_renewed_while_a_job_takes_longer(url: str) -> None:
    async def scene() -> None:
        ledger = Ledger(url, "long", lease=0.6)
        ledger.add(JOBS[:2])
        slow, other = Workshop(1.5), Workshop()
        first = asyncio.create_task(work_through(ledger, slow.square, at_once=2))
        while slow.begun < 2:
            await asyncio.sleep(0.01)
        await work_through(ledger, other.square, at_once=2)
        assert (slow.begun, other.begun) == (2, 0)
        assert (await first).counts["done"] == 2
        ledger.close()

    asyncio.run(scene())


def test_a_job_that_another_worker_took_meanwhile_is_broken_off(url: str) -> None:
    async def scene() -> None:
        ledger, other = (Ledger(url, "stolen", lease=lease) for lease in (0.9, -1.0))
        ledger.add(JOBS[:1])
        workshop = Workshop(30)
        working = asyncio.create_task(work_through(ledger, workshop.square, at_once=1))
        while not workshop.here:
            await asyncio.sleep(0.01)
        time.sleep(1.0)  # the whole process stood still, and its lease ran out
        claim = other.claim("other")
        assert claim
        assert other.finish(claim, {"by": "other"}, 1.0)
        assert (await asyncio.wait_for(working, 10)).counts["done"] == 1
        assert workshop.here == 0
        assert next(ledger.entries()).result == {"by": "other"}
        ledger.close()
        other.close()

    asyncio.run(scene())


def test_a_machine_that_slept_does_not_take_its_own_jobs_for_lost(url: str) -> None:
    async def scene() -> None:
        ledger = Ledger(url, "slept", lease=0.6)
        ledger.add(JOBS[:2])
        begun: list[int] = []

        async def work(spec: Spec) -> Spec:
            begun.append(spec["n"])
            if spec["n"] == 1:
                while len(begun) < 2:
                    await asyncio.sleep(0.01)
                time.sleep(1.0)  # longer than the lease
            else:
                await asyncio.sleep(1.5)
            return {}

        await work_through(ledger, work, at_once=2)
        assert begun == [0, 1]
        ledger.close()

    asyncio.run(scene())


def test_two_workers_share_the_jobs(ledger: Ledger) -> None:
    async def scene() -> None:
        one, two = Workshop(), Workshop()
        ended = await asyncio.gather(*(work_through(ledger, shop.square, at_once=3) for shop in (one, two)))
        assert one.begun + two.begun == 20
        assert [progress.counts["done"] for progress in ended] == [20, 20]

    asyncio.run(scene())


def test_no_job_at_once_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="1 or more"):
        through(Ledger(str(tmp_path / "l.sqlite"), "b"), Workshop().square, at_once=0)


def test_several_workers_divide_what_is_left_of_a_budget() -> None:
    budget = Allowance(10.0, 1000, workers=4).budget(Expense(2.0, 200), 3)
    assert budget is not None
    assert (budget.limits.tokens, budget.limits.cost) == (400, 4.0)
    assert Allowance(workers=4).budget(Expense(), 3) is None


def test_a_stopped_attempt_is_no_try_and_begins_nothing_more(ledger: Ledger) -> None:
    async def stops(spec: Spec) -> Spec:
        raise AttemptStopped("no room", Expense(0.5, 10))

    progress = through(ledger, stops, at_once=1, allowance=Allowance(tokens=1000))
    assert (progress.status, progress.reason, progress.spent) == ("stopped", "no room", Expense(0.5, 10))
    assert {entry.tries for entry in ledger.entries()} == {0}


def test_what_was_counted_when_a_job_was_stopped_is_not_counted_again() -> None:
    row = {"cost": 3.0, "tokens": 300, "cost_before": 1.0, "tokens_before": 100}
    assert Expense.of(row) == Expense(2.0, 200)
