"""The tools that judge an answer: `verilog.check`, `verilog.simulate`, `verilog.try`, `verilog.judge`; a bench; and
`verilog.mend`, which puts right what needs no thought before anybody judges."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from chatdev.departments.verilog.answer import Answer, NoAnswer, normalise, undriven_signals
from chatdev.departments.verilog.bench import HIDDEN, REFERENCE_MODULE, HiddenBench, read_target
from chatdev.departments.verilog.bench_report import BenchReport
from chatdev.departments.verilog.cocotb_bench import require_readable
from chatdev.departments.verilog.compilation import (
    BENCH,
    COMPILING,
    SIMULATING,
    CompileResult,
    Message,
    SimulatorRun,
    outcomes,
    render_report,
    render_text,
    word_list,
)
from chatdev.departments.verilog.design.elaborate import DesignError
from chatdev.departments.verilog.design.slips import mend_text
from chatdev.departments.verilog.simulation import (
    SimulationResult,
    examine,
    reference_as_answer,
    simulate_answer,
    simulate_examined,
    simulate_unexamined,
)
from chatdev.departments.verilog.simulators import compile_files, read_messages, require_simulator, run_program
from chatdev.departments.verilog.slang import find_given_faults
from chatdev.departments.verilog.specification import name_conflicts, port_differences
from chatdev.departments.verilog.submission import Submission, is_design, read_submission
from chatdev.departments.verilog.target import ANSWER, ICARUS, SIMULATORS, VERILATOR, Target, module_names
from chatdev.errors import MissingProgram, ToolError
from chatdev.sandbox.base import ProcessLimits, Sandbox
from chatdev.tools.base import ToolContext, Verdict, throwaway_copy, tool

OWN_BENCH = "bench/tb.sv"
"""Where the company's own test bench stands in the software: a module `tb` that prints PASS or FAIL for each case."""

_GIVEN = "your source"
_CASE = re.compile(r"^\s*(?P<verdict>PASS|FAIL)\b[^\n]*", re.MULTILINE)
_MOST_CASES = 8  # that are shown
_LINE = re.compile(rf"\b(?:line |{re.escape(ANSWER)}:)(\d+)")
_AROUND, _MOST, _WIDEST = 2, 5, 200  # lines before and after the faulty one; messages; characters of a line

_GivenSource = Annotated[str | None, Field(
    description="The whole Verilog source to check; without it the software's present file is checked.")]


@tool(reads=("software",))
def check(context: ToolContext, *, source: _GivenSource = None) -> Verdict:
    """Check the syntax of the Verilog module `TopModule`: compile it alone, compare its ports with those that the
    specification lists, and look for mistakes such as inferred latches or signals that nothing drives.

    No test bench is needed. Errors are shown with the lines around them.
    """
    if source is not None and source.strip() in context.software:
        source = None  # the name of the file, where its text is asked for
    try:
        answer, target, bench = read_submission(context) if source is None else Submission.of(
            normalise(Answer(_GIVEN, source)), context.inputs)
    except NoAnswer as reason:
        return _refusal(reason, _GIVEN)
    with throwaway_copy(context.scratch, {}) as folder:
        compiled = examine(answer.text, context.sandbox, folder, target)
    if compiled.passed and not is_design(context.given):  # whose ports its files tell, and no specification
        specification = str(context.inputs.get("task") or "")
        compiled = _add_messages(compiled, "interface", port_differences(answer.text, specification, target, bench))
    if compiled.passed:
        compiled = _add_messages(compiled, "undriven", undriven_signals(answer.text, target))
    return verdict_of(SimulationResult.of_compiling(compiled), answer)


@tool(reads=("software",))
def simulate(context: ToolContext) -> Verdict:
    """Simulate the Verilog module `TopModule` with the test bench, and report the mismatches of each output.

    Its score is the share of samples that match. Without a bench the module is only compiled.
    """
    try:
        answer, target, bench = read_submission(context)
    except NoAnswer as reason:
        return _refusal(reason)
    with throwaway_copy(context.scratch, {}) as folder:
        if bench:
            return verdict_of(simulate_answer(answer.text, bench, context.sandbox, folder), answer)
        compiled = examine(answer.text, context.sandbox, folder, target)
    alone = replace(compiled, outcome="not_verified") if compiled.passed else compiled
    return verdict_of(SimulationResult.of_compiling(alone), answer)


