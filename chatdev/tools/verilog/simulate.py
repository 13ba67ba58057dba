"""`verilog.simulate`: does the module do what the hidden test bench expects?"""

from __future__ import annotations

from dataclasses import replace

from chatdev.tools.base import ToolContext, Verdict, throwaway_copy
from chatdev.tools.function import tool
from chatdev.tools.verilog.answer import Answer, Refused, answer_of
from chatdev.tools.verilog.simulation import examine
from chatdev.tools.verilog.simulation import simulate as simulated
from chatdev.tools.verilog.verdict import of_compiled, refused, verdict_of


@tool(reads=("software",))
def simulate(context: ToolContext) -> Verdict:
    """Simulate the Verilog module `TopModule` with the test bench, and report the mismatches of each output.

    Its score is the share of samples that match. Without a bench the module is only compiled.
    """
    try:
        answer = answer_of(context.software)
    except Refused as reason:
        return verdict_of(refused(reason.messages), Answer("top.sv", ""))
    bench, reference = context.inputs.get("bench"), context.inputs.get("reference")
    with throwaway_copy(context.scratch, {}) as folder:
        if bench:
            return verdict_of(simulated(answer.text, bench, reference, context.sandbox, folder), answer)
        compiled = examine(answer.text, context.sandbox, folder)
        alone = of_compiled(replace(compiled, outcome="not_verified") if compiled.passed else compiled)
        return verdict_of(alone, answer)
