"""The table of docs/verilog.md: one call and the company, with the local model on twenty problems of VerilogEval.

    python -m benchmarks.verilog.local [--collect | --write]

Given again, it goes on where it was; rows, journals and the page as in benchmarks/software/srdd_local.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.local_study import MODEL, LocalStudy, each_task
from benchmarks.study import DOCS, RESULTS_FOLDER, marks

PROBLEMS = ("Prob006_vectorr", "Prob007_wire", "Prob048_m2014_q4c", "Prob049_m2014_q4b", "Prob051_gates4",
            "Prob056_ece241_2013_q7", "Prob059_wire4", "Prob060_m2014_q4k", "Prob061_2014_q4a", "Prob069_truthtable1",
            "Prob076_always_case", "Prob077_wire_decl", "Prob083_mt2015_q4b", "Prob086_lfsr5", "Prob087_gates",
            "Prob108_rule90", "Prob111_fsm2s", "Prob119_fsm3", "Prob132_always_if2", "Prob137_fsm_serial")
"""Drawn by seed from the 125 that nothing here names (`random.Random(16).sample(names, 20)`). Dialogues about ten
of them were read after a first study, as docs/verilog.md says; about the others none."""
ONE_CALL, COMPANY = "single_verilog", "verilogcoder"


def _step(company: str, repeats: int) -> tuple[str, ...]:
    return ("verilogeval", "--study", "verilog-twenty-redrafted", "--model", MODEL, "--data",
            "benchmarks/data/verilogeval_v2.tar.gz", "--companies", company, "--problems", ",".join(PROBLEMS),
            "--repeats", str(repeats))


def more(folders: Mapping[str, Sequence[Path]]) -> dict[str, Any]:
    """How many run folders of each variant there are."""
    return {"runs": {variant: len(found) for variant, found in folders.items()}}


def told(study: Mapping[str, Any]) -> str:
    """The report of the rows, and every problem by itself."""
    problems = each_task(study["rows"], "How it ended; tokens", lambda row: f"{row['outcome']}; {row['tokens']:,}")
    return f"{STUDY.report(study)}\n\n{problems}"


STUDY = LocalStudy(
    told, RESULTS_FOLDER / "verilog_local.json", DOCS / "verilog.md", marks("local", "verilog.local"),
    "verilog-twenty-redrafted", (_step(COMPANY, 1), _step(ONE_CALL, 3)),
    RESULTS_FOLDER / "verilog_local_journals.tar.xz", more)

if __name__ == "__main__":
    STUDY.main(__doc__)
