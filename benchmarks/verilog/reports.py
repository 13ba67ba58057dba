"""How long is a report of `verilog.trace`, how long does it take to make, and does it still show the mistake?

Mutants that the bench rejects, of the references of VerilogEval and of the twenty designs (drawn as for
localise.py), are traced as agents do it, for one level, two and so on. The time is that of the processor for
reading source and waveform, tracing, and writing the report, without the simulation.

    python -m benchmarks.verilog.reports [--write] [--mutants 2] [--processes 2]
"""

from __future__ import annotations

import re
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.study import DOCS, RESULTS_FOLDER, KeptStudy, machine, markdown_table, marks
from benchmarks.verilog.localise import order_in_turns
from benchmarks.verilog.mutants import Mutant, mutants
from benchmarks.verilog.subjects import Subject, designs, verilogeval_subjects
from chatdev.departments.verilog.answer import Answer
from chatdev.departments.verilog.bench import HiddenBench, add_parameters
from chatdev.departments.verilog.compilation import SIMULATING
from chatdev.departments.verilog.mismatch import explain_result
from chatdev.departments.verilog.simulation import simulate_answer
from chatdev.isolation.isolate import read_here
from chatdev.sandbox.kinds import find_sandbox

LEVELS = range(1, 9)
MOST_CHARACTERS = 6000
"""What a report may have; docs/verilog.md says so."""
SUBJECTS = {"VerilogEval": verilogeval_subjects, "twenty designs": designs}
_TOLD_BY_NAME = {"bit width"}
"""Mistakes of which a report says the signal, and not the line where it is declared."""
_LIMITS = replace(SIMULATING, cpu=20)


@dataclass(frozen=True, slots=True)
class Row:
    """One mutant, for each level: characters of the report, milliseconds, whether something is left out, and whether
    the line of the mistake is shown."""

    subject: str
    operator: str
    characters: list[int]
    milliseconds: list[float]
    left_out: list[bool]
    shows: list[bool]


def rows_of(subject: Subject, most: int) -> list[Row]:
    """Those of up to `most` mutants that the bench rejects."""
    read_here()  # so that all of it is time of this process
    found, bench = list[Row](), replace(subject.bench, target=add_parameters(subject.bench, subject.text))
    for mutant in order_in_turns(mutants(subject.text, bench.target), subject.name):
        if len(found) == most:
            break
        if row := _row_of(subject, bench, mutant):
            found.append(row)
    return found


def _row_of(subject: Subject, bench: HiddenBench, mutant: Mutant) -> Row | None:
    answer, row = Answer("top.sv", mutant.text), Row(subject.name, mutant.operator, [], [], [], [])
    with tempfile.TemporaryDirectory(prefix="chatdev-") as folder:
        result = simulate_answer(mutant.text, bench, find_sandbox(), Path(folder), dump=True, limits=_LIMITS)
        if result.outcome != "mismatches" or result.waves is None:
            return None
        for level in LEVELS:
            started = time.process_time()
            report = explain_result(answer, bench, result, level).report
            row.milliseconds.append(round(1000 * (time.process_time() - started), 1))
            row.characters.append(len(report))
            row.left_out.append("left out" in report)
            row.shows.append(re.search(rf"^ *{mutant.line} \|", report, re.MULTILINE) is not None)
    return row


def told(results: Mapping[str, Any]) -> str:
    """By set and level: how long reports are, and how long they take."""
    table = markdown_table(
        ["of", "levels", "characters: median", "95 %", "most", "something left out", "the line of the mistake is shown",
         "milliseconds: median", "95 %", "most"],
        [(name, level, *_line(results["rows"][name], level - 1)) for name in SUBJECTS for level in LEVELS])
    counts = " and ".join(f"{len(rows)} mutants of {len({row['subject'] for row in rows})} modules ({name})"
                          for name, rows in results["rows"].items())
    widths = sum(row["operator"] in _TOLD_BY_NAME for rows in results["rows"].values() for row in rows)
    return (f"{table}\n\nMeasured on {counts}: up to {results['mutants']} of each module; whether a line is shown not "
            f"on {widths} with a wrong width, which reports tell by the name of the signal. {results['date']}; "
            f"{results['machine']}.")


def _line(rows: Sequence[Mapping[str, Any]], at: int) -> tuple[str, ...]:
    characters, milliseconds = ([row[what][at] for row in rows] for what in ("characters", "milliseconds"))
    by_line = [row for row in rows if row["operator"] not in _TOLD_BY_NAME]
    return (*(f"{number:,.0f}" for number in _spread(characters)), _share(row["left_out"][at] for row in rows),
            _share(row["shows"][at] for row in by_line), *(f"{number:,.0f}" for number in _spread(milliseconds)))


def _share(facts: Iterable[bool]) -> str:
    every = list(facts)
    return f"{100 * sum(every) / len(every):.1f} %"


def _spread(numbers: Sequence[float]) -> tuple[float, float, float]:
    """Median, the one that 95 % do not exceed, and the most."""
    return median(numbers), sorted(numbers)[int(0.95 * (len(numbers) - 1))], max(numbers)


def measure(processes: int, mutants: int) -> dict[str, Any]:
    """The rows of up to so many mutants of each module."""
    with ProcessPoolExecutor(processes) as pool:
        rows = {name: [asdict(row) for some in pool.map(partial(rows_of, most=mutants), read()) for row in some]
                for name, read in SUBJECTS.items()}
    return {"date": datetime.now(UTC).date().isoformat(), "machine": machine(), "mutants": mutants, "rows": rows}


STUDY = KeptStudy(told, RESULTS_FOLDER / "verilog_reports.json", DOCS / "verilog.md",
                  marks("reports", "verilog.reports"), measure,
                  {"processes": (2, "at a time"), "mutants": (2, "at most, of one module")})

if __name__ == "__main__":
    STUDY.main(__doc__)
