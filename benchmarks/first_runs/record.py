"""What is written down of the study: benchmarks/results/first_runs.json, and the table of docs/first-runs.md."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date
from typing import Any

from benchmarks.study import DOCS, RESULTS_FOLDER, KeptTable, machine, markdown_table

_COLUMNS = ("Task", "Calls", "Tokens read", "Tokens written", "Minutes", "Files", "Lines", "Starts", "Accepted",
            "What failed")


@dataclass(frozen=True, slots=True)
class Row:
    """One task's outcome. `lines` counts the lines of the program files; `reason` is empty when accepted."""

    name: str
    calls: int
    prompt_tokens: int
    completion_tokens: int
    minutes: float
    files: int
    lines: int
    starts: bool
    accepted: bool
    passed_checks: int
    checks: int
    reason: str


def save(to: KeptTable, rows: Sequence[Row], model: str) -> None:
    """Keep the rows beside those of other tasks from before, and write the page."""
    kept = {row["name"]: row for row in to.read().get("tasks", [])}
    kept |= {row.name: {**asdict(row), "date": date.today().isoformat()} for row in rows}  # noqa: DTZ011 - the user's day
    to.keep({"machine": machine(), "model": model, "tasks": list(kept.values())})


def table(study: Mapping[str, Any]) -> str:
    """The study as a Markdown table."""
    accepted = sum(task["accepted"] for task in study["tasks"])
    dates = sorted({task["date"] for task in study["tasks"]})
    facts = [f"{accepted} of {len(study['tasks'])} accepted", f"model: {study['model']}",
             f"machine: {study['machine']}", f"date: {' to '.join(dict.fromkeys((dates[0], dates[-1])))}"]
    return f"{markdown_table(_COLUMNS, map(_cells, study['tasks']))}\n\n{'; '.join(facts)}."


def _cells(task: Mapping[str, Any]) -> list[str]:
    yes = {True: "yes", False: "no"}
    return [task["name"], str(task["calls"]), str(task["prompt_tokens"]), str(task["completion_tokens"]),
            f"{task['minutes']:.1f}", str(task["files"]), str(task["lines"]), yes[task["starts"]],
            f"{yes[task['accepted']]} ({task['passed_checks']}/{task['checks']})", task["reason"]]


TABLE = KeptTable(table, RESULTS_FOLDER / "first_runs.json", DOCS / "first-runs.md",
                  ("<!-- first runs: written by benchmarks/first_runs/run_all.py -->", "<!-- end of first runs -->"))
