"""How an answer and its reference differ: whether they do the same for all inputs for ever, by Yosys (the tool
`verilog.equivalent`); when they first differ in a simulation, and since when the bench minds it."""

from __future__ import annotations

import math
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any, Literal

from chatdev.departments.verilog.answer import Answer, NoAnswer
from chatdev.departments.verilog.bench import HiddenBench, add_parameters
from chatdev.departments.verilog.bench_report import BenchReport, PrintedLine, severe_lines
from chatdev.departments.verilog.compilation import GIVEN, as_bytes, render_report
from chatdev.departments.verilog.design.design import Port
from chatdev.departments.verilog.design.elaborate import DesignError
from chatdev.departments.verilog.design.facts import read_design
from chatdev.departments.verilog.simulation import SimulationResult, reference_as_answer, simulate_unexamined
from chatdev.departments.verilog.submission import read_submission
from chatdev.departments.verilog.target import ICARUS, Target, drop_comments
from chatdev.departments.verilog.waveform.comparison import (
    ANSWER,
    REFERENCE,
    DifferingStep,
    Pair,
    are_different,
    differing_steps,
    find_pairs,
    value_text,
)
from chatdev.departments.verilog.waveform.waves import Step, Waves, bit_count
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
_INPUT, _OUTPUT = (re.compile(rf"(?:^|\.){side}_(?P<name>\w+)$") for side in ("in", "gold"))


@dataclass(frozen=True, slots=True)
class Equivalence:
    """PROVED for all inputs; DIFFERS, after the `inputs` by step, in `outputs` with the reference's value and the
    answer's at the last one; or UNKNOWN, for a `reason`."""

    finding: Finding
    reason: str = ""
    inputs: tuple[tuple[str, tuple[str, ...]], ...] = ()
    outputs: tuple[tuple[str, str, str], ...] = ()


@tool(reads=("software",), name="verilog.equivalent")
def equivalent(context: ToolContext) -> Verdict:
    """Prove that the Verilog module does what the reference does for all inputs, or find inputs for which it does not.

    It takes Yosys and a reference. What cannot be decided is not judged.
    """
    reference = context.inputs.get("reference")
    try:
        answer, target, _ = read_submission(context)
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


def _compare_outputs(target: Target, *expose: str, miter: str = "miter -equiv") -> Iterator[str]:
    yield "design -reset"
    yield from (f"design -copy-from {name} -as {name} {target.top}" for name in ("gold", "gate"))
    yield from (*expose, f"{miter} -flatten -make_assert -ignore_gold_x gold gate miter", "hierarchy -top miter",
                "clk2fflogic", "opt -keepdc")


def _prove_registers(target: Target) -> Iterator[str]:
    """A proof for outputs and registers together, which is no proof of a difference where it fails."""
    yield from _compare_outputs(target, "expose -shared -dff gold gate")
    yield f"sat -verify -prove-asserts {_UNDEFINED} -maxsteps {_FEW} -tempinduct miter"


def _search(target: Target) -> Iterator[str]:
    yield from _compare_outputs(target, miter="miter -equiv -make_outputs")
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
        found = Waves.open(waves)
        inputs = tuple(_inputs_of(found))
        steps = max((len(values) for _, values in inputs), default=1)
        return Equivalence("DIFFERS", inputs=inputs, outputs=tuple(_differing_outputs(found, steps)))
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


def _differing_outputs(waves: Waves, step: int) -> Iterator[tuple[str, str, str]]:
    """The outputs that differ at a step, with both values."""
    for name, found in ((name, found) for name in waves.signals if (found := _OUTPUT.search(name))):
        other = f"{name[:found.start('name')].removesuffix('gold_')}gate_{found['name']}"
        wanted, given = waves.values_at([name, other], step + 1).values()
        if are_different(wanted, given):
            yield found["name"], wanted, given


def _verdict_of(found: Equivalence) -> Verdict:
    outputs = [(name, value_text(wanted), value_text(given)) for name, wanted, given in found.outputs]
    text = render_report("equivalence", found=found, outputs=outputs,
                         steps=max((len(values) for _, values in found.inputs), default=0))
    evidence = {"finding": found.finding, "reason": found.reason, "inputs": {name: [*values] for name, values in
                                                                             found.inputs},
                "differing": {name: {"reference": wanted, "answer": given} for name, wanted, given in found.outputs}}
    return Verdict(found.finding == "PROVED", text, float(found.finding == "PROVED"), evidence,
                   judged=found.finding != "UNKNOWN")