@tool(reads=("software",), name="verilog.try")
def try_own_bench(context: ToolContext) -> Verdict:
    """Simulate the Verilog module `TopModule` with the test bench in `bench/tb.sv`, and report the cases that fail.

    Its score is the share of cases that pass.
    """
    # models wrote both, so that agreement proves little: `verilog.judge` still says "not functionally verified"
    try:
        answer, target, _ = read_submission(context)
    except NoAnswer as reason:
        return _refusal(reason)
    with throwaway_copy(context.scratch, {}) as folder:
        compiled = examine(answer.text, context.sandbox, folder, target)
        if not compiled.passed:
            return verdict_of(SimulationResult.of_compiling(compiled), answer)
        return _try_bench(context, answer, folder, target).verdict()


@tool(reads=("software",))
def judge(context: ToolContext) -> Verdict:
    """Judge the Verilog module `TopModule` for the last time: the rules, the simulation, and a comparison with the
    reference's own run.

    Without a reference or a bench it says what `verilog.simulate` says.
    """
    try:
        answer, _, bench = read_submission(context)
    except NoAnswer as reason:
        return _refusal(reason)
    if bench is None or not bench.reference:
        verdict: Verdict = simulate.call(context, {})
    else:
        with throwaway_copy(context.scratch, {}) as folder:
            found, facts = judge_answer(answer.text, bench, context.sandbox, folder)
        verdict = verdict_of(found, answer, **facts)
    if verdict.passed and verdict.judged and is_design(context.given) and _accepts_before(context):
        return verdict_of(SimulationResult.of_compiling(CompileResult("passed_before")), answer)
    return verdict


def _accepts_before(context: ToolContext) -> bool:
    """Whether the bench accepts the design as it was handed in, so that it tells nothing of the change."""
    try:
        before = read_submission(replace(context, software=context.given))
    except NoAnswer:
        return False
    if before.bench is None:
        return False
    with throwaway_copy(context.scratch, {}) as folder:
        return simulate_examined(before.answer.text, before.bench, context.sandbox, folder).passed


def judge_answer(answer: str, bench: HiddenBench, sandbox: Sandbox, folder: Path, *,
                 limits: ProcessLimits = SIMULATING,
                 other_draws: int | None = None) -> tuple[SimulationResult, dict[str, Any]]:
    """The answer's simulation with the outcome that the reference's own run leaves it, and the facts that the outcome's
    sentence needs. `folder` is empty and the call's own. Nobody knows before which random inputs a second run draws;
    the result has the number that led to them, and as `other_draws` it leads there again. Raises as `simulate_answer`.
    """
    bench = replace(bench, target=bench.target.including(answer))
    found = simulate_answer(answer, bench, sandbox, _new_folder(folder / "answer"), limits=limits, thorough=True)
    if found.outcome not in ("matches", "timed_out") or not bench.reference:
        return found, {}
    if found.expected is None:  # else the reference has been simulated
        right = simulate_unexamined(reference_as_answer(bench.reference, bench.target), bench, sandbox,
                                    _new_folder(folder / "right_alone"), limits=limits)
        if found.outcome == "timed_out":
            return (replace(found, outcome="bench_endless") if right.outcome == "timed_out" else found), {}
        found = replace(found, expected=right.report.samples if right.report else None)
    return _judge_samples(found, bench, sandbox, folder, limits, other_draws)


def _judge_samples(found: SimulationResult, bench: HiddenBench, sandbox: Sandbox, folder: Path, limits: ProcessLimits,
                   other_draws: int | None) -> tuple[SimulationResult, dict[str, Any]]:
    """What the number of samples and other random inputs leave of an answer that matches."""
    if found.expected is None or found.report is None:
        return found, {}
    if found.expected != found.report.samples:
        return replace(found, outcome="other_samples"), {"expected": found.expected}
    if not bench.draws:
        return found, {}
    number = secrets.randbelow(1 << 31) if other_draws is None else other_draws
    return _judge_other_draws(replace(found, other_draws=number), number, bench, sandbox, folder, limits), {}


