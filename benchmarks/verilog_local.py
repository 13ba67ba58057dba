"""The table of docs/verilog.md: one call and the company, with the local model on ten easy problems of VerilogEval.

    python -m benchmarks.verilog_local [--collect | --write]

Given again, it goes on where it was; rows, journals and the page as in benchmarks/srdd_local.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.local_study import MODEL, LocalStudy, each_task, main
from benchmarks.study import RESULTS_FOLDER, ROOT

PROBLEMS = ("Prob005_notgate", "Prob014_andgate", "Prob024_hadd", "Prob025_reduction", "Prob027_fadd",
            "Prob040_count10", "Prob041_dff8r", "Prob046_dff8p", "Prob054_edgedetect", "Prob072_thermostat")
"""Easy ones by their specifications, of which no dialogue was read while prompts and tools were mended: six
combinational, four sequential."""
STUDY = LocalStudy(
    "verilog-local",
    (("verilogeval", "--study", "verilog-local", "--model", MODEL, "--data", "benchmarks/data/verilogeval_v2.tar.gz",
      "--companies", "single_verilog,verilogcoder", "--problems", ",".join(PROBLEMS)),),
    RESULTS_FOLDER / "verilog_local.json", RESULTS_FOLDER / "verilog_local_journals.tar.xz",
    ROOT / "docs" / "verilog.md",
    ("<!-- local: written by python -m benchmarks.verilog_local -->", "<!-- end of local -->"))


def more(folders: Mapping[str, Sequence[Path]]) -> dict[str, Any]:
    """How many run folders of each variant there are."""
    return {"runs": {variant: len(found) for variant, found in folders.items()}}


def told(study: Mapping[str, Any]) -> str:
    """The report of the rows, and every problem by itself."""
    problems = each_task(study["rows"], "How it ended; tokens", lambda row: f"{row['outcome']}; {row['tokens']:,}")
    return f"{STUDY.report(study)}\n\n{problems}"


if __name__ == "__main__":
    main(STUDY, __doc__, more, told)
