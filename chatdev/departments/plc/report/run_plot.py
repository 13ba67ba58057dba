"""A run as a picture: signals below each other over the same time, BOOL as steps between two levels, numbers as lines.

Needs matplotlib.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from itertools import accumulate
from math import isfinite, nan
from typing import TYPE_CHECKING, Any, Literal

from chatdev.departments.plc.report.listing import show_safely
from chatdev.departments.plc.simulation.trace import Column
from chatdev.departments.plc.source_run import SourceRun
from chatdev.errors import MissingProgram

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_SIGNALS = 24
"""Of a picture; what comes behind them is left out."""
_LONGEST_NAME = 28
_WIDTH, _BIT, _NUMBER = 9.0, 0.34, 0.75  # inches: of the picture, and the heights of a BOOL and of a number
_INPUT, _OUTPUT, _LOCAL, _WRONG = "#1d5fd1", "#c2410c", "#475467", "#d92d20"
_STYLE: dict[Any, Any] = {
    "svg.fonttype": "none", "svg.hashsalt": "chatdev", "font.family": "sans-serif", "font.size": 9,
    "text.parse_math": False, "axes.spines.top": False, "axes.spines.right": False, "axes.edgecolor": "#98a2b3",
    "xtick.color": "#667085", "ytick.color": "#667085", "savefig.dpi": 150,
}


def plot_run(run: SourceRun, form: Literal["png", "svg"] = "svg", names: Sequence[str] = ()) -> bytes:
    """The signals of a run as a PNG or SVG file, MOST_SIGNALS of them: those of `names`, whatever their case, or
    inputs, outputs, and other variables of the entry's own that change. Raises MissingProgram without matplotlib,
    ValueError for a name that is none, and for a run without a scan to show."""
    columns = _choose(run, names)
    if not columns or not run.trace.rows:
        raise ValueError("there is nothing to draw: no scan came to its end, or there are no signals")
    try:
        import matplotlib as mpl
        from matplotlib.figure import Figure
        from matplotlib.ticker import MaxNLocator
    except ImportError as error:
        raise MissingProgram("plots need matplotlib: pip install 'chatdev-chain[plc]'") from error
    heights = [_BIT if _is_bit(column) else _NUMBER for column in columns]
    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=(_WIDTH, sum(heights) + 0.2 * len(heights) + 0.6), layout="constrained")
        panels = figure.subplots(len(columns), 1, sharex=True, squeeze=False, height_ratios=heights)
        for column, (panel,) in zip(columns, panels, strict=True):
            panel.yaxis.set_major_locator(MaxNLocator(3, integer=column.type.kind != "real"))
            _draw(panel, column, run)
        panels[-1][0].set_xlabel("seconds" if run.fault is None else f"seconds; {show_safely(run.fault.message)} at "
                                 f"line {run.fault.span.line} in scan {run.fault.scan}")
        figure.align_ylabels()
        picture = io.BytesIO()
        figure.savefig(picture, format=form, metadata={"Date": None} if form == "svg" else None)
    return picture.getvalue()


def _choose(run: SourceRun, names: Sequence[str]) -> list[Column]:
    drawn = {column.name.lower(): column for column in run.trace.columns if column.type.kind != "string"}
    if not names:
        return [column for column in drawn.values() if _tells(column, run)][:MOST_SIGNALS]
    keys = [name.strip().lower() for name in names]
    if not drawn.keys() >= set(keys):
        known = ", ".join(column.name for column in drawn.values())
        raise ValueError(f"there is no signal {', '.join(sorted(set(keys) - drawn.keys()))}; there are {known}")
    return [drawn[key] for key in keys][:MOST_SIGNALS]


def _tells(column: Column, run: SourceRun) -> bool:
    """Whether a signal is shown that nobody asked for."""
    if column.is_input or column.root in run.outputs:
        return True
    at = run.trace.columns.index(column)
    return not column.steps and len({repr(row[at]) for row in run.trace.rows}) > 1


def _is_bit(column: Column) -> bool:
    return column.type.kind == "bool"


def _draw(panel: Axes, column: Column, run: SourceRun) -> None:
    """A panel. A scan ends at the sum of the times before; its values hold until the next one's end."""
    at = run.trace.columns.index(column)
    ends = [time / 1000 for time in accumulate([*run.milliseconds, run.milliseconds[-1]])]
    values = [float(row[at]) if isfinite(row[at]) else nan for row in run.trace.rows]
    colour = _INPUT if column.is_input else _OUTPUT if column.root in run.outputs else _LOCAL
    panel.step(ends, [*values, values[-1]], where="post", color=colour, linewidth=1.5)
    panel.set_ylabel(_label(column), rotation=0, ha="right", va="center", color=colour)
    panel.tick_params(length=0)
    panel.margins(x=0.01)
    panel.grid(axis="x", alpha=0.25)
    if _is_bit(column):
        panel.fill_between(ends, [*values, values[-1]], step="post", color=colour, alpha=0.15)
    _set_levels(panel, column, values)
    _mark_mismatches(panel, column, run, ends)


def _set_levels(panel: Axes, column: Column, values: Sequence[float]) -> None:
    """The values that stand beside a panel, and its room above and below."""
    if _is_bit(column):
        panel.set_ylim(-0.15, 1.2)
        panel.set_yticks([])
    elif column.type.names:
        shown = sorted({int(value) for value in values})
        panel.set_yticks(shown, [_name_value(column, number) for number in shown])
    elif len(set(values)) == 1 and isfinite(values[0]):
        panel.set_ylim(values[0] - 1, values[0] + 1)


def _mark_mismatches(panel: Axes, column: Column, run: SourceRun, ends: Sequence[float]) -> None:
    """Lines at the ends of the scans after which a value was not as expected."""
    for one in run.mismatches:
        if (one.column.root, one.column.steps) == (column.root, column.steps):
            panel.axvline(ends[one.scan - 1], color=_WRONG, linewidth=1, linestyle="--")


def _label(column: Column) -> str:
    name = show_safely(column.name)
    unit = " (ms)" if column.type.kind == "time" else ""
    return (name if len(name) <= _LONGEST_NAME else f"…{name[1 - _LONGEST_NAME:]}") + unit


def _name_value(column: Column, number: int) -> str:
    at = number - (column.type.low or 0)
    return show_safely(column.type.names[at]) if 0 <= at < len(column.type.names) else str(number)
