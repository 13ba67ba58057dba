"""The report on a verification, as a page (HTML, nothing beside it is needed) or as Markdown.

Program, requirement and properties may be a model's: in the page all texts are escaped, in Markdown they are code.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from chatdev.departments.plc.proof.outcomes import RUN_TIME, Outcome
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
from chatdev.departments.plc.source_check import SourceProof
from chatdev.version import __version__

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
