"""From an outcome to the verdict that agents read. Nothing of the bench or the reference is in it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from chatdev.tools.base import Verdict, template
from chatdev.tools.verilog import knowledge
from chatdev.tools.verilog.answer import Answer
from chatdev.tools.verilog.bench import BenchReport
from chatdev.tools.verilog.icarus import COMPILING, SIMULATING, Compiled, Message
from chatdev.tools.verilog.simulation import Simulated

_AROUND, _MOST, _WIDEST = 2, 5, 200  # lines before and after the faulty one; messages; characters of a line


def verdict_of(simulated: Simulated, answer: Answer, **facts: Any) -> Verdict:
    """The verdict of the outcome in `outcomes.yaml`. `facts` is what only its sentence speaks of."""
    row = knowledge.outcomes()[simulated.outcome]
    report = simulated.report or BenchReport()
    bench_broken = simulated.outcome == "bench_broken"
    lines = sorted({message.line for message in simulated.compiled.errors}) if bench_broken else []
    names = _names(row.get("pattern", ""), simulated.compiled.errors)
    says = template(row["says"]).render(limits=SIMULATING, compiling=COMPILING, lines=lines, names=names,
                                        samples=report.samples, mismatches=report.mismatches, **facts).strip()
    text = template(knowledge.report_template()).render(
        says=says, path=answer.path, most=_MOST, outputs=report.outputs, warnings=simulated.compiled.warnings,
        errors=() if bench_broken else list(_shown(simulated.compiled.errors, answer.text))).strip()
    evidence = {"outcome": simulated.outcome, "mismatches": report.mismatches, "samples": report.samples,
                "outputs": {name: asdict(output) for name, output in report.outputs.items()},
                "seconds": round(simulated.seconds, 2)}
    score = report.share if simulated.outcome == "mismatches" else float(row["score"])
    return Verdict(row.get("passed", False), text, score, evidence, judged=row.get("judged", True))


def of_compiled(compiled: Compiled) -> Simulated:
    """What is known when nothing is simulated."""
    return Simulated(compiled.outcome, compiled, log=compiled.log)


def refused(messages: Sequence[Message]) -> Simulated:
    """When there is nothing that could be compiled."""
    return of_compiled(Compiled("refused", tuple(messages)))


def _names(pattern: str, errors: Sequence[Message]) -> list[str]:
    """What the group `name` of the pattern finds in the errors, each once."""
    found = (re.search(pattern, error.text) for error in errors)
    return list(dict.fromkeys(one["name"] for one in found if one and "name" in one.groupdict()))


def _shown(errors: Sequence[Message], text: str) -> Iterator[dict[str, Any]]:
    """The errors, each with the lines of the answer around it unless the one before has them."""
    lines, before = text.split("\n"), 0
    for error in errors:
        near = range(max(1, error.line - _AROUND), min(len(lines), error.line + _AROUND) + 1)
        shown = near if error.line not in (0, before) else ()
        before = error.line
        yield {"text": error.text, "line": error.line,
               "lines": [{"number": number, "text": lines[number - 1][:_WIDEST]} for number in shown]}