def _judge_other_draws(found: SimulationResult, number: int, bench: HiddenBench, sandbox: Sandbox, folder: Path,
                       limits: ProcessLimits) -> SimulationResult:
    """An answer that matches has to match as well where the bench draws other random numbers."""

    def simulated(text: str, name: str) -> BenchReport | None:
        return simulate_examined(text, bench.change_draws(number), sandbox, _new_folder(folder / name),
                                 limits=limits).report

    right = simulated(reference_as_answer(bench.reference or "", bench.target), "right_with_other_draws")
    if right is None or not right.passed:  # the bench's own seed is the only one that it can take
        return found
    other = simulated(found.compiled.text, "answer_with_other_draws")
    if other is not None and other.passed and other.samples == right.samples:
        return found
    return replace(found, outcome="other_stimulus", report=other or BenchReport(mismatches=0, samples=0))


def verdict_of(result: SimulationResult, answer: Answer, **facts: Any) -> Verdict:
    """The verdict of the outcome in `outcomes.yaml`. `facts` is what only its sentence speaks of."""
    row, compiled = outcomes()[result.outcome], result.compiled
    report = result.report or BenchReport()
    bench_broken = result.outcome == "bench_broken"
    says = render_text(row["says"], limits=SIMULATING, compiling=COMPILING, samples=report.samples,
                       mismatches=report.mismatches, counted=report.is_counted,
                       names=_names_in(row.get("pattern", ""), compiled.errors),
                       lines=sorted({message.line for message in compiled.errors}) if bench_broken else [], **facts)
    text = render_report("verdict", says=says, path=answer.path, most=_MOST, outputs=report.outputs,
                         complaints=report.complaints, warnings=[_with_place(one, answer) for one in compiled.warnings],
                         errors=() if bench_broken else list(_errors_with_lines(compiled.errors, answer)))
    evidence = {"outcome": result.outcome, "mismatches": report.mismatches, "samples": report.samples,
                "outputs": {name: asdict(output) for name, output in report.outputs.items()},
                "seconds": round(result.seconds, 2), "other_draws": result.other_draws,
                "unseen": _rows_of_outputs(result)}
    if report.tests:
        evidence["tests"] = dict(report.tests)
    score = report.share if result.outcome == "mismatches" else float(row["score"])
    return Verdict(row.get("passed", False), text, score, evidence, judged=row.get("judged", True))


def _rows_of_outputs(result: SimulationResult) -> dict[str, Any]:
    """How the outputs of an answer that passes differ from the reference's."""
    found = result.unseen.beside_the_bench if result.passed and result.unseen else {}
    return {name.rpartition(".")[2]: asdict(one) for name, one in found.items()}


def _refusal(reason: NoAnswer, path: str = "top.sv") -> Verdict:
    """The verdict when there is nothing that could be compiled."""
    return verdict_of(SimulationResult.of_compiling(CompileResult("refused", reason.messages)), Answer(path, ""))


def _names_in(pattern: str, errors: Sequence[Message]) -> list[str]:
    """What the group `name` of the pattern finds in the errors, each once."""
    found = (re.search(pattern, error.text) for error in errors)
    return list(dict.fromkeys(one["name"] for one in found if one and "name" in one.groupdict()))


def _with_place(message: Message, answer: Answer) -> dict[str, Any]:
    """The message with where it stands in the files of the answer, and where what it speaks of does."""
    text = message.text
    if answer.pieces:
        text = _LINE.sub(lambda found: answer.place(int(found[1])), text)
    return {"text": text, "line": message.line, "place": answer.place(message.line) if message.line else ""}


def _errors_with_lines(errors: Sequence[Message], answer: Answer) -> Iterator[dict[str, Any]]:
    """The errors, each with the lines of the answer around it unless the one before has them."""
    lines, before = answer.text.split("\n"), 0
    for error in errors:
        near = range(max(1, error.line - _AROUND), min(len(lines), error.line + _AROUND) + 1)
        numbers = near if error.line not in (0, before) else ()
        before = error.line
        yield {**_with_place(error, answer),
               "lines": [{"number": answer.locate(number)[1], "text": lines[number - 1][:_WIDEST],
                          "is_marked": number == error.line} for number in numbers]}


