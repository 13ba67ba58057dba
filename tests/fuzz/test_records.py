"""A journal whose records lack fields, or hold values of another kind, is refused with an error of ours, whoever reads
it; nothing else leaves a reader."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import chatdev
from chatdev import Company, ScriptedModel
from chatdev.errors import ChatDevError, JournalError
from chatdev.evaluation.measure import FinishedRun
from chatdev.evaluation.plots import dialogues
from chatdev.runner.recorded import RecordedRun
from chatdev.runner.resources import sum_past_spending
from chatdev.runner.telemetry import otlp_lines, spans_of
from chatdev.tools.base import ToolContext, Verdict

COMPANY = """
company: small
about: Writes a page.
inputs: {task: {about: The product., required: true}, picture: {kind: image}}
roles: {lead: {title: Lead}, writer: {title: Writer, tools: [mine.look]}}
phases:
  page:
    {about: Write a page., instructor: lead, assistant: writer, reads: [task], writes: software, rounds: 2,
     solution: {form: files, as_file: page.md}, opening: "The product: {{ task }}"}
chain: [{phase: page}, {tool: mine.look, writes: test}]
success: test.passed
"""
CALL = '```json\n{"tool": "mine.look", "arguments": {}}\n```'
DEEP: list[Any] = json.loads("[" * 400 + "]" * 400)
ODD: list[Any] = [None, True, -1, 10**400, 0.5, float("nan"), float("inf"), "", "\ud800", "x", [], [1], {}, {"a": []},
                  {"name_or_path": "\0"}, DEEP]
GONE = object()
Path_ = tuple[str | int, ...]


def look(ctx: ToolContext) -> Verdict:
    """Looks at it."""
    return Verdict(True, "fine")


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """A whole journal with every kind of record that a run has."""
    folder = tmp_path_factory.mktemp("small")
    (folder / "company.yaml").write_text(COMPANY)
    run = Company.load(folder, tools=[look]).run(
        "a lamp", model=ScriptedModel({"page": [CALL, "a lamp", "Better.", "<SOLUTION>\na good lamp"]}), sandbox="none",
        warehouse=folder)
    assert run.success, run.reason
    lines = (run.folder / "run" / "journal.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def places(value: Any, above: Path_ = (), levels: int = 4) -> Iterator[Path_]:
    """Where something stands in a record."""
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in entries:
        yield (*above, key)
        if levels:
            yield from places(child, (*above, key), levels - 1)


def changed(record: dict[str, Any], path: Path_, value: Any) -> dict[str, Any]:
    """The record with another value at a place, or without it."""
    copy = deepcopy(record)
    inner: Any = copy
    for key in path[:-1]:
        inner = inner[key]
    if value is GONE:
        del inner[path[-1]]
    else:
        inner[path[-1]] = value
    return copy


def write(folder: Path, records: list[dict[str, Any]]) -> Path:
    """The journal in a run folder."""
    (folder / "run").mkdir(parents=True, exist_ok=True)
    (folder / "software").mkdir(exist_ok=True)
    lines = [json.dumps(record, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n" for record in records]
    (folder / "run" / "journal.jsonl").write_bytes(b"".join(lines))
    return folder


def read(folder: Path) -> None:
    """All that is read of a journal before anything of it is played."""
    recorded = RecordedRun.read(folder)
    assert isinstance(recorded.status, str)
    assert recorded.models_vary in (True, False)
    assert recorded.reusable_activities.keys() <= recorded.finished.keys()
    assert sum_past_spending(recorded.records).calls >= 0
    FinishedRun.read(folder)
    dialogues([folder])


def test_every_kind_of_record_is_among_those_that_are_changed(records: list[dict[str, Any]]) -> None:
    assert {record["kind"] for record in records} >= {"Order", "Message", "Activity", "RunStarted", "RunFinished",
                                                      "ModelCalled", "ToolCalled", "Uttered", "PhaseFinished"}


def test_the_journal_as_it_is_can_be_read_and_played(records: list[dict[str, Any]], tmp_path: Path) -> None:
    for use in (read, trace, replay, resume):
        use(write(tmp_path / "run", records))


def test_no_field_is_missed_by_a_reader(records: list[dict[str, Any]], tmp_path: Path) -> None:
    for number, record in enumerate(records):
        for path in places(record, levels=0):
            folder = write(tmp_path / "run", [*records[:number], changed(record, path, GONE), *records[number + 1:]])
            try:
                read(folder)
            except JournalError:
                continue
            assert path[0] not in ("v", "kind", "request", "digest", "result", "company", "seconds", "hash", "message")


@settings(max_examples=80)
@given(data=st.data())
def test_a_value_of_another_kind_is_refused_or_does_no_harm(
        records: list[dict[str, Any]], tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    number = data.draw(st.integers(0, len(records) - 1))
    path = data.draw(st.sampled_from(list(places(records[number]))))
    record = changed(records[number], path, data.draw(st.sampled_from([GONE, *ODD])))
    folder = write(tmp_path_factory.mktemp("odd") / "run", [*records[:number], record, *records[number + 1:]])
    for use in (read, trace, replay, resume):
        with suppress(ChatDevError):
            use(folder)


def trace(folder: Path) -> None:
    assert all(json.loads(line) for line in otlp_lines(spans_of(folder, content=True)))


def replay(folder: Path) -> None:
    chatdev.replay(folder, tools=[look])


def resume(folder: Path) -> None:
    chatdev.resume(folder, tools=[look], model=ScriptedModel([]), as_it_was=True)
