"""What the commands of `chatdev plc` print: lines as compilers write them, and JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chatdev.secrets import scrub

if TYPE_CHECKING:
    from chatdev.departments.plc.source_check import SourceCheck
    from chatdev.departments.plc.source_proof import SourceProof
    from chatdev.departments.plc.source_run import SourceRun
    from chatdev.departments.plc.st.core import Dialect
    from chatdev.departments.plc.st.diagnostics import Diagnostic


def as_json(data: Any) -> str:
    """The data for machines."""
    return scrub(json.dumps(data, ensure_ascii=False, indent=1))


def diagnostic_lines(file: Path, check: SourceCheck) -> list[str]:
    """A line for each diagnostic, which editors and CI find the place by."""
    return note_lines(file, check.diagnostics)


def note_lines(file: Path, notes: Sequence[Diagnostic]) -> list[str]:
    """The same for diagnostics alone."""
    return [f"{file}:{one.span.line}:{one.span.column}: {one.severity}: {one.message}"
            f"{f' ({one.hint})' if one.hint else ''}" for one in notes]


def mended_lines(file: Path, mended: Sequence[Diagnostic]) -> list[str]:
    """A line for each diagnostic that was mended."""
    return [f"{file}:{one.span.line}:{one.span.column}: mended: {one.message}" for one in mended]


def check_data(file: Path, check: SourceCheck) -> dict[str, Any]:
    """A check, for JSON."""
    return {"file": str(file), "ok": not check.errors, "entry": check.entry,
            "variables": [asdict(one) for one in check.variables], "assertions": list(check.assertions),
            "diagnostics": [_diagnostic(one) for one in check.diagnostics]}


def proof_data(file: Path, proof: SourceProof) -> dict[str, Any]:
    """A proof, for JSON: all that was asked, with its verdict and the cycles that show it."""
    from chatdev.departments.plc.report.wording import describe_property

    found = []
    for number, one in enumerate(proof.outcomes, 1):
        data = asdict(one)
        asked = data.pop("asked")
        cycles = [cycle | {"changed": dict(cycle["changed"])} for cycle in data.pop("cycles")]
        found.append({"number": number, "asked": describe_property(one.asked), **asked, **data, "cycles": cycles,
                      "contradicted": one.is_contradicted})
    verdict = proof.verdict if proof.outcomes or not proof.check.errors else None
    return check_data(file, proof.check) | {"verdict": verdict, "options": asdict(proof.options),
                                            "dialect": asdict(proof.dialect), "properties": found}


def run_data(file: Path, seen: SourceRun, dialect: Dialect) -> dict[str, Any]:
    """A run, for JSON."""
    return {"file": str(file), "dialect": asdict(dialect), "passed": seen.passed,
            "columns": [column.name for column in seen.trace.columns],
            "rows": [[_json_value(value) for value in row] for row in seen.trace.rows],
            "milliseconds": seen.milliseconds, "lines": seen.lines, "problems": list(run_problems(file, seen))}


def run_problems(file: Path, seen: SourceRun) -> Iterator[str]:
    """A line for each thing that went wrong."""
    from chatdev.departments.plc.simulation.values import write_text

    for one in seen.mismatches:
        expected, found = (write_text(value, one.column.type) for value in (one.expected, one.seen))
        yield f"{file}: scan {one.scan}: {one.column.name} is {found}, not {expected}"
    for broken in seen.broken:
        name = broken.name or "without a name"
        yield f"{file}:{broken.span}: error: assertion {name} does not hold in scan {broken.scan}"
    if seen.fault:
        yield f"{file}:{seen.fault.span}: error: {seen.fault.message} in scan {seen.fault.scan}"


def _json_value(value: Any) -> Any:
    """JSON has no infinity and no NaN: as text."""
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def _diagnostic(one: Diagnostic) -> dict[str, Any]:
    return {"line": one.span.line, "column": one.span.column, "end_line": one.span.end_line,
            "end_column": one.span.end_column, "severity": one.severity, "code": one.code, "message": one.message,
            "hint": one.hint, "fix": asdict(one.fix) if one.fix else None}
