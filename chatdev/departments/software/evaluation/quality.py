"""All that is measured of finished software (one flat row of plain JSON values, the paper's quality among them), and
the columns of a report."""

from __future__ import annotations

import math
import re
import tempfile
from collections.abc import Iterable, Mapping
from operator import mul
from pathlib import Path, PurePosixPath
from typing import Any, Literal

from chatdev.departments.software.reading.static import placeholders
from chatdev.errors import MissingProgram
from chatdev.evaluation.measure import Bench, FinishedRun, Row, statistics
from chatdev.evaluation.reporting.study_results import ColumnSet
from chatdev.evaluation.tasks import Task
from chatdev.evaluation.trial import Accept, Check, count_refusals, run_hidden_test
from chatdev.packages.interpreter import interpreter
from chatdev.packages.modules import missing_for_windows, prepare_program
from chatdev.safe_text import sanitize
from chatdev.sandbox.base import Binding, ProcessLimits, SandboxJob
from chatdev.tools.base import ToolContext, registry, throwaway_copy
from chatdev.workspace.python_errors import syntax_errors

_PAPER_SECONDS = 3.0

METRICS = ("completeness", "executability", "consistency", "quality", "quality_mean", "acceptance", "solved")
"""Between 0 and 1; None where it could not be judged, the last two also where a task has no hidden test."""
PAPER = ("paper_completeness", "paper_executability", "paper_consistency", "paper_quality")
"""The same by the definitions of ChatDev's own script (`metrics.py`)."""

COLUMNS = ColumnSet(
    about="Completeness, executability and consistency multiply to quality. Acceptance is the share of hidden tests "
          "passed, on tasks that have some: whether the program does what was asked. Solved is the share of tasks of "
          "which all are passed.",
    metrics=("completeness", "executability", "consistency", "quality", "acceptance", "solved"), main="quality",
    compared=("quality", "acceptance", "solved"), statistics=("seconds", "tokens", "files", "lines", "cost"),
    further=("quality_mean",), further_statistics=("prompt_tokens", "completion_tokens", "calls"), published=PAPER,
    divided=(("way", "solved"), ("layout", "solved")))


def measure(folder: Path, task: Task, bench: Bench, accept: Accept | None = None) -> Row:
    """The row of the finished run in `folder`: `METRICS`, `PAPER`, `STATISTICS`, `embedder`, `model`, `status`,
    `reason`, `start` (the rule by which executability was judged; `rules.yaml`), and of the hidden test `checks`,
    `checks_passed`, how many of them are `refusals`, whether the `example_passed` (the first that is no refusal),
    and the names of the `failed_checks`.

    A run that was broken off delivered nothing and counts as 0, as in the paper; `reason` says why. `accept` is the
    task's hidden test. Blocking. Raises JournalError when the run has not ended, ModelError when the embedder fails,
    SandboxError and the like.
    """
    run = FinishedRun.read(folder)
    has_software = run.has_delivered and run.software
    measured = _software_row(run, task, bench, accept) if has_software else _row_without_software(accept)
    return {**measured, "embedder": bench.embedder.name, "model": ", ".join(run.models), "status": run.status,
            "reason": sanitize(run.reason), **statistics(run)}


def _software_row(run: FinishedRun, task: Task, bench: Bench, accept: Accept | None) -> Row:
    verdict = _start_verdict(run, bench)
    code, paper_code = code_text(run.software), paper_code_text(run.software)
    wanted, ours, theirs = bench.embedder.embed([task.description, code, paper_code])
    values = completeness(run.software), executability(verdict), consistency(wanted, ours) if code else 0.0
    by_paper = (paper_completeness(run.software), _start_as_paper(run, bench),
                consistency(wanted, theirs) if paper_code else 0.0)
    return {**dict(zip(METRICS, (*values, quality(values), quality(values, "mean")), strict=False)),
            **_acceptance(run, bench, accept), "start": str(verdict.get("rule", "")),
            **dict(zip(PAPER, (*by_paper, quality(by_paper)), strict=True))}


def _row_without_software(accept: Accept | None) -> Row:
    """What a run is worth that delivered nothing."""
    checks = [Check("something was delivered", passed=False)] if accept else []
    return {**dict.fromkeys((*METRICS, *PAPER), 0.0), **_acceptance_fields(checks), "start": ""}


def _start_verdict(run: FinishedRun, bench: Bench) -> Mapping[str, Any]:
    """What `software.run` says of the software now."""
    with tempfile.TemporaryDirectory(prefix="chatdev-", ignore_cleanup_errors=True) as scratch:
        context = ToolContext(run.software, {}, {}, bench.sandbox, run.folder / "run", Path(scratch),
                              bench.supply.options)
        verdict: Mapping[str, Any] = registry()["software.run"].call(context, {}).to_dict()
    return verdict


def _acceptance(run: FinishedRun, bench: Bench, accept: Accept | None) -> Row:
    if accept is None:
        return _acceptance_fields([])
    return _acceptance_fields(run_hidden_test(accept, run.folder / "software", bench.sandbox, bench.supply,
                                              run.folder / "run"))


def _acceptance_fields(tried: list[Check]) -> Row:
    checks = count_refusals(tried)
    passed = sum(check.passed for check in checks)
    return {"acceptance": passed / len(checks) if checks else None,
            "solved": float(passed == len(checks)) if checks else None, "checks_passed": passed,
            "checks": len(checks), "refusals": sum(check.refusal for check in checks),
            "example_passed": next((check.passed for check in checks if not check.refusal), None),
            "failed_checks": sanitize("; ".join(check.name for check in checks if not check.passed))}


