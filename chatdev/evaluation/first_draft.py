"""The first draft of a run, read from its journal: what the run would have delivered had it ended there."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from chatdev.evaluation.measure import Bench, FinishedRun
from chatdev.evaluation.trial import Accept, count_refusals, run_hidden_test
from chatdev.place import Place
from chatdev.replies import Unreadable, parse_files, read_marker
from chatdev.runner.recorded import RecordedRun
from chatdev.workspace.file_tree import write_tree


def first_draft(records: Iterable[Mapping[str, Any]]) -> dict[str, bytes] | None:
    """The software of the assistant's first reply in the phase that delivered first; empty where that reply could not
    be read, None where nothing was delivered."""
    records = list(records)
    delivered = next((entry["place"] for entry in records if _writes_files(entry)), None)
    if delivered is None:
        return None
    phase = Place(delivered).nearest_step
    replies = (entry["result"]["text"] for entry in records if entry["kind"] == "Activity"
               and "text" in entry["result"] and Place(entry["place"]).nearest_step == phase
               and str(entry["place"]).endswith("/assistant"))
    marked = read_marker(next(replies, ""))
    try:
        return parse_files(marked.body, {}).software
    except Unreadable:
        return {}


def _writes_files(entry: Mapping[str, Any]) -> bool:
    """Whether a record tells of a delivery of files, and not of a name of long-term memory: examples, commands."""
    return entry["kind"] == "DeliveryApplied" and not all(map(str.isidentifier, entry["written"]))


def count_passed_checks(run: FinishedRun, accept: Accept, bench: Bench) -> int | None:
    """How many hidden checks the first draft of a run passes; None where nothing was delivered."""
    software = first_draft(RecordedRun.read(run.folder).records)
    if software is None:
        return None
    with tempfile.TemporaryDirectory(prefix="chatdev-", ignore_cleanup_errors=True) as folder:
        write_tree(Path(folder), software)
        checks = run_hidden_test(accept, Path(folder), bench.sandbox, bench.supply, run.folder / "run")
    return sum(check.passed for check in count_refusals(checks))
