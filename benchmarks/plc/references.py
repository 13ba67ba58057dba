"""The benchmark's references: are their own properties decided, how fast, and do the proofs hold in random runs?

Each property of each of the 14 references is verified, and each test case is run. Then each reference and each program
of the examples and sheets runs for 10,000 random cycles: what was PROVED must not be harmed in one of them, and every
counterexample is run again from what is told of it.

    python -m benchmarks.plc.references [--tasks N] [--cycles 10000]

With fewer tasks or cycles, nothing is written down.
"""

from __future__ import annotations

import argparse
import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from benchmarks.plc.corpus import Subject, examples, read_references, reference_of, sheets
from benchmarks.plc.random_runs import run_randomly, shows_again
from benchmarks.study import DOCS, RESULTS_FOLDER, KeptTable, machine, markdown_table, marks
from chatdev.departments.plc.proof.outcomes import RUN_TIME, Outcome
from chatdev.departments.plc.proof.properties import ASSERTION, PATTERNS
from chatdev.departments.plc.proof.verify import verify
from chatdev.departments.plc.simulation.test_cases import read_case, run_case
from chatdev.departments.plc.st.core import Program
from chatdev.departments.plc.st.reading import read_program

CYCLES = 10_000
SECONDS = 20.0
"""What a property may take."""
DECIDED = ("PROVED", "VIOLATED")
_OUTCOMES = ("agrees", "differs", "faults", "unfit")


def study_task(task: Mapping[str, Any], cycles: int) -> dict[str, Any]:
    """What comes of a task: an outcome for each property and duty, the test cases, what contradicts the proofs."""
    subject = reference_of(dict(task))
    program = read_program(subject.source).program
    if program is None:
        return {"task": subject.name, "properties": len(subject.asked), "broken": True,
                "test cases": {"unfit": len(task["test_cases"])}}
    outcomes = verify(subject.source, None, subject.asked, seconds=SECONDS)
    cases = [run_case(program, read_case(case)) for case in task["test_cases"]]
    return {"task": subject.name, "properties": len(subject.asked), "broken": False,
            "outcomes": [_row(one) for one in outcomes],
            "test cases": dict(Counter(one.outcome for one in cases)),
            "disagreements": [f"{number}: {one.why}" for number, one in enumerate(cases, 1) if one.outcome != "agrees"],
            "contradictions": find_contradictions(program, subject, outcomes, cycles)}


def study_subject(subject: Subject, cycles: int) -> dict[str, Any]:
    """The same for a program of our own, which has no test cases."""
    program = read_program(subject.source).program
    assert program is not None, subject.name
    outcomes = verify(subject.source, None, subject.asked)
    return {"task": subject.name, "properties": len(subject.asked), "verdicts": _verdicts(map(_row, outcomes)),
            "contradictions": find_contradictions(program, subject, outcomes, cycles)}


def find_contradictions(program: Program, subject: Subject, outcomes: Sequence[Outcome], cycles: int) -> list[str]:
    """What random runs show that was proved not to be, and the counterexamples that cannot be run again."""
    seen = run_randomly(program, subject.asked, scans=cycles)
    found = []
    for number, outcome in enumerate(outcomes):
        asked = outcome.asked
        is_goal = asked.pattern in PATTERNS and PATTERNS[asked.pattern].is_goal
        if outcome.verdict == ("VIOLATED" if is_goal else "PROVED") and (
                number in seen.harmed or (asked.pattern == ASSERTION and seen.broken)
                or (asked.pattern == RUN_TIME and asked.parameters[:2] in seen.faults)):
            found.append(f"{asked.pattern} {asked.parameters} was {outcome.verdict}, but a random run shows it")
        if outcome.cycles and not program.entry.of_section("in_out") and not shows_again(program, outcome):
            found.append(f"{asked.pattern} {asked.parameters}: its run is not seen again")
    return found


def _row(outcome: Outcome) -> dict[str, Any]:
    last = [f"{name} = {value}" for name, value in outcome.cycles[-1].changed] if outcome.cycles else []
    return {"pattern": outcome.asked.pattern.removeprefix("pattern-"), "parameters": list(outcome.asked.parameters),
            "verdict": outcome.verdict, "k": outcome.k, "seconds": outcome.seconds, "reason": outcome.reason,
            "vacuous": outcome.vacuous, "cycles": len(outcome.cycles), "last cycle": last[:12]}