def _add_messages(compiled: CompileResult, outcome: str, messages: Sequence[Message]) -> CompileResult:
    """The result with what else was found. Its first error makes it end as `outcome`."""
    wrong = compiled.passed and any(message.severity == "error" for message in messages)
    return replace(compiled, outcome=outcome if wrong else compiled.outcome, messages=(*compiled.messages, *messages))


def _new_folder(folder: Path) -> Path:
    folder.mkdir()
    return folder


@dataclass(frozen=True, slots=True)
class _OwnBenchRun:
    """A run with the company's own test bench: the lines of its cases; `failed` are those that say FAIL, and
    `score` is the share of the others."""

    outcome: str
    score: float = 0
    errors: Sequence[Message] = ()
    ended: str = ""
    cases: Sequence[str] = ()
    failed: Sequence[str] = ()

    @classmethod
    def of(cls, ran: SimulatorRun) -> _OwnBenchRun:
        """From what the simulation printed."""
        found = list(_CASE.finditer(ran.stdout))
        failed = [one[0].strip() for one in found if one["verdict"] == "FAIL"]
        if ran.ended != "finished":
            outcome = "unfinished"
        elif not found:
            outcome = "no_case"
        else:
            outcome = "failed" if failed else "agrees"
        return cls(outcome, (len(found) - len(failed)) / max(1, len(found)), ended=ran.ended,
                   cases=[one[0].strip() for one in found], failed=failed)

    def verdict(self) -> Verdict:
        """The verdict that agents read."""
        text = render_report("own_bench", outcome=self.outcome, bench=OWN_BENCH, errors=self.errors[:_MOST_CASES],
                             limits=SIMULATING, ended=self.ended, cases=self.cases, failed=self.failed,
                             most=_MOST_CASES)
        return Verdict(self.outcome == "agrees", text, self.score,
                       {"outcome": self.outcome, "cases": len(self.cases), "failed": len(self.failed)})


def _try_bench(context: ToolContext, answer: Answer, folder: Path, target: Target) -> _OwnBenchRun:
    """Simulate an answer that compiles alone."""
    bench = context.software.get(OWN_BENCH)
    if bench is None:
        return _OwnBenchRun("no_bench")
    files = {ANSWER: answer.text + "\n", BENCH: bench.decode("utf-8", "replace")}
    compiled = compile_files(files, ["tb"], context.sandbox, folder / "with_bench", target)
    if not compiled.passed:
        return _OwnBenchRun("bench_broken", errors=compiled.errors)
    return _OwnBenchRun.of(run_program(folder / "with_bench", folder / "run", context.sandbox, target, dump=False))


# The tool `verilog.bench`: what is to be written, and whether the given bench can judge it.

_OTHERWISE = {ICARUS: ". SystemVerilog that Icarus Verilog does not know may run with --input simulator=verilator",
              VERILATOR: ". What Verilator does not take may run with --input simulator=icarus"}
_MOST_QUOTED = 3  # messages of the compiler that are shown
_UNJUDGED = frozenset({"matches", "no_report"})  # a bench without a report judges nobody, and says so


