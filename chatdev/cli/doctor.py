"""`chatdev doctor`."""

from __future__ import annotations

import json
import os
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import asdict
from itertools import groupby
from typing import TYPE_CHECKING

import click

from chatdev.cli.layout import width
from chatdev.cli.outcome import reported
from chatdev.runner.harmless import harmless
from chatdev.secrets import scrubbed
from chatdev.version import __version__

if TYPE_CHECKING:
    from chatdev.runner.doctor.finding import Diagnosis, Finding

_MARGIN = 18  # columns before what a check found
_LOOKS = {"works": ("✓", "+", "green"), "absent": ("–", "-", "yellow"), "broken": ("✗", "x", "red")}


@click.command("doctor")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@reported
def command(as_json: bool) -> int:
    """Say what this machine can do for a run, and how to get the rest. Nothing is changed, no model is called. Exits
    with 0 when a run is possible (it takes a sandbox, a model and a warehouse), else with 1."""
    from chatdev.runner.doctor.checks import all_checks
    from chatdev.runner.doctor.diagnosis import diagnose

    diagnosis = diagnose(all_checks(sys.stdout.encoding))
    click.echo(_json(diagnosis) if as_json else "\n".join(_page(diagnosis)))
    return 1 if diagnosis.lacking else 0


def _json(diagnosis: Diagnosis) -> str:
    findings = [{"group": finding.check.group, "name": finding.check.name, **asdict(finding.found)}
                for finding in diagnosis.findings]
    return scrubbed(json.dumps({"version": __version__, "possible": not diagnosis.lacking,
                                "lacking": diagnosis.lacking, "packages": diagnosis.packages, "findings": findings},
                               indent=1))


def _page(diagnosis: Diagnosis) -> Iterator[str]:
    yield f"{click.style('chatdev', bold=True)} {__version__}"
    for group, findings in groupby(diagnosis.findings, lambda finding: finding.check.group):
        yield f"\n{click.style(group, fg='blue', bold=True)}"
        for finding in findings:
            yield from _lines(finding, bad=diagnosis.stops_runs(finding))
    if lacking := diagnosis.lacking:
        text, colour = f"No run is possible yet, for want of: {', '.join(lacking)}.", "red"
    else:
        text, colour = "A run is possible.", "green"
    yield f"\n{click.style(text, fg=colour, bold=True)}"
    if diagnosis.packages:
        sudo = "" if os.geteuid() == 0 else "sudo "
        yield f"To get what is not installed: {sudo}apt-get install {' '.join(diagnosis.packages)}"


def _lines(finding: Finding, *, bad: bool) -> Iterator[str]:
    """A finding: its sign, its name and what was found; the mend behind it, or below where there is no room."""
    found = finding.found
    sign, plain, colour = _LOOKS["broken" if bad else found.state]
    lines = textwrap.wrap(harmless(found.detail), max(30, width() - _MARGIN), break_on_hyphens=False,
                          break_long_words=False) or [""]
    if found.mend:
        mend = harmless(f"{'→' if _can_show('→') else '>'} {found.mend}")
        room = len(lines) == 1 and _MARGIN + len(lines[0]) + 2 + len(mend) <= width()
        coloured = click.style(mend, fg="cyan")
        lines = [f"{lines[0]}  {coloured}"] if room else [*lines, coloured]
    yield f"  {click.style(sign if _can_show(sign) else plain, fg=colour)} {finding.check.name:<14}{lines[0]}"
    yield from (f"{'':{_MARGIN}}{line}" for line in lines[1:])


def _can_show(sign: str) -> bool:
    """Whether the output knows the sign; one that does not would show ? for all of them."""
    try:
        sign.encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        return False
    return True
