"""`simulink.check`: the eight checks of what an investigator wrote down, or of the model that was built."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from chatdev.departments.simulink.checks import check_diagram, check_investigation
from chatdev.departments.simulink.diagram import Diagram
from chatdev.departments.simulink.parts import DiagramFinding
from chatdev.errors import ConfigError
from chatdev.tools.base import ToolContext, Verdict, render_file
from chatdev.tools.function import tool

MODEL_FILE = "model.yaml"
"""The text form of a model in the software."""
_REPORT = Path(__file__).with_name("findings.j2")
_MOST = 40
"""Findings that an agent is told at once."""


@tool(reads=("investigation?", "software?"), name="simulink.check")
def check(context: ToolContext) -> Verdict:
    """Check the blocks and connections that were found in a picture, or else the model in `model.yaml`: block list,
    extra blocks, format, parameters, duplicates, port types, complete ports, nets.

    Passes without errors; warnings and remarks are told, too. `findings` of the verdict are all of them.
    """
    if (investigation := context.values.get("investigation")) is not None:
        return judge_findings(check_investigation(investigation))
    if (data := context.software.get(MODEL_FILE)) is None:
        return Verdict(False, f"There is nothing to check: no investigation, and no {MODEL_FILE}.")
    try:
        model = Diagram.parse(data.decode("utf-8"), MODEL_FILE)
    except UnicodeDecodeError as error:
        return Verdict(False, f"{MODEL_FILE} is not UTF-8 (see byte {error.start}); write it in that encoding.")
    except ConfigError as error:
        return Verdict(False, str(error))
    return judge_findings(check_diagram(model))


def judge_findings(findings: Sequence[DiagramFinding]) -> Verdict:
    """The verdict on what has these findings; `score` falls with each error, and a little with each warning."""
    errors, warnings = (sum(one.severity == severity for one in findings) for severity in ("error", "warning"))
    report = render_file(_REPORT, findings=findings[:_MOST], more=len(findings[_MOST:]), errors=errors)
    return Verdict(not errors, report, 1 / (1 + errors + warnings / 1000), {"findings": list(map(as_plain, findings))})


def as_plain(finding: DiagramFinding) -> Mapping[str, Any]:
    """A finding as JSON values."""
    return {**asdict(finding), "place": finding.place}
