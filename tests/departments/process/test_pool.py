"""The pool counts what became of instances, for many writers at once, and is carried from one store to another."""

from __future__ import annotations

import json
import multiprocessing
from dataclasses import replace
from multiprocessing.synchronize import Barrier
from pathlib import Path

import pytest

from chatdev.departments.process.pool import NOT_DEVELOPED, InstanceOutcome, PoolEntry, count_outcomes
from chatdev.departments.process.pool_store import InstancePool
from chatdev.errors import ConfigError

PHASES = ("DemandAnalysis", "Coding", "Manual")
LONG = InstanceOutcome(PHASES, success=True, starts=True, task="A game", area="Game", model="m", temperature=0.6)
SHORT = InstanceOutcome(("Coding",), success=False, failure="missing solution")


def open_pool(folder: Path, name: str = "chatdev", phases: tuple[str, ...] = PHASES) -> InstancePool:
    return InstancePool(str(folder / "pool.sqlite"), name, phases)


def write_many(folder: str, times: int) -> None:
    pool = open_pool(Path(folder))
    for _ in range(times):
        pool.add([LONG, SHORT])


def write_after(barrier: Barrier, folder: str) -> None:
    barrier.wait(60)
    write_many(folder, 1)


def test_outcomes_are_counted_by_instance(tmp_path: Path) -> None:
    pool = open_pool(tmp_path)
    pool.add([LONG, SHORT, LONG])
    pool.add([InstanceOutcome(PHASES, success=False, failure="crashed")])
    assert open_pool(tmp_path).entries() == [PoolEntry(PHASES, 3, 2), PoolEntry(("Coding",), 1, 0)]
    assert [outcome.failure for outcome in pool.outcomes()] == ["", "missing solution", "", "crashed"]
    assert pool.outcomes()[0].time


def test_pools_in_one_store_are_kept_apart(tmp_path: Path) -> None:
    open_pool(tmp_path).add([LONG])
    assert open_pool(tmp_path, "another").entries() == []


def test_many_processes_write_one_pool(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=write_many, args=(str(tmp_path), 20)) for _ in range(3)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(60)
    assert open_pool(tmp_path).entries() == [PoolEntry(("Coding",), 60, 0), PoolEntry(PHASES, 60, 60)]
    assert len(open_pool(tmp_path).outcomes()) == 120


def test_many_processes_make_one_pool_at_once(tmp_path: Path) -> None:
    """SQLite refuses all but one that change the mode of a new file, without waiting for it: one in a hundred."""
    context = multiprocessing.get_context("fork")
    for number in range(12):
        barrier = context.Barrier(8)
        writers = [context.Process(target=write_after, args=(barrier, str(tmp_path / str(number)))) for _ in range(8)]
        for writer in writers:
            writer.start()
        for writer in writers:
            writer.join(60)
        assert [writer.exitcode for writer in writers] == [0] * len(writers)


def test_a_pool_is_carried_to_another_store(tmp_path: Path) -> None:
    pool = open_pool(tmp_path)
    pool.add([LONG, SHORT])
    (tmp_path / "other").mkdir()
    other = open_pool(tmp_path / "other")
    assert other.load(pool.export(), "pool.json") == 2
    assert other.entries() == pool.entries()
    assert other.outcomes() == pool.outcomes()


def test_what_was_imported_is_known_again_and_no_run_of_this_pool(tmp_path: Path) -> None:
    pool = open_pool(tmp_path)
    pool.add([replace(LONG, run="develop-1/a")])
    other = open_pool(tmp_path, "other")
    assert [other.load(pool.export(), "pool.json", "imported") for _ in range(2)] == [1, 0]
    assert [one.run for one in other.outcomes()] == ["imported develop-1/a"]
    third = open_pool(tmp_path, "third")
    third.load(other.export(), "pool.json", "imported")
    assert third.outcomes() == other.outcomes()


def test_a_proposal_that_was_not_developed_counts_neither_way(tmp_path: Path) -> None:
    pool = open_pool(tmp_path)
    kept = replace(SHORT, failure=NOT_DEVELOPED)
    pool.add([kept, LONG])
    assert pool.entries() == count_outcomes(pool.outcomes()) == [PoolEntry(PHASES, 1, 1)]
    assert (kept.counts, kept.was_run, SHORT.counts, SHORT.was_run, LONG.was_run) == (False, False, True, False, True)


@pytest.mark.parametrize(("outcome", "why"), [
    ({"success": "yes"}, "outcome 1.success: Input should be a valid boolean"),
    ({"success": 2}, "outcome 1.success: Input should be a valid boolean"),
    ({"starts": 5}, "outcome 1.starts: Input should be a valid boolean"),
    ({"instance": "Coding"}, "outcome 1.instance: Input should be a valid list"),
    ({"instance": [["Coding"]]}, "outcome 1.instance.0: Input should be a valid string"),
    ({"instance": ["Coding → Manual"]}, "a phase has no '→' in its name"),
    ({"instance": [""]}, "outcome 1.instance.0: String should have at least 1 character"),
    ({"instance": ["Foo"], "success": True}, "outcome 1.instance: a success of 'Foo', which is no phase"),
    ({"temperature": 1e999}, "outcome 1.temperature: Input should be a finite number"),
    ({"temperature": "hot"}, "outcome 1.temperature: Input should be a valid number"),
    ({"task": None}, "outcome 1.task: Input should be a valid string"),
    ({"more": 1}, "outcome 1.more: Extra inputs are not permitted"),
    ({"instance": ["Coding"] * 61}, "an instance of 61 phases is too long for a pool"),
    ({"instance": ["C" * 5000]}, "an instance of 5000 characters is too long for a pool"),
])
def test_a_wrong_outcome_is_named_and_nothing_is_added(tmp_path: Path, outcome: dict[str, object], why: str) -> None:
    pool = open_pool(tmp_path)
    right: dict[str, object] = {"instance": ["Coding"], "success": False}
    text = json.dumps({"phases": PHASES, "outcomes": [right, right | outcome]})
    with pytest.raises(ConfigError) as told:
        pool.load(text, "pool.json")
    assert why in str(told.value)
    assert (pool.entries(), pool.outcomes()) == ([], [])


def test_a_pool_of_other_phases_is_refused(tmp_path: Path) -> None:
    text = open_pool(tmp_path).export()
    with pytest.raises(ConfigError, match=r"the pool 'chatdev' of .* was made for other phases \(it also has "
                                          r"Manual; it lacks Testing\); name another pool"):
        open_pool(tmp_path, phases=("DemandAnalysis", "Coding", "Testing"))
    with pytest.raises(ConfigError, match=r"pool.json was made for other phases"):
        open_pool(tmp_path, "another", ("Coding",)).load(text, "pool.json")


@pytest.mark.parametrize("text", ["", "[]", "{}", "\0", "[" * 100_000])
def test_what_is_no_export_is_refused_and_adds_nothing(tmp_path: Path, text: str) -> None:
    pool = open_pool(tmp_path)
    with pytest.raises(ConfigError, match="pool.json is no exported pool"):
        pool.load(text, "pool.json")
    assert pool.entries() == []


def test_an_instance_without_an_end_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="an instance of 200 phases is too long for a pool"):
        open_pool(tmp_path).add([InstanceOutcome(("Coding",) * 200, success=True)])
