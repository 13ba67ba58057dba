"""Claims about programs that were written from the standard before the tools were run on them: is a verdict ever wrong?

Each claim of `benchmarks/data/plc_claims.yaml` says whether it holds by IEC 61131-3. A claim that does not hold and is
PROVED, or one that holds and is VIOLATED, is a wrong verdict. So is one that random simulation contradicts: a scan that
harms a claim which is PROVED (or reaches a goal that is VIOLATED), a run of a VIOLATED one that is not seen again.

    python -m benchmarks.plc.claims [--scans 5000 | --write]
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

import yaml

from benchmarks.plc.corpus import Subject
from benchmarks.plc.random_runs import run_randomly
from benchmarks.plc.references import find_contradictions
from benchmarks.study import DOCS, RESULTS_FOLDER, ROOT, KeptStudy, machine, markdown_table, marks
from chatdev.departments.plc.proof.outcomes import Property
from chatdev.departments.plc.proof.verify import verify
from chatdev.departments.plc.st.reading import read_program

DATA = ROOT / "benchmarks" / "data" / "plc_claims.yaml"
_RIGHT = {True: "PROVED", False: "VIOLATED"}


def read_claims() -> Iterator[tuple[Subject, list[bool]]]:
    """Each program with its claims, and whether each of them holds."""
    for entry in yaml.safe_load(DATA.read_text(encoding="utf-8")):
        asked = [Property(f"pattern-{one['claim'][0]}", tuple(one["claim"][1:])) for one in entry["claims"]]
        yield Subject(entry["name"], entry["source"], asked), [one["holds"] for one in entry["claims"]]


def judge(subject: Subject, holds: list[bool], scans: int) -> dict[str, Any]:
    """The verdicts on a program's claims, those that are wrong, and what random simulation has against them."""
    checked = read_program(subject.source)
    if checked.program is None:
        return {"program": subject.name, "claims": len(holds), "refused": str(checked.diagnostics[0]), "verdicts": [],
                "wrong": [], "contradictions": []}
    outcomes = verify(subject.source, None, subject.asked)[:len(holds)]
    seen = run_randomly(checked.program, subject.asked, scans=scans)
    goals = [one.pattern == "pattern-reachability" for one in subject.asked]
    return {"program": subject.name, "claims": len(holds), "refused": "",
            "verdicts": [one.verdict for one in outcomes],
            "undecided": [f"{' ; '.join(one.asked.parameters)}: {one.reason}" for one in outcomes
                          if one.verdict not in _RIGHT.values()],
            "wrong": [" ; ".join(one.asked.parameters) for one, right in zip(outcomes, holds, strict=True)
                      if one.verdict == _RIGHT[not right]],
            "claims seen to be wrong": [" ; ".join(one.parameters) for number, one in enumerate(subject.asked)
                                        if number in seen.harmed and holds[number] != goals[number]],
            "contradictions": find_contradictions(checked.program, subject, outcomes, scans)}


def study(scans: int) -> dict[str, Any]:
    """All programs."""
    rows = []
    for subject, holds in read_claims():
        rows.append(judge(subject, holds, scans))
        print(rows[-1]["program"], *rows[-1]["verdicts"], rows[-1]["refused"], *rows[-1]["wrong"], flush=True)
    return {"date": datetime.now(UTC).date().isoformat(), "machine": machine(), "scans": scans, "rows": rows}


def told(results: Mapping[str, Any]) -> str:
    """The table for the page."""
    rows = results["rows"]
    verdicts = Counter(verdict for row in rows for verdict in row["verdicts"])
    wrong = [f"{row['program']}: {text}" for row in rows for text in (*row["wrong"], *row["contradictions"])]
    table = markdown_table(
        ["programs", "refused", "claims", "PROVED", "VIOLATED", "not decided", "wrong verdicts"],
        [(len(rows), sum(bool(row["refused"]) for row in rows), sum(row["claims"] for row in rows),
          verdicts["PROVED"], verdicts["VIOLATED"], verdicts["UNKNOWN"] + verdicts["BOUNDED"], len(wrong))])
    return (f"{table}\n\n{' '.join(wrong)}Each program also made {results['scans']:,} random scans. "
            f"{results['date']}; {results['machine']}.")


STUDY = KeptStudy(told, RESULTS_FOLDER / "plc_claims.json", DOCS / "plc.md", marks("claims", "plc.claims"), study,
                  {"scans": (5000, "random scans of each program")})

if __name__ == "__main__":
    STUDY.main(__doc__)
