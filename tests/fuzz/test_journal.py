"""Whatever bytes a journal holds, it gives records or is refused; cut anywhere, it gives the records before the cut."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chatdev.errors import JournalError
from chatdev.journal import SCHEMA, Journal, read_journal

values = st.recursive(st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
                      lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3))
records = st.tuples(st.text(min_size=1), st.text(), st.dictionaries(st.text(min_size=4), values, max_size=3)).filter(
    lambda record: not record[2].keys() & {"time", "kind", "place"})
pieces = st.sampled_from([b"\n", b'{"v": 1, "kind": "Noted"}\n', b'{"v": 2}', b"{", b"[" * 30_000, b'"\\ud800"', b"\0",
                          b"NaN", b"9" * 5000, b"null\n", b"\xed\xa0\x80", b"\xff", b"\r\n", b"\xe2\x80\xa8"])
NOON = datetime(2026, 11, 22, 12, tzinfo=UTC)
many = settings()


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("journal") / "journal.jsonl"


def read(path: Path, content: bytes) -> list[dict[str, Any]] | None:
    """The records; None when the journal is refused."""
    path.write_bytes(content)
    try:
        found = list(read_journal(path))
    except JournalError:
        return None
    assert all(record["v"] == SCHEMA and isinstance(record["kind"], str) for record in found)
    return found


def written(path: Path, content: list[tuple[str, str, dict[str, Any]]]) -> bytes:
    """The journal that holds such records."""
    path.unlink(missing_ok=True)
    journal = Journal(path, clock=lambda: NOON)
    for record in content:
        journal.append(*record)
    journal.close()
    return path.read_bytes()


@many
@given(st.lists(pieces | st.binary(max_size=20), max_size=12).map(b"".join))
def test_any_bytes_give_records_or_are_refused(path: Path, content: bytes) -> None:
    found = read(path, content)
    if found is not None:
        assert len(found) == content.count(b"\n")


@many
@given(content=st.lists(records, max_size=6), where=st.floats(0, 1))
def test_a_journal_cut_anywhere_gives_the_records_before_the_cut(
        path: Path, content: list[tuple[str, str, dict[str, Any]]], where: float) -> None:
    whole = written(path, content)
    cut = whole[:round(where * len(whole))]
    assert read(path, cut) == [{"v": SCHEMA, "time": "2026-11-22T12:00:00.000Z", "kind": kind, "place": place, **more}
                               for kind, place, more in content][:cut.count(b"\n")]


@many
@given(content=st.lists(records, min_size=1, max_size=6), where=st.floats(0, 1), byte=st.binary(max_size=2))
def test_damage_gives_the_same_number_of_records_or_is_refused(
        path: Path, content: list[tuple[str, str, dict[str, Any]]], where: float, byte: bytes) -> None:
    whole = written(path, content)
    place = round(where * (len(whole) - 1))
    damaged = whole[:place] + byte + whole[place + 1:]
    found = read(path, damaged)
    assert found is None or len(found) == damaged.count(b"\n")


@given(st.lists(records, max_size=3), st.binary(max_size=30))
def test_what_is_written_next_follows_the_whole_lines(
        path: Path, content: list[tuple[str, str, dict[str, Any]]], torn: bytes) -> None:
    whole = written(path, content)
    path.write_bytes(whole + torn.replace(b"\n", b""))
    journal = Journal(path)
    journal.append("Noted", "", {"text": "next"})
    journal.close()
    assert path.read_bytes().startswith(whole)
    assert json.loads(path.read_bytes()[len(whole):])["text"] == "next"
