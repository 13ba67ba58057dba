"""Every committed journal plays to its recorded end, step by step, under the semantics that it was made with."""

from __future__ import annotations

import asyncio
import tarfile
from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from chatdev.events import Event
from chatdev.paths import bundled_folder
from chatdev.runner.execute import RunExecution
from chatdev.runner.options import RunOptions
from chatdev.runner.plan import plan_replay
from chatdev.runner.recorded import RecordedRun
from chatdev.runner.resources import open_resources
from chatdev.workspace.run_folder import RunFolder

ROOT = Path(__file__).resolve().parents[2]
ARCHIVES = {path.name: path for path in sorted((ROOT / "benchmarks" / "results").glob("*_journals.tar.xz"))}
EXAMPLES = [*sorted(bundled_folder("company_config").glob("*/examples/**/*.jsonl")),
            *sorted(Path(__file__).with_name("journals").glob("*.jsonl"))]
STEPS = ("PhaseStarted", "Uttered", "DeliveryApplied", "DeliveryRefused", "PhaseFinished", "StepSkipped")
REWORDED = {
    "todo_before_drafts.jsonl": 5, "chatdev-without-roles/Letter-Feedback": 2,
    "chatdev-without-roles/Julian-Date-Converter": 5, "chatdev-without-roles/Time-Zone-Arrival": 2,
    "chatdev/Molar-Mass": 2, "chatdev/Letter-Feedback": 2, "chatdev/Julian-Date-Converter": 2,
    "chatdev/Time-Zone-Arrival": 2, "chatdev/Tax-Rate-Summary": 5, "chatdev/Tune-to-Wave": 2,
    "chatdev-without-dehallucination/Julian-Date-Converter": 2, "chatdev-without-dehallucination/Time-Zone-Arrival": 3,
}
"""Requests of journals without a version that had other words or limits when they were made, before semantics had
versions. None may be added."""


def journals(name: str, folder: Path) -> list[Path]:
    """Those of the examples, or of an archive, which is unpacked in the folder."""
    if name == "examples":
        return EXAMPLES
    with tarfile.open(ARCHIVES[name]) as tar:
        tar.extractall(folder, filter="data")
    return sorted(folder.rglob("*.jsonl"))


def replay(journal: Path) -> tuple[RunExecution, RecordedRun, list[Event]]:
    """The replay of a journal after its end, what is on record, and its events."""
    async def play() -> tuple[RunExecution, RecordedRun, list[Event]]:
        events: list[Event] = []
        async with open_resources(RunOptions(on_event=events.append), ()) as resources:
            plan = plan_replay(journal, None, resources)
            assert plan.past
            assert not isinstance(plan.folder, RunFolder)
            folder = RunFolder.create(plan.folder.warehouse, plan.folder.name, datetime.now().astimezone())
            execution = RunExecution(plan, resources, folder, resources.journal(folder, held=True))
            await execution.run_to_end()
            return execution, plan.past.recorded, events
    return asyncio.run(play())


def steps(records: Iterable[Mapping[str, Any]]) -> list[tuple[Any, ...]]:
    """What happened, in whatever words of the engine and its tools, and in whatever order of parallel branches."""
    fields = ("kind", "place", "ending", "unchanged", "utterance")
    return sorted((tuple(one.get(field) for field in fields) for one in records
                   if one["kind"] in STEPS and one.get("utterance") != "report"), key=repr)


@pytest.mark.parametrize("name", ["examples", *ARCHIVES])
def test_every_journal_plays_to_its_recorded_end(name: str, tmp_path: Path) -> None:
    found = journals(name, tmp_path)
    assert found
    for journal in found:
        execution, recorded, events = replay(journal)
        assert execution.log.run.status == recorded.status, journal
        assert execution.playback.calls_found == len(recorded.finished), journal
        assert steps({"kind": event.kind, **event.to_dict()} for event in events) == steps(recorded.records), journal
        known = [count for path, count in REWORDED.items() if f"/{path}" in f"{journal}"]
        record = execution.playback.record
        assert record
        assert record.differences == sum(known), journal
