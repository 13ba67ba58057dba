"""A report as data: CSV with one row a run, JSON with everything."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import asdict
from typing import Any

from chatdev.evaluation.report.results import Results
from chatdev.evaluation.report.statistics import LEVEL, RESAMPLES


def as_csv(results: Results) -> str:
    """The rows of the runs, one line each under a line of names; an empty cell is a value that could not be judged.
    Failed jobs have a line with `status` `failed` and why in `reason`."""
    names = list(dict.fromkeys([*(name for row in results.rows for name in row), "job", "variant", "status", "reason"]))
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(results.rows)
    writer.writerows({"job": failed.key, "variant": failed.variant, "status": "failed", "reason": failed.problem}
                     for failed in results.failed)
    return text.getvalue()


def as_json(results: Results) -> str:
    """Estimates, breakdown by area, paired differences, failed jobs and rows."""
    return json.dumps(everything(results), ensure_ascii=False, indent=1) + "\n"


def everything(results: Results) -> dict[str, Any]:
    """The same as plain values."""
    return {
        "study": results.study, "unfinished": results.unfinished,
        "bootstrap": {"resamples": RESAMPLES, "level": LEVEL, "seed": results.seed},
        "variants": [{"variant": name, "runs": results.count(name), **_plain(results, name)}
                     for name in results.variants],
        "areas": [{"area": area, "variant": name, **_plain(results, name, area, results.measures.compared)}
                  for area in results.areas for name in results.variants],
        "differences": [{"variant": d.variant, "against": d.against, "metric": d.metric, **asdict(d.estimate),
                         "better": d.better, "equal": d.equal, "worse": d.worse} for d in results.differences],
        "failed": [asdict(failed) for failed in results.failed],
        "rows": list(results.rows),
    }


def _plain(results: Results, name: str, *which: Any) -> dict[str, Any]:
    return {"metrics": {metric: asdict(found) for metric, found in results.estimates(name, *which).items()}}
