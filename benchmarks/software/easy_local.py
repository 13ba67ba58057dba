"""The tables of docs/studies/easy-tasks.md on the easy tasks: companies with the local model on one set of them.

    python -m benchmarks.software.easy_local tuning|ablations|sealed-1|sealed-2|opened|again [--collect | --write]

On the tuning set each variant runs once, on a sealed one those that are judged run two or three times. `opened` are
the first tasks of sealed-2, whose journals were read; the others are judged, and `again` once more, by a later chain.
`ablations` is a later chain on the tuning set, with and without its parts. One call has not changed: these two studies
stand beside its kept runs. The runs take hours on a laptop; given
again, the command goes on where it was (studies/ledger.sqlite). Rows are written to benchmarks/results/easy_SET.json,
the journals beside them, and the page from the rows alone.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from functools import partial
from statistics import mean, median
from typing import Any

from benchmarks.local_study import MODEL, LocalStudy
from benchmarks.software.easy_drafts import drafts_table, worth_of_drafts
from benchmarks.study import DOCS, RESULTS_FOLDER, markdown_table
from chatdev.departments.software.evaluation.srdd import NO_EXAMPLE, SETS, EasyTask, EasyTier, load_easy_tasks

ONE_CALL, DRAFTS, CHAIN = "single", "single_drafts", "chatdev"
OPENED, SEEN = "opened", 12
"""The name of the tasks of the last set that were read, and how many these are."""
WORTH = "worth of drafts"
AGAIN, ABLATIONS = "again", "ablations"
BESIDE = {AGAIN: SETS[-1], ABLATIONS: SETS[0]}
"""The sets whose kept runs of one call stand in the studies of a later chain."""
NAMES = (*SETS, OPENED, AGAIN, ABLATIONS)
PARTS = (12, 24, 36, 48)
"""Tasks of a set that one step runs its variants on before the next step, so that each sitting leaves pairs."""
PIPELINE, NO_DRAFTS = "pipeline", f"{CHAIN} without drafts"
"""What is compared with the chain beside one call and its drafts. A small model's chain has no review to go without."""
Rows = Sequence[Mapping[str, Any]]


def steps_of(name: str) -> list[tuple[str, ...]]:
    """What is run on a set; nothing more on the tasks that were opened."""
    if name == OPENED:
        return []
    easy_set = BESIDE.get(name, name)
    seen = SEEN if easy_set == SETS[-1] else 0

    def step(companies: str, repeats: int, *more: str) -> tuple[str, ...]:
        return ("srdd", "--easy", easy_set, "--skip", str(seen), "--study", f"easy-{name}", "--model", MODEL,
                "--install", "never", "--companies", companies, "--repeats", str(repeats), *more)

    if name == AGAIN:
        return [step(CHAIN, 1), step(DRAFTS, 1), step(f"{DRAFTS},{CHAIN}", 2)]
    if name == SETS[0]:
        return [step(f"{ONE_CALL},{CHAIN}", 1)]
    parts = [str(count) for count in PARTS if count <= PARTS[-1] - seen]
    if name == ABLATIONS:
        only = [word for pattern in (DRAFTS, CHAIN, NO_DRAFTS) for word in ("--only", pattern)]
        return [*(step(f"{DRAFTS},{CHAIN}", 1, "--ablations", *only, "--limit", count) for count in parts),
                *(step(PIPELINE, 1, "--limit", count) for count in parts)]  # it takes longer than all others together
    return [*(step(f"{ONE_CALL},{DRAFTS},{CHAIN}", 1, "--limit", count) for count in parts),
            step(ONE_CALL, 3), step(f"{DRAFTS},{CHAIN}", 2)]


def tasks_of(name: str) -> list[EasyTask]:
    """All tasks of the set that a study takes its own from."""
    return load_easy_tasks(EasyTier.bundled(SETS[-1] if name == OPENED else BESIDE.get(name, name)).path)


def study_of(name: str) -> LocalStudy:
    """The study of a set."""
    return LocalStudy(
        partial(page_text, name=name), RESULTS_FOLDER / f"easy_{name}.json", DOCS / "studies" / "easy-tasks.md",
        (f"<!-- table: written by python -m benchmarks.software.easy_local {name} -->", f"<!-- end of easy {name} -->"),
        f"easy-{name}", steps_of(name), RESULTS_FOLDER / f"easy_{name}_journals.tar.xz",
        lambda folders: {WORTH: worth_of_drafts(folders, tasks_of(name))})


