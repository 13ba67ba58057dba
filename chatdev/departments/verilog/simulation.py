"""Examining an answer alone, and simulating it with a test bench: every tool that judges an answer uses this.

The answer is compiled alone first, with itself as the root. What reads or changes anything of the bench or the
reference cannot be elaborated there, and errors lie in the answer, so that no message shows a line of a hidden file.
With the bench only the text without macros is compiled, and the bench's prints carry a mark that no answer can know.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Literal, Self

from chatdev.departments.verilog.answer import broken_rules, lint, outside_names, rule_message
from chatdev.departments.verilog.bench import (
    DUMP,
    REFERENCE_MODULE,
    STOP,
    STOPPED,
    HiddenBench,
    add_parameters,
    dump_everything,
    dump_signals,
    names_beside,
    rename,
    stop_simulation,
    undefine_macros,
)
from chatdev.departments.verilog.bench_report import BenchReport, severe_lines
from chatdev.departments.verilog.cocotb_bench import PRECISE, PRECISION, UNIT, PythonBench, report_on
from chatdev.departments.verilog.compilation import (
    BENCH,
    GIVEN,
    REFERENCE,
    SIMULATING,
    CompileResult,
    Message,
    SimulatorRun,
    output_messages,
    port_messages,
    render_text,
)
from chatdev.departments.verilog.design.elaborate import DesignError
from chatdev.departments.verilog.design.facts import read_design
from chatdev.departments.verilog.macros import expand_macros
from chatdev.departments.verilog.simulators import compile_files, run_program
from chatdev.departments.verilog.slang import Instance, find_checks, find_endings, find_instances
from chatdev.departments.verilog.target import ANSWER, ICARUS, USUAL, Target, unit_names
from chatdev.departments.verilog.unknown_outputs import (
    is_unknown_looked_at,
    outputs_without_value,
    read_outputs,
)
from chatdev.departments.verilog.waveform.comparison import (
    Difference,
    Differences,
    DifferingStep,
    find_differences,
    find_lost,
    find_reaction,
    last_time,
    merge_reference,
)
from chatdev.departments.verilog.waveform.waves import Waves
from chatdev.sandbox.base import ProcessLimits, Sandbox

_RESET = "\n`resetall\n"  # no directive of the answer holds for the bench
_DELAYS, _TIMESCALE = re.compile(r"<=\s*#"), re.compile(r"`timescale[^\n/]*/[^\n/]*")
_CHECKS = re.compile(r"\b(?:assert|assume|cover|restrict|property|sequence|clocking)\b"
                     r"|\$(?:fatal|error|warning|info)\b")
_ENDS = re.compile(r"\$(?:finish|stop|fatal)\b")
_NO_REMARK = re.compile(r"^sorry: constant selects in|^@\* is sensitive to all \d+ words in array"
                        r"|got (?:32|64)\. Pruning \(signed\)|is selecting (?:after|before) vector"
                        r"|^Constant bit select .* is (?:after|before) vector|with dangling input port \d+")
"""What Icarus Verilog says of its own ways, of numbers such as `0` at a port, of bits behind a condition that is never
true, and of open inputs; lint tells what is wrong of these."""
_OTHER_DRAWS = "other_draws"
_DRAWS = f"""module {_OTHER_DRAWS};
  function integer draw(input integer count);
    repeat (count) begin draw = $random; draw = $urandom; end
  endfunction
  integer drawn = draw(COUNT);
