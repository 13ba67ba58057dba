"""What a study may not mix: rows of other conditions, tasks or companies, jobs of an earlier version, others' runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from chatdev.batch.ledger import Job, Ledger, LedgerEntry
from chatdev.errors import ConfigError
from chatdev.evaluation.tasks import Task
from chatdev.evaluation.variants import Variant, name_without_model
from chatdev.runner.recorded import RecordedRun


def refuse_changes(ledger: Ledger, jobs: Sequence[Job], conditions: Mapping[str, Any]) -> None:
    """Raise ConfigError when the study in the ledger was begun under other `conditions`, with another text of a task or
    company, or by a version that named jobs otherwise; and when it has open jobs of variants that `jobs` omit."""
    new = {job.key: job for job in jobs}
    named = [job.spec["variant"] for job in jobs]
    for entry in ledger.entries():
        _refuse_older_name(ledger.batch, entry)
        job = new.get(entry.key)
        expected = {**entry.spec, "conditions": conditions, **(job.spec if job else {})}
        if changes := list(_differences(entry.spec, expected)):
            raise ConfigError(f"the study {ledger.batch!r} was begun differently ({entry.key}): {changes[0]}. Go on"
                              " as it was begun, or begin another one: --study NAME")
        if named and entry.state in ("open", "running") and entry.spec.get("variant") not in named:
            raise ConfigError(f"the study {ledger.batch!r} has open jobs of a variant that this command does not "
                              f"name ({entry.key}); name it too (--companies, --set, --model), or begin another "
                              "study: --study NAME")


def _refuse_older_name(study: str, entry: LedgerEntry) -> None:
    """Raise ConfigError for a job of a study that an earlier version began: it named the model in some only."""
    variant = entry.spec.get("variant")
    name, model = (variant.get(field) for field in ("name", "model")) if isinstance(variant, Mapping) else ("", "")
    if name and model and name_without_model(name, model) == name:
        raise ConfigError(f"the study {study!r} was begun by an earlier version of chatdev, which left the model out of"
                          f" the names of jobs ({entry.key}); `chatdev eval report` still shows it. Begin another study"
                          " for new runs: --study NAME")


def _differences(before: Mapping[str, Any], now: Mapping[str, Any], path: str = "") -> Iterator[str]:
    """What differs, one line each."""
    for name in sorted({*before, *now}):
        one, other = before.get(name), now.get(name)
        if isinstance(one, Mapping) and isinstance(other, Mapping):
            yield from _differences(one, other, f"{path}{name}.")
        elif one != other:
            yield f"{path}{name} was {one!r} and is {other!r}"


def refuse_other_run(folder: Path, task: Task, variant: Variant) -> None:
    """Raise ConfigError when a run that is there already is not that of the task and variant."""
    order = RecordedRun.read(folder).order
    model = variant.model or order.options.get("model")
    asked = variant.load().resolved, task.description, model
    if (order.company, order.inputs.get("task"), order.options.get("model")) != asked:
        raise ConfigError(f"the run in {folder} is of another task, company or model; take another --folder")
