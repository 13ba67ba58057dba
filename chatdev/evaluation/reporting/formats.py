"""A report as text for a terminal, as CSV and JSON, as a score line, and as one HTML file that needs nothing beside
it."""

from __future__ import annotations

import csv
import io
import json
import os
import textwrap
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from chatdev.engine.budget import count_noun
from chatdev.evaluation import plots
from chatdev.evaluation.reporting.study_results import FEWEST, LEVEL, RESAMPLES, Difference, MeanEstimate, Results
from chatdev.version import __version__

_LISTED = 10  # failed jobs
_WIDEST = 100  # columns of a table
_NAME = 34  # columns of the names at its left
_MANY = 4  # variants, from which on only differences from the first are shown


def as_text(results: Results) -> str:
    """Tables of means with 95 % intervals, of areas and of paired differences, and the failed jobs."""
    parts = [_head(results), _means(results), _costs(results)]
    parts += [_division(results, field, metric) for field, metric in results.divisions]
    if len(results.variants) > 1:
        parts.append(_differences(results))
    if results.failed:
        parts.append(_failures(results))
    return "\n\n".join(part for part in parts if part) + "\n"


def format_interval(found: MeanEstimate, digits: int = 3) -> str:
    """`0.395 [0.312, 0.478]`; `–` without values."""
    if found.mean is None:
        return "–"
    ends = "" if found.low is None else f" [{found.low:.{digits}f}, {found.high:.{digits}f}]"
    return f"{found.mean:.{digits}f}{ends}"


def format_mean(value: float | None, metric: str) -> str:
    """A mean of a statistic, in as many digits as say something."""
    if value is None:
        return "–"
    return f"${value:.4f}" if metric == "cost" else f"{value:,.1f}" if value < 100 else f"{value:,.0f}"


def _head(results: Results) -> str:
    unfinished = f", {results.unfinished} not done yet" if results.unfinished else ""
    runs = count_noun(len(results.rows), "run")
    lines = [f"Study {results.study}: {runs} measured, {len(results.failed)} failed{unfinished}"]
    for label, name in (("model", "model"), ("consistency by", "embedder")):
        lines += [f"{label}: {', '.join(results.distinct(name))}"] if results.distinct(name) else []
    return "\n".join(lines)


def _means(results: Results) -> str:
    metrics = results.columns.metrics
    lines = [["Means (95 % interval)", "runs", *metrics]]
    for name in results.variants:
        found = results.estimates(name, metrics=metrics)
        tasks = results.count_tasks(name)
        lines.append([name, str(results.count(name)), *(
            format_interval(one) + (f" of {one.n}" if one.n not in (0, tasks) else "") for one in found.values())])
    return f"{table_text(lines)}\n{floor_sentence(results)}".rstrip()


def floor_sentence(results: Results) -> str:
    """What the figures of hidden tests begin from; empty where no refusals were counted."""
    floor = results.floor
    return "" if floor is None else (
        f"A program that rejects everything would pass {floor.passed:.1%} of these checks; its acceptance is "
        f"{floor.acceptance:.3f}, because error checks count only after the example passes.")


def _costs(results: Results) -> str:
    statistics, per = results.columns.statistics, results.columns.per
    lines = [["Mean of a run", *statistics, *([f"tokens per {per}"] if per else [])]]
    for name in results.variants:
        found = results.estimates(name, metrics=statistics)
        lines.append([name, *(format_mean(found[metric].mean, metric) for metric in statistics),
                      *([format_mean(results.tokens_per(name), "tokens")] if per else [])])
    return table_text(lines)


def _division(results: Results, field: str, metric: str) -> str:
    """A metric by the parts that a field of the rows divides the tasks into."""
    parts = results.distinct(field)
    lines = [[f"{metric.capitalize()} by {field}", *parts]]
    for name in results.variants:
        found = [results.estimates(name, part, [metric], field)[metric] for part in parts]
        lines.append([name, *("–" if one.mean is None else f"{one.mean:.3f} ({one.n})" for one in found)])
    return table_text(lines)


def _differences(results: Results) -> str:
    lines = [["Paired differences", "metric", "tasks", "mean (95 % interval)", "better", "equal", "worse"]]
    shown = [found for found in results.differences if found.estimate.n and (
        len(results.variants) <= _MANY or found.against == results.variants[0])]
    for found in shown:
        mark = " *" if found.estimate.is_clear else ""
        lines.append([f"{found.variant} − {found.against}", found.metric, str(found.estimate.n),
                      format_interval(found.estimate) + mark, *map(str, (found.better, found.equal, found.worse))])
    note = ("* 0 lies outside the interval; intervals are not corrected for the number of comparisons.\n"
            f"No star under {FEWEST} tasks, nor where all differences are equal.")
    if len(results.variants) > _MANY:
        note += f"\nOnly differences from {results.variants[0]}; --format html and json have all."
    return f"{table_text(lines)}\n{note}" if len(lines) > 1 else ""