endmodule
"""
"""Draws from the simulator's random numbers before the bench does, in its declarations as well, so that the bench gets
others."""
_MOST_DRAWS = 8191


@dataclass(frozen=True, slots=True)
class SimulationResult:
    """How it went. `outcome` is a name of `outcomes.yaml`; `report` is None when there was nothing to simulate or the
    simulation did not come to its end; `waves` is the VCD file of all signals of the bench, where it was asked for;
    `log` is what compiler and simulator printed, which may tell of hidden files, `printed` what the simulation did,
    `expected` is how many samples there are with the reference, where it was simulated as well, `right` the report on
    it, and `unseen` how the outputs differ from its; `other_draws` is the number that led to the random inputs of a
    second run; `differing` are the steps at which outputs differ, where they were looked at with the reference's, and
    `reacted` is when the inputs first do, as the bench reacts to outputs."""

    outcome: str
    compiled: CompileResult
    report: BenchReport | None = None
    waves: Path | None = None
    seconds: float = 0.0
    log: str = ""
    printed: str = ""
    expected: int | None = None
    right: BenchReport | None = None
    unseen: Differences | None = None
    other_draws: int | None = None
    differing: Sequence[DifferingStep] | None = None
    reacted: int | None = None

    @property
    def passed(self) -> bool:
        """Whether all samples match."""
        return self.outcome == "matches"

    @property
    def samples(self) -> int | None:
        """How many samples, or checks, the bench reports."""
        return self.report.samples if self.report else None

    @classmethod
    def of_compiling(cls, compiled: CompileResult) -> Self:
        """What is known when nothing is simulated."""
        return cls(compiled.outcome, compiled, log=compiled.log)


def examine(answer: str, sandbox: Sandbox, folder: Path, target: Target = USUAL,
            bench: HiddenBench | None = None) -> CompileResult:
    """Whether the answer keeps the rules and compiles alone, with warnings of compiler and lint. `folder` is empty and
    the call's own; of the `bench` nothing is told. Raises MissingProgram, SandboxError."""
    taken, may_print, beside = frozenset[str](), True, dict[str, str]()
    if bench:
        taken = frozenset() if bench.is_python else frozenset(unit_names(bench.text))
        may_print, beside = bench.can_be_marked, bench.beside
    target = target.including(answer)
    expanded = _without_ends(expand_macros(answer, sandbox, folder / "macros", target), target)
    if messages := broken_rules(answer, answer if expanded is None else expanded, taken, may_print, target):
        return CompileResult("refused", messages)
    simulated = _without_checks(expanded or "", target)
    files = {ANSWER: answer if simulated == (expanded or "") else simulated}
    compiled = compile_files(files, [target.top], sandbox, folder / "alone", target, to_run=False)
    used = add_parameters(replace(bench, target=target), answer) if bench and not bench.is_python else target
    if used != target:  # its defaults may be none that it can have
        again = compile_files(files, [target.top], sandbox, folder / "with_parameters", used, to_run=False)
        compiled = again if again.passed else compiled
    if not compiled.passed:
        return replace(compiled, messages=tuple(map(_name_file, compiled.messages)))
    compiled = replace(compiled, messages=tuple(map(_name_file, _leave_remarks(compiled.messages))))
    if expanded is None:
        return replace(compiled, outcome="refused", messages=(rule_message("macros"),))
    if outside := outside_names(expanded, target, beside):
        return replace(compiled, outcome="refused", messages=tuple(outside))
    return replace(compiled, messages=(*compiled.messages, *lint(answer, used)), text=simulated)


def _leave_remarks(messages: Sequence[Message]) -> Iterator[Message]:
    """The warnings that tell something of the module."""
    return (one for one in messages if not _NO_REMARK.search(one.text))


def _without_ends(text: str | None, target: Target) -> str | None:
    """The text without what ends the simulation where parameters do not fit, or all that does where it may: a bench
    goes on, and sees what it does."""
    is_asked = text is not None and _ENDS.search(text)
    return _leave_out(text, partial(find_endings, every=target.may_end)) if text and is_asked else text


def _without_checks(text: str, target: Target) -> str:
    """The text without those of its own assertions that the simulator does not know: they change nothing of what the
    module does."""
    return _leave_out(text, find_checks) if target.simulator == ICARUS and _CHECKS.search(text) else text


