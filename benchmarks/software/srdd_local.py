"""The table of docs/studies/srdd.md: companies with the local model on tasks that carry hidden tests.

    python -m benchmarks.software.srdd_local [--collect | --write]

The runs take hours on a laptop; given again, the command goes on where it was (studies/ledger.sqlite). Then rows,
judgements, and what the dialogues come to are written to benchmarks/results/srdd_local.json, the journals beside it,
and the page from that file alone. `--collect` takes what the ledger has and runs nothing; `--write` only writes the
page.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from benchmarks.local_study import FOLDER, MODEL, LocalStudy, each_task
from benchmarks.study import DOCS, RESULTS_FOLDER, markdown_table, marks
from chatdev.evaluation.judging.judgements import Comparison, compare_companies, read_judgements
from chatdev.evaluation.plots import dialogues

TALKING = "chatdev"
JUDGEMENTS = FOLDER / "judgements.jsonl"
_SRDD = ("srdd", "--study", "local", "--model", MODEL, "--only-with-acceptance", "--install", "never")


def judge_and_dialogues(folders: Mapping[str, Sequence[Path]]) -> dict[str, Any]:
    """What the judge said, and what the dialogues of the company whose agents talk come to."""
    found = compare_companies(read_judgements(JUDGEMENTS)) if JUDGEMENTS.exists() else []
    return {"standings": [_counts(one) for one in found], "dialogues": dialogues(folders.get(TALKING, ())).plain()}


def _counts(standing: Comparison) -> dict[str, Any]:
    return {name: getattr(standing, name) for name in
            ("judge", "one", "other", "wins", "losses", "ties", "unreadable", "agreed", "first_preferred")}


def page_text(study: Mapping[str, Any]) -> str:
    """The report of the rows, every task by itself, the judge, and the dialogues."""
    tasks = each_task(study["rows"], "Quality; hidden tests passed", _cell)
    parts = (STUDY.report(study), tasks, _shared_tasks_table(study["rows"]), _judge_sentences(study["standings"]),
             _dialogue_tables(study["dialogues"]))
    return "\n\n".join(part for part in parts if part)


def _cell(row: Mapping[str, Any]) -> str:
    return f"{row['quality']:.2f}; {row['checks_passed']} of {row['checks']}"


def _shared_tasks_table(rows: Sequence[Mapping[str, Any]]) -> str:
    """The means of every variant over the tasks that all of them have."""
    by_variant = defaultdict[str, dict[str, Mapping[str, Any]]](dict)
    for row in rows:
        by_variant[row["variant"]][row["task"]] = row
    shared = sorted(set[str].intersection(*map(set, by_variant.values())))
    table = [(variant, *_means([found[task] for task in shared])) for variant, found in by_variant.items()]
    columns = [f"{len(shared)} tasks that all have", "Quality", "Programs that start", "Hidden tests passed",
               "Tokens a run"]
    return markdown_table(columns, table)


def _means(rows: Sequence[Mapping[str, Any]]) -> tuple[str, str, str, str]:
    quality, tokens = (fmean(row[name] for row in rows) for name in ("quality", "tokens"))
    return (f"{quality:.2f}", f"{sum(row['executability'] for row in rows):.0f} of {len(rows)}",
            str(sum(row["checks_passed"] for row in rows)), f"{tokens:,.0f}")


def _judge_sentences(found: Sequence[Mapping[str, Any]]) -> str:
    return "\n".join(f"The local model as judge, each pair in both orders: {one['one']} preferred {one['wins']} times, "
                     f"{one['other']} {one['losses']} times, {one['ties']} ties, {one['unreadable']} unreadable; "
                     f"both orders named the same in {_share(one['agreed'])} of the pairs, and the program shown first "
                     f"was preferred in {_share(one['first_preferred'])} of the verdicts." for one in found)


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.0%}"


def _dialogue_tables(found: Mapping[str, Any]) -> str:
    said = markdown_table(["Phase", "Characters of language", "of code", "Share of language"],
                          [[phase, one["language"], one["code"], _share(one["share_of_language"])]
                           for phase, one in found["speech"].items()])
    kinds = [[title, ", ".join(f"{kind} {count}" for kind, count in found[key]["kinds"].items()),
              ", ".join(f"{step['from']} → {step['to']} {step['count']}" for step in found[key]["transitions"][:6])]
             for title, key in (("named in reviews", "reviews"), ("shown by tests", "tests"))]
    return f"{said}\n\n{markdown_table(['What was', 'how often', 'what followed what'], kinds)}"


STUDY = LocalStudy(
    page_text, RESULTS_FOLDER / "srdd_local.json", DOCS / "studies" / "srdd.md", marks("table", "software.srdd_local"),
    "local",
    ((*_SRDD, "--companies", f"single,{TALKING}", "--limit", "8"),
     (*_SRDD, "--companies", f"pipeline,{TALKING}", "--limit", "4", "--ablations", "--only", "pipeline",
      "--only", f"{TALKING} without*"),
     ("judge", "--study", "local", "--variants", f"single,{TALKING}", "--judge", MODEL, "--record", str(JUDGEMENTS))),
    RESULTS_FOLDER / "srdd_local_journals.tar.xz", judge_and_dialogues)

if __name__ == "__main__":
    STUDY.main(__doc__)
