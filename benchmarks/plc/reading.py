"""How long does it take to check a source?

Every program of the references, examples and sheets is checked, fifty times; the quickest counts, as seconds of the
processor. Python's own compiler, which is written in C, is timed on the modules that do the checking: the ratio says
more than milliseconds do when the machine is another one.

    python -m benchmarks.plc.reading [--times 50]

With another number of times, nothing is written down.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from benchmarks.plc.corpus import examples, read_references, reference_of, sheets
from benchmarks.study import DOCS, RESULTS_FOLDER, ROOT, SizedStudy, machine, markdown_table, marks
from chatdev.departments.plc.st.reading import read_program

TIMES = 50
LINES = 70
"""Of a usual program; times are told for so many."""
YARDSTICK = "Python's compiler"


def measure(times: int) -> dict[str, Any]:
    """Milliseconds for 70 lines of each source."""
    subjects = [one for one in (*map(reference_of, read_references()), *examples(), *sheets())
                if read_program(one.source).program]
    modules = [path.read_text(encoding="utf-8") for path in sorted((ROOT / "chatdev/departments/plc/st").glob("*.py"))]
    return {"date": datetime.now(UTC).date().isoformat(), "machine": machine(), "times": times,
            "check": _summary([_time(read_program, subject.source, times) for subject in subjects]),
            YARDSTICK: _summary([_time(lambda text: compile(text, "module", "exec"), text, times) for text in modules
                                 if text])}


def _time(read: Callable[[str], object], source: str, times: int) -> tuple[int, float]:
    """Lines, and the fewest milliseconds."""
    found = []
    for _ in range(times):
        began = time.process_time_ns()
        read(source)
        found.append((time.process_time_ns() - began) / 1e6)
    return len(source.splitlines()), min(found)


def _summary(timed: Sequence[tuple[int, float]]) -> dict[str, Any]:
    rates = [LINES * spent / lines for lines, spent in timed]
    lines = sum(lines for lines, _ in timed)
    return {"sources": len(timed), "lines": lines, "median": round(statistics.median(rates), 3),
            "most": round(max(rates), 3), "mean": round(LINES * sum(spent for _, spent in timed) / lines, 3)}


def told(results: Mapping[str, Any]) -> str:
    """The table for the page."""
    table = markdown_table(
        ["", "sources", "lines", f"milliseconds for {LINES} lines (mean of all)", "median of sources", "most"],
        [(name, row["sources"], row["lines"], f"{row['mean']:.2f}", f"{row['median']:.2f}", f"{row['most']:.2f}")
         for name, row in (("check", results["check"]), (YARDSTICK, results[YARDSTICK]))])
    ratio = results["check"]["mean"] / results[YARDSTICK]["mean"]
    return (f"{table}\n\nLine for line, checking takes {ratio:.1f} times what {YARDSTICK} takes. {results['date']}; "
            f"{results['machine']}.")


STUDY = SizedStudy(told, RESULTS_FOLDER / "plc_reading.json", DOCS / "plc.md", marks("reading", "plc.reading"), "times",
                   TIMES, measure)

if __name__ == "__main__":
    STUDY.main(__doc__)
