"""Examining an answer alone, and simulating it with a test bench: every tool that judges an answer uses this.

The answer is compiled alone first, with itself as the root. What reads or changes anything of the bench or the
reference cannot be elaborated there, and errors lie in the answer, so that no message shows a line of a hidden file.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

from chatdev.sandbox.base import ProcessLimits, Sandbox
from chatdev.tools.verilog.answer import TOP, broken_rules, module_names
from chatdev.tools.verilog.bench import BenchReport, HiddenBench, dump_everything
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

_RESET = "\n`resetall\n"  # no directive of the answer holds for the bench
_REFERENCE = "RefModule"


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


def examine(answer: str, sandbox: Sandbox, folder: Path, *, hidden: str = "") -> CompileResult:
    """Whether the answer keeps the rules and compiles alone, with warnings of compiler and lint. `folder` is empty and
    the call's own; `hidden` is the text of bench and reference. Raises MissingProgram, SandboxError."""
    if messages := broken_rules(answer, hidden):
        return CompileResult("refused", messages)
    compiled = compile_files({ANSWER: answer}, TOP, sandbox, folder / "alone")
    if not compiled.passed:
        return compiled
    if outside := outside_names(answer):
        return replace(compiled, outcome="refused", messages=tuple(outside))
    return replace(compiled, messages=(*compiled.messages, *lint(answer)))


def simulate_answer(answer: str, bench: HiddenBench, sandbox: Sandbox, folder: Path, *, dump: bool = False,
                    limits: ProcessLimits = SIMULATING) -> SimulationResult:
    """Examine the answer and simulate it with the bench; `folder` is empty and the call's own, and `waves` lies in it.

    Raises MissingProgram, SandboxError and WorkspaceError; all that the answer or the bench does wrong is an outcome.
    """
    alone = examine(answer, sandbox, folder, hidden=bench.everything)
    if not alone.passed:
        return SimulationResult.of_compiling(alone)
    together = simulate_unexamined(answer, bench, sandbox, folder, dump=dump, limits=limits)
    if not together.compiled.passed:
        return together
    ports = _messages_on_ports(together.compiled.warnings)
    return replace(together, compiled=replace(alone, messages=(*alone.messages, *ports)))


def simulate_unexamined(answer: str, bench: HiddenBench, sandbox: Sandbox, folder: Path, *, dump: bool = False,
                        limits: ProcessLimits = SIMULATING) -> SimulationResult:
    """The same without examining the answer first: VerilogEval's own procedure."""
    files = {ANSWER: answer + _RESET, BENCH: dump_everything(bench.text) if dump else bench.text}
    if bench.reference:
        files[REFERENCE] = bench.reference
    compiled = compile_files(files, "tb", sandbox, folder / "with_bench")
    if not compiled.passed:
        return _explain_misfit(compiled, files, sandbox, folder)
    ran = run_program(folder / "with_bench", folder / "run", sandbox, dump=dump, limits=limits)
    report = BenchReport.read(ran.stdout) if ran.ended == "finished" else None
    return SimulationResult(_outcome(ran, report), compiled, report, ran.waves, ran.seconds,
                            log=f"{compiled.log}\n{ran.stdout}")


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
        found = CompileResult("interface", ports, compiled.log)
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
    return compile_files(right, "tb", sandbox, folder / "reference").passed


def _outcome(ran: SimulatorRun, report: BenchReport | None) -> str:
    if report is None:
        return ran.ended
    if report.mismatches is None:
        return "no_report"
    if not report.samples:
        return "no_samples"
    return "mismatches" if report.mismatches else "matches"
