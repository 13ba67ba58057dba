"""What `chatdev mcp` offers of this department: `plc_check`, `plc_verify`, `plc_explain`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from chatdev.cli.mcp.served import Served
from chatdev.departments.plc.command_output import check_data, proof_data, read_files, refuse_entry
from chatdev.errors import ConfigError
from chatdev.tools.base import tool

File = Annotated[str, Field(description="Path of a file with Structured Text (IEC 61131-3)")]
Entry = Annotated[str | None, Field(description="The PROGRAM or FUNCTION_BLOCK that runs in every scan; by default the "
                                                "PROGRAM, else the last block that no other one uses")]
Kind = Annotated[Literal["iec", "codesys", "twincat", "siemens"], Field(description="The dialect")]
Properties = Annotated[str | list[dict[str, Any]] | None, Field(
    description="A list of properties in the form of PLCverif's patterns, e.g. "
                "[{\"property\": {\"pattern_id\": \"pattern-invariant\", "
                "\"pattern_params\": {\"1\": \"NOT (Red AND Green)\"}}}], or the path of a JSON file with one; "
                "without it only what the program owes at run time is looked at")]
CycleMs = Annotated[int | None, Field(ge=1, description="Milliseconds from scan to scan; by default any")]
Seconds = Annotated[float, Field(ge=0.1, le=600, description="What each property may take")]
MostK = Annotated[int, Field(ge=1, le=1000, description="How many scans are looked at")]


@tool(name="plc_check")
def check(served: Served, *, file: File, entry: Entry = None, dialect: Kind = "iec") -> dict[str, Any]:
    """Check a PLC program in Structured Text: syntax, types, and slips that compile. Every finding has its line, a
    code and the way out; `ok` says that there is no error."""
    from chatdev.departments.plc.project import check_project
    from chatdev.departments.plc.st.core import Dialect

    path = served.find(file)
    checks = check_project(read_files([path]), entry, Dialect(dialect))
    refuse_entry(checks.values())
    return check_data(Path(file), checks[path])


@tool(name="plc_verify")
def verify(served: Served, *, file: File, properties: Properties = None, entry: Entry = None,  # noqa: PLR0913 - options
           seconds: Seconds = 10.0, most_k: MostK = 30,
           cycle_ms: CycleMs = None,
           overflow: Annotated[bool, Field(description="Integers may not overflow, either")] = False) -> dict[str, Any]:
    """Prove or refute properties of a PLC program in Structured Text, and that it has no run-time fault. Each is
    PROVED, VIOLATED (with the cycles of a counterexample), BOUNDED or UNKNOWN."""
    project, proof = _prove(served, file, properties, entry, (seconds, most_k, cycle_ms, overflow))
    return proof_data(project, proof) | {"file": file}


@tool(name="plc_explain")
def explain(served: Served, *, file: File, properties: Properties = None, entry: Entry = None,
            number: Annotated[int | None, Field(ge=1, description="Only the property with this number in the result of "
                                                                  "plc_verify")] = None,
            seconds: Seconds = 10.0, most_k: MostK = 30) -> dict[str, Any]:
    """Explain the counterexamples of plc_verify for a reader: what changed in every cycle, and which lines ran."""
    from chatdev.departments.plc.report.listing import list_explanation, list_verdicts

    _, proof = _prove(served, file, properties, entry, (seconds, most_k, None, False))
    if number and number > len(proof.outcomes):
        raise ConfigError(f"number: there is no property {number}; there are {len(proof.outcomes)}")
    shown = [list_explanation(at, one, proof) for at, one in enumerate(proof.outcomes, 1)
             if number in (None, at) and one.cycles]
    return {"file": file, "verdict": proof.verdict if proof.outcomes else None,
            "verdicts": list_verdicts(proof) if proof.outcomes else "", "explanations": shown,
            "diagnostics": check_data(Path(file), proof.check)["diagnostics"]}


def _prove(served: Served, file: str, properties: Any, entry: str | None,
           options: tuple[float, int, int | None, bool]) -> tuple[Any, Any]:
    from chatdev.departments.plc.source_check import ProofOptions, WrongProperties, prove_source

    project = read_files([served.find(file)])
    asked = served.read(properties, "properties") if isinstance(properties, str) else json.dumps(properties or [])
    try:
        proof = prove_source(project.text, entry, "" if properties is None else asked, ProofOptions(*options))
    except WrongProperties as error:
        raise ConfigError(f"properties: {error}") from None
    refuse_entry([proof.check])
    return project, proof
