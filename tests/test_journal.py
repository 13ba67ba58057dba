"""The journal: append-only lines, messages once, a torn last line tolerated, other damage named."""

import asyncio
import json
from pathlib import Path

import pytest

from chatdev.errors import JournalError, WorkspaceError
from chatdev.journal import Journal, read_journal


def test_records_come_back_in_order(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.jsonl")
    journal.append("Noted", "coding#1", {"text": "half a pair \ud800"})
    journal.message("abc", {"role": "user", "content": "hi"})
    journal.message("abc", {"role": "user", "content": "hi"})
    asyncio.run(journal.sync())
    journal.close()
    kinds = [record["kind"] for record in read_journal(tmp_path / "journal.jsonl")]
    assert kinds == ["Noted", "Message"]


def test_a_torn_last_line_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    path.write_bytes(b'{"v":1,"kind":"A","place":""}\n{"v":1,"ki')
    assert [r["kind"] for r in read_journal(path)] == ["A"]


def test_damage_elsewhere_is_named_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    path.write_text('{"v":1,"kind":"A","place":""}\ngarbage\n' + json.dumps({"kind": "B"}) + "\n")
    with pytest.raises(JournalError, match="line 2"):
        list(read_journal(path))


def test_a_journal_that_cannot_be_opened_or_read_says_so(tmp_path: Path) -> None:
    with pytest.raises(WorkspaceError, match="cannot write the journal"):
        Journal(tmp_path / "missing" / "journal.jsonl")
    with pytest.raises(JournalError, match="cannot read"):
        list(read_journal(tmp_path / "missing.jsonl"))
