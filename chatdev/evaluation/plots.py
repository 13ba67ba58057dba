"""Plots in one style, as SVG: of a study's results, for its page, and of dialogues (ChatDev, ACL 2024, figures 3 to 5).

Needs matplotlib, of the extra `eval`.
"""

from __future__ import annotations

import io
import math
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from chatdev.engine.budget import count_noun
from chatdev.errors import MissingProgram

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from chatdev.evaluation.dialogues import Dialogues, ObservedKinds
    from chatdev.evaluation.reporting.study_results import Difference, MeanEstimate, Results


INK = "#123456"  # no other colour is this one, so that a page can replace it
COLOURS = ("#4c6ef5", "#e8590c", "#099268", "#ae3ec9", "#c2255c", "#1098ad", "#f08c00", "#5f3dc4", "#66a80f", "#868e96")
"""Of the variants, in their order; used again when they are more."""
LANGUAGE, CODE, SHADES = "#4c6ef5", "#e8590c", "Blues"
_BAR, _FIELD, _LINE = 2.2, 0.55, 0.36  # inches: the bars' panel, a column, a row
_SIZE = re.compile(r' (width|height)="([\d.]+pt)"')
_STYLE: dict[Any, Any] = {
    "svg.fonttype": "none", "svg.hashsalt": "chatdev", "font.family": "sans-serif", "font.size": 10,
    "text.parse_math": False, "text.color": INK, "axes.labelcolor": INK, "xtick.color": INK, "ytick.color": INK,
    "axes.edgecolor": INK, "axes.spines.top": False, "axes.spines.right": False, "axes.spines.left": False,
    "axes.titlesize": 11, "axes.titleweight": "bold", "axes.titlelocation": "left",
}


@contextmanager
def drawing(size: tuple[float, float], columns: int = 1, *, for_page: bool = False,
            **panels: Any) -> Iterator[tuple[Figure, Sequence[Axes], Callable[[], str]]]:
    """A figure of so many inches, its panels side by side (`panels`: how they are laid out, as in `Figure.subplots`),
    and what writes it. Equal figures give equal texts. Raises MissingProgram without matplotlib."""
    try:
        import matplotlib as mpl
        from matplotlib.figure import Figure
        from matplotlib.layout_engine import ConstrainedLayoutEngine
    except ImportError as error:
        raise MissingProgram("plots need matplotlib: pip install 'chatdev-chain[eval]'") from error
    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=size, layout=ConstrainedLayoutEngine(w_pad=0.1))
        grid: Any = figure.subplots(1, columns, squeeze=False, **panels)
        yield figure, list(grid[0]), lambda: _page_element(_svg(figure, transparent=True)) if for_page else _svg(figure)


def _svg(figure: Figure, *, transparent: bool = False) -> str:
    text = io.StringIO()
    figure.savefig(text, format="svg", transparent=transparent, metadata={"Date": None, "Creator": None})
    return text.getvalue()


def _page_element(text: str) -> str:
    """The element alone, no wider than it was drawn, in the colour of the text around it."""
    head, end, rest = text[text.index("<svg"):].partition(">")
    sizes = dict(_SIZE.findall(head))
    head = _SIZE.sub("", head).replace("<svg", f'<svg class="plot" style="max-width: {sizes["width"]}"', 1)
    return (head + end + rest).replace(INK, "currentColor")


def variant_colour(results: Results, variant: str) -> str:
    """The colour of a variant, the same in all plots and tables."""
    return COLOURS[list(results.variants).index(variant) % len(COLOURS)]


def draw_means(results: Results) -> str:
    """Every metric's mean and interval, a panel a metric and a line a variant; empty where there is no value."""
    names = [name for name in results.variants if results.count(name)]
    metrics = results.columns.metrics
    found = {name: results.estimates(name, metrics=metrics) for name in names}
    shown = [metric for metric in metrics if any(found[name][metric].n for name in names)]
    if not shown:
        return ""
    with drawing((11.3, 0.34 * len(names) + 0.9), len(shown), for_page=True, sharey=True) as (figure, panels, svg):
        for panel, metric in zip(panels, shown, strict=True):
            _draw_intervals(panel, [(name, found[name][metric], variant_colour(results, name)) for name in names])
            panel.set_title(metric.capitalize())
            panel.set_xlim(-0.02, 1.02)
            panel.set_xticks([0, 0.5, 1], ["0", "0.5", "1"])
        figure.align_titles()
        return svg()


def draw_differences(results: Results) -> str:
    """What each variant has more than the first one, over the tasks of both; empty for one variant."""
    first, *others = results.variants
    found = {metric: ones for metric in results.columns.compared if (ones := _differences_from(first, results, metric))}
    if not found:
        return ""
    with drawing((9.9, 0.34 * len(others) + 0.9), len(found), for_page=True, sharey=True) as (_, panels, svg):
        for panel, (metric, ones) in zip(panels, found.items(), strict=True):
            _draw_intervals(panel, [(one.variant, one.estimate, variant_colour(results, one.variant)) for one in ones])
            panel.axvline(0, color=INK, linewidth=0.8, alpha=0.6)
            panel.set_title(f"{metric.capitalize()} compared with {first}")
            reach = 1.1 * _largest_end(ones)
            panel.set_xlim(-reach, reach)
        return svg()


