"""What the reviewer's eight checks tell: every way to spoil each of the models, and the models themselves.

    python -m benchmarks.simulink.checks [--write]

Writes a table of docs/simulink.md. Takes about five minutes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from benchmarks.simulink.mutants import KINDS, NOBODY, investigation_of, mutants
from benchmarks.study import DOCS, RESULTS_FOLDER, ROOT, KeptStudy, machine, markdown_table, marks
from chatdev.departments.simulink.checks import check_investigation
from chatdev.departments.simulink.diagram import Diagram
from chatdev.departments.simulink.parts import CHECKS

MODELS = ROOT / "chatdev" / "departments" / "simulink" / "models"
_INDEX = "index"


def models(folder: Path = MODELS) -> Iterator[Diagram]:
    """The models that ship with the department."""
    yield from (Diagram.read(file) for file in sorted(folder.glob("*.yaml")) if file.stem != _INDEX)


def measure(most: int) -> Mapping[str, Any]:
    """Of each kind of mutant, how many its check tells; and what is said of right models. `most` are the mutants of one
    kind that are made of a model."""
    made, told, wrong = Counter[str](), Counter[str](), 0
    every = list(models())
    for model in every:
        wrong += bool(check_investigation(investigation_of(model)))
        for kind, check, mutant in mutants(model, most=most):
            made[kind] += 1
            told[kind] += any(check in (NOBODY, one.check) and one.severity != "remark"
                              for one in check_investigation(mutant))
    kinds = [{"kind": kind, "check": check, "mutants": made[kind], "told": told[kind]}
             for kind, (check, _) in KINDS.items()]
    return {"machine": machine(), "models": len(every), "right_models_reported": wrong, "kinds": kinds}


def tables(found: Mapping[str, Any]) -> str:
    """The table for the page."""
    rows = [(row["check"], row["kind"], row["mutants"], row["told"])
            for row in sorted(found["kinds"], key=lambda row: (*CHECKS, NOBODY).index(row["check"]))]
    judged = [row for row in found["kinds"] if row["check"] != NOBODY]
    total = sum(row["mutants"] for row in judged)
    missed = total - sum(row["told"] for row in judged)
    return (f"Of {total} spoilt investigations of {found['models']} models the named check misses {missed}; of the "
            f"right ones {found['right_models_reported']} are reported. The last rows are what nobody can tell without "
            "the picture.\n\n"
            f"{markdown_table(['check', 'what is spoilt', 'mutants', 'told by this check (none: by any)'], rows)}")


STUDY = KeptStudy(tables, RESULTS_FOLDER / "simulink_checks.json", DOCS / "simulink.md",
                  marks("checks", "simulink.checks"), measure, {"most": (20, "mutants of one kind of each model")})

if __name__ == "__main__":
    STUDY.main(__doc__)
