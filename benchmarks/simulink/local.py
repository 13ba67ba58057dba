"""The table of docs/simulink.md on the local model: the ten smallest open models from their descriptions, by one call
and by the company.

    python -m benchmarks.simulink.local [--collect | --write]

Given again, it goes on where it was; rows, journals and the page as in benchmarks/software/srdd_local.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.local_study import MODEL, LocalStudy, each_task, main
from benchmarks.study import RESULTS_FOLDER, ROOT

MODELS = 10
STUDY = LocalStudy(
    "simulink-local",
    (("simulink", "--study", "simulink-local", "--model", MODEL, "--input", "description", "--smallest", str(MODELS),
      "--companies", "single_simulink,simugen"),),
    RESULTS_FOLDER / "simulink_local.json", RESULTS_FOLDER / "simulink_local_journals.tar.xz",
    ROOT / "docs" / "simulink.md",
    ("<!-- local: written by python -m benchmarks.simulink.local -->", "<!-- end of local -->"))


def more(_folders: Mapping[str, Sequence[Path]]) -> dict[str, Any]:
    """Nothing beside the rows."""
    return {}


def told(study: Mapping[str, Any]) -> str:
    """The report of the rows, and every model by itself."""
    return f"{STUDY.report(study)}\n\n{each_task(study['rows'], 'Accuracy; runs; tokens', _cell)}"


def _cell(row: Mapping[str, Any]) -> str:
    return f"{row['accuracy']:.2f}; {'yes' if row['runs'] else 'no'}; {row['tokens']:,}"


if __name__ == "__main__":
    main(STUDY, __doc__, more, told)