def _leave_out(text: str, find: Callable[[str], Sequence[tuple[int, int, str]]]) -> str:
    """The text without what is found; its lines stay."""
    try:
        found = find(text)
    except DesignError:  # which is told where its names are looked for
        return text
    parts, place = list[str](), 0
    for start, end, instead in found:
        parts += [text[place:start], instead, re.sub(r"[^\n]", " ", text[start:end])]
        place = end
    return "".join((*parts, text[place:]))


def simulate_answer(answer: str, bench: HiddenBench, sandbox: Sandbox, folder: Path, *, dump: bool = False,
                    limits: ProcessLimits = SIMULATING, thorough: bool = False) -> SimulationResult:
    """Examine the answer and simulate it with the bench; `folder` is empty and the call's own, and `waves` lies in it.
    With `thorough` what passes is compared with the reference also where the bench does that itself.

    Raises MissingProgram, SandboxError and WorkspaceError; all that the answer or the bench does wrong is an outcome.
    """
    bench = replace(bench, target=bench.target.including(answer))
    alone = examine(answer, sandbox, folder, bench.target, bench)
    if not alone.passed:
        return SimulationResult.of_compiling(alone)
    made = _instances(alone.text, bench) if thorough or not bench.compares else ()
    together = simulate_examined(alone.text, bench, sandbox, folder, dump=dump, limits=limits, record=_ports_of(made))
    if not together.compiled.passed:
        return together
    ports = _messages_on_ports(together.compiled.warnings, bench.target.top)
    found = replace(together, compiled=replace(alone, messages=(*alone.messages, *ports)))
    if found.passed:
        found = _judge_outputs(found, bench, made, sandbox, folder, limits)
    return found if dump else replace(found, waves=None)


def _judge_outputs(found: SimulationResult, bench: HiddenBench, made: Sequence[Instance], sandbox: Sandbox,
                   folder: Path, limits: ProcessLimits) -> SimulationResult:
    """What becomes of an answer that the bench lets through for what its outputs do besides."""
    if found.expected not in (None, found.samples):
        return found  # it took another course, as `judge.py` says
    if found.unseen:
        return _judge_unseen(found, found.unseen, bench, made, sandbox, folder, limits)
    if bench.reference is None and found.waves:
        found = _refuse_lost(found, bench, made, sandbox, folder, limits)
    if found.passed and found.report and not found.report.is_counted:
        return _refuse_unknown(found, bench, sandbox, folder, limits)
    return found


def _instances(text: str, bench: HiddenBench) -> tuple[Instance, ...]:
    """Those that the bench makes of an answer that was examined, where their ports can be recorded; Verilator knows
    nothing of what has no value."""
    if bench.target.simulator != ICARUS:
        return ()
    try:
        if bench.is_python:
            ports = read_design(text, bench.target).ports
            return (Instance(bench.target.top, (), tuple((one.name, one.direction, one.width) for one in ports)),)
        made = find_instances(text, bench.beside, bench.target)
    except DesignError:
        return ()
    root = f"{bench.layout.root}."  # a given module may make one, too
    return tuple(one for one in made if one.path.startswith(root))


def _ports_of(made: Sequence[Instance]) -> dict[str, str]:
    """The full names of the first instance's ports, each with its direction."""
    return {f"{one.path}.{name}": direction for one in made[:1] for name, direction, width in one.ports if width}


def _judge_unseen(found: SimulationResult, unseen: Differences, bench: HiddenBench, made: Sequence[Instance],
                  sandbox: Sandbox, folder: Path, limits: ProcessLimits) -> SimulationResult:
    """What the bench lets through, but not with outputs that never have a value, or have none where the bench looks at
    them and the reference has one. Other differences are a remark."""
    if unseen.never:
        return _with_messages(found, "never", unseen.never, "error", "unknown_outputs")
    if unseen.unknown:
        open_ = {name.rpartition(".")[2] for name in unseen.open_}
        is_looked_at = is_unknown_looked_at(found.compiled.text, bench.target.top, made, open_,
                                            _trial(found, bench, sandbox, folder, limits))
        wrong = {True: unseen.unknown, False: {}, None: unseen.lost}[is_looked_at]
        if wrong:
            return _with_messages(found, "without_value", wrong, "error", "unknown_outputs")
    return _with_messages(found, "unseen", unseen.beside_the_bench, "warning", found.outcome)


