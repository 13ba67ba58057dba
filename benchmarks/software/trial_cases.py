"""Whether a trial tells the truth: right programs pass the trial made from their own request, and faulty ones do not.

    python -m benchmarks.software.trial_cases [--write]

The reference programs of the 40 tasks with a hidden test and of the easy tasks for tuning are tried as `software.use`
does, with nothing but their request. Then faults are put into those whose request gives an example that the rule reads,
one at a time. What the hidden test says of them is compared with the verdict of the trial. Writes
benchmarks/results/trial_cases.json and the table in docs/execution.md.
"""

from __future__ import annotations

import re
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.software.mutations import mutants
from benchmarks.study import DOCS, RESULTS_FOLDER, ROOT, KeptStudy, machine, markdown_table, marks
from chatdev.departments.software.cases.extract import read_request
from chatdev.departments.software.evaluation.srdd import NO_EXAMPLE, Srdd, load_easy_tasks
from chatdev.departments.software.trial.plan import any_command
from chatdev.evaluation.trial import Accept, Check, load_hidden_test, program_copy
from chatdev.paths import bundled_folder
from chatdev.sandbox.base import Sandbox
from chatdev.sandbox.kinds import find_sandbox
from chatdev.tools.base import ToolContext, Verdict, registry

SEED, MUTANTS = 16, 6
_SEEN = re.compile(r": wanted (.*) with status \S+, saw (.*) with status \S+$", re.DOTALL)
"""What a check tells of a case; one of which only the exit status differs prints what it should."""
GOOD = ROOT / "tests" / "departments" / "software" / "evaluation" / "acceptance"


@dataclass(frozen=True, slots=True)
class Subject:
    """A task, a right program for it, and its hidden test; the first check is the example, if there is one."""

    name: str
    tier: str
    request: str
    program: str
    accept: Accept
    layout: str


def subjects() -> Iterator[Subject]:
    """The tasks with a right program that may be read."""
    srdd = Srdd()
    for task in srdd.tasks():
        script = srdd.hidden_test(task)
        if script and task.acceptance:
            good = (GOOD / f"{task.acceptance.replace('-', '_')}_good.py").read_text(encoding="utf-8")
            yield Subject(task.acceptance, "hard", task.description, good, load_hidden_test(script), "text")
    for easy in load_easy_tasks(bundled_folder("srdd") / "easy" / "tuning"):
        yield Subject(easy.slug, "easy", easy.description, easy.reference, easy.accept, easy.layout)


def try_program(subject: Subject, program: str, sandbox: Sandbox) -> Verdict:
    """The verdict of a trial that is made from the request alone."""
    with tempfile.TemporaryDirectory(prefix="trial-") as folder:
        scratch = Path(folder) / "scratch"
        scratch.mkdir()
        inputs = {"task": subject.request}
        context = ToolContext({"main.py": program.encode()}, {}, inputs, sandbox, Path(folder), scratch)
        verdict = registry()["software.use"].call(context, {})
    assert isinstance(verdict, Verdict)
    return verdict


def check_program(subject: Subject, program: str, sandbox: Sandbox) -> list[Check]:
    """What the hidden test says."""
    with tempfile.TemporaryDirectory(prefix="trial-") as folder:
        (Path(folder) / "main.py").write_text(program, encoding="utf-8")
        with program_copy(Path(folder), sandbox) as copy:
            return list(subject.accept(copy))


def measure() -> dict[str, Any]:
    """Rows of all subjects."""
    sandbox = find_sandbox()
    rows = []
    for subject in subjects():
        verdict = try_program(subject, subject.program, sandbox)
        row: dict[str, Any] = {"task": subject.name, "tier": subject.tier, "layout": subject.layout,
                               "passes": verdict.passed, "examples": count_examples(subject.request)}
        faults = mutants(subject.program, SEED, MUTANTS) if row["examples"] else []
        row["mutants"] = dict(Counter(_kind(subject, fault, sandbox) for fault in faults))
        rows.append(row)
        print(row, flush=True)
    return {"machine": machine(), "seed": SEED, "rows": rows}


def count_examples(request: str) -> int:
    """How many examples the rule reads in a request for certain."""
    return sum(start.expects for case in read_request(request, any_command()).cases for start in case.starts)


def _kind(subject: Subject, fault: str, sandbox: Sandbox) -> str:
    """What the hidden test finds, and whether the trial does."""
    example, *others = check_program(subject, fault, sandbox)
    if example.passed and all(check.passed for check in others):
        return "equal"
    seen = _SEEN.search(example.detail)
    found = "hidden" if example.passed or (seen and seen[1] == seen[2]) else "example"
    return f"{found} {'passed' if try_program(subject, fault, sandbox).passed else 'rejected'}"


def table(study: Mapping[str, Any]) -> str:
    """The table for the page."""
    lines = []
    for tier, what in (("hard", "the 40 tasks with a hidden test"), ("easy", "the easy tasks for tuning")):
        rows = [row for row in study["rows"] if row["tier"] == tier]
        shown = [row for row in rows if row["layout"] != NO_EXAMPLE]
        kinds = sum((Counter(row["mutants"]) for row in rows), Counter[str]())
        lines.append((what, f"{sum(row['passes'] for row in rows)} of {len(rows)}",
                      f"{sum(row['examples'] > 0 for row in shown)} of {len(shown)}",
                      *(_share(kinds, found) for found in ("example", "hidden"))))
    return markdown_table(("tasks", "right programs that pass", "an example is read",
                           "faults that change the example's output: rejected",
                           "faults that only hidden checks see: rejected"), lines)


def _share(kinds: Counter[str], found: str) -> str:
    rejected = kinds[f"{found} rejected"]
    return f"{rejected} of {rejected + kinds[f'{found} passed']}"


STUDY = KeptStudy(table, RESULTS_FOLDER / "trial_cases.json", DOCS / "execution.md",
                  marks("trials", "software.trial_cases"), measure)

if __name__ == "__main__":
    STUDY.main(__doc__)
