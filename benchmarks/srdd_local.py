"""The table of docs/evaluation.md: companies with the local model on tasks that carry hidden tests.

    python -m benchmarks.srdd_local [--write-only]

The runs take hours on a laptop; given again, the command goes on where it was (studies/ledger.sqlite). Then
the rows are copied to benchmarks/results/srdd_local.jsonl, and the page is written from that file alone: with
`--write-only` nothing else happens.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.study import RESULTS_FOLDER, ROOT, machine, markdown_table, write_between
from chatdev.batch.ledger import Ledger
from chatdev.evaluation.report.results import Results
from chatdev.evaluation.report.text import as_text

STUDY, MODEL = "local", "local"
ROWS = RESULTS_FOLDER / "srdd_local.jsonl"
PAGE = ROOT / "docs" / "evaluation.md"
BEGIN, END = "<!-- table: written by python -m benchmarks.srdd_local -->", "<!-- end of table -->"
LEDGER = Path("studies") / "ledger.sqlite"
STEPS = (
    ("--companies", "single,chatdev", "--limit", "8"),
    ("--companies", "pipeline,chatdev", "--limit", "4", "--ablations", "--only", "pipeline",
     "--only", "chatdev without*"),
)


def run(step: Sequence[str]) -> None:
    """One command of the study, as a user would type it; raises CalledProcessError."""
    command = [sys.executable, "-m", "chatdev", "eval", "srdd", "--study", STUDY, "--model", MODEL,
               "--only-with-acceptance", "--install", "never", *step]
    subprocess.run(command, cwd=ROOT, check=True)


def collect() -> list[Mapping[str, Any]]:
    """The rows that the ledger has."""
    ledger = Ledger(str(ROOT / LEDGER), STUDY)
    try:
        return list(Results.read(ledger).rows)
    finally:
        ledger.close()


def told(rows: Sequence[Mapping[str, Any]]) -> str:
    """The report of the rows, and every task by itself."""
    variants = list(dict.fromkeys(row["variant"] for row in rows))
    tasks = list(dict.fromkeys((row["area"], row["task"]) for row in rows))
    found = {(row["task"], row["variant"]): row for row in rows}
    each = markdown_table(["Quality, and hidden tests passed", *variants],
                          [[f"{area}: {task}", *(_cell(found.get((task, name))) for name in variants)]
                           for area, task in tasks])
    report = as_text(Results(STUDY, rows, (), variants))
    return f"```text\n{report}```\n\n{each}\n\n{machine()}."


def _cell(row: Mapping[str, Any] | None) -> str:
    if row is None:
        return "–"
    return f"{row['quality']:.2f}, {row['checks_passed']} of {row['checks']}"


def main() -> None:
    """Run what is missing, keep the rows, write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write-only", action="store_true", help="only write the page from the rows that are kept")
    if not parser.parse_args().write_only:
        for step in STEPS:
            run(step)
        ROWS.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in collect()), encoding="utf-8")
    rows = [json.loads(line) for line in ROWS.read_text(encoding="utf-8").splitlines()]
    write_between(PAGE, BEGIN, END, told(rows))


if __name__ == "__main__":
    main()