@tool(name="verilog.bench", sample={"top": "TopModule", "given": {}, "data": [], "reference": "", "notes": []})
def check_bench(context: ToolContext) -> dict[str, Any]:
    """What is to be written: the module's name (`top`), the sources that come with it (`given`, by path), the names of
    other files (`data`), and how the simulation of the reference in the answer's place went (`reference`): "matches",
    "no_report" for a bench that says nothing of the kind, and "" where bench or reference is not given. `notes` say
    where the bench connects other names than the specification lists.

    Raises MissingProgram without the simulator, and ToolError when there is none of that name, when the given files
    cannot be read, when the bench tests another module, or when it and its reference do not compile together, differ,
    or come to no end.
    """
    target, bench = _read_task(context)
    if target.simulator not in SIMULATORS:
        raise ToolError(f"there is no simulator {target.simulator!r}: --input simulator={' or '.join(SIMULATORS)}")
    require_simulator(target)
    _refuse_broken_files(target, bench)
    if bench and bench.is_python:
        require_readable(bench.text)
    elif bench:
        _refuse_other_bench(bench)
        _refuse_several_benches(bench)
        _refuse_unreadable_bench(context, bench)
    outcome = _simulate_reference(context, bench) if bench and bench.reference else ""
    conflicts = name_conflicts(str(context.inputs.get("task") or ""), bench, target.top)
    notes = [f"`{name}`: {said}; a module with the listed name cannot be simulated with it"
             for name, said in conflicts.items()]
    given = read_target(context.inputs)
    return {"top": target.top, "given": given.texts, "data": [*given.data], "reference": outcome, "notes": notes}


def _read_task(context: ToolContext) -> tuple[Target, HiddenBench | None]:
    """The target and the bench, with the other files of a design that was handed in. Raises ToolError for one that
    nobody can tell the module of."""
    if not is_design(context.given):
        return read_target(context.inputs), HiddenBench.of(context.inputs)
    try:
        answer, target, bench = read_submission(replace(context, software=context.given))
    except NoAnswer as error:
        raise ToolError(f"{error} Of two files, give the one that is meant with --input given=FILE; the module is "
                        "named with --input top=NAME") from None
    with throwaway_copy(context.scratch, {}) as folder:
        found = examine(answer.text, context.sandbox, folder, target, bench)
    if found.outcome == "refused":
        said = "; ".join(f"{answer.place(one.line)}: {one.text}" for one in found.errors[:_MOST_QUOTED])
        raise ToolError(f"{said} | a design that is changed keeps the rules of an answer; leave this out of it")
    return target, bench


def _refuse_broken_files(target: Target, bench: HiddenBench | None) -> None:
    """Raise ToolError where a given file cannot be read, includes itself, or needs a module that is not there. What the
    bench makes is looked at with the parameters that it gets there."""
    for path, text in target.texts.items():
        if path in target.including(text).included and "`ifndef" not in text:
            raise ToolError(f"the given file {path} includes itself")
    try:
        faults = (find_given_faults(target, _files_with_reference(bench), word_list("strangers"))
                  if target.sources else ())
    except DesignError as error:
        raise ToolError(f"the given files cannot be read: {error}") from error
    for code, place, names in faults:
        if code != "UnknownModule" or {target.top, REFERENCE_MODULE}.isdisjoint(names):
            path, _, line = place.rpartition(":")
            said = (f"`{names[0]}` is not declared" if code == "UndeclaredIdentifier" and names else
                    f"no {', '.join(names)} is given" if names else f"a mistake ({code})")
            raise ToolError(f"the given file {path}, line {line}: {said}; mend it, or give what it needs with "
                            "--input given=@FILE")


def _files_with_reference(bench: HiddenBench | None) -> dict[str, str]:
    """The bench with the reference, where it compares with that one and in the answer's place."""
    if bench is None:
        return {}
    right = {HIDDEN + ANSWER: reference_as_answer(bench.reference, bench.target)} if bench.reference else {}
    return {**bench.beside, **right}


def _refuse_other_bench(bench: HiddenBench) -> None:
    """Raise ToolError where the bench tests another module, or needs modules that are not there."""
    top, missing = bench.target.top, [name for name in bench.layout.missing if name != REFERENCE_MODULE]
    others = [name for name in missing if name != top]
    if top not in missing:
        tested = f"it tests {' or '.join(others)}" if others else "it has no instance of a module that is missing"
        raise ToolError(f"the test bench does not test {top}: {tested}; name the module with --input top=NAME, or give "
                        f"the bench of {top}")
    if others:
        raise ToolError(f"the test bench needs {', '.join(others)} beside {top}; give the files with --input "
                        "given=@FILE")
    if REFERENCE_MODULE in bench.layout.missing and not bench.reference:
        raise ToolError(f"the test bench compares with {REFERENCE_MODULE}; give its file with --input reference=FILE")


