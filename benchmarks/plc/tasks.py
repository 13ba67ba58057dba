"""The table of docs/evaluation.md on the tasks for controllers: which of them a program solves that does nothing, and
which no program can solve.

    python -m benchmarks.plc.tasks [--write]

Judges the skeleton that each task of the benchmark shows, as if it were an answer, and our own answers to some of them
(data/plc_answers/). `--write` only writes the page from the results that are kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from benchmarks.study import DOCS, RESULTS_FOLDER, ROOT, KeptStudy, machine, markdown_table, marks
from chatdev.departments.plc.agents4plc import PlcTask, judge_software, read_plc_tasks

DATA, ANSWERS = ROOT / "benchmarks" / "data" / "agents4plc", ROOT / "benchmarks" / "data" / "plc_answers"
_KEPT = ("outcome", "passed", "solved", "verdicts", "detail")


def judge_tasks() -> Iterator[dict[str, Any]]:
    """A row for each task that shows a skeleton."""
    for task in read_plc_tasks((DATA,)).values():
        if task.interface:
            answer = ANSWERS / f"{task.name}.st"
            print(task.name, flush=True)
            yield {"task": task.name, "kind": task.kind, "skeleton": _judged(task.interface, task),
                   "answer": _judged(answer.read_text(encoding="utf-8"), task) if answer.exists() else None}


def _judged(source: str, task: PlcTask) -> dict[str, Any]:
    row = judge_software({"main.st": source.encode("utf-8")}, task)
    return {name: row[name] for name in _KEPT}


def page_text(study: Mapping[str, Any]) -> str:
    """The table by kinds, and the tasks by name."""
    rows = study["rows"]
    kinds = list(dict.fromkeys(row["kind"] for row in rows))
    table = markdown_table(
        ["Kind", "Tasks with a skeleton", "it passes by the 80 % rule", "it solves the task", "it does not compile"],
        [(kind, len(found), _count(found, "passed"), _count(found, "solved"),
          sum(row["skeleton"]["outcome"] == "does_not_compile" for row in found))
         for kind in kinds for found in [[row for row in rows if row["kind"] == kind]]])
    weak = ", ".join(row["task"] for row in rows if row["skeleton"]["solved"])
    tried = [row for row in rows if row["answer"]]
    unsolved = ", ".join(f"{row['task']} ({row['answer']['verdicts']})" for row in tried if not row["answer"]["solved"])
    return (f"{table}\n\nSolved by their skeletons: {weak}. Of the {len(tried)} tasks that we wrote an answer for "
            f"(`benchmarks/data/plc_answers`), these are not solved: {unsolved or 'none'}.\n\n"
            f"{study['machine']}.")


def _count(rows: Sequence[Mapping[str, Any]], rule: str) -> int:
    return sum(row["skeleton"][rule] == 1 for row in rows)


STUDY = KeptStudy(page_text, RESULTS_FOLDER / "plc_tasks.json", DOCS / "evaluation.md", marks("tasks", "plc.tasks"),
                  lambda: {"machine": machine(), "rows": list(judge_tasks())})

if __name__ == "__main__":
    STUDY.main(__doc__)
