"""Score line of a study, to be sent back and kept in docs/models.md."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import Any

from chatdev.engine.budget import count_noun
from chatdev.evaluation.reporting.formats import format_mean
from chatdev.evaluation.reporting.study_results import Results
from chatdev.version import __version__


def score_lines(results: Results, tier: str, on: date) -> list[str]:
    """A line for each model of a study: version, date, model, tier, and by variant the tasks solved, the calls and the
    cost of a run. Only runs of tasks with a hidden test count; empty where there is none."""
    judged = replace(results, rows=[row for row in results.rows if row.get("acceptance") is not None])
    return [_line(judged, tier, model, on) for model in judged.distinct("model")]


def _line(results: Results, tier: str, model: str, on: date) -> str:
    rows = [row for row in results.rows if row.get("model") == model]
    names = [name for name in results.variants if any(row.get("variant") == name for row in rows)]
    tasks = len({row.get("task") for row in rows})
    parts = [f"chatdev {__version__}, {on.isoformat()}", model, f"{tier}, {count_noun(tasks, 'task')}",
             *(_variant(results, name, rows) for name in names)]
    lost = len(results.failed) + results.unfinished
    return " | ".join([*parts, *([f"{count_noun(lost, 'run')} without a result"] if lost else [])])


def _variant(results: Results, name: str, rows: Sequence[Mapping[str, Any]]) -> str:
    found = results.estimates(name, metrics=("solved", "calls", "cost"))
    solved, cost = found["solved"].mean, found["cost"]
    runs = sum(row.get("variant") == name for row in rows)
    known = cost.mean is not None and all(row.get("cost") is not None for row in rows if row.get("variant") == name)
    return (f"{name}: {'–' if solved is None else f'{solved:.1%}'} solved in {count_noun(runs, 'run')}, "
            f"{format_mean(found['calls'].mean, 'calls')} calls, "
            f"{format_mean(cost.mean, 'cost') if known else 'cost unknown'}")
