"""What cannot be gone on with: a clear error, and nothing is changed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from chatdev.journal import Journal
from tests.support.durable import PAGE, PASS_1, contents, resume, stopped_at
from tests.support.shop import Shop


def test_a_run_that_is_being_resumed_cannot_be_resumed_by_another(workshop: Shop) -> None:
    stopped = stopped_at(workshop, PAGE)
    assert stopped.folder is not None
    before = contents(stopped.folder)
    journal = Journal(stopped.folder / "run" / "journal.jsonl")
    refused = resume(workshop, stopped.folder)
    journal.close()
    assert refused.status == 5
    assert "the run is under way in another process" in refused.err
    assert contents(stopped.folder) == before


def no_folder(folder: Path) -> Path:
    return folder / "nowhere"


def no_run_folder(folder: Path) -> Path:
    return folder / "software"


def no_journal(folder: Path) -> Path:
    (folder / "run" / "journal.jsonl").unlink()
    return folder


def no_order(folder: Path) -> Path:
    (folder / "run" / "journal.jsonl").write_bytes(b'{"v": 1, "kind": "Ord')
    return folder


def other_version(folder: Path) -> Path:
    journal = folder / "run" / "journal.jsonl"
    journal.write_text(journal.read_text().replace('"v": 1', '"v": 9'))
    return folder


def damaged(folder: Path) -> Path:
    journal = folder / "run" / "journal.jsonl"
    lines = journal.read_text().splitlines(keepends=True)
    journal.write_text("".join([*lines[:3], "\0\0\0\n", *lines[4:]]))
    return folder


def incomplete(folder: Path) -> Path:
    journal = folder / "run" / "journal.jsonl"
    journal.write_text(journal.read_text().replace('"digest"', '"digits"'))
    return folder


UNUSABLE: dict[Callable[[Path], Path], tuple[str, ...]] = {
    no_folder: ("is no run folder", "give a folder of the warehouse"),
    no_run_folder: ("is no run folder",),
    no_journal: ("has no journal", "start a new run"),
    no_order: ("does not say what the run was to do", "start the run anew"),
    other_version: ("version 9", "reads version 1"),
    damaged: ("line 4: not a JSON record",),
    incomplete: ("line 7: the record ('Activity') lacks what belongs to it", "digest"),
}


@pytest.mark.parametrize("damage", UNUSABLE)
def test_what_is_no_run_is_refused_with_what_is_wrong(workshop: Shop, damage: Callable[[Path], Path]) -> None:
    stopped = stopped_at(workshop, PASS_1)
    assert stopped.folder is not None
    path = damage(stopped.folder)
    workshop.server.requests.clear()
    outcome = resume(workshop, path)
    assert outcome.status == (2 if damage in (no_folder, no_run_folder) else 5)
    for words in UNUSABLE[damage]:
        assert words in outcome.err
    assert "Traceback" not in outcome.err
    assert workshop.server.requests == []


@pytest.mark.parametrize(("options", "words"), [
    (("--name", "other"), "a run is resumed in its own folder"),
    (("--warehouse", "elsewhere"), "a run is resumed in its own folder"),
    (("--from-here", "--as-it-was"), "leave one out"),
    (("--task", "more", "--from", "page#1"), "give only one of them"),
    (("--max-calls", "0"), "calls"),
    (("--sandbox", "cardboard"), "cardboard"),
])
def test_options_that_do_not_fit_are_refused_with_nothing_changed(workshop: Shop, options: tuple[str, ...],
                                                                  words: str) -> None:
    stopped = stopped_at(workshop, PAGE)
    before = contents(stopped.folder)
    outcome = resume(workshop, stopped.folder, *options)
    assert outcome.status == 2, outcome.err
    assert words in outcome.err
    assert contents(stopped.folder) == before
