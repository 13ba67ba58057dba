"""Equivalence as a second opinion: does Yosys contradict the judge of Verilog, and how often does it know?

On every eighth problem of VerilogEval and on the twenty designs: each right module against itself, then mutants of it,
by what the judge says of them. A proof that a refused module does the same would be wrong, and so would inputs for
which a module differs from itself; inputs for which an accepted mutant differs show what its bench does not look at.

    python -m benchmarks.verilog.equivalence [--write] [--mutants 3] [--every 8]
"""

from __future__ import annotations

import itertools
import random
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.study import DOCS, RESULTS_FOLDER, KeptStudy, machine, markdown_table, marks
from benchmarks.verilog.mutants import mutants
from benchmarks.verilog.subjects import Subject, designs, verilogeval_subjects
from chatdev.departments.verilog.bench import add_parameters
from chatdev.departments.verilog.equivalence import compare
from chatdev.departments.verilog.judge import judge_answer
from chatdev.sandbox.kinds import find_sandbox

FINDINGS = ("PROVED", "DIFFERS", "UNKNOWN")
ITSELF, REFUSED, ACCEPTED = KINDS = ("the module itself", "a mutant that is refused", "a mutant that is accepted")
WRONG = {ITSELF: "DIFFERS", REFUSED: "PROVED"}
"""What would be wrong to say of which; of accepted mutants nobody knows."""


@dataclass(frozen=True, slots=True)
class Row:
    """What Yosys says of a module, and why where it does not know."""

    subject: str
    kind: str
    operator: str
    line: int
    finding: str
    reason: str


def rows_of(subject: Subject, most: int) -> list[Row]:
    """The module against itself, and up to `most` mutants of each verdict, drawn by the subject's name."""
    bench = replace(subject.bench, target=add_parameters(subject.bench, subject.text))
    every = mutants(subject.text, bench.target)
    random.Random(subject.name).shuffle(every)
    answers = [(ITSELF, "", 0, subject.text)]
    left = Counter({REFUSED: most, ACCEPTED: most})
    for mutant in every[:6 * most]:
        with tempfile.TemporaryDirectory(prefix="chatdev-") as folder:
            found, _ = judge_answer(mutant.text, bench, find_sandbox(), Path(folder))
        kind = ACCEPTED if found.passed else REFUSED
        if found.outcome in ("matches", "mismatches") and left[kind]:
            left[kind] -= 1
            answers.append((kind, mutant.operator, mutant.line, mutant.text))
    return [Row(subject.name, kind, operator, line, *_opinion(subject, text)) for kind, operator, line, text in answers]


def _opinion(subject: Subject, text: str) -> tuple[str, str]:
    bench = replace(subject.bench, target=add_parameters(subject.bench, subject.text))
    with tempfile.TemporaryDirectory(prefix="chatdev-") as folder:
        found = compare(text, bench.reference or "", bench.target, find_sandbox(), Path(folder) / "proof")
    return found.finding, found.reason


def study(subjects: Sequence[Subject], most: int) -> dict[str, Any]:
    """All rows."""
    with ProcessPoolExecutor(2) as pool:
        rows = itertools.chain.from_iterable(pool.map(partial(rows_of, most=most), subjects))
        return {"date": datetime.now(UTC).date().isoformat(), "machine": machine(), "subjects": len(subjects),
                "rows": [asdict(row) for row in rows]}


def told(results: Mapping[str, Any]) -> str:
    """The table for the page, contradictions, why it does not know, and what accepted mutants show of their benches."""
    rows = results["rows"]
    counts = Counter((row["kind"], row["finding"]) for row in rows)
    table = markdown_table(["answer", *FINDINGS], [(kind, *(counts[kind, finding] for finding in FINDINGS))
                                                   for kind in KINDS])
    wrong = [_place(row) for row in rows if row["finding"] == WRONG.get(row["kind"])]
    weak = [_place(row) for row in rows if (row["kind"], row["finding"]) == (ACCEPTED, "DIFFERS")]
    reasons = Counter(row["reason"] for row in rows if row["reason"])
    return (f"{table}\n\nContradictions: {', '.join(wrong) or 'none'}. Accepted mutants that differ, so that their "
            f"bench does not look at it: {', '.join(weak) or 'none'}.\n\nWhy it does not know:\n\n"
            f"{markdown_table(['reason', 'answers'], reasons.most_common())}\n\n"
            f"{results['subjects']} modules. {results['date']}; {results['machine']}.")


def _place(row: Mapping[str, Any]) -> str:
    return f"{row['subject']}{', line ' + str(row['line']) if row['line'] else ''}"


def _some(every: int) -> Iterator[Subject]:
    yield from verilogeval_subjects()[::every]
    yield from designs()


STUDY = KeptStudy(
    told, RESULTS_FOLDER / "verilog_equivalence.json", DOCS / "verilog.md", marks("equivalence", "verilog.equivalence"),
    lambda mutants, every: study([*_some(every)], mutants),
    {"mutants": (3, "of each verdict, at most"), "every": (8, "every so many of the problems of VerilogEval")})

if __name__ == "__main__":
    STUDY.main(__doc__)
