"""The table of docs/plc.md: single calls and the company, with the local model on sixteen easy tasks for controllers.

    python -m benchmarks.plc.local [--collect | --write]

Given again, it goes on where it was; rows, journals and the page as in benchmarks/software/srdd_local.py.
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.local_study import MODEL, LocalStudy, each_task
from benchmarks.study import DOCS, RESULTS_FOLDER, ROOT, markdown_table, marks
from chatdev.departments.plc.agents4plc import PlcTask, judge_software, read_plc_tasks
from chatdev.departments.plc.interface import ANSWER, read_answer
from chatdev.departments.plc.source_check import check_source, mend_source
from chatdev.workspace.file_tree import read_tree

SEED = 17
EASY, SIMPLE = "benchmarks/data/agents4plc/benchmark_v1/easy.jsonl", "benchmarks/data/plc_simple"
PASSABLE = tuple(f"v1-E-{number}" for number in (2, 3, 4, 5, 6, 8, 9, 10, 11, 12, 13))
"""The easy tasks of the benchmark without those that no program passes (1 limits an input, 7 contradicts its text),
those whose skeleton is the answer (14, 16) and the one that stands there twice (15 is 13)."""
OWN = ("basin_pump", "belt_watch", "car_park", "door_light", "fault_horn", "hoist_drive", "quiz_buzzer", "speed_limit",
       "stairs_light", "wash_steps")
"""Simple tasks whose author had not seen the prompts; the company was worked on with the other simple ones."""
TASKS = (*sorted(random.Random(SEED).sample(PASSABLE, 6)), *OWN)
_DATA = ("plc", "--study", "plc-local", "--model", MODEL, "--data", EASY, "--data", SIMPLE, "--tasks", ",".join(TASKS))
PUBLISHED = (
    ("Agents4PLC, GPT-4o", "100 / 68.8 / 50.0"), ("Agents4PLC, GPT-4o mini", "100 / 50.0 / 43.8"),
    ("Agents4PLC, CodeLlama 34B", "31.3 / 12.5 / 6.3"), ("LLM4PLC, GPT-4o", "87.5 / 0 / 12.5"),
    ("ChatDev, GPT-4o", "43.8 / – / –"))
"""Tables I and III of arXiv 2410.14209, easy tasks."""


def more(folders: Mapping[str, Sequence[Path]]) -> dict[str, Any]:
    """What the programs of each variant are worth once their slips are mended."""
    tasks = read_plc_tasks((ROOT / EASY, ROOT / SIMPLE))
    return {"mended": {variant: _judge_mended(found, tasks) for variant, found in folders.items()}}


def _judge_mended(folders: Sequence[Path], tasks: Mapping[str, PlcTask]) -> dict[str, int]:
    rows = []
    for folder in folders:
        task = tasks[next(name for name in tasks if re.match(rf"{re.escape(name)}-[0-9a-f]{{6}}(-|$)", folder.name))]
        source = read_answer(read_tree(folder / "software")) or ""
        mended = mend_source(source, check_source(task.interface).entry, task.requirement).source
        rows.append(judge_software({ANSWER: mended.encode("utf-8")}, task))
    return {"runs": len(rows), **{name: sum(int(row[name]) for row in rows) for name in ("compiled", "solved")}}


def told(study: Mapping[str, Any]) -> str:
    """The report of the rows, every task by itself, the shares as the paper gives them, and what is left of the
    difference once the slips of all programs are mended."""
    tasks = each_task(study["rows"], "How it ended; verdicts; tokens", _cell)
    mended = markdown_table(["Programs after `plc check --fix`", "runs", "compile", "solved"],
                            [(variant, *row.values()) for variant, row in study.get("mended", {}).items()])
    return "\n\n".join((STUDY.report(study), tasks, shares_table(study["rows"]), mended))


def _cell(row: Mapping[str, Any]) -> str:
    return f"{row['outcome']}; {row['verdicts'] or '–'}; {row['tokens']:,}"


def shares_table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Compiled, verifiable and passed by the paper's rule, in percent of the runs, for the easy tasks of the benchmark
    and for our own; and what was published for all sixteen easy tasks with other models."""
    kinds = sorted({row["kind"] for row in rows})
    variants = list(dict.fromkeys(row["variant"] for row in rows))
    ours = [(variant, *(_shares([row for row in rows if (row["variant"], row["kind"]) == (variant, kind)])
                        for kind in kinds)) for variant in variants]
    published = [(name, *(shares if kind == "easy" else "–" for kind in kinds)) for name, shares in PUBLISHED]
    return markdown_table(["Compiled / verifiable / passed, %", *kinds], [*ours, *published])


def _shares(rows: Sequence[Mapping[str, Any]]) -> str:
    if not rows:
        return "–"
    return " / ".join(f"{100 * sum(row[name] for row in rows) / len(rows):.1f}"
                      for name in ("compiled", "verifiable", "passed"))


STUDY = LocalStudy(
    told, RESULTS_FOLDER / "plc_local.json", DOCS / "plc.md", marks("local", "plc.local"), "plc-local",
    ((*_DATA, "--companies", "single_plc", "--repeats", "2"),
     (*_DATA, "--companies", "single_plc_drafts,agents4plc")),
    RESULTS_FOLDER / "plc_local_journals.tar.xz", more)

if __name__ == "__main__":
    STUDY.main(__doc__)
