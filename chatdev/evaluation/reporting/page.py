"""A report as one HTML file that needs nothing beside it."""

from __future__ import annotations

import os
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from chatdev.engine.budget import count_noun
from chatdev.evaluation import plots
from chatdev.evaluation.reporting.formats import floor_sentence, format_interval, format_mean
from chatdev.evaluation.reporting.study_results import FEWEST, LEVEL, RESAMPLES, Difference, MeanEstimate, Results

_PUBLISHED = (("GPT-Engineer", 0.1419), ("MetaGPT", 0.1523), ("ChatDev", 0.3953))  # ChatDev, ACL 2024, table 1


@dataclass(frozen=True, slots=True)
class Cell:
    """A value, what stands small below or beside it, and a colour that shows it: `share` between 0 and 1 of the full
    one."""

    text: str
    below: str = ""
    share: float = 0.0
    kind: str = ""


def as_page(results: Results, folder: Path, page: Path) -> str:
    """The report; its links lead from `page`, the file it will be, to the runs in `folder`. Raises MissingProgram
    without matplotlib."""
    environment = Environment(loader=FileSystemLoader(Path(__file__).parent), autoescape=True,
                              undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    columns = results.columns
    template = environment.get_template("page.j2")
    base = quote(Path(os.path.relpath(folder, page.parent)).as_posix())
    return template.render(
        results=results, base=base, tasks=len({row["task"] for row in results.rows}), level=round(LEVEL * 100),
        resamples=RESAMPLES, published=_PUBLISHED, differences=[d for d in results.differences if d.estimate.n],
        drawings=_drawings(results), means=_table(results, (*columns.metrics, *columns.further)),
        costs=_table(results, (*columns.statistics, *columns.further_statistics)), about=columns.about,
        paper=_table(results, columns.published) if columns.published else None,
        divisions=[_division(results, field, metric) for field, metric in results.divisions],
        floor=floor_sentence(results),
        matrices={metric: _matrix(results, metric) for metric in columns.compared}, interval=format_interval,
        shown=_format_metric, tint={name: plots.variant_colour(results, name) for name in results.variants})


def _drawings(results: Results) -> dict[str, str]:
    if not results.rows:
        return {}
    return {"means": plots.draw_means(results), "price": plots.draw_cost(results),
            "differences": plots.draw_differences(results) if len(results.variants) > 1 else ""}


def _table(results: Results, metrics: tuple[str, ...]) -> dict[str, Any]:
    """Columns and, by variant, cells."""
    found = {name: results.estimates(name, metrics=metrics) for name in results.variants}
    statistics = (*results.columns.statistics, *results.columns.further_statistics)
    return {"columns": [metric.removeprefix("paper_").replace("_", " ") for metric in metrics],
            "rows": {name: [_cell(one[metric], metric, results.count_tasks(name), statistics) for metric in metrics]
                     for name, one in found.items()}}


def _cell(one: MeanEstimate, metric: str, tasks: int, statistics: Collection[str]) -> Cell:
    """A mean over its interval, and of how many tasks it is when not of all."""
    if metric in statistics:
        return Cell(format_mean(one.mean, metric))
    value, _, ends = format_interval(one).partition(" ")
    parts = [ends.strip("[]").replace(", ", " – "), count_noun(one.n, "task") if one.n not in (0, tasks) else ""]
    return Cell(value, " · ".join(filter(None, parts)))


def _division(results: Results, field: str, metric: str) -> dict[str, Any]:
    """A metric in the parts that a field divides the tasks into, and by variant the mean in each."""
    parts = results.distinct(field)
    rows = {name: [_heat_cell(results.estimates(name, part, [metric], field)[metric]) for part in parts]
            for name in results.variants}
    return {"title": f"{metric.capitalize()} by {field}", "parts": parts, "rows": rows}


def _heat_cell(one: MeanEstimate) -> Cell:
    return Cell("–") if one.mean is None else Cell(f"{one.mean:.2f}", count_noun(one.n, "task"), round(one.mean, 3))


def _matrix(results: Results, metric: str) -> dict[str, list[Cell]]:
    """By variant, what it has more than each of the others."""
    found = {(d.variant, d.against): d for d in results.differences if d.metric == metric}
    largest = max((abs(d.estimate.mean) for d in found.values() if d.estimate.mean), default=1.0)
    return {name: [_comparison_cell(found.get((name, other)), found.get((other, name)), largest)
                   for other in results.variants] for name in results.variants}


def _comparison_cell(forth: Difference | None, back: Difference | None, largest: float) -> Cell:
    one = forth or back
    if one is None or one.estimate.mean is None:
        return Cell("")
    mean = one.estimate.mean * (1 if forth else -1)
    text = (f"{mean:+.3f}".replace("-", "−") if mean else "0") + (" *" if one.estimate.is_clear else "")
    kind = "" if not mean or one.estimate.n < FEWEST else "more" if mean > 0 else "less"
    return Cell(text, count_noun(one.estimate.n, "task"), round(abs(mean) / largest, 3), kind)


def _format_metric(value: Any) -> str:
    """A metric of one run."""
    return "–" if value is None else f"{value:.2f}" if isinstance(value, float) else str(value)
