"""`plc.report`: the papers of a run that a person reads: the verification report, and a picture of a simulation."""

from __future__ import annotations

from typing import Any

from chatdev.departments.plc.interface import ANSWER, entry_of, read_answer
from chatdev.departments.plc.report.run_plot import plot_run
from chatdev.departments.plc.report.verification_report import write_report
from chatdev.departments.plc.requirements import properties_of
from chatdev.departments.plc.source_check import SourceRefused, check_source
from chatdev.departments.plc.source_proof import SourceProof
from chatdev.departments.plc.source_run import simulate_at_random
from chatdev.departments.plc.verdicts import LAST_SECONDS, verify_cached
from chatdev.errors import MissingProgram
from chatdev.tools.base import ToolContext
from chatdev.tools.function import tool
from chatdev.workspace.file_tree import write_file

PICTURE, SCANS = "simulation.svg", 200
"""The file of the picture, and how long the run is that it shows."""
_FORMS = {"html": "verification.html", "md": "verification.md"}


@tool(reads=("software", "program_interface?", "requirements?"), name="plc.report")
def report(context: ToolContext) -> dict[str, Any]:
    """Write what is proved of the program as a report (`verification.html` and `.md` beside the journal), and draw a
    simulation with random inputs.

    Returns the names of the files as `documents` and `pictures`; there are none for a program with errors.
    """
    source = read_answer(context.software)
    checked = check_source(source, entry_of(context.values.get("program_interface"))) if source else None
    if source is None or checked is None or checked.errors:
        return {"documents": [], "pictures": {}}
    asked = tuple(properties_of(context.values.get("requirements")))
    proof = SourceProof(source, checked, verify_cached(source, checked.entry, asked, LAST_SECONDS))
    picture = _draw(source, checked.entry)
    for form, name in _FORMS.items():
        text = write_report(proof, form, title=ANSWER, requirement=str(context.inputs.get("task") or ""),  # type: ignore[arg-type]
                            picture=picture.decode())
        write_file(context.run_folder, name, text.encode())
    if picture:
        write_file(context.run_folder, PICTURE, picture)
    pictures = {"Simulation with random inputs": PICTURE} if picture else {}
    return {"documents": list(_FORMS.values()), "pictures": pictures}


def _draw(source: str, entry: str) -> bytes:
    """A picture in SVG; empty where there is nothing to draw, or nothing to draw with."""
    try:
        return plot_run(simulate_at_random(source, entry, SCANS))
    except (SourceRefused, MissingProgram, ValueError):
        return b""