def page_text(study: Mapping[str, Any], name: str) -> str:
    """The report of the rows; solved tasks, the word for success, and the price of a run, each beside one call."""
    rows = study["rows"]
    if name in BESIDE:
        rows = [*_one_call(study_of(BESIDE[name])), *rows]
        study = {**study, "rows": rows}
    tables = [study_of(name).report(study), _solved_table(rows), _success_table(rows), _price_table(rows)]
    if worth := study.get(WORTH):
        tables.append(drafts_table(worth, {variant: sum(row["solved"] for row in found)
                                           for variant, found in _by_variant(rows).items()}))
    return "\n\n".join(tables)


def _one_call(study: LocalStudy) -> Rows:
    """The kept rows of one call."""
    return [row for row in study.read()["rows"] if row["variant"] == ONE_CALL]


def _success_table(rows: Rows) -> str:
    """How far a run's own verdict can be trusted."""
    return markdown_table(
        ["Runs", "solved", "of these reported as success", "failed the request's example",
         "of these reported as success", "passed fewer checks than the first draft", "more"],
        [(variant, len(solved), _count_successes(solved), len(failed), _count_successes(failed), *_gains(found))
         for variant, found in _by_variant(rows).items()
         for solved in [[row for row in found if row["solved"]]]
         for failed in [[row for row in found if row["layout"] != NO_EXAMPLE and not row["example_passed"]]]])


def _gains(rows: Rows) -> tuple[int, int]:
    """How many runs lost checks that their first draft passed, and how many gained some."""
    gains = [row["checks_passed"] - row["first_draft_passed"] for row in rows if row["first_draft_passed"] is not None]
    return sum(gain < 0 for gain in gains), sum(gain > 0 for gain in gains)


def _count_successes(rows: Rows) -> int:
    return sum(row["status"] == "success" for row in rows)


def _solved_table(rows: Rows) -> str:
    """What is solved of the tasks that a variant shares with one call; each by the mean of its runs."""
    found = {name: _means_by_task(ones) for name, ones in _by_variant(rows).items()}
    one_call = found.get(ONE_CALL, {})
    lines = []
    for name, means in found.items():
        shared = means.keys() & one_call.keys()
        ours, theirs = (sum(one[task] for task in shared) for one in (means, one_call))
        lines.append((name, len(shared), f"{ours:.1f}", f"{theirs:.1f}", f"{ours / theirs:.2f}" if theirs else "–"))
    return markdown_table(["Tasks that one call has, too", "tasks", "solved", "solved by one call", "ratio"], lines)


def _means_by_task(rows: Rows) -> dict[str, float]:
    solved: dict[str, list[float]] = {}
    for row in rows:
        solved.setdefault(row["task"], []).append(row["solved"])
    return {task: mean(values) for task, values in solved.items()}


def _price_table(rows: Rows) -> str:
    """Medians, and how often one call has room in them."""
    found = _by_variant(rows)
    tokens, seconds = ({name: median(row[field] for row in ones) for name, ones in found.items()}
                       for field in ("tokens", "seconds"))

    def times(medians: Mapping[str, float], name: str) -> str:
        return f"{medians[name] / medians[ONE_CALL]:.1f}" if ONE_CALL in found else "–"

    return markdown_table(["Median run", "tokens", "seconds", "single calls of as many tokens", "of as many seconds"],
                          [(name, f"{tokens[name]:,.0f}", f"{seconds[name]:,.0f}", times(tokens, name),
                            times(seconds, name)) for name in found])


def _by_variant(rows: Rows) -> dict[str, list[Mapping[str, Any]]]:
    found: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        found.setdefault(row["variant"], []).append(row)
    return found


STUDIES = [study_of(name) for name in NAMES]

if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] not in NAMES:
        sys.exit(f"name the set: python -m benchmarks.software.easy_local {'|'.join(NAMES)}")
    study_of(sys.argv.pop(1)).main(__doc__)
