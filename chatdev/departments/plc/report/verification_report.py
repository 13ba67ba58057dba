"""Verifications for readers elsewhere: a report as a page (HTML, nothing beside it is needed) or as Markdown; SARIF
2.1.0, which code hosts and editors show at the lines of a program; and a run as a picture (matplotlib).

Program, requirement and properties may be a model's: in the page all texts are escaped, in Markdown they are code.
"""

from __future__ import annotations

import functools
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import isfinite, nan
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from chatdev.departments.plc.proof.properties import RUN_TIME, Outcome, Verdict
from chatdev.departments.plc.report.listing import (
    Explanation,
    describe_contradiction,
    describe_opinion,
    describe_property,
    describe_vacuity,
    describe_verdict,
    explain_run,
    show_safely,
)
from chatdev.departments.plc.simulation.trace import Column
from chatdev.departments.plc.source_check import SourceCheck, SourceProof, SourceRun
from chatdev.departments.plc.st.core import Span
from chatdev.departments.plc.st.diagnostics import Fix
from chatdev.errors import MissingProgram
from chatdev.version import __version__

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_TICKS = re.compile("`+")


@dataclass(frozen=True, slots=True)
class ReportedProperty:
    """A property with its verdict, and the run that shows it, if there is one."""

    number: int
    outcome: Outcome
    asked: str
    means: str
    vacuous: str
    opinion: str
    contradiction: str
    run: Explanation | None

    @property
    def is_run_time(self) -> bool:
        """Whether every program owes it without being asked."""
        return self.outcome.asked.pattern == RUN_TIME


def write_report(proof: SourceProof, form: Literal["html", "md"], *, title: str, requirement: str = "",
                 picture: str = "") -> str:
    """The report on a proof. `title` names the program, as its file does; `requirement` is what was asked for;
    `picture` is the SVG text of a run (see `plot_run`), which Markdown leaves out."""
    numbered = [_report(number, one, proof) for number, one in enumerate(proof.outcomes, 1)]
    return _environment(form).get_template(f"report.{form}.j2").render(
        title=title, requirement=requirement.strip(), proof=proof, properties=numbered, version=__version__,
        picture=_element(picture),
        source=proof.source.splitlines())


def _report(number: int, outcome: Outcome, proof: SourceProof) -> ReportedProperty:
    run = explain_run(outcome.cycles, proof.source, proof.check.variables) if outcome.cycles else None
    return ReportedProperty(number, outcome, describe_property(outcome.asked), describe_verdict(outcome),
                            describe_vacuity(outcome), describe_opinion(outcome), describe_contradiction(outcome), run)


def _element(picture: str) -> str:
    """The SVG element alone."""
    return picture[picture.index("<svg"):] if "<svg" in picture else ""


@functools.cache
def _environment(form: str) -> Environment:
    environment = Environment(undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True,
                              autoescape=form == "html", loader=FileSystemLoader(Path(__file__).parent))
    environment.filters |= {"safely": show_safely, "code": _code, "fence": _fence}
    return environment


def _code(text: str) -> str:
    """A text as inline code of Markdown, on one line, also within a table."""
    line = " ".join(show_safely(text).split()).replace("|", "¦")
    ticks = "`" * (max(map(len, _TICKS.findall(line)), default=0) + 1)
    return f"{ticks} {line} {ticks}" if len(ticks) > 1 else f"`{line}`" if line else ""


def _fence(text: str) -> str:
    """A text as a block of code of Markdown."""
    ticks = "`" * max(3, max(map(len, _TICKS.findall(text)), default=0) + 1)
    return f"{ticks}text\n{show_safely(text)}\n{ticks}"


# Diagnostics and verdicts as SARIF 2.1.0, which code hosts and editors show at the lines of a program.

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_VERDICTS: Mapping[Verdict, tuple[str, str]] = {  # kind and level
    "PROVED": ("pass", "none"), "VIOLATED": ("fail", "error"), "BOUNDED": ("open", "none"),
    "UNKNOWN": ("open", "none")}


def check_sarif(checks: Mapping[Path, SourceCheck]) -> dict[str, Any]:
    """The diagnostics of several files as one SARIF log, ready for `json.dumps`."""
    return _log(result for file, check in checks.items() for result in _diagnostics(file, check))


def proof_sarif(file: Path, proof: SourceProof) -> dict[str, Any]:
    """The diagnostics and the verdicts on a file; a property that names no place stands at the first line."""
    return _log([*_diagnostics(file, proof.check), *(_verdict(file, one) for one in proof.outcomes)])


def _log(results: Iterable[dict[str, Any]]) -> dict[str, Any]:
    found = list(results)
    rules = [{"id": name} for name in sorted({one["ruleId"] for one in found})]
    driver = {"name": "chatdev plc", "version": __version__, "rules": rules}
    return {"$schema": _SCHEMA, "version": "2.1.0",
            "runs": [{"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": found}]}


def _diagnostics(file: Path, check: SourceCheck) -> Iterator[dict[str, Any]]:
    for one in check.diagnostics:
        text = f"{one.message} ({one.hint})" if one.hint else one.message
        yield _result(one.code, ("fail", one.severity), text, file, one.span) | _fixes(file, one.fix)


def _verdict(file: Path, outcome: Outcome) -> dict[str, Any]:
    asked, span, rule = outcome.asked, Span(1, 1, 1, 1), outcome.asked.pattern
    if asked.pattern == RUN_TIME:
        rule, place = asked.parameters[:2]
        line, _, column = place.partition(":")
        span = Span(int(line), int(column or 1))
    parts = [f"{outcome.verdict}: {describe_property(asked)}", asked.description, describe_verdict(outcome),
             outcome.reason, describe_vacuity(outcome), describe_opinion(outcome), describe_contradiction(outcome)]
    kind = ("review", "none") if outcome.is_contradicted else _VERDICTS[outcome.verdict]
    return _result(rule, kind, " – ".join(filter(None, parts)), file, span)


def _result(rule: str, kind: tuple[str, str], text: str, file: Path, span: Span) -> dict[str, Any]:
    region = {"startLine": max(1, span.line), "startColumn": max(1, span.column)}
    if span.end_line >= span.line and span.end_column:  # its end is outside, ours within
        region |= {"endLine": span.end_line, "endColumn": span.end_column + 1}
    place = {"artifactLocation": {"uri": _uri(file)}, "region": region}
    return {"ruleId": rule, "kind": kind[0], "level": kind[1], "message": {"text": show_safely(text)},
            "locations": [{"physicalLocation": place}]}


def _fixes(file: Path, fix: Fix | None) -> dict[str, Any]:
    """What an editor may offer to do; nothing where there is no certain remedy."""
    if fix is None:
        return {}
    region = {"startLine": fix.line, "startColumn": fix.column, "endLine": fix.end_line, "endColumn": fix.end_column}
    change = {"artifactLocation": {"uri": _uri(file)},
              "replacements": [{"deletedRegion": region, "insertedContent": {"text": fix.text}}]}
    return {"fixes": [{"artifactChanges": [change]}]}


def _uri(file: Path) -> str:
    """A relative path stays one, so that code hosts find the file."""
    return file.as_uri() if file.is_absolute() else quote(file.as_posix())


# A run as a picture: signals below each other over the same time, BOOL as steps between two levels, numbers as
# lines.

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
