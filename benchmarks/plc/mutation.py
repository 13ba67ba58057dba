"""Does the verifier see what is wrong? Faults are put into programs whose properties are proved.

Each mutant (mutants.py) is verified with the program's properties. It is killed where one that was PROVED is VIOLATED
now, or where a run-time fault is possible now. Then the mutant runs on random inputs for as long as the verifier
took, and is killed where harm, a broken assert or a run-time fault is seen.

    python -m benchmarks.plc.mutation [--share 1.0] [--kind construct] [--processes 2]

With a share below 1 that part of the programs is mutated, and nothing is written down. With a kind, only its rows are
new.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from benchmarks.plc.constructs import constructs
from benchmarks.plc.corpus import Subject, examples, read_references, reference_of, sheets
from benchmarks.plc.mutants import StMutant, write_mutants
from benchmarks.plc.random_loops import random_loops
from benchmarks.plc.random_runs import run_randomly
from benchmarks.study import DOCS, RESULTS_FOLDER, KeptTable, machine, markdown_table, marks
from chatdev.departments.plc.proof.outcomes import Outcome
from chatdev.departments.plc.proof.properties import PATTERNS
from chatdev.departments.plc.proof.verify import verify
from chatdev.departments.plc.st.reading import read_program

SECONDS = 5.0
"""What a property may take."""
MOST = {"example": 20, "reference": 6, "sheet": 1, "loop": 2, "construct": 12}
"""Mutants of one program."""
_LOOPS = 20
"""Random programs with open loops."""


@dataclass(frozen=True, slots=True)
class MutantRow:
    """One mutant: who killed it, whether the verifier left a property open, how long it took, and what was changed."""

    program: str
    kind: str
    operator: str
    line: int
    change: str
    killed: bool
    killed_by_chance: bool
    open: bool
    seconds: float
    scans: int


def rows_of(kind: str, subject: Subject) -> list[MutantRow]:
    """The rows of one program; none if nothing is proved of it."""
    if read_program(subject.source).program is None:
        return []
    first = verify(subject.source, None, subject.asked, seconds=SECONDS)
    proved = [outcome.asked for outcome in first[:len(subject.asked)] if outcome.verdict == "PROVED"
              and not outcome.vacuous]
    allows_faults = any(outcome.verdict == "VIOLATED" for outcome in first[len(subject.asked):])
    if not proved:
        return []
    bare = Subject(subject.name, subject.source, proved)
    return [_row(kind, bare, mutant, allows_faults)
            for mutant in write_mutants(subject.source, MOST[kind], subject.name)]


def _row(kind: str, subject: Subject, mutant: StMutant, allows_faults: bool) -> MutantRow:
    program = read_program(mutant.source).program
    assert program is not None
    outcomes = verify(mutant.source, None, subject.asked, seconds=SECONDS)
    counted = outcomes[:len(subject.asked)] if allows_faults else outcomes
    seconds = sum(outcome.seconds for outcome in outcomes)
    seen = run_randomly(program, subject.asked, seconds=seconds)
    faults = [kind for kind, _ in seen.faults if kind != "gap"]  # which is not known to be wrong
    harmed = [number for number in seen.harmed if not PATTERNS[subject.asked[number].pattern].is_goal]
    return MutantRow(subject.name, kind, mutant.operator, mutant.line, mutant.change,
                     any(outcome.verdict == "VIOLATED" for outcome in counted),
                     bool(harmed or ((seen.broken or faults) and not allows_faults)), any(map(_is_open, outcomes)),
                     round(seconds, 3), seen.scans)


def _is_open(outcome: Outcome) -> bool:
    return outcome.verdict in ("BOUNDED", "UNKNOWN")


def study(subjects: Sequence[tuple[str, Subject]], processes: int) -> dict[str, Any]:
    """All rows."""
    rows = list[MutantRow]()
    with ProcessPoolExecutor(processes) as pool:
        for (_, subject), found in zip(subjects, pool.map(rows_of, *zip(*subjects, strict=True)), strict=True):
            rows += found
            print(f"{subject.name}: {sum(row.killed for row in found)} of {len(found)} killed, by chance "
                  f"{sum(row.killed_by_chance for row in found)}", flush=True)
    return {"date": datetime.now(UTC).date().isoformat(), "machine": machine(), "rows": [asdict(row) for row in rows]}


def told(results: Mapping[str, Any]) -> str:
    """The tables for the page."""
    rows = results["rows"]
    kinds = [("all", rows), *((f"of {kind}s", [row for row in rows if row["kind"] == kind])
                              for kind in MOST if any(row["kind"] == kind for row in rows))]
    operators = [(name, [row for row in rows if row["operator"] == name])
                 for name in sorted({row["operator"] for row in rows})]
    head = ["mutants", "number", "killed by the verifier", "by random runs of the same time", "by the verifier only",
            "by random runs only", "not killed, with something open"]
    chance = [row["scans"] for row in rows]
    return (f"{markdown_table(head, [(name, *_count(some)) for name, some in kinds])}\n\n"
            f"{markdown_table(['mistake', *head[1:]], [(name, *_count(some)) for name, some in operators])}\n\n"
            f"{len({row['program'] for row in rows})} programs; the verifier took "
            f"{sum(row['seconds'] for row in rows) / len(rows):.2f} s a mutant (mean), in which random runs made "
            f"{sum(chance) / len(chance):,.0f} scans (mean). {results['date']}; {results['machine']}.")


def _count(rows: Sequence[Mapping[str, Any]]) -> Iterable[object]:
    def share(some: Iterable[bool]) -> str:
        return f"{100 * sum(some) / len(rows):.1f} %" if rows else "–"

    return (len(rows), share(row["killed"] for row in rows), share(row["killed_by_chance"] for row in rows),
            sum(row["killed"] and not row["killed_by_chance"] for row in rows),
            sum(row["killed_by_chance"] and not row["killed"] for row in rows),
            sum(row["open"] and not row["killed"] for row in rows))


def all_subjects() -> list[tuple[str, Subject]]:
    """Every program, with its kind."""
    return [*(("example", one) for one in examples()),
            *(("reference", reference_of(task)) for task in read_references()), *(("sheet", one) for one in sheets()),
            *(("loop", random_loops(seed)) for seed in range(_LOOPS)), *(("construct", one) for one in constructs())]


TABLE = KeptTable(told, RESULTS_FOLDER / "plc_mutation.json", DOCS / "plc.md", marks("mutation", "plc.mutation"))


def main() -> None:
    """Study, write the results, print them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--share", type=float, default=1.0)
    parser.add_argument("--kind", choices=tuple(MOST))
    parser.add_argument("--processes", type=int, default=2)
    arguments = parser.parse_args()
    subjects = [one for one in all_subjects() if arguments.kind in (None, one[0])]
    results = study(subjects[::max(1, round(1 / arguments.share))], arguments.processes)
    if arguments.kind:
        results["rows"] += [row for row in TABLE.read().get("rows", ()) if row["kind"] != arguments.kind]
    print(TABLE.keep(results) if arguments.share == 1.0 else told(results))


if __name__ == "__main__":
    main()
