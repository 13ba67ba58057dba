"""The tool `verilog.equivalent`: whether a module and a reference do the same for all inputs for ever, by Yosys.

Both are synthesised and put side by side. First a SAT solver tries to prove by induction that outputs and registers of
the same name agree for ever (register correspondence, van Eijk 2000): where they do, a step or two are enough. Else it
looks for inputs after which an output differs, and for a proof by k-induction that there are none (Sheeran, Singh,
Stålmarck 2000). Registers start undefined, and where the reference is undefined anything is right, as VerilogEval's
benches have it; an answer that is undefined where the reference is not is wrong. It is a second opinion for whoever
evaluates answers: no company's agents may use it.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from chatdev.departments.verilog.answer import NoAnswer, read_answer
from chatdev.departments.verilog.bench import read_target
from chatdev.departments.verilog.compilation import GIVEN, as_bytes, render_report
from chatdev.departments.verilog.design.design import Port
from chatdev.departments.verilog.design.elaborate import DesignError
from chatdev.departments.verilog.design.facts import read_design
from chatdev.departments.verilog.simulation import reference_as_answer
from chatdev.departments.verilog.target import Target, drop_comments
from chatdev.departments.verilog.waveform.waves import Waves
from chatdev.errors import MissingProgram
from chatdev.sandbox.base import Execution, ProcessLimits, Sandbox, SandboxJob
from chatdev.tools.base import ToolContext, Verdict, throwaway_copy, tool
from chatdev.workspace.file_tree import write_tree

Finding = Literal["PROVED", "DIFFERS", "UNKNOWN"]
PROVING = ProcessLimits(cpu=20, seconds=600, memory=2 << 30, file_size=64 << 20, disk=128 << 20, written=16 << 20)

_STEPS = 24  # half cycles of a clock, within which an output has to be defined once, and a difference is looked for
_FEW = 4  # an edge is told by the step before, and some registers stand behind latches or memories
_ANSWER, _REFERENCE, _WATCH, _WAVES = "answer.sv", "reference.sv", "watch.sv", "difference.vcd"
_REGISTERS, _OUTPUTS = "prove_registers.ys", "prove_outputs.ys"
_UNDEFINED = "-enable_undef -set-init-undef -set-def-inputs"
_AS_SIMULATED = "`undef YOSYS `undef SYNTHESIS "  # with comments such as `translate_off` another program would be read
_ERROR = re.compile(r"^(?:\S+:\d+: )?ERROR: .*$", re.MULTILINE)
_INPUT = re.compile(r"(?:^|\.)in_(?P<name>\w+)$")


@dataclass(frozen=True, slots=True)
class Equivalence:
    """PROVED for all inputs; DIFFERS, after the `inputs` by step; or UNKNOWN, for a `reason`."""

    finding: Finding
    reason: str = ""
    inputs: tuple[tuple[str, tuple[str, ...]], ...] = ()


@tool(reads=("software",), name="verilog.equivalent")
def equivalent(context: ToolContext) -> Verdict:
    """Prove that the Verilog module does what the reference does for all inputs, or find inputs for which it does not.

    It takes Yosys and a reference. What cannot be decided is not judged.
    """
    target, reference = read_target(context.inputs), context.inputs.get("reference")
    try:
        answer = read_answer(context.software)
    except NoAnswer as problem:
        return _verdict_of(Equivalence("UNKNOWN", str(problem)))
    if not reference:
        return _verdict_of(Equivalence("UNKNOWN", "there is no reference"))
    with throwaway_copy(context.scratch, {}) as folder:
        return _verdict_of(compare(answer.text, reference, target, context.sandbox, folder / "proof"))


def compare(answer: str, reference: str, target: Target, sandbox: Sandbox, folder: Path, *,
            limits: ProcessLimits = PROVING) -> Equivalence:
    """Prove or refute; `folder` is new and the call's own. Raises MissingProgram without Yosys, SandboxError and
    WorkspaceError."""
    require_yosys()
    right = reference_as_answer(reference, target)
    try:
        ports = read_design(right, target).ports
    except DesignError as error:
        return Equivalence("UNKNOWN", f"the reference cannot be read: {error}")
    read, defined = [*_read(target, right, answer)], [*_see_defined(target, ports)]
    scripts = {_REGISTERS: [*read, *_prove_registers(target), *defined],
               _OUTPUTS: [*read, *_search(target), *defined, *_prove_outputs(target)]}
    folder.mkdir()
    write_tree(folder, as_bytes({
        **{GIVEN + path: text for path, text in target.given}, **dict(target.data),
        _ANSWER: _AS_SIMULATED + drop_comments(answer), _REFERENCE: _AS_SIMULATED + drop_comments(right),
        _WATCH: _watch(ports), **{name: "\n".join(commands) for name, commands in scripts.items()}}))
    done = sandbox.run(SandboxJob(["yosys", "-s", _REGISTERS], folder, limits))
    if done.exit_status == 0:
        return Equivalence("PROVED")
    return _read_proof(sandbox.run(SandboxJob(["yosys", "-s", _OUTPUTS], folder, limits)), folder / _WAVES)


def require_yosys() -> None:
    """Raise MissingProgram where there is none."""
    if shutil.which("yosys") is None:
        raise MissingProgram("yosys not found, which proves modules equivalent; install it: apt-get install yosys")


def _read(target: Target, reference: str, answer: str) -> Iterator[str]:
    """Commands by which Yosys reads both. No pass may choose a value for what is undefined: hence `-keepdc`."""
    for name, file, text in (("gold", _REFERENCE, reference), ("gate", _ANSWER, answer)):
        yield from (f"read_verilog -sv -I{GIVEN} {GIVEN}{path}" for path in target.including(text).sources)
        yield f"read_verilog -sv -noblackbox -I{GIVEN} {file}"
        yield from (f"chparam -set {parameter} {value} {target.top}" for parameter, value in target.parameters)
        yield "setattr -unset always_comb p:*"  # a latch there is what a simulator makes of it as well
        yield from (f"prep -flatten -top {target.top}", f"rename -top {target.top}", "memory_map", "opt -keepdc",
                    "setundef -undriven -undef", "rename -enumerate -pattern word_% w:$memory*",  # as registers
                    f"design -stash {name}")


def _compare_outputs(target: Target, *expose: str) -> Iterator[str]:
    yield "design -reset"
    yield from (f"design -copy-from {name} -as {name} {target.top}" for name in ("gold", "gate"))
    yield from (*expose, "miter -equiv -flatten -make_assert -ignore_gold_x gold gate miter", "hierarchy -top miter",
                "clk2fflogic", "opt -keepdc")


def _prove_registers(target: Target) -> Iterator[str]:
    """A proof for outputs and registers together, which is no proof of a difference where it fails."""
    yield from _compare_outputs(target, "expose -shared -dff gold gate")
    yield f"sat -verify -prove-asserts {_UNDEFINED} -maxsteps {_FEW} -tempinduct miter"


def _search(target: Target) -> Iterator[str]:
    yield from _compare_outputs(target)
    yield (f"sat -verify -prove-asserts {_UNDEFINED} -maxsteps {_STEPS} -tempinduct-baseonly -show-ports "
           f"-dump_vcd {_WAVES} miter")


def _prove_outputs(target: Target) -> Iterator[str]:
    yield from _compare_outputs(target)
    yield f"sat -verify -prove-asserts {_UNDEFINED} -maxsteps {_STEPS} -tempinduct miter"


def _see_defined(target: Target, ports: Sequence[Port]) -> Iterator[str]:
    """Each output of the reference is defined at some time: one that never is would make every answer right."""
    yield from ("design -reset", f"design -copy-from gold -as gold {target.top}", f"read_verilog -sv {_WATCH}",
                "hierarchy -top watch", "flatten", "clk2fflogic", "opt -keepdc")
    for port in _outputs(ports):
        yield f"sat -falsify -tempinduct-baseonly -maxsteps {_STEPS} {_UNDEFINED} -prove undefined_{port.name} 1 watch"


def _watch(ports: Sequence[Port]) -> str:
    """A module around the reference that tells which of its outputs are undefined."""
    heads = [*(f"input [{port.width - 1}:0] {port.name}" for port in ports if port.direction == "in"),
             *(f"output undefined_{port.name}" for port in _outputs(ports))]
    lines = [f"wire [{port.width - 1}:0] {port.name}; assign undefined_{port.name} = ^{port.name} === 1'bx;"
             for port in _outputs(ports)]
    wires = ", ".join(f".{port.name}({port.name})" for port in ports)
    return "\n".join((f"module watch({', '.join(heads)});", *lines, f"gold gold({wires});", "endmodule\n"))


def _outputs(ports: Sequence[Port]) -> list[Port]:
    return [port for port in ports if port.direction != "in"]


def _read_proof(done: Execution, waves: Path) -> Equivalence:
    if done.exit_status == 0:
        return Equivalence("PROVED")
    if waves.is_file() and not waves.is_symlink():
        waves.write_text(re.sub(r"^#-\d+$", "#0", waves.read_text(), flags=re.MULTILINE))  # time before the first step
        return Equivalence("DIFFERS", inputs=tuple(_inputs_of(Waves.open(waves))))
    if done.timed_out or done.exceeded or done.exit_status is None:
        return Equivalence("UNKNOWN", "it takes more time or memory than it may")
    said = _ERROR.search(done.stderr + done.stdout)
    text = said[0].replace("ERROR: ", "", 1) if said else "no reason"
    if "proof did succeed" in text:
        return Equivalence("UNKNOWN", f"an output of the reference is not defined within {_STEPS // 2} cycles")
    if "proof did fail" in text:
        return Equivalence("UNKNOWN", f"there is no difference within {_STEPS // 2} cycles, and no proof by induction")
    return Equivalence("UNKNOWN", f"Yosys says: {text}")


def _inputs_of(waves: Waves) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Each input with its value at each step."""
    names = {name: found["name"] for name in waves.signals if (found := _INPUT.search(name))}
    last = max((max(time, 1) for time, _, _ in waves.changes(names)), default=1)  # the first step may stand at 0
    rows = [waves.values_at(names, step + 1) for step in range(1, last + 1)]
    for name, short in names.items():
        yield short, tuple(row[name] for row in rows)


def _verdict_of(found: Equivalence) -> Verdict:
    text = render_report("equivalence", found=found, steps=max((len(values) for _, values in found.inputs), default=0))
    evidence = {"finding": found.finding, "reason": found.reason, "inputs": {name: [*values] for name, values in
                                                                             found.inputs}}
    return Verdict(found.finding == "PROVED", text, float(found.finding == "PROVED"), evidence,
                   judged=found.finding != "UNKNOWN")
