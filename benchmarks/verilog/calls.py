"""What `verilogcoder` takes beside one call of the same model when its first draft is right.

    python -m benchmarks.verilog.calls [--write]

A scripted model answers whatever it is asked with a right module: forty references of VerilogEval, drawn by seed, and
a second time with a slip of the pen in it. Writes a table of docs/verilog.md: calls and tokens (by our own count)
of a run of the company and of `single_verilog`. Takes about four minutes.
"""

from __future__ import annotations

import random
import tempfile
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.study import DOCS, RESULTS_FOLDER, KeptStudy, markdown_table, marks
from benchmarks.verilog.subjects import Subject, verilogeval_subjects
from chatdev import Company
from chatdev.llm.base import ScriptedModel, count_tokens, prompt_tokens

SEED, SUBJECTS = 19, 40
COMPANIES = ("verilogcoder", "single_verilog")
DRAFTS: dict[str, Callable[[str], str]] = {
    "right": lambda text: text,
    "right but for its `endmodule`": lambda text: text.replace("endmodule", "", 1),
}


def rows_of(subject: Subject) -> list[dict[str, Any]]:
    """For each draft what a run of each company takes."""
    return [{"subject": subject.name, "draft": draft, "company": company,
             **_spent(company, subject, make(subject.text))} for draft, make in DRAFTS.items() for company in COMPANIES]


def _spent(company: str, subject: Subject, text: str) -> dict[str, Any]:
    model = ScriptedModel(lambda request: f"top.sv\n```verilog\n{text}\n```")
    with tempfile.TemporaryDirectory(prefix="chatdev-") as folder:
        given = Path(folder, "given")
        given.mkdir()
        (bench := given / "tb.sv").write_text(subject.bench.text, encoding="utf-8")
        (reference := given / "ref.sv").write_text(subject.bench.reference or "", encoding="utf-8")
        run = Company.load(company).run(subject.specification, model=model, warehouse=Path(folder, "warehouse"),
                                        inputs={"bench": bench, "reference": reference})
    tokens = sum(prompt_tokens(request) for request in model.requests)
    return {"success": run.success, "calls": run.usage.calls, "tokens": tokens + run.usage.calls * count_tokens(text)}


def told(study: Mapping[str, Any]) -> str:
    """By draft: successes, and the calls and tokens of the company beside those of one call."""
    return markdown_table(["the first draft is", "modules", "companies report success", "single call: success",
                           "most calls", "tokens, median", "times those of one call: median", "most"],
                          [_line(draft, study["rows"]) for draft in DRAFTS])


def _line(draft: str, rows: list[dict[str, Any]]) -> tuple[object, ...]:
    ours, single = ({row["subject"]: row for row in rows if (row["draft"], row["company"]) == (draft, company)}
                    for company in COMPANIES)
    times = [ours[name]["tokens"] / single[name]["tokens"] for name in ours]
    return (draft, len(ours), sum(row["success"] for row in ours.values()),
            sum(row["success"] for row in single.values()), max(row["calls"] for row in ours.values()),
            f"{median(row['tokens'] for row in ours.values()):,.0f}", f"{median(times):.1f}", f"{max(times):.1f}")


def measure(processes: int) -> dict[str, Any]:
    """The rows of a sample of the modules."""
    with ProcessPoolExecutor(processes) as pool:
        found = pool.map(rows_of, random.Random(SEED).sample(verilogeval_subjects(), SUBJECTS))
        return {"rows": [row for rows in found for row in rows]}


STUDY = KeptStudy(told, RESULTS_FOLDER / "verilog_calls.json", DOCS / "verilog.md",
                  marks("calls", "verilog.calls"), measure, {"processes": (2, "at a time")})

if __name__ == "__main__":
    STUDY.main(__doc__)
