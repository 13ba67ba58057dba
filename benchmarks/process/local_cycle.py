"""One honest cycle with the local model: what changed from round to round (Think-on-Process, figures 11 and 13)?

Twelve easy tasks of the tuning set, three rounds: every task is developed by a process that is proposed for it, six
instances are replayed, what succeeded is mined, and its text stands in the next round's prompts. Programs are drawn
once, not several times, so that it is the process that decides.

    python -m benchmarks.process.local_cycle [--collect | --write]

Given again, it goes on where it was, also in a new checkout.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import closing
from typing import Any

from benchmarks.local_study import FOLDER, MODEL, LocalStudy
from benchmarks.study import DOCS, RESULTS_FOLDER, ROOT, KeptTable, markdown_table, marks, write_results
from chatdev.departments.process.pool_store import InstancePool
from chatdev.departments.process.process_company import ProcessCompany
from chatdev.departments.process.run_commands import summary_table
from chatdev.evaluation.reporting.formats import format_interval
from chatdev.evaluation.reporting.study_results import difference
from chatdev.runner.api import Company

POOL, TASKS, ROUNDS, REPLAYS = "local-easy", "easy:tuning:12", 3, 6
KEPT = RESULTS_FOLDER / "process_cycle"
POOL_FILE = KEPT / "pool.json"
STAGES = tuple(f"round-{number}-{kind}" for number in range(1, ROUNDS + 1) for kind in ("develop", "replay")
               if kind == "develop" or number < ROUNDS)
_COMMAND = ("process", "cycle", "--tasks", TASKS, "--rounds", str(ROUNDS), "--replays", str(REPLAYS), "--pool", POOL,
            "--model", MODEL, "--set", "phases.Coding.drafts=1", "--set", "phases.TestModification.drafts=1")
_COMPARED = ("succeeded", "executability", "solved")
_COMPANY = ProcessCompany.of(Company.load("top").config)


def run() -> None:
    """Run what is missing, after what is kept has been put back; raises CalledProcessError."""
    restore()
    subprocess.run([sys.executable, "-m", "chatdev", *_COMMAND], cwd=ROOT, check=True)


def restore() -> None:
    """Put plans, jobs, journals and the pool back, where there are none."""
    for stage in STAGES:
        plan = FOLDER / POOL / f"{stage}.json"
        if (KEPT / plan.name).exists() and not plan.exists():
            plan.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(KEPT / plan.name, plan)
        _batch(stage).restore()
    with _open_pool() as pool:
        if POOL_FILE.exists() and not pool.entries():
            pool.load(POOL_FILE.read_text(encoding="utf-8"), str(POOL_FILE))


def collect() -> None:
    """Keep plans, rows, journals and the pool."""
    KEPT.mkdir(parents=True, exist_ok=True)
    rows = {}
    for stage in STAGES:
        if not (plan := FOLDER / POOL / f"{stage}.json").exists():
            break
        shutil.copy(plan, KEPT / plan.name)
        batch = _batch(stage)
        batch.collect()
        facts = batch.read()
        rows[stage] = facts.pop("rows")
        batch.results.unlink()
    write_results(TABLE.results, {**facts, "rows": rows})
    with _open_pool() as pool:
        POOL_FILE.write_text(pool.export() + "\n", encoding="utf-8")


def _batch(stage: str) -> LocalStudy:
    return LocalStudy(told, KEPT / f"{stage}-rows.json", TABLE.page, TABLE.marks, f"{POOL}/{stage}", (),
                      KEPT / f"{stage}.tar.xz")


def _open_pool() -> closing[InstancePool]:
    FOLDER.mkdir(parents=True, exist_ok=True)
    return closing(InstancePool(str(FOLDER / "ledger.sqlite"), POOL, _COMPANY.default))


def told(results: Mapping[str, Any]) -> str:
    """The tables for the page: every stage, and the last round against the first, task by task."""
    stages: Mapping[str, Sequence[Mapping[str, Any]]] = results["rows"]
    rounds = {name: rows for name, rows in stages.items() if name.endswith("develop")}
    parts = [f"```text\n{summary_table(stages, _COMPANY.default)}\n```"]
    first, *later = rounds
    if later:
        parts.append(markdown_table(["difference", "what", "tasks", "mean (95 % interval)", "better, equal, worse"], [
            _difference_row(rounds, (name, first), metric) for name in later for metric in _COMPARED]))
    unfinished = [name for name in STAGES if name not in stages]
    missing = f" Not run yet: {', '.join(unfinished)}." if unfinished else ""
    return "\n\n".join([*parts, f"{results['date']}; {results['machine']}; {TASKS}, local model.{missing}"])


def _difference_row(rounds: Mapping[str, Sequence[Mapping[str, Any]]], names: tuple[str, str],
                    metric: str) -> list[str]:
    one, other = ({row["base_task"]: float(row[metric]) for row in rounds[name]} for name in names)
    found = difference(names, metric, (one, other))
    return [" − ".join(names), metric, str(found.estimate.n), format_interval(found.estimate, 2),
            f"{found.better}, {found.equal}, {found.worse}"]


TABLE = KeptTable(told, KEPT / "rows.json", DOCS / "process.md", marks("cycle", "process.local_cycle"))


def main() -> None:
    """Run what is missing, keep what came of it, write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    only = parser.add_mutually_exclusive_group()
    only.add_argument("--collect", action="store_true", help="run nothing; take what the ledger has")
    only.add_argument("--write", action="store_true", help="only write the page from what is kept")
    options = parser.parse_args()
    if not (options.collect or options.write):
        run()
    if not options.write:
        collect()
    TABLE.write()


if __name__ == "__main__":
    main()
