"""The plots of a report, as SVG that takes its text colour from the page."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from chatdev.errors import MissingProgram
from chatdev.evaluation.report.results import COMPARED, Results
from chatdev.evaluation.report.statistics import Estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = ("#4c6ef5", "#e8590c", "#099268", "#ae3ec9", "#c2255c", "#1098ad", "#f08c00", "#5f3dc4", "#66a80f", "#868e96")
"""Of the variants, in their order; used again when they are more."""

_INK = "#123456"  # stands for the page's own colour of text
_METRICS = ("completeness", "executability", "consistency", "quality", "acceptance")
_SIZE = re.compile(r' (width|height)="([\d.]+pt)"')
_STYLE: dict[Any, Any] = {
    "svg.fonttype": "none", "svg.hashsalt": "chatdev", "font.family": "sans-serif", "font.size": 10,
    "text.parse_math": False, "text.color": _INK, "axes.labelcolor": _INK, "xtick.color": _INK, "ytick.color": _INK,
    "axes.edgecolor": _INK, "axes.spines.top": False, "axes.spines.right": False, "axes.spines.left": False,
    "axes.titlesize": 11, "axes.titleweight": "bold",
}


def colour(results: Results, variant: str) -> str:
    """The colour of a variant, the same in all plots and tables."""
    return COLOURS[list(results.variants).index(variant) % len(COLOURS)]


def means(results: Results) -> str:
    """Every metric's mean and interval, a panel a metric and a line a variant; empty where there is no value."""
    names = [name for name in results.variants if results.count(name)]
    found = {name: results.estimates(name, metrics=_METRICS) for name in names}
    shown = [metric for metric in _METRICS if any(found[name][metric].n for name in names)]
    if not shown:
        return ""
    with _figure(len(shown), 0.34 * len(names) + 0.9, (1.7, 9.6)) as (figure, panels, svg):
        for panel, metric in zip(panels, shown, strict=True):
            _lines(panel, [(name, found[name][metric], colour(results, name)) for name in names])
            panel.set_title(metric.capitalize(), loc="left")
            panel.set_xlim(-0.02, 1.02)
            panel.set_xticks([0, 0.5, 1], ["0", "0.5", "1"])
        figure.align_titles()
        return svg()


def differences(results: Results) -> str:
    """What each variant has more than the first one, over the tasks of both; empty for one variant."""
    first, *others = results.variants
    found = {metric: [(d.variant, d.estimate, colour(results, d.variant)) for d in results.differences
                      if d.against == first and d.metric == metric] for metric in COMPARED}
    shown = [metric for metric in COMPARED if any(one.n for _, one, _ in found[metric])]
    if not shown:
        return ""
    with _figure(len(shown), 0.34 * len(others) + 0.9, (1.7, 8.2)) as (_, panels, svg):
        for panel, metric in zip(panels, shown, strict=True):
            _lines(panel, found[metric])
            panel.axvline(0, color=_INK, linewidth=0.8, alpha=0.6)
            panel.set_title(f"{metric.capitalize()} compared with {first}", loc="left")
            ends = [abs(end) for _, one, _ in found[metric] for end in (one.low, one.high, one.mean) if end is not None]
            panel.set_xlim(-1.1 * max([*ends, 0.05]), 1.1 * max([*ends, 0.05]))
        return svg()


def price(results: Results) -> str:
    """Quality over tokens: what more calls buy; empty where no two variants can be compared."""
    every = {name: results.estimates(name, metrics=("tokens", "quality")) for name in results.variants}
    found = [(one["quality"].mean, one["tokens"].mean, one["quality"], name) for name, one in every.items()
             if one["quality"].mean is not None and one["tokens"].mean]
    if len(found) < 2:
        return ""
    with _figure(1, 3.4, (2.6, 5.4), share=False) as (figure, (panel,), svg):
        from matplotlib.ticker import EngFormatter, NullFormatter

        for mean, tokens, quality, name in sorted(found, key=lambda one: -one[0]):
            panel.plot([tokens], [mean], "o", color=colour(results, name), markersize=8, clip_on=False, label=name)
            if quality.low is not None and quality.high is not None:
                panel.plot([tokens, tokens], [quality.low, quality.high], color=colour(results, name), alpha=0.5)
        panel.set_xscale("log")
        panel.set_xlim(*_decades([tokens for _, tokens, _, _ in found]))
        panel.xaxis.set_major_formatter(EngFormatter(sep=""))  # 1k, 10k: the usual one writes TeX
        panel.xaxis.set_minor_formatter(NullFormatter())
        panel.set_ylim(0, 1)
        panel.set_xlabel("tokens of a run (mean, logarithmic)")
        panel.set_ylabel("quality")
        panel.grid(axis="y", color=_INK, alpha=0.12)
        figure.legend(loc="outside right upper", frameon=False, fontsize=9)
        return svg()


def _decades(values: Sequence[float]) -> tuple[float, float]:
    """Powers of ten around the values."""
    return 10 ** math.floor(math.log10(min(values))), 10 ** math.ceil(math.log10(max(values) + 1))


def _lines(panel: Axes, found: Sequence[tuple[str, Estimate, str]]) -> None:
    """A dot with its interval for each variant, the first one on top."""
    for height, (_, one, tint) in enumerate(found):
        if one.low is not None and one.high is not None:
            panel.plot([one.low, one.high], [height, height], color=tint, linewidth=5, alpha=0.35,
                       solid_capstyle="round")
        if one.mean is not None:
            panel.plot([one.mean], [height], "o", color=tint, markersize=6, clip_on=False, zorder=3)
    panel.set_yticks(range(len(found)), [name for name, _, _ in found])
    panel.set_ylim(len(found) - 0.4, -0.6)
    panel.tick_params(axis="y", length=0)
    panel.grid(axis="x", color=_INK, alpha=0.12)


@contextmanager
def _figure(columns: int, height: float, widths: tuple[float, float],
            share: bool = True) -> Iterator[tuple[Figure, Sequence[Axes], Callable[[], str]]]:
    """A figure of panels side by side, and what writes it as SVG; `widths` in inches: of the names, of the panels."""
    try:
        import matplotlib as mpl
        from matplotlib.figure import Figure
        from matplotlib.layout_engine import ConstrainedLayoutEngine
    except ImportError as error:
        raise MissingProgram("the page needs matplotlib: pip install 'chatdev-chain[eval]'") from error
    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=(sum(widths), height), layout=ConstrainedLayoutEngine(w_pad=0.1))
        panels: Any = figure.subplots(1, columns, squeeze=False, sharey=share)
        yield figure, list(panels[0]), lambda: _svg(figure)


def _svg(figure: Figure) -> str:
    text = io.StringIO()
    figure.savefig(text, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    drawing = text.getvalue()
    head, end, rest = drawing[drawing.index("<svg"):].partition(">")
    sizes = dict(_SIZE.findall(head))
    head = _SIZE.sub("", head).replace("<svg", f'<svg class="plot" style="max-width: {sizes["width"]}"', 1)
    return (head + end + rest).replace(_INK, "currentColor")
