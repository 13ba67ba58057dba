"""`chatdev resume` as a person and a machine see it."""

from __future__ import annotations

import json
import re
import time

import pytest

from tests.support.chat_server import Scripted
from tests.support.durable import GUIDE, PAGE, PASS_2, REPLIES, asked, resume, stopped_at, uninterrupted
from tests.support.shop import Shop


def test_only_the_phase_that_goes_on_and_what_follows_is_shown(workshop: Shop) -> None:
    stopped = stopped_at(workshop, GUIDE)
    resumed = resume(workshop, stopped.folder)
    assert resumed.status == 0
    assert f"stage works in {stopped.folder}" in resumed.out
    assert "resumed after 7 recorded calls" in resumed.out
    shown = [line.split()[2] for line in resumed.out.splitlines() if line.startswith("●")]
    assert shown == ["Guide", "Page"]
    assert f"software  {stopped.folder}" in resumed.out
    assert re.search(r"\n✓ Done in .* s · 7 calls · 84 tokens · ", resumed.out)


def test_what_a_finished_run_shows_is_short(workshop: Shop) -> None:
    whole = uninterrupted(workshop)
    resumed = resume(workshop, whole.folder)
    lines = [line for line in resumed.out.splitlines() if line]
    assert "a path on record is not followed" in lines.pop(1)
    assert lines[:3] == [
        f"stage works in {whole.folder}", "everything is recorded; nothing is left to do", lines[2]]
    assert lines[2].startswith("✓ Done in ")


def test_quiet_shows_the_end_only(workshop: Shop) -> None:
    resumed = resume(workshop, stopped_at(workshop, PAGE).folder, "--quiet")
    assert resumed.out.lstrip().startswith("✓ Done in ")


def test_json_prints_every_event_of_the_session(workshop: Shop) -> None:
    resumed = resume(workshop, stopped_at(workshop, PAGE).folder, "--json")
    events = [json.loads(line) for line in resumed.out.splitlines()]
    kinds = [event["kind"] for event in events]
    assert (kinds[0], kinds[-1]) == ("RunStarted", "RunFinished")
    assert [event["replayed"] for event in events if event["kind"] == "ModelCalled"] == [True] * 6 + [False]
    live = kinds.index("RunResumed")
    assert [event["replayed"] for event in events[:live] if event["kind"] == "ModelCalled"] == [True] * 6


def test_streaming_goes_on_where_the_run_goes_on(workshop: Shop) -> None:
    resumed = resume(workshop, stopped_at(workshop, PAGE).folder, "--stream")
    assert resumed.status == 0
    assert "Greeter says hello." in resumed.out
    assert all(request.body["stream"] for request in workshop.server.requests)


def test_the_command_that_a_stopped_run_tells_is_the_one_that_goes_on(workshop: Shop) -> None:
    stopped = stopped_at(workshop, PASS_2)
    (line,) = [line for line in stopped.out.splitlines() if line.startswith("  go on ")]
    resumed = workshop.command("resume", line.split(" resume ")[-1])
    assert resumed.status == 0


def test_two_at_once_are_kept_apart(workshop: Shop) -> None:
    stopped = stopped_at(workshop, PAGE)
    workshop.route({**REPLIES, PAGE: Scripted(REPLIES[PAGE], delay=1.5)})
    first = workshop.start("resume", str(stopped.folder))
    deadline = time.monotonic() + 30
    while not asked(workshop.server) and time.monotonic() < deadline:
        time.sleep(0.02)
    second = resume(workshop, stopped.folder)
    assert second.status == 5
    assert "the run is under way in another process; wait for it or stop it" in second.err
    assert workshop.finish(first).status == 0
    assert len(workshop.server.requests) == 1


@pytest.mark.parametrize("arguments", [("resume",), ("replay",), ("resume", "x", "y")])
def test_a_folder_is_needed(workshop: Shop, arguments: tuple[str, ...]) -> None:
    outcome = workshop.command(*arguments)
    assert outcome.status == 2
    assert "Usage: " in outcome.err