def _trial(found: SimulationResult, bench: HiddenBench, sandbox: Sandbox, folder: Path,
           limits: ProcessLimits) -> Callable[[str], bool]:
    """Whether the bench lets another text through as it does the answer."""
    turns = iter(range(3))

    def passes(text: str) -> bool:
        place = folder / f"filled{next(turns)}"
        place.mkdir()
        marked = _mark(bench, text)
        ran = _read_beside(simulate_unexamined(text, marked, sandbox, place, limits=limits), marked, found.right)
        return ran.passed and ran.samples == found.samples

    return passes


def _refuse_lost(found: SimulationResult, bench: HiddenBench, made: Sequence[Instance], sandbox: Sandbox, folder: Path,
                 limits: ProcessLimits) -> SimulationResult:
    """What a bench without a reference lets through, but not with outputs that lose a value which they had where the
    bench looks at them."""
    outputs = [name for name, direction in _ports_of(made).items() if direction == "out"]
    lost = find_lost(found.waves, outputs) if found.waves else {}
    if lost and is_unknown_looked_at(found.compiled.text, bench.target.top, made, (),
                                     _trial(found, bench, sandbox, folder, limits)):
        return _with_messages(found, "without_value", lost, "error", "unknown_outputs")
    return found


def _with_messages(found: SimulationResult, about: str, differences: Mapping[str, Difference],
                   severity: Literal["error", "warning"], outcome: str) -> SimulationResult:
    """The result with a message on each output."""
    said = tuple(Message(render_text(output_messages()[about], name=name.rpartition(".")[2], count=one.count,
                                     time=one.first_time), severity=severity) for name, one in differences.items())
    return replace(found, outcome=outcome, compiled=replace(found.compiled, messages=(*found.compiled.messages, *said)))


def _refuse_unknown(found: SimulationResult, bench: HiddenBench, sandbox: Sandbox, folder: Path,
                    limits: ProcessLimits) -> SimulationResult:
    """What a bench of words lets through, but not with outputs that never have a value: those that the reference gives
    one, or all of them where there is no reference. There, one of several is a warning."""
    def without_value(text: str, place: Path, outputs: frozenset[str]) -> frozenset[str]:
        place.mkdir()
        ran = simulate_unexamined(text, bench, sandbox, place, dump=True, limits=limits)
        return outputs_without_value(ran.waves if ran.report else None, bench.layout.scope, outputs)

    outputs = read_outputs(found.compiled.text, bench.target)
    unknown = (outputs_without_value(found.waves, bench.layout.scope, outputs) if found.waves
               else without_value(found.compiled.text, folder / "outputs", outputs))
    is_wrong = bool(unknown) and unknown == outputs
    if unknown and bench.reference:
        right = reference_as_answer(bench.reference, bench.target)
        unknown -= without_value(right, folder / "right_outputs", unknown)
        is_wrong = bool(unknown)
    messages = tuple(Message(f"the output `{name}` has no value at any time",
                             severity="error" if is_wrong else "warning") for name in sorted(unknown))
    compiled = replace(found.compiled, messages=(*found.compiled.messages, *messages))
    return replace(found, outcome="unknown_outputs" if is_wrong else found.outcome, compiled=compiled)


