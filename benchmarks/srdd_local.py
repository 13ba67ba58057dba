"""The table of docs/evaluation.md: companies with the local model on tasks that carry hidden tests.

    python -m benchmarks.srdd_local [--collect | --write]

The runs take hours on a laptop; given again, the command goes on where it was (studies/ledger.sqlite). Then rows,
judgements, and what the dialogues come to are written to benchmarks/results/srdd_local.json, the journals beside it,
and the page from that file alone. `--collect` takes what the ledger has and runs nothing; `--write` only writes the
page.
"""

from __future__ import annotations

import argparse
import io
import re
import subprocess
import sys
import tarfile
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.study import (
    RESULTS_FOLDER,
    ROOT,
    machine,
    markdown_table,
    read_results,
    write_between,
    write_results,
)
from chatdev.batch.ledger import Ledger
from chatdev.evaluation.dialogue_tables import dialogues
from chatdev.evaluation.judging.record import judgements
from chatdev.evaluation.judging.standing import Standing, standings
from chatdev.evaluation.report.results import Results
from chatdev.evaluation.report.text import as_text
from chatdev.runner.recorded import JOURNAL

STUDY, MODEL, TALKING = "local", "local", "chatdev"
RESULTS = RESULTS_FOLDER / "srdd_local.json"
JOURNALS = RESULTS_FOLDER / "srdd_local_journals.tar.xz"
PAGE = ROOT / "docs" / "evaluation.md"
BEGIN, END = "<!-- table: written by python -m benchmarks.srdd_local -->", "<!-- end of table -->"
FOLDER = ROOT / "studies"
JUDGEMENTS = FOLDER / "judgements.jsonl"
_ELSEWHERE = re.compile(r'(?:/[^/"\s]+)+/studies/')
_SRDD = ("srdd", "--study", STUDY, "--model", MODEL, "--only-with-acceptance", "--install", "never")
STEPS = (
    (*_SRDD, "--companies", f"single,{TALKING}", "--limit", "8"),
    (*_SRDD, "--companies", f"pipeline,{TALKING}", "--limit", "4", "--ablations", "--only", "pipeline",
     "--only", f"{TALKING} without*"),
    ("judge", "--study", STUDY, "--variants", f"single,{TALKING}", "--judge", MODEL, "--record", str(JUDGEMENTS)),
)


def run(step: Sequence[str]) -> None:
    """One command of the study, as a user would type it; raises CalledProcessError."""
    subprocess.run([sys.executable, "-m", "chatdev", "eval", *step], cwd=ROOT, check=True)


def collect() -> None:
    """Write down what the ledger, the record of judgements and the journals have."""
    ledger = Ledger(str(FOLDER / "ledger.sqlite"), STUDY)
    try:
        rows = list(Results.read(ledger).rows)
    finally:
        ledger.close()
    runs = [FOLDER / STUDY / row["folder"] for row in rows]
    talking = [folder for folder, row in zip(runs, rows, strict=True) if row["variant"] == TALKING]
    write_results(RESULTS, {"machine": machine(), "date": datetime.now(UTC).date().isoformat(), "rows": rows,
                            "standings": [_counts(one) for one in standings(judgements(JUDGEMENTS))],
                            "dialogues": dialogues(talking).plain()})
    _keep_journals(runs)


def _keep_journals(runs: Sequence[Path]) -> None:
    """All journals in one archive, as they are but for the place of the study on this machine."""
    with tarfile.open(JOURNALS, "w:xz") as archive:
        for folder in runs:
            text = _ELSEWHERE.sub("studies/", (folder / "run" / JOURNAL).read_text(encoding="utf-8"))
            entry = tarfile.TarInfo(f"{folder.relative_to(FOLDER)}/run/{JOURNAL}")
            entry.size = len(text.encode())
            archive.addfile(entry, io.BytesIO(text.encode()))


def _counts(standing: Standing) -> dict[str, Any]:
    return {name: getattr(standing, name) for name in
            ("judge", "one", "other", "wins", "losses", "ties", "unreadable", "agreed", "first_preferred")}


def told(study: Mapping[str, Any]) -> str:
    """The report of the rows, every task by itself, the judge, and the dialogues."""
    rows = study["rows"]
    variants = list(dict.fromkeys(row["variant"] for row in rows))
    report = as_text(Results(STUDY, rows, (), variants))
    facts = f"Machine: {study['machine']}; date: {study['date']}."
    parts = (f"```text\n{report}```", facts, _each_task(rows, variants), _judged(study["standings"]),
             _talk(study["dialogues"]))
    return "\n\n".join(part for part in parts if part)


def _each_task(rows: Sequence[Mapping[str, Any]], variants: Sequence[str]) -> str:
    found = {(row["task"], row["variant"]): row for row in rows}
    tasks = list(dict.fromkeys(row["task"] for row in rows))
    return markdown_table(["Quality; hidden tests passed", *variants],
                          [[task, *(_cell(found.get((task, name))) for name in variants)] for task in tasks])


def _cell(row: Mapping[str, Any] | None) -> str:
    return f"{row['quality']:.2f}; {row['checks_passed']} of {row['checks']}" if row else "–"


def _judged(found: Sequence[Mapping[str, Any]]) -> str:
    return "\n".join(f"The local model as judge, each pair in both orders: {one['one']} preferred {one['wins']} times, "
                     f"{one['other']} {one['losses']} times, {one['ties']} ties, {one['unreadable']} unreadable; "
                     f"both orders named the same in {_share(one['agreed'])} of the pairs, and the program shown first "
                     f"was preferred in {_share(one['first_preferred'])} of the verdicts." for one in found)


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.0%}"


def _talk(found: Mapping[str, Any]) -> str:
    said = markdown_table(["Phase", "Characters of language", "of code", "Share of language"],
                          [[phase, one["language"], one["code"], _share(one["share_of_language"])]
                           for phase, one in found["speech"].items()])
    kinds = [[title, ", ".join(f"{kind} {count}" for kind, count in found[key]["kinds"].items()),
              ", ".join(f"{step['from']} → {step['to']} {step['count']}" for step in found[key]["transitions"][:6])]
             for title, key in (("named in reviews", "reviews"), ("shown by tests", "tests"))]
    return f"{said}\n\n{markdown_table(['What was', 'how often', 'what followed what'], kinds)}"


def main() -> None:
    """Run what is missing, write down what came of it, write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    only = parser.add_mutually_exclusive_group()
    only.add_argument("--collect", action="store_true", help="run nothing; take what the ledger has")
    only.add_argument("--write", action="store_true", help="only write the page from the results that are kept")
    options = parser.parse_args()
    if not (options.collect or options.write):
        for step in STEPS:
            run(step)
    if not options.write:
        collect()
    write_between(PAGE, BEGIN, END, told(read_results(RESULTS)))


if __name__ == "__main__":
    main()
