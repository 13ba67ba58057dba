"""What the trial of today says of the drafts that kept runs drew: a table in docs/studies/easy-tasks.md.

    python -m benchmarks.software.easy_verdicts [--write]

Each readable draft of the chain's runs in `easy_local again` is judged by the hidden checks of its task, and
by `software.use` with what the Tester of its run wrote. No model is asked. Takes about three minutes.
"""

from __future__ import annotations

import tarfile
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from benchmarks.software.easy_local import AGAIN, CHAIN, study_of, tasks_of
from benchmarks.study import DOCS, RESULTS_FOLDER, KeptStudy, markdown_table, marks
from chatdev.departments.software.evaluation.srdd import NO_EXAMPLE, EasyTask, drafts, try_draft
from chatdev.evaluation.measure import Bench, LexicalEmbedder
from chatdev.evaluation.trial import Check
from chatdev.events import Place
from chatdev.packages.imports import Supply
from chatdev.replies import Unreadable, read_marker
from chatdev.replies.forms import parse_solution
from chatdev.runner.recorded import RecordedRun, recorded_company
from chatdev.runner.toolbox import KnownTools
from chatdev.sandbox.kinds import find_sandbox
from chatdev.tools.base import ToolContext, Verdict, registry

TESTERS = ("examples", "commands")
"""What a Tester writes into long-term memory."""
KINDS = ("passes every check", "passes the request's example, not every check", "fails the request's example",
         "fails a check of a request without example")


def measure() -> dict[str, Any]:
    """The rows of all drafts."""
    study, tasks = study_of(AGAIN), {task.description: task for task in tasks_of(AGAIN)}
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(study.journals) as archive:
            archive.extractall(folder, filter="data")
        runs = sorted(Path(folder).glob(f"*/{CHAIN}-*/*"))
        return {"rows": [row for run in runs for row in judge_drafts(run, tasks)]}


def judge_drafts(run: Path, tasks: Mapping[str, EasyTask]) -> Iterator[dict[str, Any]]:
    """Each readable draft of a run: what kind it is by the hidden checks, and what the trial says."""
    recorded = RecordedRun.read(run)
    task = tasks[recorded.order.inputs["task"]]
    bench = Bench(find_sandbox(), LexicalEmbedder(), Supply("never"))
    values = {"task": task.description, **read_testers(recorded)}
    for software in drafts(recorded.records):
        checks = try_draft(software, task.accept, bench, run)
        yield {"task": task.name, "kind": kind_of(checks, task), "says": try_software(software, values)}


def read_testers(recorded: RecordedRun) -> dict[str, Any]:
    """What the Tester of a run wrote, as its long-term memory had it."""
    phases = recorded_company(recorded.order, KnownTools()).phases
    found = dict[str, Any]()
    for record in recorded.records:
        phase = phases.get(Place(record["place"]).step_name)
        if record["kind"] == "Activity" and "text" in record["result"] and phase and phase.writes in TESTERS:
            with suppress(Unreadable):  # the Tester was asked again
                found[phase.writes] = parse_solution(phase.solution, read_marker(record["result"]["text"]).body, {})
    return found


def kind_of(checks: Sequence[Check], task: EasyTask) -> str:
    """What the hidden checks say of a draft; the first that is no refusal is the request's example, if it has any."""
    if all(check.passed for check in checks):
        return KINDS[0]
    if task.layout == NO_EXAMPLE:
        return KINDS[3]
    return KINDS[1] if next(check.passed for check in checks if not check.refusal) else KINDS[2]


def try_software(software: Mapping[str, bytes], values: Mapping[str, Any]) -> str:
    """`success`, `failure` or `unjudged`."""
    with tempfile.TemporaryDirectory() as folder:
        context = ToolContext(software, values, {}, find_sandbox(), Path(folder), Path(folder))
        verdict = registry()["software.use"].call(context, {})
    assert isinstance(verdict, Verdict)
    return "unjudged" if not verdict.judged else "success" if verdict.passed else "failure"


def table(study: Mapping[str, Any]) -> str:
    """By kind of draft what the trial says."""
    found = Counter((row["kind"], row["says"]) for row in study["rows"])
    says = ("success", "unjudged", "failure")
    return markdown_table(["A draft that", "drafts", *says],
                          [(kind, sum(found[kind, word] for word in says), *(found[kind, word] for word in says))
                           for kind in KINDS])


STUDY = KeptStudy(table, RESULTS_FOLDER / "easy_verdicts.json", DOCS / "studies" / "easy-tasks.md",
                  marks("verdicts", "software.easy_verdicts"), measure)

if __name__ == "__main__":
    STUDY.main(__doc__)