def simulate_examined(text: str, bench: HiddenBench, sandbox: Sandbox, folder: Path, *, dump: bool = False,
                      limits: ProcessLimits = SIMULATING,
                      record: Mapping[str, str] | None = None) -> SimulationResult:
    """The same of the text of an answer that was examined. `record` are full names of its ports with their directions:
    where it passes, they are compared with those of the reference. With `dump` the bench is stopped where it has not
    come to its end when it has twice over with the reference."""
    marked, right = _mark(bench, text), None

    def simulate_right() -> SimulationResult:
        (folder / "right").mkdir()
        return simulate_unexamined(reference_as_answer(marked.reference or "", marked.target), marked, sandbox,
                                   folder / "right", dump=dump, limits=limits, record=record)

    if dump and bench.reference and not bench.compares and not bench.is_python:
        right = simulate_right()
        marked = replace(marked, until=_twice_its_end(right))
    found = simulate_unexamined(text, marked, sandbox, folder, dump=dump, limits=limits, record=record)
    if found.report is None or bench.reference is None:
        return found
    is_undecided = not bench.compares and (dump or not found.report.is_counted)
    if is_undecided or (record and found.passed):
        return _compare_with_reference(found, right or simulate_right(), marked, folder, dump, record or {})
    return found


def _twice_its_end(right: SimulationResult) -> tuple[int, str] | None:
    """Twice the time at which the bench ends with the reference."""
    if right.report is None or right.waves is None:
        return None
    return 2 * last_time(right.waves), Waves.open(right.waves).timescale


def _mark(bench: HiddenBench, text: str) -> HiddenBench:
    """The bench with a mark that nobody knows, and with a reference that can stand beside this text."""
    marked = bench.marked(secrets.token_hex(8))
    if not bench.compares:
        return marked
    return replace(marked, reference=_without_clashes(bench.reference or "", names_beside(text)))


def simulate_unexamined(answer: str, bench: HiddenBench, sandbox: Sandbox, folder: Path, *, dump: bool = False,
                        limits: ProcessLimits = SIMULATING,
                        record: Mapping[str, str] | None = None) -> SimulationResult:
    """The same without examining the answer first: VerilogEval's own procedure."""
    if bench.is_python:
        return _simulate_in_python(answer, bench, sandbox, folder, dump=dump, limits=limits, record=record or {})
    root = bench.layout.root
    files = {**_unit_for(answer, bench), ANSWER: answer + undefine_macros(answer) + _RESET, BENCH: bench.text}
    tops = [root]
    if dump or record:
        files[BENCH], files[f"{DUMP}.sv"] = (dump_everything(bench.text, root) if dump
                                             else dump_signals(bench.text, record or ()))
        tops = [DUMP, *tops]
    if bench.compares:
        files[REFERENCE] = bench.reference or ""
    if bench.other_draws is not None:
        drawing = _DRAWS.replace("COUNT", str(1 + bench.other_draws % _MOST_DRAWS))
        files, tops = files | {f"{_OTHER_DRAWS}.sv": drawing}, [_OTHER_DRAWS, *tops]
    if bench.until:
        files, tops = files | {f"{STOP}.sv": stop_simulation(*bench.until)}, [STOP, *tops]
    compiled = compile_files(files, tops, sandbox, folder / "with_bench", bench.target)
    if not compiled.passed:
        return _explain_misfit(compiled, files, bench, sandbox, folder)
    ran = run_program(folder / "with_bench", folder / "run", sandbox, bench.target, dump=bool(dump or record),
                      limits=limits)
    ended, report = _read_run(ran, bench)
    return SimulationResult(_outcome(ended, report), compiled, report, ran.waves, ran.seconds,
                            log=f"{compiled.log}\n{bench.without_marks(ran.stdout)}", printed=ran.stdout)


