"""The table of docs/simulink.md on the local model: the ten smallest open models from their descriptions, by one call
and by the company.

    python -m benchmarks.simulink.local [--collect | --write]

Given again, it goes on where it was; rows, journals and the page as in benchmarks/software/srdd_local.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchmarks.local_study import MODEL, LocalStudy, each_task
from benchmarks.study import DOCS, RESULTS_FOLDER, marks

MODELS = 10


def told(study: Mapping[str, Any]) -> str:
    """The report of the rows, and every model by itself."""
    return f"{STUDY.report(study)}\n\n{each_task(study['rows'], 'Accuracy; runs; tokens', _cell)}"


def _cell(row: Mapping[str, Any]) -> str:
    return f"{row['accuracy']:.2f}; {'yes' if row['runs'] else 'no'}; {row['tokens']:,}"


STUDY = LocalStudy(
    told, RESULTS_FOLDER / "simulink_local.json", DOCS / "simulink.md",
    marks("local", "simulink.local"), "simulink-local",
    (("simulink", "--study", "simulink-local", "--model", MODEL, "--input", "description", "--smallest", str(MODELS),
      "--companies", "single_simulink,simugen"),),
    RESULTS_FOLDER / "simulink_local_journals.tar.xz")

if __name__ == "__main__":
    STUDY.main(__doc__)
