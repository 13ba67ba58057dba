"""The figures of SimuGen's paper beside those of a study, and what differs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from chatdev.departments.simulink.reference_models import reference_models
from chatdev.evaluation.reporting.formats import format_mean
from chatdev.evaluation.reporting.study_results import Results

PAPER: Sequence[tuple[str, float, float | None, float | None]] = (
    ("SimuGen, o4-mini and o3-mini", 0.945, 0.17, 275.0),
    ("SimuGen, GPT-4.1", 0.832, None, None),
    ("  without reviewer", 0.862, None, None),
    ("  without locator", 0.839, None, None),
    ("  without both", 0.517, None, None),
)
"""Accuracy, cost in US dollars and seconds of a model (arXiv 2506.15695): means over its nine models."""
_DIFFERENT = """\
What differs: the models are our own, of the same nine sizes and of twenty more; the pictures are drawn by our painter;
programs run in our stand-in for MATLAB, which refuses some joins that MATLAB takes; of a physical net |net| - 1
connections count, where the paper's rule is not known; a block counts only with its defining parameters and ports."""
_COLUMNS = ("", "accuracy (all)", "models", "accuracy (the nine)", "models", "cost", "seconds")


def compare_with_paper(results: Results) -> str:
    """A table of accuracies, costs and times: the paper's, then those of each variant, over all its models and over
    those with the counts of the paper's nine."""
    lines = [_COLUMNS, *(_paper_line(*row) for row in PAPER), *(_line(results, name) for name in results.variants)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    shown = ("  ".join([line[0].ljust(widths[0]), *(cell.rjust(width) for cell, width
                                                   in zip(line[1:], widths[1:], strict=True))]).rstrip()
             for line in lines)
    return "\n".join(["Beside the paper", *shown, _DIFFERENT])


def _paper_line(name: str, accuracy: float, cost: float | None, seconds: float | None) -> Sequence[str]:
    return (name, "–", "–", f"{accuracy:.3f}", "9", format_mean(cost, "cost"), format_mean(seconds, "seconds"))


def _line(results: Results, variant: str) -> Sequence[str]:
    rows = [row for row in results.rows if row.get("variant") == variant]
    nine = [row for row in rows if _is_of_the_nine(row)]
    return (variant, _mean(rows, "accuracy"), str(_count(rows)), _mean(nine, "accuracy"), str(_count(nine)),
            _mean(rows, "cost"), _mean(rows, "seconds"))


def _is_of_the_nine(row: Mapping[str, Any]) -> bool:
    model = reference_models().get(str(row.get("name")))
    return model is not None and bool(model.paper)


def _count(rows: Sequence[Mapping[str, Any]]) -> int:
    return len({row.get("name") for row in rows})


def _mean(rows: Sequence[Mapping[str, Any]], field: str) -> str:
    values = [float(row[field]) for row in rows if row.get(field) is not None]
    mean = fmean(values) if values else None
    return format_mean(mean, field) if field != "accuracy" or mean is None else f"{mean:.3f}"