# When an answer differs from its reference, and since when the bench minds it.

_MOST_STEPS, _MOST_BITS = 20_000, 1 << 22  # of outputs that are played
_SECONDS = 10.0  # that all plays may take together


@dataclass(frozen=True, slots=True)
class SeenDifferences:
    """The first steps of a simulation at which outputs differ, in the order of time, and the outputs that differ at its
    last time, each since when."""

    every: Sequence[DifferingStep]
    lasting: Mapping[str, int]

    @classmethod
    def find(cls, waves: Waves, root: str, until: float = math.inf,
             known: Sequence[DifferingStep] | None = None) -> SeenDifferences:
        """Those up to a time, that included, of the steps of the whole simulation where they are `known`; raises
        WaveformError."""
        every, lasting = list[DifferingStep](), dict[str, int]()
        sides = pairs_of(waves, root)
        steps = known if known is not None else differing_steps(waves.steps(sides, until + 1), sides)
        for step in takewhile(lambda step: step.time <= until, steps):
            lasting = {output: lasting.get(output, step.time) for output in (*lasting, *step.outputs)
                       if output not in step.equal}
            if step.outputs and len(every) < _MOST_STEPS:
                every.append(step)
        return cls(every, lasting)

    def begun_at(self, time: int) -> DifferingStep | None:
        """The one of this time."""
        return next((one for one in self.every if one.time == time), None)

    @property
    def last_begun(self) -> DifferingStep | None:
        """The one since when outputs differ that differ to the end, the latest one: what a bench reacts to at once."""
        start = max(self.lasting.values(), default=None)
        return None if start is None else self.begun_at(start)

    @property
    def likely_first(self) -> DifferingStep | None:
        """The one to begin with where nobody asks the bench: that since when the outputs differ that differ to the end;
        where none does, the first one that is no lack of a value."""
        start = min(self.lasting.values(), default=None)
        known = [one for one in self.every if (one.is_known if start is None else one.time == start)]
        return next(iter((*known, *self.every)), None)


def pairs_of(waves: Waves, root: str) -> dict[str, Pair]:
    """Both sides of each output, by the name of either."""
    pairs = [pair for pair in find_pairs(waves.signals) if pair.reference.rpartition(".")[0] == root]
    return {name: pair for pair in pairs for name in (pair.reference, pair.answer)}


def output_of(pair: Pair) -> str:
    """Its name."""
    return pair.reference.rpartition(".")[2].removesuffix(REFERENCE)


def find_minded(found: SimulationResult, answer: Answer, bench: HiddenBench, sandbox: Sandbox,
                folder: Path) -> int | None:
    """The time of the first difference from the reference without which the bench would not have complained as it did
    first. None where that need not be asked or cannot be told: the bench names the output by itself, there is no
    reference, plays would take too long, or the bench does not take a played reference for a right one. Raises as
    `simulate_answer`."""
    time = _time_of_complaint(found.report)
    if found.waves is None or time is None or not bench.reference or bench.target.simulator != ICARUS:
        return None
    if found.reacted is not None and found.reacted <= time:
        return None  # what is played would not react to the bench
    waves = Waves.open(found.waves)
    times = [one.time for one in SeenDifferences.find(waves, bench.layout.root, time, found.differing).every]
    if len(times) == 1:
        return times[0]
    tries = 2 + math.ceil(math.log2(len(times) + 1))
    may_try = 0 < len(times) < _MOST_STEPS and tries * found.seconds <= _SECONDS
    play = _Play.of(waves, answer, bench) if may_try else None
    return _search_difference(times, _Listener(play, bench, sandbox, folder, time)) if play else None


def _time_of_complaint(report: BenchReport | None) -> int | None:
    """When a bench first complained that names no output by itself."""
    if report is None or report.first_complaint is None or any(one.count for one in report.outputs.values()):
        return None
    return report.first_complaint.time


def _search_difference(times: Sequence[int], heard: _Listener) -> int | None:
    """The first of the times whose difference, with all before it, makes the bench complain."""
    silent, loud = 0, len(times)  # how many differences are played
    right = heard.lines(times[0])
    if right is None or heard.lines(None) in (None, right):
        return None
    while loud - silent > 1:
        middle = (silent + loud) // 2
        silent, loud = (middle, loud) if heard.lines(times[middle]) == right else (silent, middle)
    return times[loud - 1]


