"""The tool `verilog.bench`: what is to be written, and whether the given bench can judge it.

A bench that tests another module, that needs files which nobody gives, or that does not accept its own reference is
told before anything is paid.
"""

from __future__ import annotations

from typing import Any

from chatdev.departments.verilog.bench import HIDDEN, REFERENCE_MODULE, HiddenBench, read_target
from chatdev.departments.verilog.bench_report import BenchReport
from chatdev.departments.verilog.compilation import BENCH, COMPILING, SIMULATING
from chatdev.departments.verilog.design.elaborate import DesignError
from chatdev.departments.verilog.messages import outcomes, render_text, word_list
from chatdev.departments.verilog.simulation import SimulationResult, reference_as_answer, simulate_unexamined
from chatdev.departments.verilog.simulators import compile_files, read_messages, require_simulator
from chatdev.departments.verilog.slang import find_given_faults
from chatdev.departments.verilog.source_text import module_names
from chatdev.departments.verilog.specification import name_conflicts
from chatdev.departments.verilog.target import ANSWER, ICARUS, SIMULATORS, VERILATOR, Target
from chatdev.errors import ToolError
from chatdev.tools.base import ToolContext, throwaway_copy
from chatdev.tools.function import tool

_OTHERWISE = {ICARUS: ". SystemVerilog that Icarus Verilog does not know may run with --input simulator=verilator",
              VERILATOR: ". What Verilator does not take may run with --input simulator=icarus"}
_MOST = 3  # messages of the compiler that are shown
_UNJUDGED = frozenset({"matches", "no_report"})  # a bench without a report judges nobody, and says so


@tool(name="verilog.bench")
def check_bench(context: ToolContext) -> dict[str, Any]:
    """What is to be written: the module's name (`top`), the sources that come with it (`given`, by path), the names of
    other files (`data`), and how the simulation of the reference in the answer's place went (`reference`): "matches",
    "no_report" for a bench that says nothing of the kind, and "" where bench or reference is not given. `notes` say
    where the bench connects other names than the specification lists.

    Raises MissingProgram without the simulator, and ToolError when there is none of that name, when the given files
    cannot be read, when the bench tests another module, or when it and its reference do not compile together, differ,
    or come to no end.
    """
    target, bench = read_target(context.inputs), HiddenBench.of(context.inputs)
    if target.simulator not in SIMULATORS:
        raise ToolError(f"there is no simulator {target.simulator!r}: --input simulator={' or '.join(SIMULATORS)}")
    require_simulator(target)
    _refuse_broken_files(target, bench)
    if bench:
        _refuse_other_bench(bench)
        _refuse_several_benches(bench)
        _refuse_unreadable_bench(context, bench)
    outcome = _simulate_reference(context, bench) if bench and bench.reference else ""
    conflicts = name_conflicts(str(context.inputs.get("task") or ""), bench, target.top)
    notes = [f"`{name}`: {said}; a module with the listed name cannot be simulated with it"
             for name, said in conflicts.items()]
    return {"top": target.top, "given": target.texts, "data": [*target.data], "reference": outcome, "notes": notes}


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
            said = f"no {', '.join(names)} is given" if names else f"a mistake ({code})"
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
                        f"{_reason(found, bench.target)}; mend `bench` or `reference`, or give neither"
                        f"{'' if found.compiled.passed else _OTHERWISE[bench.target.simulator]}")
    return found.outcome


def _reason(found: SimulationResult, target: Target) -> str:
    if not found.compiled.passed:
        said = [f"{one.file}:{one.line}: {one.text}" for one in read_messages(found.log, target)
                if one.severity == "error"]
        return "; ".join(["they do not compile together", *said[:_MOST]])
    report = found.report or BenchReport()
    return render_text(outcomes()[found.outcome]["says"], limits=SIMULATING, compiling=COMPILING,
                       samples=report.samples, mismatches=report.mismatches, counted=report.is_counted).rstrip(".")
