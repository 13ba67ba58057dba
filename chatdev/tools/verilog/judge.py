"""`verilog.judge`: the last word on an answer, which only a right module passes.

An answer passes when it keeps the rules, all samples match, and as many samples were compared as when the reference
itself is in its place. What the reference's own run shows to be wrong with the bench is not held against the answer.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from chatdev.sandbox.base import ProcessLimits, Sandbox
from chatdev.tools.base import ToolContext, Verdict, throwaway_copy
from chatdev.tools.function import tool
from chatdev.tools.verilog.answer import Refused, answer_of
from chatdev.tools.verilog.icarus import SIMULATING
from chatdev.tools.verilog.simulate import simulate
from chatdev.tools.verilog.simulation import Simulated, as_answer, simulate_unexamined
from chatdev.tools.verilog.simulation import simulate as simulated
from chatdev.tools.verilog.verdict import verdict_of


@tool(reads=("software",))
def judge(context: ToolContext) -> Verdict:
    """Judge the Verilog module `TopModule` for the last time: the rules, the simulation, and a comparison with the
    reference's own run.

    Without a reference or a bench it says what `verilog.simulate` says.
    """
    bench, reference = context.inputs.get("bench"), context.inputs.get("reference")
    try:
        answer = answer_of(context.software)
    except Refused:
        answer = None
    if answer is None or not bench or not reference:
        verdict: Verdict = simulate.call(context, {})
        return verdict
    with throwaway_copy(context.scratch, {}) as folder:
        found, facts = judged(answer.text, bench, reference, context.sandbox, folder)
    return verdict_of(found, answer, **facts)


def judged(answer: str, bench: str, reference: str, sandbox: Sandbox, folder: Path, *,
           limits: ProcessLimits = SIMULATING) -> tuple[Simulated, dict[str, Any]]:
    """The answer's simulation with the outcome that the reference's own run leaves it, and the facts that the outcome's
    sentence wants. `folder` is empty and the call's own. Raises as `simulate`."""
    found = simulated(answer, bench, reference, sandbox, _made(folder / "answer"), limits=limits)
    if found.outcome not in ("matches", "timed_out"):
        return found, {}
    right = simulate_unexamined(as_answer(reference), bench, reference, sandbox, _made(folder / "right"),
                                limits=limits)
    if found.outcome == "timed_out":
        return (replace(found, outcome="bench_endless") if right.outcome == "timed_out" else found), {}
    expected = right.report.samples if right.report else None
    if expected is None or found.report is None or expected == found.report.samples:
        return found, {}
    return replace(found, outcome="other_samples"), {"expected": expected}


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder
