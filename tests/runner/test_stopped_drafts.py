"""A run that ends in the midst of drafts: the best so far is kept, and the run goes on with the one that is missing."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chatdev.paths import settings_file
from tests.engine.studio import CHANGE, CHECK, WRITE, Studio, program
from tests.support.chat_server import Scripted
from tests.support.durable import activities, asked, git, resume, software, versions
from tests.support.shop import Outcome, Shop

TURN = "write#1/round-1/assistant"
PLACES = [TURN, *(f"{TURN}/draft-{number}" for number in (2, 3, 4))]
AFTER = "change#1/round-1/assistant"


def stubs(count: int, version: int) -> str:
    return program("\n\n".join([f"VERSION = {version}", *(f"def f{n}():\n    pass" for n in range(count))]))


ANSWERS: dict[str, Any] = {
    **dict(zip(PLACES, [stubs(2, 1), stubs(1, 2), stubs(2, 3), stubs(1, 4)], strict=True)), AFTER: "<SOLUTION>"}
"""The second draft is chosen, though the fourth is as good."""
JUDGED = [(PLACES[0], 1 / 3, True), (PLACES[1], 0.5, True), (PLACES[2], 1 / 3, False), (PLACES[3], 0.5, False)]
LOST = Scripted(status=500)
STUCK = Scripted("too late", delay=60)


@pytest.fixture
def shop(shop: Shop) -> Shop:
    """A shop whose program is drafted four times, one draft after another."""
    phase = {**WRITE, "instructor": None, "guard": "software.complete", "drafts": 4}
    change = {**CHANGE, "instructor": None, "on_no_solution": "keep"}
    shop.company = Studio(shop.folder, shop.server).company({"write": phase, "change": change},
                                                            [{"phase": "write"}, {"phase": "change"}, CHECK])
    shop.environment["CHATDEV_MODEL"] = "m"
    at_once(1)
    return shop


def at_once(drafts: int) -> None:
    settings_file().parent.mkdir(parents=True, exist_ok=True)
    settings_file().write_text(f"models: [{{match: [m], drafts_at_once: {drafts}}}]", encoding="utf-8")


def whole(shop: Shop, answers: dict[str, Any] | None = None, *more: str) -> Outcome:
    """A run that nothing stops."""
    shop.route(answers or ANSWERS)
    outcome = shop.run("--name", "a-whole", *more)
    outcome.assert_succeeded()
    shop.server.requests.clear()
    return outcome


def stopped(shop: Shop, *more: str, **changed: Any) -> Outcome:
    """A run that was stopped; from then on everything is answered."""
    shop.route({**ANSWERS, **changed})
    outcome = shop.run("--name", "stopped", *more)
    assert outcome.status not in (0, 1), outcome.out
    shop.server.requests.clear()
    shop.route(ANSWERS)
    return outcome


def version(outcome: Outcome) -> str:
    return outcome.software.text("main.py").splitlines()[0]


def assert_same(resumed: Outcome, other: Outcome) -> None:
    """The two runs made the same, in the same steps."""
    resumed.assert_succeeded()
    assert software(resumed.folder) == software(other.folder)
    assert versions(resumed.folder) == versions(other.folder)
    assert git(resumed.folder, "status", "--porcelain") == ""
    assert sorted(activities(resumed)) == sorted(activities(other))
    assert last_drafts(resumed) == last_drafts(other)


def last_drafts(outcome: Outcome) -> list[tuple[Any, ...]]:
    """What the newest session tells of drafts."""
    begun = max(n for n, record in enumerate(outcome.records) if record["kind"] == "RunStarted")
    return [(record["place"], record["score"], record["chosen"]) for record in outcome.records[begun:]
            if record["kind"] == "DraftJudged"]


def test_a_run_budget_that_ends_in_the_third_keeps_the_best_so_far(shop: Shop) -> None:
    other = whole(shop)
    outcome = stopped(shop, "--max-calls", "2")
    assert outcome.status == 6
    assert version(outcome) == "VERSION = 2"
    assert [event["place"] for event in outcome.events("DeliveryApplied")] == [PLACES[1]]
    assert resume(shop, outcome.folder, "--max-calls", "2").status == 6
    assert_same(resume(shop, outcome.folder, "--no-budget"), other)
    assert asked(shop.server) == [*PLACES[2:], AFTER]


def test_a_better_draft_after_the_stop_takes_the_place_of_the_kept_one(shop: Shop) -> None:
    outcome = stopped(shop, "--max-calls", "2")
    shop.route({**ANSWERS, PLACES[2]: stubs(0, 3)})
    resumed = resume(shop, outcome.folder, "--no-budget")
    resumed.assert_succeeded()
    assert version(resumed) == "VERSION = 3"
    assert [line for line in versions(resumed.folder) if "draft" in line] == [
        f"{place}: main.py" for place in PLACES[1:3]]
    assert "not as the run had left them" not in resumed.report


def test_minutes_that_end_in_the_third_keep_the_best_so_far(shop: Shop) -> None:
    outcome = stopped(shop, "--max-minutes", "0.05", **{PLACES[2]: STUCK})
    assert outcome.status == 6
    best = [event["number"] for event in outcome.events("DraftJudged") if event["chosen"]][-1]
    assert version(outcome) == f"VERSION = {best}"  # the second, unless this machine is very slow
    assert last_drafts(resume(shop, outcome.folder, "--no-budget")) == JUDGED


@pytest.mark.parametrize("failure", [LOST, STUCK], ids=["lost", "hangs"])
def test_a_draft_that_fails_for_good_ends_the_run_which_goes_on_there(shop: Shop, failure: Scripted) -> None:
    shop.environment["CHATDEV_REPLY_SECONDS"] = "0.2"
    outcome = stopped(shop, **{PLACES[2]: failure})
    assert outcome.status == 3
    assert version(outcome) == "VERSION = 2"
    assert [place for place in activities(outcome) if place in PLACES] == PLACES[:2]
    assert last_drafts(resume(shop, outcome.folder, "--no-budget")) == JUDGED
    assert asked(shop.server) == [*PLACES[2:], AFTER]


def test_a_worse_draft_than_what_stands_is_not_kept_at_a_stop(shop: Shop) -> None:
    done = shop.folder / "done"
    done.mkdir()
    (done / "main.py").write_text("def f0():\n    return 0\n", encoding="utf-8")
    outcome = stopped(shop, "--max-calls", "1", "--path", str(done))
    assert outcome.software.text("main.py") == "def f0():\n    return 0\n"


def test_a_replay_of_a_stopped_run_comes_to_the_same_software(shop: Shop) -> None:
    outcome = stopped(shop, "--max-calls", "2")
    again = shop.command("replay", str(outcome.folder), "--warehouse", str(shop.folder / "again"))
    assert again.status == 130, again.out
    (folder,) = (shop.folder / "again").iterdir()
    assert software(folder) == software(outcome.folder)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_run_that_is_ended_between_drafts_goes_on(shop: Shop, number: signal.Signals) -> None:
    shop.route({**ANSWERS, PLACES[2]: STUCK})
    process = shop.start(*shop.arguments("--name", "stopped"))
    deadline = time.monotonic() + 30
    while PLACES[2] not in asked(shop.server) and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(number)
    outcome = shop.finish(process)
    if number == signal.SIGINT:
        assert version(outcome) == "VERSION = 2"
    shop.server.requests.clear()
    shop.route(ANSWERS)
    assert last_drafts(resume(shop, outcome.folder, "--no-budget")) == JUDGED
    assert asked(shop.server) == [*PLACES[2:], AFTER]


def test_a_resumed_run_keeps_the_number_of_drafts_that_it_was_given(shop: Shop) -> None:
    outcome = stopped(shop, "--drafts", "3", "--max-calls", "2")
    resume(shop, outcome.folder, "--no-budget").assert_succeeded()
    assert asked(shop.server) == [PLACES[2], AFTER]


def test_a_resumed_wave_counts_what_the_phase_has_spent_before(shop: Shop) -> None:
    write = {**WRITE, "instructor": None, "guard": "software.complete", "drafts": 4, "budget": {"calls": 2}}
    shop.company = Studio(shop.folder, shop.server).company({"write": write})
    at_once(4)
    outcome = stopped(shop, **{PLACES[0]: LOST})
    resumed = resume(shop, outcome.folder)
    resumed.assert_succeeded()
    assert asked(shop.server) == []
    assert version(resumed) == "VERSION = 2"


def test_a_wave_is_gone_on_with_when_a_later_phase_has_changed(shop: Shop) -> None:
    at_once(4)
    outcome = stopped(shop, **{PLACES[1]: LOST})
    file = shop.company / "company.yaml"
    file.write_text(file.read_text(encoding="utf-8").replace("CHANGE", "IMPROVE"), encoding="utf-8")
    resume(shop, outcome.folder).assert_succeeded()
    assert asked(shop.server) == [PLACES[1], AFTER]


def test_a_replay_tells_of_the_same_drafts(shop: Shop) -> None:
    at_once(4)
    other = whole(shop)
    again = shop.command("replay", str(other.folder), "--json")
    told = [json.loads(line) for line in again.out.splitlines()]
    assert [(event["place"], event["score"], event["chosen"]) for event in told if event["kind"] == "DraftJudged"] \
        == last_drafts(other)
    assert shop.server.requests == []


def test_a_copy_of_a_run_can_begin_at_a_draft(shop: Shop) -> None:
    other = whole(shop)
    shop.route({**ANSWERS, PLACES[2]: stubs(0, 3)})
    forked = resume(shop, other.folder, "--from", PLACES[2], "--name", "z-fork")
    forked.assert_succeeded()
    assert version(forked) == "VERSION = 3"
    assert asked(shop.server) == [PLACES[2], AFTER]


def test_streamed_drafts_do_not_mix(shop: Shop) -> None:
    at_once(4)
    shop.route({place: Scripted(answer, drip=0.002) for place, answer in ANSWERS.items()})
    lines = shop.run("--stream").out.splitlines()
    first, chosen = (line for line in lines if "VERSION" in line)
    number = first.strip().removeprefix("VERSION = ")
    assert ("  Maker" if number == "1" else f"  Maker · draft {number}") in lines
    assert chosen.strip(" │") == "VERSION = 2"


def test_the_console_tells_of_each_draft(shop: Shop) -> None:
    lines = whole(shop, None, "--dialogue").out.splitlines()
    assert "  ✗ draft 2 of 4 fails (score 0.5)" in lines
    assert sum(line.startswith("  ✗ draft") for line in lines) == 4


def test_a_lost_request_lets_the_others_of_its_wave_finish(shop: Shop) -> None:
    at_once(4)
    slow = {place: Scripted(ANSWERS[place], delay=0.3) for place in (PLACES[0], PLACES[3])}
    outcome = stopped(shop, **slow, **{PLACES[1]: LOST})
    assert {place for place in activities(outcome) if place in PLACES} == {PLACES[0], PLACES[2], PLACES[3]}
    assert version(outcome) == "VERSION = 4"
    resumed = resume(shop, outcome.folder)
    assert version(resumed) == "VERSION = 2"
    assert asked(shop.server) == [PLACES[1], AFTER]


@given(order=st.permutations(range(4)), lost=st.sets(st.integers(0, 3), max_size=2), cut=st.floats(0.2, 1))
@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_order_of_arrival_and_no_stop_changes_what_is_made(shop: Shop, order: Sequence[int], lost: set[int],
                                                              cut: float) -> None:
    at_once(3)
    timed = {place: Scripted(ANSWERS[place], delay=0.04 * turn) for place, turn in zip(PLACES, order, strict=True)}
    shop.route({**ANSWERS, **timed, **{PLACES[number]: LOST for number in lost}})
    outcome = shop.run("--name", "timed")
    assert outcome.folder is not None
    journal = Path(outcome.folder / "run" / "journal.jsonl")
    os.truncate(journal, max(journal.read_bytes().index(b"\n") + 1, int(journal.stat().st_size * cut)))
    shop.route(ANSWERS)
    resumed = resume(shop, outcome.folder)
    resumed.assert_succeeded()
    assert version(resumed) == "VERSION = 2"
    assert last_drafts(resumed) == JUDGED