def _verdicts(rows: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    return dict(sorted(Counter(row["verdict"] for row in rows).items()))


def study(tasks: Sequence[Mapping[str, Any]], subjects: Sequence[Subject], cycles: int) -> dict[str, Any]:
    """All of it."""
    rows, own = [], []
    for task in tasks:
        rows.append(study_task(task, cycles))
        print(rows[-1]["task"], _verdicts(rows[-1].get("outcomes", [])), rows[-1]["test cases"], flush=True)
    for subject in subjects:
        own.append(study_subject(subject, cycles))
        if own[-1]["contradictions"]:
            print(own[-1]["task"], own[-1]["contradictions"], flush=True)
    return {"date": datetime.now(UTC).date().isoformat(), "machine": machine(), "cycles": cycles, "seconds": SECONDS,
            "tasks": rows, "own": own}


# what is told --------------------------------------------------------------------------------------------------------


def told(results: Mapping[str, Any]) -> str:
    """The tables for the page."""
    rows = [row for row in results["tasks"] if not row["broken"]]
    asked = [one for row in rows for one in _asked(row)]
    times = [one["seconds"] for one in asked]
    decided = sum(one["verdict"] in DECIDED for one in asked)
    runs = sum(bool(one["cycles"]) for row in rows for one in row["outcomes"])
    contradictions = [text for row in (*rows, *results["own"]) for text in row["contradictions"]]
    own, claims = results["own"], sum(row["properties"] for row in results["own"])
    return "\n\n".join((
        _table(results["tasks"]),
        f"{decided} of {len(asked)} properties of references that can be read are decided "
        f"({100 * decided / len(asked):.0f} %); a property takes {statistics.median(times):.2f} s (median; most: "
        f"{max(times):.1f}). {_broken(results['tasks'])}",
        markdown_table(["reference", "not PROVED", "verdict", "why"], [*_open_rows(rows)]),
        markdown_table(["reference", "PROVED, but says nothing of the program", "because"], [
            (row["task"], _written(one), one["vacuous"]) for row in rows for one in _asked(row) if one["vacuous"]]),
        markdown_table(["reference", "test case that does not agree"], [
            (row["task"], text) for row in rows for text in row["disagreements"]]),
        f"Each reference and each of the {len(own)} programs of examples and sheets (with {claims} properties) then "
        f"ran {results['cycles']:,} random cycles: {len(contradictions)} of them contradict a verdict, or a "
        f"counterexample that cannot be run again from what is told of it ({runs} runs of references). "
        f"{results['date']}; {results['machine']}."))


def _table(rows: Sequence[Mapping[str, Any]]) -> str:
    return markdown_table(
        ["reference", "properties", "PROVED", "VIOLATED", "BOUNDED", "UNKNOWN", "duties PROVED", "duties open",
         "test cases that agree"],
        [(row["task"], row["properties"], *_counts(row), f"{row['test cases'].get('agrees', 0)} of "
          f"{sum(row['test cases'].values())}") for row in rows])


def _counts(row: Mapping[str, Any]) -> tuple[object, ...]:
    if row["broken"]:
        return ("–",) * 6
    verdicts = Counter(one["verdict"] for one in _asked(row))
    duties = Counter(one["verdict"] for one in row["outcomes"][row["properties"]:])
    open_ = ", ".join(f"{count} {verdict}" for verdict, count in sorted(duties.items()) if verdict != "PROVED")
    return (*(verdicts[one] for one in ("PROVED", "VIOLATED", "BOUNDED", "UNKNOWN")), duties["PROVED"], open_ or 0)


def _asked(row: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The outcomes of properties, without those of duties."""
    found: list[Mapping[str, Any]] = row["outcomes"][:row["properties"]]
    return found


def _broken(rows: Sequence[Mapping[str, Any]]) -> str:
    names = [row["task"] for row in rows if row["broken"]]
    return f"{', '.join(names)} cannot be read: its newlines are lost." if names else ""


def _open_rows(rows: Sequence[Mapping[str, Any]]) -> Iterable[tuple[str, ...]]:
    for row in rows:
        for one in _asked(row):
            if one["verdict"] != "PROVED":
                yield row["task"], _written(one), one["verdict"], _why(one)


def _why(one: Mapping[str, Any]) -> str:
    if one["cycles"]:
        return f"in cycle {one['cycles']}: {', '.join(one['last cycle'])}"
    return str(one["reason"])


def _written(one: Mapping[str, Any]) -> str:
    return f"{one['pattern']}: {' ; '.join(f'`{text}`' for text in one['parameters'])}"


TABLE = KeptTable(told, RESULTS_FOLDER / "plc_references.json", DOCS / "plc.md", marks("references", "plc.references"))


def main() -> None:
    """Study, write the results, print them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--tasks", type=int, help="so many of the references only, and no program of our own")
    parser.add_argument("--cycles", type=int, default=CYCLES)
    arguments = parser.parse_args()
    tasks = read_references()[:arguments.tasks]
    subjects = [*examples(), *sheets()] if arguments.tasks is None else []
    results = study(tasks, subjects, arguments.cycles)
    print(TABLE.keep(results) if arguments.tasks is None and arguments.cycles == CYCLES else told(results))


if __name__ == "__main__":
    main()
