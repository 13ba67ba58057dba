"""Examining an answer alone, and simulating it with a test bench: every tool that judges an answer uses this.

The answer is compiled alone first, with itself as the root. What reads or changes anything of the bench or the
reference cannot be elaborated there, and errors lie in the answer, so that no message shows a line of a hidden file.
With the bench only the text without macros is compiled, and the bench's prints carry a mark that no answer can know.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

from chatdev.sandbox.base import ProcessLimits, Sandbox
from chatdev.tools.verilog.answer import TOP, broken_rules, module_names, rule_message, unit_names
from chatdev.tools.verilog.bench import (
    BenchReport,
    HiddenBench,
    can_be_marked,
    dump_everything,
    mark_prints,
    marked_lines,
)
from chatdev.tools.verilog.icarus import (
    ANSWER,
    BENCH,
    REFERENCE,
    SIMULATING,
    CompileResult,
    SimulatorRun,
    compile_files,
    run_program,
)
from chatdev.tools.verilog.lint import lint, outside_names
from chatdev.tools.verilog.messages import Message, port_messages, render_text
from chatdev.tools.verilog.preprocess import expand_macros

_RESET = "\n`resetall\n"  # no directive of the answer holds for the bench
_REFERENCE = "RefModule"
_TB = "tb"
_OTHER_DRAWS = "other_draws"
_DRAWS = f"""module {_OTHER_DRAWS};
  integer drawn;
  initial repeat (997) begin drawn = $random; drawn = $urandom; end
endmodule
"""
"""Draws from the simulator's random numbers before the bench does, so that the bench gets others."""


@dataclass(frozen=True, slots=True)
class SimulationResult:
    """How it went. `outcome` is a name of `outcomes.yaml`; `report` is None when there was nothing to simulate or the
    simulation did not come to its end; `waves` is the VCD file of all signals below `tb`, where it was asked for;
    `log` is what compiler and simulator printed, which may tell of hidden files."""

    outcome: str
    compiled: CompileResult
    report: BenchReport | None = None
    waves: Path | None = None
    seconds: float = 0.0
    log: str = ""

    @property
    def passed(self) -> bool:
        """Whether all samples match."""
        return self.outcome == "matches"

    @classmethod
    def of_compiling(cls, compiled: CompileResult) -> Self:
        """What is known when nothing is simulated."""
        return cls(compiled.outcome, compiled, log=compiled.log)


def examine(answer: str, sandbox: Sandbox, folder: Path, *, taken: Container[str] = (),
            may_print: bool = True) -> CompileResult:
    """Whether the answer keeps the rules and compiles alone, with warnings of compiler and lint. `folder` is empty and
    the call's own; `taken` are names of the bench. Raises MissingProgram, SandboxError."""
    expanded = expand_macros(answer, sandbox, folder / "macros")
    if messages := broken_rules(answer, answer if expanded is None else expanded, taken, may_print):
        return CompileResult("refused", messages)
    compiled = compile_files({ANSWER: answer}, [TOP], sandbox, folder / "alone")
    if not compiled.passed:
        return compiled
    if expanded is None:
        return replace(compiled, outcome="refused", messages=(rule_message("macros"),))
    if outside := outside_names(expanded):
        return replace(compiled, outcome="refused", messages=tuple(outside))
    return replace(compiled, messages=(*compiled.messages, *lint(answer)), text=expanded)


def simulate_answer(answer: str, bench: HiddenBench, sandbox: Sandbox, folder: Path, *, dump: bool = False,
                    limits: ProcessLimits = SIMULATING) -> SimulationResult:
    """Examine the answer and simulate it with the bench; `folder` is empty and the call's own, and `waves` lies in it.

    Raises MissingProgram, SandboxError and WorkspaceError; all that the answer or the bench does wrong is an outcome.
    """
    alone = examine(answer, sandbox, folder, taken=unit_names(bench.text), may_print=can_be_marked(bench.text))
    if not alone.passed:
        return SimulationResult.of_compiling(alone)
    together = simulate_examined(alone.text, bench, sandbox, folder, dump=dump, limits=limits)
    if not together.compiled.passed:
        return together
    ports = _messages_on_ports(together.compiled.warnings)
    return replace(together, compiled=replace(alone, messages=(*alone.messages, *ports)))


