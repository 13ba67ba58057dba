"""The plots of a report, as SVG that takes its text colour from the page."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from chatdev.evaluation.drawing import INK, drawing
from chatdev.evaluation.report.results import Results
from chatdev.evaluation.report.statistics import Estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS = ("#4c6ef5", "#e8590c", "#099268", "#ae3ec9", "#c2255c", "#1098ad", "#f08c00", "#5f3dc4", "#66a80f", "#868e96")
"""Of the variants, in their order; used again when they are more."""


def colour(results: Results, variant: str) -> str:
    """The colour of a variant, the same in all plots and tables."""
    return COLOURS[list(results.variants).index(variant) % len(COLOURS)]


def means(results: Results) -> str:
    """Every metric's mean and interval, a panel a metric and a line a variant; empty where there is no value."""
    names = [name for name in results.variants if results.count(name)]
    metrics = results.measures.metrics
    found = {name: results.estimates(name, metrics=metrics) for name in names}
    shown = [metric for metric in metrics if any(found[name][metric].n for name in names)]
    if not shown:
        return ""
    with drawing((11.3, 0.34 * len(names) + 0.9), len(shown), for_page=True, sharey=True) as (figure, panels, svg):
        for panel, metric in zip(panels, shown, strict=True):
            _lines(panel, [(name, found[name][metric], colour(results, name)) for name in names])
            panel.set_title(metric.capitalize())
            panel.set_xlim(-0.02, 1.02)
            panel.set_xticks([0, 0.5, 1], ["0", "0.5", "1"])
        figure.align_titles()
        return svg()


def differences(results: Results) -> str:
    """What each variant has more than the first one, over the tasks of both; empty for one variant."""
    first, *others = results.variants
    found = {metric: [(d.variant, d.estimate, colour(results, d.variant)) for d in results.differences
                      if d.against == first and d.metric == metric] for metric in results.measures.compared}
    shown = [metric for metric in found if any(one.n for _, one, _ in found[metric])]
    if not shown:
        return ""
    with drawing((9.9, 0.34 * len(others) + 0.9), len(shown), for_page=True, sharey=True) as (_, panels, svg):
        for panel, metric in zip(panels, shown, strict=True):
            _lines(panel, found[metric])
            panel.axvline(0, color=INK, linewidth=0.8, alpha=0.6)
            panel.set_title(f"{metric.capitalize()} compared with {first}")
            ends = [abs(end) for _, one, _ in found[metric] for end in (one.low, one.high, one.mean) if end is not None]
            panel.set_xlim(-1.1 * max([*ends, 0.05]), 1.1 * max([*ends, 0.05]))
        return svg()


def price(results: Results) -> str:
    """The main metric over tokens: what more calls buy; empty where no two variants can be compared."""
    main = results.measures.main
    every = {name: results.estimates(name, metrics=("tokens", main)) for name in results.variants}
    found = [(mean, tokens, one[main], name) for name, one in every.items()
             if (mean := one[main].mean) is not None and (tokens := one["tokens"].mean)]
    if len(found) < 2:
        return ""
    with drawing((8, 3.4), for_page=True) as (figure, (panel,), svg):
        from matplotlib.ticker import EngFormatter, NullFormatter

        for mean, tokens, good, name in sorted(found, key=lambda one: -one[0]):
            panel.plot([tokens], [mean], "o", color=colour(results, name), markersize=8, clip_on=False, label=name)
            if good.low is not None and good.high is not None:
                panel.plot([tokens, tokens], [good.low, good.high], color=colour(results, name), alpha=0.5)
        panel.set_xscale("log")
        panel.set_xlim(*_decades([tokens for _, tokens, _, _ in found]))
        panel.xaxis.set_major_formatter(EngFormatter(sep=""))  # 1k, 10k: the usual one writes TeX
        panel.xaxis.set_minor_formatter(NullFormatter())
        panel.set_ylim(0, 1)
        panel.set_xlabel("tokens of a run (mean, logarithmic)")
        panel.set_ylabel(main)
        panel.grid(axis="y", color=INK, alpha=0.12)
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
    panel.grid(axis="x", color=INK, alpha=0.12)