def _differences_from(first: str, results: Results, metric: str) -> list[Difference]:
    """All differences from a variant in a metric; none where no task was measured with both."""
    found = [one for one in results.differences if one.against == first and one.metric == metric]
    return found if any(one.estimate.n for one in found) else []


def _largest_end(found: Sequence[Difference]) -> float:
    """How far a difference or an end of its interval lies from 0; at least 0.05."""
    ends = (end for one in found for end in (one.estimate.low, one.estimate.high, one.estimate.mean))
    return max([0.05, *(abs(end) for end in ends if end is not None)])


def draw_cost(results: Results) -> str:
    """The main metric over tokens: what more calls buy; empty where no two variants can be compared."""
    main = results.columns.main
    every = {name: results.estimates(name, metrics=("tokens", main)) for name in results.variants}
    found = [(mean, tokens, one[main], name) for name, one in every.items()
             if (mean := one[main].mean) is not None and (tokens := one["tokens"].mean)]
    if len(found) < 2:
        return ""
    with drawing((8, 3.4), for_page=True) as (figure, (panel,), svg):
        from matplotlib.ticker import EngFormatter, NullFormatter

        for mean, tokens, good, name in sorted(found, key=lambda one: -one[0]):
            colour = variant_colour(results, name)
            panel.plot([tokens], [mean], "o", color=colour, markersize=8, clip_on=False, label=name)
            if good.low is not None and good.high is not None:
                panel.plot([tokens, tokens], [good.low, good.high], color=colour, alpha=0.5)
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


def _draw_intervals(panel: Axes, found: Sequence[tuple[str, MeanEstimate, str]]) -> None:
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


def dialogue_plots(dialogues: Dialogues) -> Iterator[tuple[str, str]]:
    """Names of files and their SVG texts; nothing for what was never observed. Equal dialogues give equal texts.
    Raises MissingProgram without matplotlib."""
    if any(said.share_of_language is not None for said in dialogues.speech.values()):
        yield "speech.svg", _draw_speech(dialogues)
    for name, title, kinds in (("reviews.svg", "What reviewers named", dialogues.reviews),
                               ("tests.svg", "What tests showed", dialogues.tests)):
        if kinds.counts:
            yield name, _draw_kinds(kinds, title)


def _draw_speech(dialogues: Dialogues) -> str:
    """A bar for each phase: the shares of natural language and of code."""
    phases = [(name, share) for name, said in dialogues.speech.items()
              if (share := said.share_of_language) is not None]
    names, shares = [name for name, _ in phases], [share for _, share in phases]
    with drawing((8, 1.3 + _LINE * len(phases))) as (figure, (panel,), svg):
        panel.barh(names, shares, 0.7, color=LANGUAGE, label="natural language")
        panel.barh(names, [1 - share for share in shares], 0.7, left=shares, color=CODE, label="code")
        for row, share in enumerate(shares):
            panel.text(1.01, row, f"{share:.0%}", va="center")
        panel.invert_yaxis()
        panel.set_xlim(0, 1)
        panel.set_xticks([0, 0.5, 1], ["0", "50%", "100%"])
        panel.tick_params(axis="y", length=0)
        panel.set_title(f"Characters said in {count_noun(dialogues.runs, 'run')}, and the share of natural language")
        figure.legend(loc="outside lower center", ncols=2, frameon=False)
        return svg()


def _draw_kinds(kinds: ObservedKinds, title: str) -> str:
    """A line for each kind: how often it was observed, and, where anything followed anything, a field for each kind
    that came next."""
    names = [name for name, _ in kinds.counts.most_common()]
    widths = [_BAR, _FIELD * len(names)] if kinds.transitions else [_BAR]
    size = 2.4 + sum(widths), _LINE * len(names) + (2.2 if kinds.transitions else 0.6)
    with drawing(size, len(widths), sharey=True, width_ratios=widths) as (_, panels, svg):
        _draw_bars(panels[0], [kinds.counts[name] for name in names])
        panels[0].set_title(title)
        for panel in panels[1:]:
            _draw_transitions(panel, [[kinds.transitions[one, other] for other in names] for one in names], names)
        panels[0].set_yticks(range(len(names)), names)
        panels[0].set_ylim(len(names) - 0.5, -0.5)
        return svg()


def _draw_bars(panel: Axes, counts: list[int]) -> None:
    panel.barh(range(len(counts)), counts, 0.7, color=LANGUAGE)
    for row, count in enumerate(counts):
        panel.annotate(str(count), (count, row), xytext=(4, 0), textcoords="offset points", va="center")
    panel.set_xlim(0, 1.2 * max(counts))
    panel.set_xticks([])
    panel.spines["bottom"].set_visible(False)
    panel.tick_params(axis="y", length=0)


def _draw_transitions(panel: Axes, table: list[list[int]], names: list[str]) -> None:
    most = max(map(max, table))
    panel.imshow(table, cmap=SHADES, aspect="auto", vmin=0)
    for row, line in enumerate(table):
        for column, count in enumerate(line):
            if count:
                panel.text(column, row, str(count), ha="center", va="center",
                           color="white" if count > most / 2 else INK)
    panel.set_title("and next")
    panel.set_xticks(range(len(names)), names, rotation=40, ha="right", rotation_mode="anchor")
    panel.tick_params(axis="both", length=0)
    panel.spines["bottom"].set_visible(False)
