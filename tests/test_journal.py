"""The journal: append-only lines, messages once, a torn last line cut, other damage named, one writer at a time."""

import asyncio
import json
import os
import subprocess
import sys
import textwrap
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chatdev.errors import JournalError, WorkspaceError
from chatdev.journal import SCHEMA, Journal, read_journal

NOON = datetime(2026, 11, 22, 12, 0, 0, 250_000, tzinfo=UTC)
LINE = b'{"v": 1, "kind": "A", "place": ""}\n'


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.jsonl"


def kinds(path: Path) -> list[str]:
    return [record["kind"] for record in read_journal(path)]


def child(code: str, *arguments: object) -> str:
    """What a Python of its own prints; its errors fail the test."""
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)], capture_output=True,
                          text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_records_come_back_in_order(path: Path) -> None:
    journal = Journal(path)
    journal.append("Noted", "coding#1", {"text": "half a pair \ud800"})
    journal.message("abc", {"role": "user", "content": "hi"})
    journal.message("abc", {"role": "user", "content": "hi"})
    asyncio.run(journal.sync())
    journal.close()
    assert kinds(path) == ["Noted", "Message"]


@settings(deadline=None)  # a disk takes its time
@given(st.text(), st.dictionaries(st.text(), st.text() | st.integers() | st.none()))
def test_whatever_is_written_is_read_again(tmp_path_factory: pytest.TempPathFactory, place: str,
                                           values: dict[str, object]) -> None:
    path = tmp_path_factory.mktemp("journal") / "journal.jsonl"
    journal = Journal(path, clock=lambda: NOON)
    journal.append("Noted", place, {"values": values})
    journal.close()
    assert list(read_journal(path)) == [{"v": SCHEMA, "time": "2026-11-22T12:00:00.250Z", "kind": "Noted",
                                         "place": place, "values": values}]


def test_every_line_carries_the_time_it_was_written_in_utc(path: Path) -> None:
    in_tokyo = (NOON + timedelta(hours=1)).astimezone(timezone(timedelta(hours=9)))
    times = [NOON, NOON + timedelta(microseconds=999), in_tokyo]
    journal = Journal(path, clock=iter(times).__next__)
    journal.append("Order", "", {})
    journal.message("abc", {"role": "user", "content": "hi"})
    journal.append("Activity", "coding#1", {})
    journal.close()
    assert [record["time"] for record in read_journal(path)] == [
        "2026-11-22T12:00:00.250Z", "2026-11-22T12:00:00.250Z", "2026-11-22T13:00:00.250Z"]


def test_the_clock_of_a_journal_is_the_present_time(path: Path) -> None:
    before = datetime.now(UTC) - timedelta(milliseconds=1)  # lines have whole milliseconds
    journal = Journal(path)
    journal.append("Noted", "", {})
    journal.close()
    (record,) = read_journal(path)
    assert before <= datetime.fromisoformat(record["time"]) <= datetime.now(UTC)


def test_a_line_that_was_held_carries_the_time_of_its_event(path: Path) -> None:
    clock = iter([NOON, NOON + timedelta(seconds=1)])
    journal = Journal(path, held=True, clock=clock.__next__)
    journal.append("A", "", {})
    journal.append("B", "", {})
    journal.release()
    journal.close()
    assert [record["time"][-7:] for record in read_journal(path)] == ["00.250Z", "01.250Z"]


def test_a_journal_without_times_is_read_and_continued(path: Path) -> None:
    path.write_bytes(LINE)
    journal = Journal(path)
    journal.append("B", "", {})
    journal.close()
    assert ["time" in record for record in read_journal(path)] == [False, True]


def test_an_unknown_kind_is_read_like_any_other(path: Path) -> None:
    path.write_bytes(b'{"v": 1, "kind": "FromTheFuture", "place": "x#1", "more": [1]}\n')
    assert next(read_journal(path))["more"] == [1]


def test_a_torn_last_line_is_left_out_and_cut_when_the_journal_grows(path: Path) -> None:
    path.write_bytes(LINE + b'{"v":1,"ki')
    assert kinds(path) == ["A"]
    journal = Journal(path)
    journal.append("B", "", {})
    journal.close()
    assert kinds(path) == ["A", "B"]


def test_the_reader_makes_do_with_a_file_cut_at_any_byte(path: Path) -> None:
    whole = LINE + '{"v": 1, "kind": "Noted", "place": "", "text": "größer"}\n'.encode() + LINE
    for end in range(len(whole) + 1):
        path.write_bytes(whole[:end])
        assert len(kinds(path)) == whole[:end].count(b"\n")
        Journal(path).close()
        assert path.read_bytes() == whole[:whole[:end].rfind(b"\n") + 1]


