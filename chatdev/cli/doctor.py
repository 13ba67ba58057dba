"""`chatdev doctor`."""

from __future__ import annotations

import json
import os
import sys
import textwrap
from collections.abc import Container, Iterator, Mapping
from itertools import groupby
from typing import TYPE_CHECKING

import click

from chatdev.cli.outcome import report_outcome
from chatdev.cli.screen import width
from chatdev.department import Table
from chatdev.safe_text import sanitize, scrub
from chatdev.version import __version__

if TYPE_CHECKING:
    from chatdev.doctor.diagnosis import Diagnosis, ProbeResult

_MARGIN = 18  # columns before what a check found
_LOOKS = {"works": ("✓", "+", "green"), "absent": ("–", "-", "yellow"), "broken": ("✗", "x", "red")}


@click.command("doctor")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@report_outcome
def command(as_json: bool) -> int:
    """Show what works on this machine, and how to install the rest. Nothing is changed, no model is called. Exits with
    0 if a run is possible (it needs a sandbox, a model and a warehouse), else with 1."""
    from chatdev.cli import app, evaluate
    from chatdev.doctor.checks import all_probes
    from chatdev.doctor.diagnosis import diagnose

    core: Mapping[Table, Container[str]] = {"commands": app.OWN, "data_sets": evaluate.command.commands}
    diagnosis = diagnose(all_probes(sys.stdout.encoding, core))
    click.echo(_json(diagnosis) if as_json else "\n".join(_page(diagnosis)))
    return 1 if diagnosis.unmet_needs else 0


def _json(diagnosis: Diagnosis) -> str:
    findings = [{"group": probe.group, "name": probe.name, "state": result.state, "detail": result.detail,
                 "mend": result.fix, "packages": result.packages} for probe, result in diagnosis.results]
    return scrub(json.dumps({"version": __version__, "possible": not diagnosis.unmet_needs,
                                "lacking": diagnosis.unmet_needs, "packages": diagnosis.packages, "findings": findings},
                               indent=1))


def _page(diagnosis: Diagnosis) -> Iterator[str]:
    yield f"{click.style('chatdev', bold=True)} {__version__}"
    for group, results in groupby(diagnosis.results, lambda one: one[0].group):
        yield f"\n{click.style(group, fg='blue', bold=True)}"
        for probe, result in results:
            yield from _lines(probe.name, result, bad=diagnosis.stops_runs(probe, result))
    if unmet := diagnosis.unmet_needs:
        text, colour = f"No run is possible yet, for want of: {', '.join(unmet)}.", "red"
    else:
        text, colour = "A run is possible.", "green"
    yield f"\n{click.style(text, fg=colour, bold=True)}"
    if diagnosis.packages:
        sudo = "" if os.geteuid() == 0 else "sudo "
        yield f"To get what is not installed: {sudo}apt-get install {' '.join(diagnosis.packages)}"


def _lines(name: str, result: ProbeResult, *, bad: bool) -> Iterator[str]:
    """A result: its sign, its name and what was found; the fix behind it, or below where there is no room."""
    sign, plain, colour = _LOOKS["broken" if bad else result.state]
    lines = textwrap.wrap(sanitize(result.detail), max(30, width() - _MARGIN), break_on_hyphens=False,
                          break_long_words=False) or [""]
    if result.fix:
        fix = sanitize(f"{'→' if _can_show('→') else '>'} {result.fix}")
        has_room = len(lines) == 1 and _MARGIN + len(lines[0]) + 2 + len(fix) <= width()
        coloured = click.style(fix, fg="cyan")
        lines = [f"{lines[0]}  {coloured}"] if has_room else [*lines, coloured]
    yield f"  {click.style(sign if _can_show(sign) else plain, fg=colour)} {name:<14}{lines[0]}"
    yield from (f"{'':{_MARGIN}}{line}" for line in lines[1:])


def _can_show(sign: str) -> bool:
    """Whether the output knows the sign; one that does not would show ? for all of them."""
    try:
        sign.encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        return False
    return True