def _simulate_in_python(answer: str, bench: HiddenBench, sandbox: Sandbox, folder: Path, *, dump: bool,
                        limits: ProcessLimits, record: Mapping[str, str]) -> SimulationResult:
    """The same with a bench of cocotb, in which the module itself is the root."""
    files = {f"{PRECISION}.sv": PRECISE, ANSWER: answer + undefine_macros(answer) + _RESET}
    tops = [PRECISION, bench.target.top] if bench.target.simulator == ICARUS else [bench.target.top]
    if PRECISION in tops and (dump or record):  # Verilator's program writes the waveform itself
        _, text = dump_everything("", bench.target.top) if dump else dump_signals("", record)
        files, tops = files | {f"{DUMP}.sv": f"`timescale {UNIT}\n{text}"}, [DUMP, *tops]
    compiled = compile_files(files, tops, sandbox, folder / "with_bench", bench.target, python=True)
    if not compiled.passed:
        return SimulationResult.of_compiling(compiled)
    started = PythonBench(bench.text, bench.target.top, 1 + (bench.other_draws or 0))
    ran = run_program(folder / "with_bench", folder / "run", sandbox, bench.target, dump=dump or bool(record),
                      limits=limits, bench=started)
    report = report_on(ran.tests, ran.stdout) if ran.ended in ("finished", "crashed") else None
    outcome = _outcome(ran.ended, report).replace("no_report", "bench_failed")
    return SimulationResult(outcome, compiled, report, ran.waves, ran.seconds, log=f"{compiled.log}\n{ran.stdout}",
                            printed=ran.stdout)


def _unit_for(answer: str, bench: HiddenBench) -> dict[str, str]:
    """A file with the bench's unit of time, for an answer that has delays and none of its own."""
    named = _TIMESCALE.search(bench.text)
    is_needed = named and _DELAYS.search(answer) and not _TIMESCALE.search(answer)
    return {"unit_of_time.sv": f"{named[0]}\n"} if named and is_needed else {}


def _read_run(ran: SimulatorRun, bench: HiddenBench) -> tuple[str, BenchReport | None]:
    """How it ended, and what the bench reports: its counts, or else what its lines say. A bench that ends by `$fatal`
    has come to its end."""
    is_fatal = ran.ended == "crashed" and any(True for _ in severe_lines(ran.stdout))
    if ran.ended != "finished" and not is_fatal:
        return ran.ended, None
    lines = bench.lines_of(ran.stdout)
    counted = BenchReport.read("\n".join(line.text for line in lines))
    if counted.mismatches is not None:
        return "finished", counted
    return "finished", BenchReport.read_lines(lines, ran.stdout, complains=bench.complains, affirms=bench.affirms)


def _compare_with_reference(found: SimulationResult, right: SimulationResult, bench: HiddenBench, folder: Path,
                            dump: bool, record: Mapping[str, str]) -> SimulationResult:
    """The result, its report read in the light of what the bench prints of the reference (`right`), with what it does
    not see, and its waveform with the outputs of the reference beside those of the answer."""
    if right.report is None or found.report is None:
        return found
    found, usual = (_read_beside(one, bench, right.report) for one in (found, right))
    unseen = None
    if found.waves and right.waves:
        unseen = find_differences(found.waves, right.waves, record) if found.passed and record else None
        if dump and not bench.compares:
            found = _merge_waves(found, found.waves, right.waves, bench, folder / "merged.vcd")
    found = replace(found, right=right.report, unseen=unseen, expected=usual.samples)
    complaint = found.report.first_complaint if found.report else None
    return replace(found, outcome="waits") if complaint is None and STOPPED in found.printed else found


def _merge_waves(found: SimulationResult, own: Path, right: Path, bench: HiddenBench, to: Path) -> SimulationResult:
    """The result, with the outputs of the reference beside its own in its waveform."""
    scope, (inputs, outputs) = bench.layout.scope, _ports_of_reference(bench)
    differing = merge_reference(own, right, scope, outputs, to)
    reacted = find_reaction(own, right, [f"{scope}.{name}" for name in inputs])
    return replace(found, waves=to, differing=differing, reacted=reacted)


