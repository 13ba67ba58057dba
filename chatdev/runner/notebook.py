"""Runs and companies as a notebook shows them: tables in HTML, in which every text is escaped."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from chatdev.config.schema import CompanyConfig
from chatdev.safe_text import sanitize

if TYPE_CHECKING:
    from jinja2 import Template

    from chatdev.runner.report import Run

_MOST_FILES, _MOST_PHASES, _LONGEST = 20, 30, 400  # rows of a table, characters of a text


def run_html(run: Run) -> str:
    """How a run ended, its phases, its files and what it cost."""
    from chatdev.runner.report import describe_usage

    files = [(path, None if b"\0" in data else len(data.splitlines()), len(data))
             for path, data in run.software.items()]
    phases = list(run.phases.items())
    return _template().render(
        run=run, reason=_clean(run.reason), cost=describe_usage(run.usage),
        phases=[(_clean(place), row) for place, row in phases[:_MOST_PHASES]], phases_left=len(phases) - _MOST_PHASES,
        files=[(_clean(path), lines, size) for path, lines, size in files[:_MOST_FILES]],
        files_left=len(files) - _MOST_FILES)


def company_html(company: CompanyConfig, warnings: Sequence[str]) -> str:
    """What a company does, its phases with who is in them, and what is doubtful in it."""
    titles = {name: role.title for name, role in company.roles.items()}
    phases = [(name, " ⇄ ".join(titles[role] for role in (phase.instructor, phase.assistant) if role in titles),
               phase.solution.as_file or phase.writes) for name, phase in company.phases.items()]
    return _template().render(company=company, phases=phases, warnings=[_clean(text) for text in warnings])


def _clean(text: str) -> str:
    """A text that steers nothing, and that is no page long."""
    text = sanitize(text)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


@cache
def _template() -> Template:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(loader=FileSystemLoader(Path(__file__).parent), autoescape=True,
                              undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    return environment.get_template("notebook.html.j2")
