"""The tool `verilog.bench`: a test bench that does not accept its own reference can judge nobody, which is said before
anything is paid."""

from __future__ import annotations

from chatdev.errors import ToolError
from chatdev.tools.base import ToolContext, throwaway_copy
from chatdev.tools.function import tool
from chatdev.tools.verilog.bench import BenchReport, HiddenBench
from chatdev.tools.verilog.icarus import COMPILING, SIMULATING, read_messages
from chatdev.tools.verilog.messages import outcomes, render_text
from chatdev.tools.verilog.simulation import SimulationResult, reference_as_answer, simulate_unexamined

_MOST = 3  # messages of the compiler that are shown
_UNJUDGED = frozenset({"matches", "no_report"})  # a bench without a report judges nobody, and says so


@tool(name="verilog.bench")
def check_bench(context: ToolContext) -> str:
    """Simulate the test bench with its own reference in the answer's place, where both are given: "matches", or
    "no_report" for a bench that counts nothing; "" without them.

    Raises ToolError when they do not compile together, differ, or come to no end.
    """
    bench = HiddenBench.of(context.inputs)
    if bench is None or not bench.reference:
        return ""
    with throwaway_copy(context.scratch, {}) as folder:
        found = simulate_unexamined(reference_as_answer(bench.reference), bench, context.sandbox, folder)
    if found.outcome not in _UNJUDGED:
        raise ToolError(f"the test bench does not accept its own reference, so it could judge no module: "
                        f"{_reason(found)}; mend `bench` or `reference`, or give neither")
    return found.outcome


def _reason(found: SimulationResult) -> str:
    if not found.compiled.passed:
        said = [f"{one.file}:{one.line}: {one.text}" for one in read_messages(found.log) if one.severity == "error"]
        return "; ".join(["they do not compile together", *said[:_MOST]])
    report = found.report or BenchReport()
    return render_text(outcomes()[found.outcome]["says"], limits=SIMULATING, compiling=COMPILING,
                       samples=report.samples, mismatches=report.mismatches).rstrip(".")