def _refuse_several_benches(bench: HiddenBench) -> None:
    """Raise ToolError where several modules that no other makes test the module: a simulation runs one."""
    if bench.layout.others:
        roots = " and ".join((bench.layout.root, *bench.layout.others))
        raise ToolError(f"the test bench is more than one: {roots} each test {bench.target.top}, and only one of them "
                        "would run; give one of them, or a module that makes them all")


def _refuse_unreadable_bench(context: ToolContext, bench: HiddenBench) -> None:
    """Raise ToolError where the simulator does not know the bench's syntax; what it lacks is another matter."""
    with throwaway_copy(context.scratch, {}) as folder:
        found = compile_files({BENCH: bench.text}, [bench.layout.root], context.sandbox, folder / "bench", bench.target,
                              to_run=False)
    own = [error for error in found.errors if error.file == BENCH]
    if found.outcome == "syntax_error" and own:
        raise ToolError(f"the test bench cannot be read: line {own[0].line}: {own[0].text}; mend `bench`"
                        f"{_OTHERWISE[bench.target.simulator]}")


def _simulate_reference(context: ToolContext, bench: HiddenBench) -> str:
    """How it went."""
    names = set(module_names(bench.reference or ""))
    if names.isdisjoint((REFERENCE_MODULE, bench.target.top)):
        raise ToolError(f"the reference has no module {REFERENCE_MODULE} or {bench.target.top} "
                        f"(it has {', '.join(sorted(names)) or 'none'})")
    right = reference_as_answer(bench.reference or "", bench.target)
    with throwaway_copy(context.scratch, {}) as folder:
        found = simulate_unexamined(right, bench, context.sandbox, folder)
    if found.outcome not in _UNJUDGED:
        raise ToolError(f"the test bench does not accept its own reference, so it could judge no module: "
                        f"{_reason(found, bench.target)}{_quote(found)}; mend `bench` or `reference`, or give neither"
                        f"{'' if found.compiled.passed else _OTHERWISE[bench.target.simulator]}")
    return found.outcome


def _quote(found: SimulationResult) -> str:
    """What the bench itself said first."""
    complaints = found.report.complaints if found.report else ()
    return "".join(f" | {one.text}" for one in complaints[:_MOST_QUOTED])


def _reason(found: SimulationResult, target: Target) -> str:
    if not found.compiled.passed:
        said = [f"{one.file}:{one.line}: {one.text}" for one in read_messages(found.log, target)
                if one.severity == "error"]
        return "; ".join(["they do not compile together", *said[:_MOST_QUOTED]])
    report = found.report or BenchReport()
    return render_text(outcomes()[found.outcome]["says"], limits=SIMULATING, compiling=COMPILING,
                       samples=report.samples, mismatches=report.mismatches, counted=report.is_counted).rstrip(".")


# The tool that puts right in a delivered module what needs no thought, before anybody judges it.

_MOST_TOLD = 10
_NOTHING: dict[str, Any] = {"files": {}, "report": ""}


@tool(reads=("software",), writes_files=True)
def mend(context: ToolContext) -> dict[str, Any]:
    """Mend the Verilog module, where it does not compile and is certainly meant otherwise than it is written: a missing
    `assign`, `;` or `endcase`, an output that lacks `logic`, a number such as 0b101, text around the module.

    Returns `files`: the mended module under its path, or nothing; and a `report`.
    """
    try:
        answer, target, _ = read_submission(context)
        if answer.pieces or is_design(context.given):  # which stay as they are written, byte for byte
            return _NOTHING
        found = mend_text(answer.text, target)
    except (NoAnswer, DesignError, MissingProgram):
        return _NOTHING
    if not found.slips or _compiles(answer.text, context, target):
        return _NOTHING
    report = render_report("mended", path=answer.path, slips=found.slips, most=_MOST_TOLD)
    return {"files": {answer.path: found.text}, "report": report}


def _compiles(text: str, context: ToolContext, target: Target) -> bool:
    """Whether the simulator takes it as it is: the parser is stricter in places."""
    with throwaway_copy(context.scratch, {}) as folder:
        return examine(text, context.sandbox, folder, target).passed
