"""What the drafts of a study's runs are worth: how many runs have one that passes every hidden check, delivered or not.

It is read from the journals alone, so kept runs can be asked, too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.study import markdown_table
from chatdev.departments.software.evaluation.srdd import EasyTask, drafts, try_draft
from chatdev.evaluation.measure import Bench, LexicalEmbedder
from chatdev.packages.imports import Supply
from chatdev.runner.recorded import RecordedRun
from chatdev.sandbox.kinds import find_sandbox


def worth_of_drafts(folders: Mapping[str, Sequence[Path]], tasks: Sequence[EasyTask]) -> dict[str, Any]:
    """By variant: its `runs`, their readable `drafts`, and how many runs have one that is `right`."""
    bench = Bench(find_sandbox(), LexicalEmbedder(), Supply("never"))
    by_text = {task.description: task for task in tasks}
    return {variant: _worth([_verdicts(run, by_text, bench) for run in runs]) for variant, runs in folders.items()}


def _verdicts(run: Path, tasks: Mapping[str, EasyTask], bench: Bench) -> list[bool]:
    """Of each draft of a run whether it passes every hidden check of the run's task."""
    recorded = RecordedRun.read(run)
    accept = tasks[recorded.order.inputs["task"]].accept
    return [all(check.passed for check in try_draft(software, accept, bench, run))
            for software in drafts(recorded.records)]


def _worth(runs: Sequence[Sequence[bool]]) -> dict[str, int]:
    return {"runs": len(runs), "drafts": sum(map(len, runs)), "right": sum(map(any, runs))}


def drafts_table(worth: Mapping[str, Mapping[str, int]], solved: Mapping[str, float]) -> str:
    """The worth of each variant's drafts beside what it solved."""
    return markdown_table(
        ["Runs", "how many", "readable drafts of a run", "runs of which a draft passes every check", "solved"],
        [(variant, found["runs"], f"{found['drafts'] / found['runs']:.1f}", found["right"], f"{solved[variant]:.0f}")
         for variant, found in worth.items()])
