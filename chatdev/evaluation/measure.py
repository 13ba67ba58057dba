"""All that is measured of one finished run, as one flat row of plain JSON values."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from chatdev.evaluation import acceptance, paper, quality
from chatdev.evaluation.code_text import code_text
from chatdev.evaluation.embedding.base import Embedder
from chatdev.evaluation.finished import FinishedRun
from chatdev.evaluation.tasks import Task
from chatdev.evaluation.trial import Check
from chatdev.runner.sanitize import sanitize
from chatdev.sandbox.base import Binding, Job, ProcessLimits, Sandbox
from chatdev.tools.base import ToolContext, throwaway_copy
from chatdev.tools.registry import registry
from chatdev.tools.software.installing.supply import Supply
from chatdev.tools.software.interpreter import interpreter
from chatdev.tools.software.python import missing_for_windows, prepare_program
from chatdev.tools.software.static import syntax_errors

Row = dict[str, Any]

_PAPER_SECONDS = 3.0

METRICS = ("completeness", "executability", "consistency", "quality", "quality_mean", "acceptance")
"""Between 0 and 1; None where it could not be judged, `acceptance` also where a task has no hidden test."""
PAPER = ("paper_completeness", "paper_executability", "paper_consistency", "paper_quality")
"""The same by the definitions of ChatDev's own script (`evaluation.paper`)."""
STATISTICS = ("seconds", "tokens", "prompt_tokens", "completion_tokens", "calls", "files", "lines", "cost")
"""What the run took and made; seconds, US dollars (None: a price is unknown)."""


@dataclass(frozen=True, slots=True)
class Bench:
    """What runs are measured with; the same for all that are to be compared."""

    sandbox: Sandbox
    embedder: Embedder
    supply: Supply = field(default_factory=Supply)


def measure(folder: Path, task: Task, bench: Bench, script: Path | None = None) -> Row:
    """The row of the finished run in `folder`: `METRICS`, `PAPER`, `STATISTICS`, `embedder`, `model`, `status`,
    `reason`, `start` (the rule by which executability was judged; `rules.yaml`), and of the hidden test `checks`,
    `checks_passed` and the names of the `failed_checks`.

    A run that was broken off delivered nothing and counts as 0, as in the paper; `reason` says why. `script` is the
    task's hidden test. Blocking. Raises JournalError when the run has not ended, ModelError when the embedder fails,
    SandboxError and the like.
    """
    run = FinishedRun.read(folder)
    judged = _judged(run, task, bench, script) if run.delivered and run.software else _nothing(script)
    return {**judged, "embedder": bench.embedder.name, "model": ", ".join(run.models), "status": run.status,
            "reason": sanitize(run.reason), **statistics(run)}


def _judged(run: FinishedRun, task: Task, bench: Bench, script: Path | None) -> Row:
    verdict = _started(run, bench)
    code, paper_code = code_text(run.software), paper.code_text(run.software)
    wanted, ours, theirs = bench.embedder.embed([task.description, code, paper_code])
    values = (quality.completeness(run.software), quality.executability(verdict),
              quality.consistency(wanted, ours) if code else 0.0)
    by_paper = (paper.completeness(run.software), _paper_executability(run, bench),
                quality.consistency(wanted, theirs) if paper_code else 0.0)
    return {**dict(zip(METRICS, (*values, quality.quality(values), quality.quality(values, "mean")), strict=False)),
            **_acceptance(run, bench, script), "start": str(verdict.get("rule", "")),
            **dict(zip(PAPER, (*by_paper, quality.quality(by_paper)), strict=True))}


def _nothing(script: Path | None) -> Row:
    """What a run is worth that delivered nothing."""
    checks = [Check("something was delivered", passed=False)] if script else []
    return {**dict.fromkeys((*METRICS, *PAPER), 0.0), **_shares(checks), "start": ""}


def _started(run: FinishedRun, bench: Bench) -> Mapping[str, Any]:
    """What `software.run` says of the software now."""
    with tempfile.TemporaryDirectory(prefix="chatdev-", ignore_cleanup_errors=True) as scratch:
        context = ToolContext(run.software, {}, {}, bench.sandbox, run.folder / "run", Path(scratch),
                              bench.supply.options)
        verdict: Mapping[str, Any] = registry()["software.run"].call(context, {}).to_dict()
    return verdict


def _acceptance(run: FinishedRun, bench: Bench, script: Path | None) -> Row:
    if script is None:
        return _shares([])
    return _shares(acceptance.accepted(acceptance.load(script), run.folder / "software", bench.sandbox, bench.supply,
                                       run.folder / "run"))


def _shares(checks: list[Check]) -> Row:
    passed = sum(check.passed for check in checks)
    return {"acceptance": passed / len(checks) if checks else None, "checks_passed": passed, "checks": len(checks),
            "failed_checks": sanitize("; ".join(check.name for check in checks if not check.passed))}


def _paper_executability(run: FinishedRun, bench: Bench) -> float | None:
    """By the paper's script: `python3 main.py`, three seconds, and what is on standard error then; None where its
    windows cannot be shown here."""
    if "main.py" not in run.software:
        return paper.executability("")  # an interpreter that finds no file writes no traceback
    with (tempfile.TemporaryDirectory(prefix="chatdev-", ignore_cleanup_errors=True) as scratch,
          throwaway_copy(Path(scratch), run.software) as folder):
        job = _paper_start(run, folder, bench)
        return paper.executability(bench.sandbox.run(job).stderr) if job else None


def _paper_start(run: FinishedRun, folder: Path, bench: Bench) -> Job | None:
    if syntax_errors(run.software):
        bare = interpreter()
        return Job([str(bare.executable), "main.py"], folder, ProcessLimits(seconds=_PAPER_SECONDS), bindings=[
            Binding(bare.prefix)])
    program = prepare_program(run.software, run.folder / "run", bench.sandbox, bench.supply)
    return None if missing_for_windows(program) else program.job(folder, _PAPER_SECONDS + program.needs_display)


def statistics(run: FinishedRun) -> Row:
    """`STATISTICS` of a run."""
    usage = run.usage
    return {"seconds": usage.seconds, "tokens": usage.prompt_tokens + usage.completion_tokens,
            "prompt_tokens": usage.prompt_tokens, "completion_tokens": usage.completion_tokens, "calls": usage.calls,
            "files": len(run.software), "lines": run.software.lines, "cost": usage.cost}
