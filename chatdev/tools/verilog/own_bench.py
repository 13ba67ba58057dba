"""`verilog.try`: does the module do what a test bench of the company's own expects?

For specifications that come without a bench. Models wrote both, so that agreement proves little: the verdict steers the
dialogue, and `verilog.judge` still says "not functionally verified".
"""

from __future__ import annotations

import re
from pathlib import Path

from chatdev.tools.base import ToolContext, Verdict, template, throwaway_copy
from chatdev.tools.function import tool
from chatdev.tools.verilog.answer import Answer, Refused, answer_of
from chatdev.tools.verilog.icarus import ANSWER, BENCH, SIMULATING, Compiled, Ran, compile_files, run_program
from chatdev.tools.verilog.simulation import examine
from chatdev.tools.verilog.verdict import of_compiled, refused, verdict_of

OWN_BENCH = "bench/tb.sv"
"""Where the company's own test bench stands in the software: a module `tb` that prints PASS or FAIL for each case."""

_CASE = re.compile(r"^\s*(?P<verdict>PASS|FAIL)\b[^\n]*", re.MULTILINE)
_MOST = 8  # cases that are shown


@tool(reads=("software",), name="verilog.try")
def try_own_bench(context: ToolContext) -> Verdict:
    """Simulate the Verilog module `TopModule` with the test bench in `bench/tb.sv`, and report the cases that fail.

    Its score is the share of cases that pass.
    """
    try:
        answer = answer_of(context.software)
    except Refused as reason:
        return verdict_of(refused(reason.messages), Answer("top.sv", ""))
    with throwaway_copy(context.scratch, {}) as folder:
        compiled = examine(answer.text, context.sandbox, folder)
        if not compiled.passed:
            return verdict_of(of_compiled(compiled), answer)
        return _tried(context, answer, folder)


def _tried(context: ToolContext, answer: Answer, folder: Path) -> Verdict:
    """The verdict on an answer that compiles alone."""
    bench = context.software.get(OWN_BENCH)
    if bench is None:
        return _told("no_bench", score=0)
    files = {ANSWER: answer.text + "\n", BENCH: bench.decode("utf-8", "replace")}
    compiled = compile_files(files, "tb", context.sandbox, folder / "with_bench")
    if not compiled.passed:
        return _told("bench_broken", score=0, compiled=compiled)
    ran = run_program(folder / "with_bench", folder / "run", context.sandbox, dump=False)
    cases = [(found["verdict"], found[0].strip()) for found in _CASE.finditer(ran.stdout)]
    failed = [text for verdict, text in cases if verdict == "FAIL"]
    outcome = "unfinished" if ran.ended != "finished" else "no_case" if not cases else "failed" if failed else "agrees"
    return _told(outcome, score=(len(cases) - len(failed)) / max(1, len(cases)), ran=ran, cases=cases, failed=failed)


def _told(outcome: str, score: float, compiled: Compiled | None = None, ran: Ran | None = None,
          cases: list[tuple[str, str]] | None = None, failed: list[str] | None = None) -> Verdict:
    text = template(Path(__file__).with_suffix(".j2").read_text(encoding="utf-8")).render(
        outcome=outcome, bench=OWN_BENCH, errors=compiled.errors[:_MOST] if compiled else (), limits=SIMULATING,
        ended=ran.ended if ran else "", cases=cases or (), failed=failed or (), most=_MOST).strip()
    return Verdict(outcome == "agrees", text, score, {"outcome": outcome, "cases": len(cases or ()),
                                                      "failed": len(failed or ())})
