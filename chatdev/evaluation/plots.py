"""Figures, as SVG in one style: a study's results, and what the dialogues of runs consist of, read from their journals
(ChatDev, ACL 2024, figures 3 to 5): natural language and code by phase, the issues that reviewers named, the errors
that tests showed, and what followed what."""

from __future__ import annotations

import io
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chatdev.config.yaml_nodes import plain, read
from chatdev.engine.budget import count_noun
from chatdev.errors import MissingProgram
from chatdev.events import Place
from chatdev.runner.recorded import find_journal, run_records

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

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


# What the dialogues of runs consist of, read from their journals (ChatDev, ACL 2024, figures 3 to 5): natural
# language and code by phase, the issues that reviewers named, the errors that tests showed, and what followed what.

Records = Sequence[Mapping[str, Any]]
OTHER, PASSED = "other", "passed"
_SAID = ("instruction", "response", "question", "answer", "reflection")
_FENCE = re.compile(r"^(?P<fence>`{3,}|~{3,})[^\n]*\n(?P<code>.*?)(?:^(?P=fence)\s*$|\Z)", re.MULTILINE | re.DOTALL)
_EXCEPTION = re.compile(r"^\s*(?P<kind>[A-Z]\w*(?:Error|Exception|Interrupt|Exit))\b", re.MULTILINE)


@dataclass(slots=True)
class ObservedKinds:
    """What was observed in the executions of one phase, in order."""

    sequences: list[list[str]] = field(default_factory=list)

    @property
    def counts(self) -> Counter[str]:
        """How often each kind was observed."""
        return Counter(kind for sequence in self.sequences for kind in sequence)

    @property
    def transitions(self) -> Counter[tuple[str, str]]:
        """How often one kind was followed by another."""
        return transitions(self.sequences)

    def plain(self) -> dict[str, Any]:
        """The tables as JSON values, the most frequent first."""
        return {"executions": len(self.sequences), "observations": self.counts.total(),
                "kinds": dict(self.counts.most_common()),
                "transitions": [{"from": one, "to": other, "count": count}
                                for (one, other), count in self.transitions.most_common()]}


@dataclass(slots=True)
class Dialogues:
    """The dialogues of so many `runs`: what was said by phase, in the order in which phases were met first (figure 3),
    the issues that reviewers named (figure 4), and the errors that tests showed (figure 5)."""

    runs: int = 0
    speech: dict[str, Speech] = field(default_factory=dict)
    reviews: ObservedKinds = field(default_factory=ObservedKinds)
    tests: ObservedKinds = field(default_factory=ObservedKinds)

    def plain(self) -> dict[str, Any]:
        """All tables as JSON values; characters, and the share of natural language between 0 and 1."""
        said = {phase: {"language": found.language, "code": found.code, "share_of_language": found.share_of_language}
                for phase, found in self.speech.items()}
        return {"runs": self.runs, "speech": said, "reviews": self.reviews.plain(), "tests": self.tests.plain()}


def dialogues(folders: Iterable[Path], reviews: Sequence[str] = ("code_review",),
              tests: Sequence[str] = ("system_test",)) -> Dialogues:
    """The dialogues of the newest sessions in run folders (or journals), read one after the other; `reviews` and
    `tests` are the phases in which issues are named and errors shown. Raises JournalError for what is no journal."""
    found = Dialogues()
    for folder in folders:
        records = newest_session(run_records(find_journal(folder)))
        found.runs += 1
        for phase, said in speech(records).items():
            total = found.speech.setdefault(phase, Speech())
            total.language += said.language
            total.code += said.code
        found.reviews.sequences += [each for phase in reviews for each in issues_in_reviews(records, phase)]
        found.tests.sequences += [each for phase in tests for each in errors_in_tests(records, phase)]
    return found


@dataclass(slots=True)
class Speech:
    """Characters that were said in a phase: natural language, and code (what stands in fences)."""

    language: int = 0
    code: int = 0

    @property
    def share_of_language(self) -> float | None:
        """Between 0 and 1; None without utterances."""
        said = self.language + self.code
        return self.language / said if said else None


def newest_session(records: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The events of a journal's newest session; what earlier sessions of a resumed run said is part of it."""
    session: list[Mapping[str, Any]] = []
    for record in records:
        if record["kind"] == "RunStarted":
            session = []
        session.append(record)
    return session


def speech(records: Records) -> dict[str, Speech]:
    """How much of what was said in each phase is natural language and how much is code (figure 3). Openings and reports
    are left out: nobody says them."""
    found: dict[str, Speech] = {}
    for record in records:
        if record["kind"] == "Uttered" and record["utterance"] in _SAID:
            phase = found.setdefault(Place(record["place"]).step_name, Speech())
            code = sum(len(match["code"]) for match in _FENCE.finditer(record["text"]))
            phase.code += code
            phase.language += len(record["text"]) - code
    return found


def issues_in_reviews(records: Records, phase: str = "code_review") -> list[list[str]]:
    """The kind of issue that the instructor named in each round, for each execution of the phase (figure 4)."""
    return _sequences((record["place"], kind_of_issue(record["text"])) for record in records
                      if record["kind"] == "Uttered" and record["utterance"] == "instruction"
                      and Place(record["place"]).step_name == phase)


def errors_in_tests(records: Records, phase: str = "system_test") -> list[list[str]]:
    """The kind of error that each verdict of the phase showed, for each execution of it (figure 5): the exception,
    the rule where there was none, or `passed`."""
    return _sequences((record["place"], _kind_of_error(record)) for record in records
                      if record["kind"] == "Activity" and "tool" in record["request"]
                      and Place(record["place"]).step_name == phase and "value" in record["result"])


def transitions(sequences: Iterable[Sequence[str]]) -> Counter[tuple[str, str]]:
    """How often one kind was followed by another."""
    return Counter(pair for sequence in sequences for pair in pairwise(sequence))


def kind_of_issue(text: str) -> str:
    """The kind of an instruction, by the patterns of `issue_kinds.yaml`; a rough sorting, not an understanding."""
    return next((kind for kind, pattern in _kinds() if pattern.search(text)), OTHER)


def _sequences(observed: Iterable[tuple[str, str]]) -> list[list[str]]:
    """Observations in order, apart for each execution of a phase."""
    found: dict[str, list[str]] = {}
    for place, kind in observed:
        found.setdefault(Place(place).nearest_step, []).append(kind)
    return list(found.values())


def _kind_of_error(record: Mapping[str, Any]) -> str:
    verdict = record["result"]["value"]
    if not isinstance(verdict, Mapping) or verdict.get("passed"):
        return PASSED
    exceptions = _EXCEPTION.findall(str(verdict.get("report", "")))
    return exceptions[-1] if exceptions else str(verdict.get("rule", OTHER))


@cache
def _kinds() -> tuple[tuple[str, re.Pattern[str]], ...]:
    entries = plain(read(Path(__file__).with_name("issue_kinds.yaml")))
    return tuple((kind, re.compile("|".join(patterns), re.IGNORECASE)) for kind, patterns in entries.items())