def _start_as_paper(run: FinishedRun, bench: Bench) -> float | None:
    """Executability by the paper's script: `python3 main.py`, three seconds, and what is on standard error then; None
    where its windows cannot be shown here."""
    if "main.py" not in run.software:
        return paper_executability("")  # an interpreter that finds no file writes no traceback
    with (tempfile.TemporaryDirectory(prefix="chatdev-", ignore_cleanup_errors=True) as scratch,
          throwaway_copy(Path(scratch), run.software) as folder):
        job = _paper_job(run, folder, bench)
        return paper_executability(bench.sandbox.run(job).stderr) if job else None


def _paper_job(run: FinishedRun, folder: Path, bench: Bench) -> SandboxJob | None:
    if syntax_errors(run.software):
        bare = interpreter()
        return SandboxJob([str(bare.executable), "main.py"], folder, ProcessLimits(seconds=_PAPER_SECONDS), bindings=[
            Binding(bare.prefix)])
    program = prepare_program(run.software, run.folder / "run", bench.sandbox, bench.supply)
    return None if missing_for_windows(program) else program.job(folder, _PAPER_SECONDS + program.needs_display)


# The paper's quality: completeness × executability × consistency (ChatDev, ACL 2024, §4, "Metrics").

Combination = Literal["product", "mean"]

DOCUMENTS = {".md", ".txt", ".rst", ".json", ".csv", ".yaml", ".yml", ".toml", ".ini", ".cfg", ".svg"}
"""Suffixes of files that are no code."""

_QUOTED = re.compile(r'''"{3}.*?"{3}|\'{3}.*?\'{3}''', re.DOTALL)
_EXCUSED = ("password", "passenger", "passed", "passes")


def completeness(software: Mapping[str, bytes]) -> float:
    """1 when there is software and nothing in it was left for later, else 0 (paper: the share of software without
    placeholder code). A placeholder is a body that is only `pass`, `...` or `raise NotImplementedError` where that is
    not the right body, or a comment that announces missing work (`software.complete`)."""
    return float(bool(software) and not placeholders(software))


def executability(verdict: Mapping[str, Any]) -> float | None:
    """1 when the software was built and started by the stated policy, else 0 (paper: the share of software that
    compiles and runs directly). `verdict` is what `software.run` said; None when it could not judge. A
    library is not started: 0, as a task is for a program."""
    if verdict.get("rule") == "library":
        return 0.0
    return float(verdict["passed"]) if verdict.get("judged", True) else None


def consistency(requirement: Iterable[float], code: Iterable[float]) -> float:
    """The cosine of the embeddings of requirement and code without comments, 0 where they point apart (paper: the
    cosine distance of the semantic embeddings of textual requirements and generated code)."""
    one, other = list(requirement), list(code)
    lengths = math.hypot(*one) * math.hypot(*other)
    return max(0.0, math.fsum(map(mul, one, other)) / lengths) if lengths else 0.0


def quality(values: Iterable[float | None], combination: Combination = "product") -> float | None:
    """Completeness, executability and consistency in one number: their product (paper), or their mean. None when one
    of them could not be judged."""
    known: list[float] = []
    for value in values:
        if value is None:
            return None
        known.append(value)
    return math.prod(known) if combination == "product" else math.fsum(known) / len(known)


def code_text(software: Mapping[str, bytes]) -> str:
    """All code files in the order of their paths, without comments, docstrings and blank lines. Raises MissingProgram
    without pygments, which knows the languages."""
    texts = [_without_comments(path, data.decode("utf-8", "replace")) for path, data in sorted(software.items())
             if PurePosixPath(path).suffix.lower() not in DOCUMENTS and b"\0" not in data]
    return "\n".join(text for text in texts if text)


def _without_comments(path: str, text: str) -> str:
    """One file without comments and blank lines; empty when no language is known for it."""
    try:
        from pygments.lexers import get_lexer_for_filename
        from pygments.token import Comment, String, is_token_subtype
        from pygments.util import ClassNotFound
    except ImportError as error:
        raise MissingProgram("the metrics need pygments: pip install 'chatdev-chain[eval]'") from error
    try:
        lexer = get_lexer_for_filename(path, stripnl=False)
    except ClassNotFound:
        return ""

    def is_code(kind: Any) -> bool:
        directive = any(is_token_subtype(kind, part) for part in (Comment.Preproc, Comment.PreprocFile))
        return directive or not (is_token_subtype(kind, Comment) or is_token_subtype(kind, String.Doc))

    kept = "".join(value for kind, value in lexer.get_tokens(text) if is_code(kind))
    return "\n".join(line.rstrip() for line in kept.splitlines() if line.strip())


def paper_completeness(software: Mapping[str, bytes]) -> float:
    """0 when a line of a Python file has the letters "pass" or "todo" in it, whatever its case, unless one of four
    words excuses it; else 1."""
    lines = (line.lower() for path, data in software.items() if path.endswith(".py")
             for line in data.decode("utf-8", "replace").splitlines())
    return float(not any(_has_placeholder_letters(line) for line in lines))


def paper_executability(stderr: str) -> float:
    """0 when the program, started as `python3 main.py` for three seconds, wrote "Traceback" to its standard error;
    else 1."""
    return float("Traceback" not in stderr)


def paper_code_text(software: Mapping[str, bytes]) -> str:
    """The text whose embedding is compared with that of the requirement: all Python files, without lines that begin
    with # and without what stands in triple quotes, be it a comment or not."""
    texts = (_QUOTED.sub("", data.decode("utf-8", "replace")) for path, data in sorted(software.items())
             if path.endswith(".py"))
    return "\n".join(line for text in texts for line in text.splitlines() if not line.lstrip().startswith("#"))


def _has_placeholder_letters(line: str) -> bool:
    return ("pass" in line or "todo" in line) and not any(word in line for word in _EXCUSED)