def _read_beside(found: SimulationResult, bench: HiddenBench, right: BenchReport | None) -> SimulationResult:
    """The result, its report read in the light of that on the reference, where the bench has no counts."""
    if found.report is None or found.report.is_counted or right is None or bench.is_python:
        return found
    report = BenchReport.read_lines(bench.lines_of(found.printed), found.printed, complains=bench.complains,
                                    affirms=bench.affirms, right=right)
    return replace(found, report=report, outcome=_outcome("finished", report))


def _ports_of_reference(bench: HiddenBench) -> tuple[list[str], list[str]]:
    """Its inputs, and its outputs."""
    try:
        ports = read_design(reference_as_answer(bench.reference or "", bench.target), bench.target).ports
    except DesignError:
        return [], []
    return ([port.name for port in ports if port.direction == "in"],
            [port.name for port in ports if port.direction != "in"])


def _without_clashes(reference: str, taken: Container[str]) -> str:
    """The reference, its helpers under other names where the answer has helpers of theirs."""
    clashes = [name for name in names_beside(reference) - {REFERENCE_MODULE} if name in taken]
    return rename(reference, clashes, "_of_reference")


def reference_as_answer(reference: str, target: Target = USUAL) -> str:
    """The reference module under the name of the answer's, and what it has beside it under other names, so that both
    can be compiled together."""
    names = names_beside(reference)
    module, names = (REFERENCE_MODULE, names) if REFERENCE_MODULE in names else (target.top, unit_names(reference))
    reference = rename(reference, names - {module}, "_of_answer")
    return re.sub(rf"\b{module}\b", target.top, reference)


def _name_file(message: Message) -> Message:
    """A message on a given file says so: its line is none of the answer's."""
    if not message.file.startswith(GIVEN):
        return message
    place = f"{message.file.removeprefix(GIVEN)}:{message.line}"
    return replace(message, text=f"{place}: {message.text}", line=0)


def _explain_misfit(compiled: CompileResult, files: Mapping[str, str], bench: HiddenBench, sandbox: Sandbox,
                    folder: Path) -> SimulationResult:
    """Whose fault it is that answer and bench do not compile together."""
    ports = _messages_on_ports(compiled.errors, bench.target.top)
    own = tuple(message for message in compiled.errors if message.file == ANSWER)
    broken = not _fits(files, bench, sandbox, folder) if bench.reference else not (own or ports)
    if broken:
        lines = tuple(Message("", line=message.line) for message in compiled.errors if message.file == BENCH)
        found = CompileResult("bench_broken", lines, compiled.log)
    elif own:
        found = CompileResult(compiled.outcome, own, compiled.log)
    else:
        found = CompileResult("interface" if ports else "clash", ports, compiled.log)
    return SimulationResult(found.outcome, found, log=compiled.log)


def _messages_on_ports(messages: Sequence[Message], top: str) -> tuple[Message, ...]:
    """What the compiler said of the answer's ports, in words that tell nothing else of the bench."""
    said = []
    for message in messages:
        for row in port_messages():
            if found := re.search(row["pattern"].replace("TOP", re.escape(top)), message.text):
                said.append(Message(render_text(row["says"], **found.groupdict()), severity=message.severity))
    return tuple(said)


def _fits(files: Mapping[str, str], bench: HiddenBench, sandbox: Sandbox, folder: Path) -> bool:
    """Whether the bench compiles with the reference in the answer's place."""
    right = {**files, ANSWER: reference_as_answer(bench.reference or "", bench.target)}
    return compile_files(right, [bench.layout.root], sandbox, folder / "reference", bench.target, to_run=False).passed


def _outcome(ended: str, report: BenchReport | None) -> str:
    if report is None:
        return ended
    if report.mismatches is None:
        return "no_report"
    if not report.samples:
        return "no_samples"
    return "mismatches" if report.mismatches else "matches"
