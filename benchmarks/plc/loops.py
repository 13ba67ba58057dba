"""Is what is proved of loops true? Random programs whose loops an input bounds are verified, then run at random.

Each program (random_loops.py) comes with properties that a short run suggests: many are true, many a little too
strong. What is PROVED of it – properties, run-time duties, assertions – must not be harmed in 2,000 random scans, and
what is VIOLATED must be seen again in the run that is told.

    python -m benchmarks.plc.loops [--programs 300] [--scans 2000] [--first 0] [--processes 2]

With another number of programs or scans, nothing is written down.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from benchmarks.plc.random_loops import random_loops
from benchmarks.plc.references import find_contradictions
from benchmarks.study import DOCS, RESULTS_FOLDER, KeptTable, machine, markdown_table, marks
from chatdev.departments.plc.proof.outcomes import RUN_TIME, Outcome
from chatdev.departments.plc.proof.verify import verify
from chatdev.departments.plc.st.reading import read_program

PROGRAMS, SCANS, PROPERTIES = 300, 2000, 4
SECONDS = 1.0
"""What a check may take."""
_VERDICTS = ("PROVED", "VIOLATED", "BOUNDED", "UNKNOWN")
_KINDS = ("properties", "assertions", "loops end", "other duties")


@dataclass
class LoopRow:
    """What came of one program: verdicts by what was asked, whether a loop of it is open, and what is wrong."""

    seed: int
    verdicts: dict[str, Counter[str]] = field(default_factory=lambda: {kind: Counter() for kind in _KINDS})
    is_open: bool = False
    wrong: list[str] = field(default_factory=list)


def study_program(seed: int, scans: int) -> LoopRow:
    """One program."""
    subject = random_loops(seed, PROPERTIES)
    program = read_program(subject.source).program
    assert program is not None
    outcomes = verify(subject.source, None, subject.asked, seconds=SECONDS, most_k=3)
    row = LoopRow(seed, wrong=find_contradictions(program, subject, outcomes, scans))
    for one in outcomes:
        row.verdicts[_kind(one)][one.verdict] += 1
    row.is_open = bool(row.verdicts["loops end"])
    return row


def _kind(outcome: Outcome) -> str:
    if outcome.asked.pattern != RUN_TIME:
        return "properties"
    return {"loop": "loops end", "assertion": "assertions"}.get(outcome.asked.parameters[0], "other duties")


def study(seeds: Sequence[int], scans: int, processes: int) -> dict[str, Any]:
    """All rows, summed up."""
    rows = list[LoopRow]()
    with ProcessPoolExecutor(processes) as pool:
        for row in pool.map(study_program, seeds, [scans] * len(seeds)):
            rows.append(row)
            told_ = {kind: dict(found) for kind, found in row.verdicts.items() if found}
            print(f"[{len(rows)}/{len(seeds)}] {row.seed}: {told_} {row.wrong or ''}", flush=True)
    sums = {kind: sum((row.verdicts[kind] for row in rows), Counter[str]()) for kind in _KINDS}
    return {"date": datetime.now(UTC).date().isoformat(), "machine": machine(), "programs": len(rows), "scans": scans,
            "open": sum(row.is_open for row in rows), "verdicts": {kind: dict(found) for kind, found in sums.items()},
            "wrong": [f"{row.seed}: {text}" for row in rows for text in row.wrong]}


def told(results: Mapping[str, Any]) -> str:
    """The table for the page."""
    rows: Iterable[tuple[object, ...]] = [(kind, *(found.get(one, 0) for one in _VERDICTS))
                                          for kind, found in results["verdicts"].items()]
    return (f"{markdown_table(['asked', *_VERDICTS], rows)}\n\n{results['programs']} programs, {results['open']} of "
            f"which have loops that are not looked at turn by turn; each then ran {results['scans']:,} random scans: "
            f"{len(results['wrong'])} of them contradict a verdict. {results['date']}; {results['machine']}.")


TABLE = KeptTable(told, RESULTS_FOLDER / "plc_loops.json", DOCS / "plc.md", marks("loops", "plc.loops"))


def main() -> None:
    """Study, write the results, print them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--programs", type=int, default=PROGRAMS)
    parser.add_argument("--scans", type=int, default=SCANS, help=f"of each (default: {SCANS})")
    parser.add_argument("--first", type=int, default=0, help="the seed of the first program")
    parser.add_argument("--processes", type=int, default=2)
    arguments = parser.parse_args()
    results = study(range(arguments.first, arguments.first + arguments.programs), arguments.scans, arguments.processes)
    is_full = (arguments.programs, arguments.scans, arguments.first) == (PROGRAMS, SCANS, 0)
    print(TABLE.keep(results) if is_full else told(results))
    if results["wrong"]:
        raise SystemExit("\n".join(results["wrong"]))


if __name__ == "__main__":
    main()