def _failures(results: Results) -> str:
    lines = [f"  {failed.key} (tries: {failed.tries}): {' '.join(failed.problem.split())}"
             for failed in results.failed[:_LISTED]]
    if (more := len(results.failed) - _LISTED) > 0:
        lines.append(f"  … and {more} more; --format csv, json and html have all")
    return "\n".join(["Failed jobs, not counted above:", *lines])


def table_text(lines: Sequence[Sequence[str]]) -> str:
    """The lines as a table, or as several with the same first column where one would be wider than a page."""
    lines = [row for line in lines for row in _rows(line)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    parts, first, room = [], 1, _WIDEST - widths[0]
    for end in range(2, len(widths) + 1):
        if end == len(widths) or sum(widths[first:end + 1]) + 2 * (end + 1 - first) > room:
            parts.append(_one_table([[line[0], *line[first:end]] for line in lines]))
            first = end
    return "\n\n".join(parts)


def _rows(line: Sequence[str]) -> list[list[str]]:
    """The line, with more below it where its first cell is too long."""
    names = textwrap.wrap(line[0], _NAME, break_on_hyphens=False) or [""]
    return [[names[0], *line[1:]], *([f"  {name}", *[""] * (len(line) - 1)] for name in names[1:])]


def _one_table(lines: Sequence[Sequence[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    shown = ["  ".join([line[0].ljust(widths[0]), *(cell.rjust(width) for cell, width
                                                   in zip(line[1:], widths[1:], strict=True))]).rstrip()
             for line in lines]
    return "\n".join([shown[0], "─" * (sum(widths) + 2 * len(widths) - 2), *shown[1:]])


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
    return json.dumps(report_data(results), ensure_ascii=False, indent=1) + "\n"


def report_data(results: Results) -> dict[str, Any]:
    """The same as plain values."""
    return {
        "study": results.study, "unfinished": results.unfinished,
        "bootstrap": {"resamples": RESAMPLES, "level": LEVEL, "seed": results.seed},
        "variants": [{"variant": name, "runs": results.count(name), **_metrics(results, name)}
                     for name in results.variants],
        "areas": [{"area": area, "variant": name, **_metrics(results, name, area, results.columns.compared)}
                  for area in results.areas for name in results.variants],
        "divisions": [{"by": field, "part": part, "variant": name, **_metrics(results, name, part, [metric], field)}
                      for field, metric in results.columns.divided for part in results.distinct(field)
                      for name in results.variants],
        "floor": asdict(results.floor) if results.floor else None,
        "differences": [{"variant": d.variant, "against": d.against, "metric": d.metric, **asdict(d.estimate),
                         "better": d.better, "equal": d.equal, "worse": d.worse} for d in results.differences],
        "failed": [asdict(failed) for failed in results.failed],
        "rows": list(results.rows),
    }


def _metrics(results: Results, name: str, *which: Any) -> dict[str, Any]:
    return {"metrics": {metric: asdict(found) for metric, found in results.estimates(name, *which).items()}}


# Score line of a study, to be sent back and kept in docs/models.md.


def score_lines(results: Results, tier: str, on: date) -> list[str]:
    """A line for each model of a study: version, date, model, tier, and by variant the tasks solved, the calls and the
    cost of a run. Only runs of tasks with a hidden test count; empty where there is none."""
    judged = replace(results, rows=[row for row in results.rows if row.get("acceptance") is not None])
    return [_line(judged, tier, model, on) for model in judged.distinct("model")]


def _line(results: Results, tier: str, model: str, on: date) -> str:
    rows = [row for row in results.rows if row.get("model") == model]
    names = [name for name in results.variants if any(row.get("variant") == name for row in rows)]
    tasks = len({row.get("task") for row in rows})
    parts = [f"chatdev {__version__}, {on.isoformat()}", model, f"{tier}, {count_noun(tasks, 'task')}",
             *(_variant(results, name, rows) for name in names)]
    lost = len(results.failed) + results.unfinished
    return " | ".join([*parts, *([f"{count_noun(lost, 'run')} without a result"] if lost else [])])


def _variant(results: Results, name: str, rows: Sequence[Mapping[str, Any]]) -> str:
    found = results.estimates(name, metrics=("solved", "calls", "cost"))
    solved, cost = found["solved"].mean, found["cost"]
    runs = sum(row.get("variant") == name for row in rows)
    known = cost.mean is not None and all(row.get("cost") is not None for row in rows if row.get("variant") == name)
    return (f"{name}: {'–' if solved is None else f'{solved:.1%}'} solved in {count_noun(runs, 'run')}, "
            f"{format_mean(found['calls'].mean, 'calls')} calls, "
            f"{format_mean(cost.mean, 'cost') if known else 'cost unknown'}")


# A report as one HTML file that needs nothing beside it.

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
        divisions=[_division_table(results, field, metric) for field, metric in results.divisions],
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


def _division_table(results: Results, field: str, metric: str) -> dict[str, Any]:
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
