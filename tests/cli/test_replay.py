"""`chatdev replay` as a person and a machine see it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.durable import PAGE, software, stopped_at, uninterrupted
from tests.support.shop import Outcome, Shop


def replay(shop: Shop, folder: Path | None, *more: str) -> Outcome:
    return shop.command("replay", str(folder), *more)


def test_a_replay_shows_the_whole_run_and_keeps_nothing(workshop: Shop) -> None:
    whole = uninterrupted(workshop)
    workshop.environment.clear()
    replayed = replay(workshop, whole.folder)
    assert replayed.status == 0, replayed.err
    assert replayed.out.startswith(f"stage plays {whole.folder} again\n")
    for words in ("● 1/6 Write", "● 6/6 Page", "  ✓ Every function has a body.", "✓ Done in "):
        assert words in replayed.out
    assert "software  3 files, 7 lines, not kept (--warehouse keeps it)" in replayed.out
    assert "start it" not in replayed.out
    assert len(list(workshop.warehouse.iterdir())) == 1
    assert workshop.server.requests == []


def test_a_warehouse_keeps_what_it_makes(workshop: Shop) -> None:
    whole = uninterrupted(workshop)
    kept = workshop.folder / "kept"
    replayed = replay(workshop, whole.folder, "--warehouse", str(kept))
    (folder,) = kept.iterdir()
    assert str(folder / "software") in replayed.out
    assert software(folder) == software(whole.folder)


def test_a_run_that_stopped_ends_as_interrupted(workshop: Shop) -> None:
    stopped = stopped_at(workshop, PAGE)
    replayed = replay(workshop, stopped.folder)
    assert replayed.status == 130
    assert f"why       the record ends here: nothing is written of {PAGE}" in replayed.out
    assert "go on" not in replayed.out


def test_json_prints_its_events(workshop: Shop) -> None:
    whole = uninterrupted(workshop)
    events = [json.loads(line) for line in replay(workshop, whole.folder, "--json").out.splitlines()]
    assert [event["place"] for event in events if event["kind"] == "PhaseFinished"] == [
        event["place"] for event in whole.events("PhaseFinished")]
    assert events[-1]["status"] == "success"


@pytest.mark.parametrize("speed", ["0", "-1", "fast"])
def test_what_is_no_speed_is_refused(workshop: Shop, speed: str) -> None:
    outcome = replay(workshop, workshop.folder, "--speed", speed)
    assert outcome.status == 2
    assert "--speed" in outcome.err


@pytest.mark.parametrize(("name", "status", "words"), [
    ("nowhere", 2, "there is no run and no journal at"), ("stage", 2, "is no run folder"),
    ("stage/company.yaml", 5, "not a JSON record")])
def test_what_is_no_run_is_refused(workshop: Shop, name: str, status: int, words: str) -> None:
    outcome = replay(workshop, workshop.folder / name)
    assert outcome.status == status
    assert words in outcome.err
    assert "Traceback" not in outcome.err
