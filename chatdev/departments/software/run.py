"""`software.run` and `software.use`: does the software start, and does it do what its users type?"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from chatdev.departments.software import knowledge
from chatdev.departments.software.drivers.step import Driven
from chatdev.departments.software.toolchains.toolchain import (
    BuiltSoftware,
    Toolchain,
    build_and_start,
    judge,
    toolchain_of,
)
from chatdev.departments.software.toolchains.verdict import Finding, OwnTests, prior_state, verdict
from chatdev.departments.software.trial.agreed import AgreedTrial, find_faults, read_checks, try_checks
from chatdev.departments.software.trial.plan import Plan, any_command, plan_of
from chatdev.departments.software.trial.trial import (
    Trial,
    TriedStart,
    is_at_fault,
    refuses_as_asked,
    show_case,
    show_contradictions,
    show_start,
    show_trial,
    show_unfit,
    try_plan,
)
from chatdev.tools.base import ToolContext, Verdict, template, throwaway_copy, tool
from chatdev.workspace.file_tree import write_file

_SCORE_OF_A_START = 5.0  # above every version that does not start (rules.yaml), below one that passes
_FOR_DOUBT = 1.0  # taken off where nothing confirms what the request seems to show
_FOR_AGREED = 0.5  # taken off where none of the agreed checks holds
_PICTURE = "screenshot.png"
_FOR_EXAMPLES, _FOR_COMMANDS = 3.0, 4.0  # added for examples that hold, and where there are none for commands that work


@tool(reads=("software",), name="software.given", sample={"version": "", "missing": [], "notes": []})
def prior_faults(context: ToolContext) -> dict[str, Any]:
    """What is so of software that is there before the run, and no fault of it afterwards: the names of its own tests
    that `failed`, and of the modules that are `missing`; and by which `version` it is known again."""
    known = {"version": version_of(context.software), "failed": list[str](), "missing": list[str]()}
    toolchain = toolchain_of(replace(context, values={"given": {}}))
    if toolchain.check():
        return known
    with throwaway_copy(context.scratch, context.software) as folder:
        if finding := toolchain.build(folder):
            return {**known, "missing": list(finding.facts.get("missing", ()))}
        tests = toolchain.own_tests(folder)
    return {**known, "failed": list(tests.failed) if tests else []}


def version_of(software: Mapping[str, bytes]) -> str:
    """By what software is known again."""
    return hashlib.sha256(repr(sorted(software.items())).encode()).hexdigest()


@tool(reads=("software", "given?"))
def run(context: ToolContext) -> Verdict:
    """Start the software in the sandbox, with no input and no arguments, and say whether it works.

    It is compiled or checked first, and a Python program's modules are installed. The report shows the rule that
    applied, the error with its place in the software, and the last lines of the output; `rules.yaml` lists all rules,
    `languages.yaml` all languages but Python.
    """
    return verdict(judge(toolchain_of(context), context))


@tool(reads=("software", "commands?", "examples?", "checks?", "given?"))
def use(context: ToolContext) -> Verdict:
    """Start the software as `software.run` does, then try the examples of the `task` and the `commands` of a Tester.

    Examples are read from the task by rule (`software.examples`); `examples` are those that a Tester copied from it, as
    cases in JSON or as lines such as `COMMAND => OUTPUT`. Each is tried in a fresh copy. `commands` is a list of lines
    (see `plan_lines` and `sessions`), which run one after the other in a further copy. Without any, and for pages, the
    verdict is that of `software.run`. `checks` are those that the company agreed on (`trial.agreed`).
    """
    return judge_in_use(context)


def judge_in_use(context: ToolContext) -> Verdict:
    """The verdict of `software.use`."""
    toolchain = toolchain_of(context)
    with build_and_start(toolchain, context) as (bare, built):
        judged = _judge_use(toolchain, context, bare, built)
        if built is None or not verdict(bare).passed:
            return judged
        with built.copy({}) as copy:
            tests = toolchain.own_tests(copy)
        judged = _add_own_tests(judged, tests, context) if tests else judged
        trial = try_checks(toolchain, built, read_checks(context.values.get("checks"), toolchain.typed_command))
        judged = _add_agreed(judged, trial, toolchain, context)
        return _add_look(judged, trial, toolchain, built, context)


def _add_agreed(judged: Verdict, trial: AgreedTrial, toolchain: Toolchain, context: ToolContext) -> Verdict:
    """The verdict with the checks that the company agreed on: where all hold, they speak for the software; where one
    does not, nobody knows whether it works, but a command that it refuses is no matter where the request's examples
    hold. A crash fails it where the request names the command."""
    if not trial.count:
        return judged
    told = template(knowledge.report_template("agreed")).render(count=trial.count, differing=trial.differing).strip()
    evidence = {**judged.evidence, "agreed": {"checks": trial.count,
                                              "differing": [one["about"] for one in trial.differing]}}
    score = judged.score - _FOR_AGREED * len(trial.differing) / trial.count
    plan = plan_of(context, toolchain.typed_command or any_command())
    if any(is_at_fault(TriedStart(start, finding), plan) for start, finding in trial.crashed):
        return replace(judged, passed=False, judged=True, score=score - _FOR_DOUBT, report=f"{told}\n\n{judged.report}",
                       evidence=evidence)
    sure = _is_sure(judged, trial)
    report = judged.report.replace(_doubt_text(), "").rstrip() if sure else judged.report
    return replace(judged, report=f"{report}\n\n{told}", judged=sure, score=score, evidence=evidence)


def _is_sure(judged: Verdict, trial: AgreedTrial) -> bool:
    """Whether the software is judged, once the agreed checks are known."""
    held, there = judged.examples or (0, 0)
    if not judged.passed or held < there:
        return judged.judged
    return trial.confirms or (judged.judged and not (trial.doubts if there else trial.differing))


def _add_look(judged: Verdict, trial: AgreedTrial, toolchain: Toolchain, built: BuiltSoftware,
              context: ToolContext) -> Verdict:
    """The verdict with a picture of the window or page. It fails what lacks a button or a path that the request names,
    and what ends in an error when a button is pressed that the request names."""
    used = [done for _, done in trial.used]
    first = used[0].driven if used else _look_at(toolchain, built)
    if first is None:
        return judged
    if picture := (used[-1].driven if used else first).picture:
        write_file(context.run_folder, _PICTURE, picture)
        judged = replace(judged, evidence={**judged.evidence, "pictures": {"Screenshot": _PICTURE}})
    request = str(context.values.get("task") or context.inputs.get("task") or "")
    faults = find_faults(used, first, request, context.software)
    if not any(faults.values()):
        return judged
    told = template(knowledge.report_template("lacking")).render(names=first.names, **faults).strip()
    return replace(judged, passed=False, judged=True, score=judged.score - _FOR_DOUBT,
                   report=f"{told}\n\n{judged.report}")


def _look_at(toolchain: Toolchain, built: BuiltSoftware) -> Driven | None:
    """How the software looks to somebody who does nothing."""
    with built.copy({}) as folder:
        return toolchain.drive(folder, ())


def _add_own_tests(judged: Verdict, tests: OwnTests, context: ToolContext) -> Verdict:
    """The verdict with what the software's own tests say: those that pass speak for it, unless it is as it was given,
    and those that fail and did not fail before the run speak against it."""
    before = prior_state(context)
    new = [name for name in tests.failed if name not in before.get("failed", ())]
    told = template(knowledge.report_template("own_tests")).render(tests=tests, new=new).strip()
    evidence = {**judged.evidence, "tests": {"passed": tests.passed, "failed": list(tests.failed)}}
    if new:
        score = judged.score - _FOR_DOUBT
        return replace(judged, passed=False, judged=True, score=score, report=f"{told}\n\n{judged.report}",
                       evidence=evidence)
    held, there = judged.examples or (0, 0)
    is_changed = before.get("version") != version_of(context.software)
    confirms = bool(tests.passed) and held == there and is_changed
    report = judged.report.replace(_doubt_text(), "").rstrip() if confirms else judged.report
    return replace(judged, judged=judged.judged or confirms, report=f"{report}\n\n{told}", evidence=evidence)


def _judge_use(toolchain: Toolchain, context: ToolContext, bare: Finding, built: BuiltSoftware | None) -> Verdict:
    """The verdict on software that was built, if it could be; `bare` is how it went with nothing at all."""
    started = verdict(bare)
    if bare.rule == "library":
        return _judge_library(context, started)
    if toolchain.typed_command is None or not started.judged:
        return replace(started, evidence={**started.evidence, "commands": []})
    plan = plan_of(context, toolchain.typed_command)
    if bare.rule == "failed_status" and refuses_as_asked(bare, plan):
        started = verdict(replace(bare, rule="refuses_no_input"))
    if built is None or not _is_worth_trying(bare, started, plan):
        return _tell_what_counts_for_nothing(_verdict_of_start(started, plan), plan)
    trial = try_plan(toolchain, built, context.software, plan, bare)
    return _tell_what_counts_for_nothing(_verdict_of_trial(trial, context.software, bare, started), plan)


def _judge_library(context: ToolContext, started: Verdict) -> Verdict:
    """The verdict on what need not start: it fails only where the request shows what a start prints."""
    plan = plan_of(context, any_command())
    if plan.cases:
        return _verdict_of_start(verdict(Finding("nothing_to_run", {"candidates": ()})), plan)
    report = f"{started.report}\n\n{_doubt_text()}"
    return replace(started, report=report, evidence={**started.evidence, "commands": []})


def _tell_what_counts_for_nothing(judged: Verdict, plan: Plan) -> Verdict:
    """The verdict, which says what nobody can do, and what of the request contradicts itself."""
    if unfit := show_unfit(plan):
        judged = replace(judged, report=f"{judged.report}\n\n{unfit}")
    told = show_contradictions(plan, str(judged.evidence.get("command", "")))
    if not told:
        return judged
    return replace(judged, report=f"{judged.report}\n\n{told}", evidence={**judged.evidence, "notes": [told]})


def _verdict_of_trial(trial: Trial, software: Mapping[str, bytes], bare: Finding, started: Verdict) -> Verdict:
    """The verdict of a trial; where it says nothing, and of software that started wrongly and has no example, that of
    the bare start."""
    if not trial.starts or not (started.passed or trial.plan.cases):
        return _verdict_of_start(started, trial.plan)
    if started.passed:
        return _verdict(trial, software, started, _SCORE_OF_A_START)
    least = started.score if trial.only_crashes else _SCORE_OF_A_START
    return _verdict(trial, software, verdict(replace(bare, rule="lacks_input")), least)


def _verdict_of_start(started: Verdict, plan: Plan) -> Verdict:
    """The verdict of a bare start where that is all: no example of the request is reached, if there is any. That it
    starts does not say that it does what is wanted."""
    count = sum(start.expects for case in plan.cases for start in case.starts)
    report = started.report
    if started.passed:
        report += f"\n\n{_doubt_text()}"
    return replace(started, report=report, evidence={**started.evidence, "commands": []}, judged=not started.passed,
                   examples=(0, count) if count else None)


def _doubt_text() -> str:
    """What is said of software that starts where nothing speaks for it."""
    return str(template(knowledge.report_template("unconfirmed")).render()).strip()


def _is_worth_trying(bare: Finding, started: Verdict, plan: Plan) -> bool:
    """Whether there is something to try of software that starts, or that may only have lacked what an example gives."""
    if started.passed:
        return bool(plan.all_cases)
    return bool(plan.cases) and bare.rule in ("crashed", "failed_status")


def _verdict(trial: Trial, software: Mapping[str, bytes], started: Verdict, least: float) -> Verdict:
    """The verdict of a trial; `least` is the score of software of which nothing works."""
    shown = [show_case(case, software) for case in sorted(trial.cases, key=lambda case: not case.failed)]
    report = template(knowledge.report_template("use")).render(
        cases=shown, unconfirmed=_doubt_text(), **show_trial(trial)).strip()
    evidence = {**started.evidence,
                "commands": [{key: start[key] for key in ("command", "typed", "failed")}
                             for start in map(show_start, trial.starts)],
                "cases": [{key: case[key] for key in ("from", "passed", "starts")} for case in shown]}
    if trial.failed:
        return Verdict(False, report, least + _score(trial), evidence, examples=_count_examples(trial))
    counts = _count_examples(trial)
    doubt = 1 - counts[0] / counts[1] if counts else 0.0
    return Verdict(True, report, started.score - _FOR_DOUBT * doubt, evidence,
                   judged=trial.confirmed and not doubt, examples=counts)


def _count_examples(trial: Trial) -> tuple[int, int] | None:
    """The examples of the request that hold, of how many; None where it gives none."""
    return (trial.held, len(trial.examples)) if trial.examples else None


def _score(trial: Trial) -> float:
    """How near to working software of which something fails is, by its examples first, then by everything else."""
    working = 1 - len(trial.failed) / len(trial.starts)
    if trial.only_crashes:
        return 0.0
    if not trial.examples:
        return _FOR_COMMANDS * working
    return _FOR_EXAMPLES * trial.held / len(trial.examples) + working / (1 + len(trial.examples))