def simulate_examined(text: str, bench: HiddenBench, sandbox: Sandbox, folder: Path, *, dump: bool = False,
                      limits: ProcessLimits = SIMULATING, other_draws: bool = False) -> SimulationResult:
    """The same of the text of an answer that was examined. With `other_draws` the bench draws other random numbers."""
    mark = f"{secrets.token_hex(8)} " if can_be_marked(bench.text) else ""
    reference = _without_clashes(bench.reference, unit_names(text)) if bench.reference else None
    marked = HiddenBench(mark_prints(bench.text, mark), reference, mark, other_draws)
    return simulate_unexamined(text, marked, sandbox, folder, dump=dump, limits=limits)


def simulate_unexamined(answer: str, bench: HiddenBench, sandbox: Sandbox, folder: Path, *, dump: bool = False,
                        limits: ProcessLimits = SIMULATING) -> SimulationResult:
    """The same without examining the answer first: VerilogEval's own procedure."""
    files = {ANSWER: answer + _RESET, BENCH: dump_everything(bench.text) if dump else bench.text}
    if bench.reference:
        files[REFERENCE] = bench.reference
    tops = [_TB]
    if bench.other_draws:
        files, tops = files | {f"{_OTHER_DRAWS}.sv": _DRAWS}, [_OTHER_DRAWS, _TB]
    compiled = compile_files(files, tops, sandbox, folder / "with_bench")
    if not compiled.passed:
        return _explain_misfit(compiled, files, sandbox, folder)
    ran = run_program(folder / "with_bench", folder / "run", sandbox, dump=dump, limits=limits)
    report = BenchReport.read(marked_lines(ran.stdout, bench.mark)) if ran.ended == "finished" else None
    printed = ran.stdout.replace(bench.mark, "") if bench.mark else ran.stdout
    return SimulationResult(_outcome(ran, report), compiled, report, ran.waves, ran.seconds,
                            log=f"{compiled.log}\n{printed}")


def _without_clashes(reference: str, taken: Container[str]) -> str:
    """The reference, its helpers under other names where the answer has helpers of theirs."""
    for helper in unit_names(reference) - {_REFERENCE}:
        if helper in taken:
            reference = re.sub(rf"(?<!\.)\b{helper}\b", f"{helper}_of_reference", reference)
    return reference


def reference_as_answer(reference: str) -> str:
    """The reference module under the name of the answer's, and its helpers under other names, so that both can be
    compiled together."""
    for helper in set(module_names(reference)) - {_REFERENCE}:
        reference = re.sub(rf"\b{helper}\b", f"{helper}_of_answer", reference)
    return re.sub(rf"\b{_REFERENCE}\b", TOP, reference)


def _explain_misfit(compiled: CompileResult, files: Mapping[str, str], sandbox: Sandbox,
                    folder: Path) -> SimulationResult:
    """Whose fault it is that answer and bench do not compile together."""
    ports = _messages_on_ports(compiled.errors)
    own = tuple(message for message in compiled.errors if message.file == ANSWER)
    broken = not _fits(files, sandbox, folder) if REFERENCE in files else not (own or ports)
    if broken:
        lines = tuple(Message("", line=message.line) for message in compiled.errors if message.file == BENCH)
        found = CompileResult("bench_broken", lines, compiled.log)
    elif own:
        found = CompileResult(compiled.outcome, own, compiled.log)
    else:
        found = CompileResult("interface" if ports else "clash", ports, compiled.log)
    return SimulationResult(found.outcome, found, log=compiled.log)


def _messages_on_ports(messages: Sequence[Message]) -> tuple[Message, ...]:
    """What the compiler said of the answer's ports, in words that tell nothing else of the bench."""
    said = []
    for message in messages:
        for row in port_messages():
            if found := re.search(row["pattern"], message.text):
                said.append(Message(render_text(row["says"], **found.groupdict()), severity=message.severity))
    return tuple(said)


def _fits(files: Mapping[str, str], sandbox: Sandbox, folder: Path) -> bool:
    """Whether the bench compiles with the reference in the answer's place."""
    right = {**files, ANSWER: reference_as_answer(files[REFERENCE])}
    return compile_files(right, [_TB], sandbox, folder / "reference").passed


def _outcome(ran: SimulatorRun, report: BenchReport | None) -> str:
    if report is None:
        return ran.ended
    if report.mismatches is None:
        return "no_report"
    if not report.samples:
        return "no_samples"
    return "mismatches" if report.mismatches else "matches"
