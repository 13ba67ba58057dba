"""Examining an answer alone, and simulating it with a test bench: what every tool on Verilog stands on.

The answer is compiled alone first, with itself as the root. What reads or changes anything of the bench or the
reference cannot be elaborated there, and errors lie in the answer, so that no line of a hidden file is spoken of.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from chatdev.sandbox.base import ProcessLimits, Sandbox
from chatdev.tools.base import template
from chatdev.tools.verilog import knowledge, slang
from chatdev.tools.verilog.answer import TOP, broken_rules, modules
from chatdev.tools.verilog.bench import BenchReport, dump_everything
from chatdev.tools.verilog.icarus import (
    ANSWER,
    BENCH,
    REFERENCE,
    SIMULATING,
    Compiled,
    Message,
    Ran,
    compile_files,
    run_program,
)

_RESET = "\n`resetall\n"  # no directive of the answer holds for the bench
_REFERENCE = "RefModule"


@dataclass(frozen=True, slots=True)
class Simulated:
    """How it went. `outcome` is a name of `outcomes.yaml`; `report` is None when there was nothing to simulate or the
    simulation did not come to its end; `waves` is the VCD file of all signals below `tb`, where it was asked for;
    `log` is what compiler and simulator printed, which may tell of hidden files."""

    outcome: str
    compiled: Compiled
    report: BenchReport | None = None
    waves: Path | None = None
    seconds: float = 0.0
    log: str = ""

    @property
    def passed(self) -> bool:
        """Whether all samples match."""
        return self.outcome == "matches"


def examine(answer: str, sandbox: Sandbox, folder: Path, *, hidden: str = "") -> Compiled:
    """Whether the answer keeps the rules and compiles alone, with warnings of compiler and lint. `folder` is empty and
    the call's own; `hidden` is the text of bench and reference. Raises MissingProgram, SandboxError."""
    if messages := broken_rules(answer, hidden):
        return Compiled("refused", messages)
    compiled = compile_files({ANSWER: answer}, TOP, sandbox, folder / "alone")
    if not compiled.passed:
        return compiled
    if strangers := slang.outside_names(answer):
        return replace(compiled, outcome="refused", messages=tuple(strangers))
    return replace(compiled, messages=(*compiled.messages, *slang.lint(answer)))


def simulate(answer: str, bench: str, reference: str | None, sandbox: Sandbox, folder: Path, *,
             dump: bool = False, limits: ProcessLimits = SIMULATING) -> Simulated:
    """Examine the answer and simulate it with the bench; `folder` is empty and the call's own, and `waves` lies in it.

    Raises MissingProgram, SandboxError and WorkspaceError; all that the answer or the bench does wrong is an outcome.
    """
    alone = examine(answer, sandbox, folder, hidden=f"{bench}\n{reference or ''}")
    if not alone.passed:
        return Simulated(alone.outcome, alone, log=alone.log)
    together = simulate_unexamined(answer, bench, reference, sandbox, folder, dump=dump, limits=limits)
    if not together.compiled.passed:
        return together
    ports = _of_ports(together.compiled.warnings)
    return replace(together, compiled=replace(alone, messages=(*alone.messages, *ports)))


def simulate_unexamined(answer: str, bench: str, reference: str | None, sandbox: Sandbox, folder: Path, *,
                        dump: bool = False, limits: ProcessLimits = SIMULATING) -> Simulated:
    """As `simulate`, with an answer that keeps all rules, or with one that breaks them: VerilogEval's own procedure."""
    files = {ANSWER: answer + _RESET, BENCH: dump_everything(bench) if dump else bench}
    if reference:
        files[REFERENCE] = reference
    compiled = compile_files(files, "tb", sandbox, folder / "with_bench")
    if not compiled.passed:
        return _unfit(compiled, files, sandbox, folder)
    ran = run_program(folder / "with_bench", folder / "run", sandbox, dump=dump, limits=limits)
    report = BenchReport.read(ran.stdout) if ran.ended == "finished" else None
    return Simulated(_outcome(ran, report), compiled, report, ran.waves, ran.seconds, f"{compiled.log}\n{ran.stdout}")


def as_answer(reference: str) -> str:
    """The reference module under the name of the answer's, and its helpers under other names, so that both can be
    compiled together."""
    for helper in set(modules(reference)) - {_REFERENCE}:
        reference = re.sub(rf"\b{helper}\b", f"{helper}_of_answer", reference)
    return re.sub(rf"\b{_REFERENCE}\b", TOP, reference)


def _unfit(compiled: Compiled, files: Mapping[str, str], sandbox: Sandbox, folder: Path) -> Simulated:
    """Whose fault it is that answer and bench do not compile together."""
    ports = _of_ports(compiled.errors)
    own = tuple(message for message in compiled.errors if message.file == ANSWER)
    broken = not _fits(files, sandbox, folder) if REFERENCE in files else not (own or ports)
    if broken:
        lines = tuple(Message("", line=message.line) for message in compiled.errors if message.file == BENCH)
        found = Compiled("bench_broken", lines, compiled.log)
    elif own:
        found = Compiled(compiled.outcome, own, compiled.log)
    else:
        found = Compiled("interface", ports, compiled.log)
    return Simulated(found.outcome, found, log=compiled.log)


def _of_ports(messages: Sequence[Message]) -> tuple[Message, ...]:
    """What the compiler said of the answer's ports, in words that tell nothing else of the bench."""
    told = []
    for message in messages:
        for row in knowledge.port_messages():
            if found := re.search(row["pattern"], message.text):
                told.append(Message(template(row["says"]).render(found.groupdict()), severity=message.severity))
    return tuple(told)


def _fits(files: Mapping[str, str], sandbox: Sandbox, folder: Path) -> bool:
    """Whether the bench compiles with the reference in the answer's place."""
    right = {**files, ANSWER: as_answer(files[REFERENCE])}
    return compile_files(right, "tb", sandbox, folder / "reference").passed


def _outcome(ran: Ran, report: BenchReport | None) -> str:
    if report is None:
        return ran.ended
    if report.mismatches is None:
        return "no_report"
    if not report.samples:
        return "no_samples"
    return "mismatches" if report.mismatches else "matches"
