"""Playing a run again: the same events and the same software, without a model, a key, a network or a program."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

import chatdev
from chatdev.errors import ConfigError, JournalError
from chatdev.events import Event, ModelCalled, RunStarted, ToolCalled
from chatdev.journal import read_journal
from chatdev.paths import settings_file
from tests.engine.studio import CHANGE, WRITE, Studio
from tests.support.durable import (
    GUIDE,
    PAGE,
    TITLE,
    answered,
    resume,
    software,
    stopped_at,
    telling,
    uninterrupted,
)
from tests.support.shop import Outcome, Shop


@pytest.fixture
def offline(workshop: Shop) -> Shop:
    """The shop after a run, with its server gone and no key: whatever asks for a model fails."""
    uninterrupted(workshop)
    workshop.route({})
    workshop.environment.clear()
    return workshop


def folder_of(shop: Shop) -> Path:
    return next(shop.warehouse.glob("a-whole-*"))


def played(path: Path, **options: Any) -> tuple[chatdev.Run, list[dict[str, Any]]]:
    """A replay by the library, and its events as the journal has them."""
    seen: list[Event] = []
    run = chatdev.replay(path, on_event=seen.append, **options)
    return run, [{"v": 1, "kind": event.kind, **event.to_dict()} for event in seen]


def events_of(folder: Path) -> list[dict[str, Any]]:
    records = list(read_journal(folder / "run" / "journal.jsonl"))
    begin = max(n for n, record in enumerate(records) if record["kind"] == "RunStarted")
    return [record for record in records[begin:] if record["kind"] not in ("Order", "Message", "Activity",
                                                                           "RunResumed")]


@pytest.mark.parametrize("given", ["", "run/journal.jsonl"])
def test_a_replay_says_and_makes_the_same_without_asking_anybody(offline: Shop, given: str) -> None:
    folder = folder_of(offline)
    run, events = played(folder / given)
    assert run.success
    assert run.software == software(folder)
    assert telling(events) == telling(events_of(folder))
    assert all(event["replayed"] for event in events if event["kind"] in ("ModelCalled", "ToolCalled"))
    assert offline.server.requests == []


def test_a_journal_is_all_that_a_replay_needs(offline: Shop, tmp_path: Path) -> None:
    folder = folder_of(offline)
    expected = software(folder)
    copy = tmp_path / "sent-by-mail.jsonl"
    (folder / "run" / "journal.jsonl").rename(copy)
    for rest in (folder, offline.company):
        rest.rename(tmp_path / f"gone-{rest.name}")
    run, _ = played(copy)
    assert run.software == expected
    assert not run.folder.exists()


def test_what_a_replay_makes_is_kept_in_a_warehouse(offline: Shop, tmp_path: Path) -> None:
    run, _ = played(folder_of(offline), warehouse=tmp_path / "kept", name="again")
    assert run.folder.parent == tmp_path / "kept"
    assert software(run.folder) == software(folder_of(offline))
    again, _ = played(run.folder)  # and is a run like another
    assert again.software == run.software


@pytest.mark.parametrize("place", [TITLE, PAGE])
def test_a_run_that_stopped_is_played_as_far_as_it_went(workshop: Shop, place: str) -> None:
    stopped = stopped_at(workshop, place)
    assert stopped.folder is not None
    run, _ = played(stopped.folder)
    assert run.status == "interrupted"
    assert f"the record ends here: nothing is written of {place}" in run.reason
    assert run.software == software(stopped.folder)
    assert workshop.server.requests == []


def test_a_resumed_run_is_played_as_it_went_in_the_end(workshop: Shop) -> None:
    resumed = resume(workshop, stopped_at(workshop, GUIDE).folder, "--company", str(workshop.company))
    assert resumed.folder is not None
    run, events = played(resumed.folder)
    assert run.success
    assert telling(events) == telling(events_of(resumed.folder))


def cut_journal(folder: Path, share: float, to: Path) -> Path:
    data = (folder / "run" / "journal.jsonl").read_bytes()
    to.write_bytes(data[:int(len(data) * share)])
    return to


@pytest.mark.parametrize("share", [0.5, 0.7, 0.9])
def test_a_journal_that_breaks_off_is_played_to_there(offline: Shop, tmp_path: Path, share: float) -> None:
    run, events = played(cut_journal(folder_of(offline), share, tmp_path / "cut.jsonl"))
    assert run.status == "interrupted"
    whole = [event for event in events_of(folder_of(offline)) if event["kind"] == "ModelCalled"]
    assert [event["place"] for event in events if event["kind"] == "ModelCalled"] == [
        event["place"] for event in whole][:len([event for event in events if event["kind"] == "ModelCalled"])]


def test_speed_gives_the_replies_their_time(workshop: Shop, tmp_path: Path) -> None:
    folder = uninterrupted(workshop).folder
    assert folder is not None
    journal = tmp_path / "slow.jsonl"
    text = (folder / "run" / "journal.jsonl").read_text()
    place = f'"place": "{PAGE}", "digest"'
    head, tail = text.split(place)
    before, after = tail.split('"seconds": ', 1)
    journal.write_text(f'{head}{place}{before}"seconds": 40{after[after.index("}"):]}')
    started = time.monotonic()
    played(journal, speed=80)
    assert time.monotonic() - started >= 0.5
    started = time.monotonic()
    played(journal)
    assert time.monotonic() - started < 10


def test_other_settings_and_models_around_make_no_difference(workshop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    settings_file().parent.mkdir(parents=True)
    settings_file().write_text("models:\n- match: [mine]\n  rounds: 1\n  native_tools: true\n"
                               "  price: {prompt: 1, completion: 2}\n")
    answered(workshop)
    first = workshop.run("--model", "mine")
    first.assert_succeeded()
    settings_file().write_text("model: other\nsandbox: none\nmodels:\n- match: ['*']\n  rounds: 7\n"
                               "  price: {prompt: 50, completion: 50}\n")
    monkeypatch.setenv("CHATDEV_MODEL", "a-third")
    assert first.folder is not None
    run, events = played(first.folder)
    assert run.success
    assert telling(events) == telling(events_of(first.folder))
    assert {event["model"] for event in events if event["kind"] == "ModelCalled"} == {"mine"}


def test_events_bring_their_folder_and_say_that_they_are_replayed(offline: Shop) -> None:
    seen: list[Event] = []
    run = chatdev.replay(folder_of(offline), on_event=seen.append)
    assert isinstance(seen[0], RunStarted)
    assert seen[0].folder == str(run.folder)
    assert all(event.replayed for event in seen if isinstance(event, ModelCalled | ToolCalled))


def test_a_file_that_is_no_journal_is_refused(tmp_path: Path) -> None:
    for content, words in ((b"", "no `Order`"), (b"hello\n", "line 1: not a JSON record"),
                           (b'{"v": 1, "kind": "Noted", "place": ""}\n', "no `Order`")):
        (tmp_path / "file").write_bytes(content)
        with pytest.raises(JournalError, match=words):
            chatdev.replay(tmp_path / "file")
    with pytest.raises(ConfigError, match="there is no run and no journal at .*nowhere; give a folder of the ware"):
        chatdev.replay(tmp_path / "nowhere")
    with pytest.raises(ConfigError, match="is no run folder: it has no run/ in it"):
        chatdev.replay(tmp_path)


@pytest.mark.tool
def test_programs_are_not_run_again(shop: Shop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chain = [{"phase": "write"}, {"phase": "change"}, {"tool": "software.run", "writes": "test"}]
    Studio(shop.folder, shop.server).company({"write": WRITE, "change": {**CHANGE, "feedback": "software.run"}}, chain,
                                             success="test.passed")
    shop.replies()
    first: Outcome = shop.run()
    first.assert_succeeded()
    assert first.folder is not None
    monkeypatch.setenv("PATH", str(tmp_path))  # neither git nor bubblewrap
    run, events = played(first.folder)
    assert run.success
    assert [event["summary"] for event in events if event["kind"] == "ToolCalled"] == [
        event["summary"] for event in first.events("ToolCalled")]
