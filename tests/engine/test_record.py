"""What is on record is given again; what differs is refused, performed or ignored."""

import asyncio
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from chatdev.engine.context import (
    HALTS,
    Activities,
    ActivityResult,
    Finished,
    Halt,
    Halted,
    Performed,
    Record,
    ToolReturned,
    digest,
)
from chatdev.errors import RecordEnds, RunChanged
from chatdev.journal import Journal, read_journal

ASKED: dict[str, Any] = {"messages": ["abc"], "sampling": {"model": "m", "temperature": 0.5}, "constraint": None}
PLACE, LATER = "write#1/round-1/assistant", "change#1/round-1/assistant"


def result(text: str, seconds: float = 0.0) -> ToolReturned:
    return ToolReturned(text, seconds)


def recorded(*places: str, request: Mapping[str, Any] = ASKED, seconds: float = 0.0) -> dict[str, Finished]:
    return {place: Finished(digest(request), request, result(place, seconds)) for place in places}


def find(record: Record, place: str, request: Mapping[str, Any] = ASKED) -> ActivityResult | None:
    return asyncio.run(record.find(place, digest(request), request))


def test_an_activity_on_record_gives_its_result() -> None:
    record = Record(recorded(PLACE))
    assert find(record, PLACE) == result(PLACE)
    assert (record.found, record.differences) == (1, 0)


def test_an_activity_that_is_not_on_record_is_performed() -> None:
    record = Record(recorded(PLACE))
    assert find(record, LATER) is None
    assert record.found == 0


CHANGED = {**ASKED, "messages": ["def"]}


def test_a_request_that_differs_is_refused_with_both() -> None:
    with pytest.raises(RunChanged) as caught:
        find(Record(recorded(PLACE)), PLACE, CHANGED)
    assert (caught.value.place, caught.value.before, caught.value.now) == (PLACE, ASKED, CHANGED)


def test_a_request_that_differs_is_performed_where_that_is_accepted() -> None:
    record = Record(recorded(PLACE, LATER), "perform")
    assert find(record, PLACE, CHANGED) is None
    assert find(record, LATER) == result(LATER)


def test_a_request_that_differs_is_counted_where_the_place_decides() -> None:
    record = Record(recorded(PLACE), "ignore")
    assert find(record, PLACE, CHANGED) == result(PLACE)
    assert (record.found, record.differences) == (1, 1)


@pytest.mark.parametrize("now", [{"sampling": {"model": "n", "temperature": 0.5}}, {"constraint": {"kind": "json"}}])
def test_what_depends_on_the_model_may_differ_when_another_one_was_chosen(now: dict[str, Any]) -> None:
    assert find(Record(recorded(PLACE), any_model=True), PLACE, {**ASKED, **now}) == result(PLACE)
    with pytest.raises(RunChanged):
        find(Record(recorded(PLACE)), PLACE, {**ASKED, **now})
    with pytest.raises(RunChanged):
        find(Record(recorded(PLACE), any_model=True), PLACE, {**CHANGED, **now})


def test_a_new_activity_before_the_end_of_the_record_is_a_difference() -> None:
    with pytest.raises(RunChanged) as caught:
        find(Record(recorded(PLACE, LATER), changed=True), "new#1/round-1/assistant")
    assert caught.value.before == {}
    assert f"and {PLACE} was" in str(caught.value)
    assert find(Record(recorded(PLACE, LATER), "perform", changed=True), "new#1/round-1/assistant") is None


def test_what_other_branches_have_on_record_is_not_later() -> None:
    there, here = "parallel#1/branch-1/a#1/parallel#1/branch-2/b#1", "parallel#1/branch-2/b#1"
    for record, place in (([there], here), ([here], there)):
        assert find(Record(recorded(*record), changed=True), place) is None
    for later in ("parallel#1/branch-2/c#1", "parallel#2/branch-1/c#1", "c#1"):
        with pytest.raises(RunChanged):
            find(Record(recorded(later), changed=True), here)


def test_at_the_end_a_changed_company_must_have_come_to_all_of_the_record() -> None:
    record = Record(recorded(PLACE, LATER), changed=True)
    find(record, PLACE)
    with pytest.raises(RunChanged, match=f"{LATER} was in the run, and the company does not come to it any more"):
        record.end()
    Record(recorded(PLACE)).end()
    Record(recorded(PLACE), "perform", changed=True).end()
    find(record, LATER)
    record.end()


def test_behind_the_record_everything_is_new() -> None:
    record = Record(recorded(PLACE), changed=True)
    find(record, PLACE)
    assert find(record, LATER) is None


def test_a_replay_ends_where_its_record_ends() -> None:
    with pytest.raises(RecordEnds, match=f"nothing is written of {LATER}"):
        find(Record(recorded(PLACE), "ignore", complete=True), LATER)


def test_a_replay_takes_its_time_where_that_is_wanted() -> None:
    started = time.monotonic()
    find(Record(recorded(PLACE, seconds=1.0), speed=5), PLACE)
    assert 0.19 <= time.monotonic() - started < 1
    find(Record(recorded(PLACE, seconds=60.0)), PLACE)
    assert time.monotonic() - started < 2


def perform(activities: Activities, place: str) -> Performed:
    async def call() -> ActivityResult:
        return result("live")
    return asyncio.run(activities.perform(place, ASKED, call))


def test_what_is_performed_is_journaled_and_what_is_on_record_is_not(tmp_path: Path) -> None:
    path, lives = tmp_path / "journal.jsonl", list[int]()
    journal = Journal(path)
    activities = Activities(journal, Record(recorded(PLACE)), lambda: lives.append(1))
    assert perform(activities, PLACE) == Performed(result(PLACE), replayed=True)
    assert not lives
    assert perform(activities, LATER) == Performed(result("live"), replayed=False)
    journal.close()
    (written,) = read_journal(path)
    assert written.pop("time")
    assert written == {"v": 1, "kind": "Activity", "place": LATER, "digest": digest(ASKED), "request": ASKED,
                       "result": {"value": "live", "seconds": 0.0}}
    assert lives == [1]


def test_a_branch_that_is_halted_performs_nothing(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.jsonl")
    token = HALTS.set((Halt(raised=True),))
    try:
        with pytest.raises(Halted):
            perform(Activities(journal), PLACE)
    finally:
        HALTS.reset(token)
        journal.close()