@pytest.mark.parametrize("damage", [b"garbage", b"", bytes(512), b"[" * 100_000, b"9" * 5000], ids=lambda d: d[:8])
def test_damage_elsewhere_is_named_with_its_line(path: Path, damage: bytes) -> None:
    path.write_bytes(LINE + damage + b"\n" + LINE)
    with pytest.raises(JournalError, match="line 2: not a JSON record; the journal is damaged"):
        list(read_journal(path))


@pytest.mark.parametrize("line", ['{"v": 1}', "[]", '"text"', '{"v": 1, "kind": 7}'])
def test_a_line_that_is_no_record_is_refused(path: Path, line: str) -> None:
    path.write_text(f"{line}\n")
    with pytest.raises(JournalError, match="line 1: a record needs a `kind`; this is no journal"):
        list(read_journal(path))


@pytest.mark.parametrize("version", [0, 2, None, "1"])
def test_another_version_of_the_form_is_refused(path: Path, version: object) -> None:
    path.write_text(json.dumps({"v": version, "kind": "Order"}) + "\n")
    with pytest.raises(JournalError, match=f"version {version} of the journal's form, and this chatdev reads version"):
        list(read_journal(path))


def test_a_journal_that_cannot_be_opened_or_read_says_so(tmp_path: Path) -> None:
    with pytest.raises(WorkspaceError, match="cannot write the journal"):
        Journal(tmp_path / "missing" / "journal.jsonl")
    with pytest.raises(JournalError, match="cannot read"):
        list(read_journal(tmp_path / "missing.jsonl"))


def test_a_journal_that_is_held_writes_nothing_before_it_is_released(path: Path) -> None:
    path.write_bytes(LINE)
    journal = Journal(path, held=True)
    journal.message("abc", {"role": "user", "content": "hi"})
    journal.append("B", "", {})
    asyncio.run(journal.sync())
    assert path.read_bytes() == LINE
    assert journal.messages() == {"abc": {"role": "user", "content": "hi"}}
    journal.release()
    assert kinds(path) == ["A", "Message", "B"]
    journal.append("C", "", {})
    journal.release()
    assert kinds(path) == ["A", "Message", "B", "C"]
    journal.close()


def test_a_journal_that_is_never_released_leaves_the_file_as_it_was(path: Path) -> None:
    path.write_bytes(LINE)
    journal = Journal(path, held=True)
    journal.append("B", "", {})
    journal.close()
    journal.close()
    assert path.read_bytes() == LINE


def test_messages_that_are_there_are_not_written_again(path: Path) -> None:
    journal = Journal(path)
    journal.know(["abc"])
    journal.message("abc", {"role": "user", "content": "hi"})
    journal.close()
    assert path.read_bytes() == b""


def test_only_one_writes_a_journal_at_a_time(path: Path) -> None:
    first = Journal(path)
    with pytest.raises(WorkspaceError, match="the run is under way in another process; wait for it or stop it"):
        Journal(path)
    said = child("""
        import sys
        from pathlib import Path
        from chatdev.errors import WorkspaceError
        from chatdev.journal import Journal
        try:
            Journal(Path(sys.argv[1]))
        except WorkspaceError as error:
            print(error)
    """, path)
    assert "is being written" in said
    first.close()
    Journal(path).close()


def test_a_child_that_is_being_started_does_not_keep_the_journal_locked(path: Path) -> None:
    """Between fork and exec it has every file open that its parent has: runs in parallel start many."""
    journal = Journal(path)
    (ours,) = [entry for entry in Path("/proc/self/fd").iterdir() if entry.exists() and entry.samefile(path)]
    childs = os.dup(int(ours.name))
    journal.close()
    Journal(path).close()
    os.close(childs)


def test_a_line_for_which_there_is_no_room_is_not_left_half_written(path: Path) -> None:
    said = child("""
        import resource, signal, sys
        from pathlib import Path
        from chatdev.errors import WorkspaceError
        from chatdev.journal import Journal
        journal = Journal(Path(sys.argv[1]))
        journal.append("A", "", {})
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
        try:
            journal.append("B", "", {"text": "x" * 2000})
        except WorkspaceError as error:
            print(error)
        journal.append("C", "", {})
    """, path)
    assert "cannot write the journal" in said
    assert "go on with `chatdev resume`" in said
    assert kinds(path) == ["A", "C"]
