"""The drafts of a run, read from its journal: what the run would have delivered had it ended with one of them."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from chatdev.evaluation.measure import Bench, FinishedRun
from chatdev.evaluation.trial import Accept, Check, count_refusals, run_hidden_test
from chatdev.place import Place
from chatdev.replies import Unreadable, parse_files, read_marker
from chatdev.runner.recorded import RecordedRun
from chatdev.workspace.file_tree import write_tree


def first_draft(records: Iterable[Mapping[str, Any]]) -> dict[str, bytes] | None:
    """The software of the assistant's first reply in the phase that delivered first; empty where that reply could not
    be read, None where nothing was delivered."""
    records = list(records)
    if (phase := _delivering_phase(records)) is None:
        return None
    replies = (entry["result"]["text"] for entry in _replies(records)
               if Place(entry["place"]).nearest_step == phase and str(entry["place"]).endswith("/assistant"))
    return _read(next(replies, ""))


def drafts(records: Iterable[Mapping[str, Any]]) -> list[dict[str, bytes]]:
    """The software of all drafts that can be read: of the first delivery, and of all phases that draw several."""
    records = list(records)
    phases = {_delivering_phase(records), *(Place(entry["place"]).nearest_step for entry in records
                                            if entry["kind"] == "DraftJudged")}
    found = [_read(entry["result"]["text"]) for entry in _replies(records)
             if Place(entry["place"]).nearest_step in phases and Place(entry["place"]).speaker == "assistant"]
    return [software for number, software in enumerate(found) if software and software not in found[:number]]


def _delivering_phase(records: Sequence[Mapping[str, Any]]) -> Place | None:
    """The phase of the first delivery."""
    return next((Place(entry["place"]).nearest_step for entry in records if _writes_files(entry)), None)


def _replies(records: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    return (entry for entry in records if entry["kind"] == "Activity" and "text" in entry["result"])


def _read(reply: str) -> dict[str, bytes]:
    """The files of a reply; none where it cannot be read."""
    try:
        return parse_files(read_marker(reply).body, {}).software
    except Unreadable:
        return {}


def _writes_files(entry: Mapping[str, Any]) -> bool:
    """Whether a record tells of a delivery of files, and not of a name of long-term memory: examples, commands."""
    return entry["kind"] == "DeliveryApplied" and not all(map(str.isidentifier, entry["written"]))


def count_passed_checks(run: FinishedRun, accept: Accept, bench: Bench) -> int | None:
    """How many hidden checks the first draft of a run passes; None where nothing was delivered."""
    software = first_draft(RecordedRun.read(run.folder).records)
    return None if software is None else sum(check.passed for check in try_draft(software, accept, bench, run.folder))


def try_draft(software: Mapping[str, bytes], accept: Accept, bench: Bench, run_folder: Path) -> list[Check]:
    """The hidden checks of a draft, as they count; it finds the modules of its run."""
    with tempfile.TemporaryDirectory(prefix="chatdev-", ignore_cleanup_errors=True) as folder:
        write_tree(Path(folder), software)
        checks = run_hidden_test(accept, Path(folder), bench.sandbox, bench.supply, run_folder / "run")
    return count_refusals(checks)
