"""What each model solves of the easy tasks: the first table in docs/models.md.

    python -m benchmarks.software.model_rows

Reads the rows that are kept (benchmarks/results/easy_*.json), ours of the local model first, and the lines that others
sent back (benchmarks/data/model_lines.txt, as `chatdev eval srdd --tier …` prints them). Measures nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

from benchmarks.study import DOCS, RESULTS_FOLDER, ROOT, KeptTable, markdown_table, marks, read_results
from chatdev.evaluation.reporting.formats import score_lines
from chatdev.evaluation.reporting.study_results import Results
from chatdev.version import __version__

SENT = ROOT / "benchmarks" / "data" / "model_lines.txt"
OURS = (("easy_sealed-2", ("single",)), ("easy_again", ("single_drafts", "chatdev")))
"""The kept results of the set of `--tier easy`, and the variants of each whose runs are whole."""
MEASURED = "0.1.0"
"""The version of chatdev that they are of."""


def our_lines() -> Iterator[str]:
    """The lines of the local model."""
    for name, variants in OURS:
        found = read_results(RESULTS_FOLDER / f"{name}.json")
        rows = [row for row in found["rows"] if row["variant"] in variants]
        for line in score_lines(Results(name, rows, [], list(variants)), "easy", date.fromisoformat(found["date"])):
            yield line.replace(__version__, MEASURED, 1)


def sent_lines() -> list[str]:
    """The lines that others sent back."""
    lines = SENT.read_text(encoding="utf-8").splitlines() if SENT.exists() else []
    return [line for line in lines if line.strip() and not line.startswith("#")]


def table() -> str:
    """A row for each variant of each line. Raises ValueError for a line of another form."""
    rows = []
    for line in [*our_lines(), *sent_lines()]:
        head, model, tier, *variants = line.split(" | ")
        version, _, day = head.removeprefix("chatdev ").partition(", ")
        for variant in variants:
            name, _, found = variant.partition(": ")
            rows.append((model, tier, name, *(found.split(", ", 2) if found else (name, "", "")), version, day))
    return markdown_table(["model", "tier", "variant", "solved", "calls a run", "cost a run", "version", "date"], rows)


TABLE = KeptTable(lambda _: table(), RESULTS_FOLDER, DOCS / "models.md", marks("models", "software.model_rows"))

if __name__ == "__main__":
    print(TABLE.write())