@dataclass(frozen=True, slots=True)
class _Play:
    """A module with the ports of the answer, whose outputs do what was recorded. `steps` hold for each time what
    changed on either side, by the name of the output."""

    top: str
    timescale: str
    parameters: Sequence[tuple[str, str]]
    ports: Sequence[Port]
    widths: Mapping[str, int]
    steps: Sequence[tuple[Any, ...]]

    @classmethod
    def of(cls, waves: Waves, answer: Answer, bench: HiddenBench) -> _Play | None:
        """None where an output was not recorded on both sides, too much happens, or the answer cannot be read."""
        target, pairs = add_parameters(bench, answer.text), pairs_of(waves, bench.layout.root)
        try:
            ports = read_design(answer.text, target).ports
        except DesignError:
            return None
        names = {side: output_of(pair) for side, pair in pairs.items()}
        can_be_played = all(_can_be_played(port, names.values()) for port in ports)
        steps = _read_steps(waves, names) if can_be_played else None
        if steps is None:
            return None
        split = [(time, *(_side_of(step, side, names) for side in (REFERENCE, ANSWER))) for time, step in steps]
        return cls(target.top, waves.timescale, target.parameters, ports,
                   {name: waves.signals[side].width for side, name in names.items()}, split)

    def text(self, switch: int | None) -> str:
        """The source: the outputs are the answer's up to the switch, if there is one, and the reference's from there
        on. They change as registers do, after a bench has looked at an edge."""
        ports = ", ".join(f"{'input' if port.direction == 'in' else 'output reg'} [{port.width - 1}:0] {port.name}"
                          for port in self.ports)
        given = ", ".join(f"parameter {name} = {value}" for name, value in self.parameters)
        return "\n".join([f"`timescale {self.timescale}/{self.timescale}",
                          f"module {self.top} {f'#({given}) ' if given else ''}({ports});", "initial begin",
                          *self._statements(switch), "end", "endmodule\n"])

    def _statements(self, switch: int | None) -> Iterator[str]:
        now, right = 0, dict[str, str]()
        for time, wanted, given in self.steps:
            right |= wanted
            plays_answer = switch is None or time < switch
            values = right if time == switch else given if plays_answer else wanted
            if values:
                yield f"#{time - now} " + " ".join(f"{name} <= {self.widths[name]}'b{bits};"
                                                   for name, bits in values.items())
                now = time


def _can_be_played(port: Port, recorded: Iterable[str]) -> bool:
    """Whether it is an input, or an output of which both sides were recorded."""
    return port.name.isidentifier() and (port.direction == "in" or (port.direction == "out" and port.name in recorded))


def _side_of(step: Mapping[str, str], side: str, names: Mapping[str, str]) -> dict[str, str]:
    """What changed on one side, by the names of the outputs."""
    return {names[name]: bits for name, bits in step.items() if name.endswith(side)}


def _read_steps(waves: Waves, names: Iterable[str]) -> list[Step] | None:
    """What the outputs did; None where that is too much to be played."""
    steps, held = list[Step](), 0
    for step in waves.steps(names):
        steps.append(step)
        held += bit_count(step)
        if len(steps) > _MOST_STEPS or held > _MOST_BITS:
            return None
    return steps


@dataclass(frozen=True, slots=True)
class _Listener:
    """Plays to a bench, and hears what it says at the time of its complaint."""

    play: _Play
    bench: HiddenBench
    sandbox: Sandbox
    folder: Path
    time: int

    def lines(self, switch: int | None) -> list[str] | None:
        """What it prints then of the answer's outputs up to the time of the switch, and the reference's from there on;
        None where it does not come to its end."""
        place = self.folder / f"play-{'whole' if switch is None else switch}"
        place.mkdir()
        bench = self.bench.marked("played")  # nothing that is played knows or prints the mark
        ran = simulate_unexamined(self.play.text(switch), bench, self.sandbox, place)
        if ran.report is None:
            return None
        said: Iterable[PrintedLine] = (*bench.lines_of(ran.printed), *severe_lines(ran.printed))
        return [line.text for line in said if line.time == self.time]
