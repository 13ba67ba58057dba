"""A trial: each case of a plan in a fresh copy of the software, its starts in order, a first command before them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from chatdev.departments.software.cases.case import Case, Start
from chatdev.departments.software.cases.comparison import Tolerance, is_prompt, prints_what_is_wanted, wrong_files
from chatdev.departments.software.cases.wording import says
from chatdev.departments.software.toolchains.toolchain import BuiltSoftware, Toolchain
from chatdev.departments.software.toolchains.verdict import Finding
from chatdev.departments.software.trial.plan import Plan
from chatdev.departments.software.trial.probe import Conventions, NoTimeLeft, Probe, is_done
from chatdev.departments.software.trial.trial_report import CRASHES, Trial, TriedCase, TriedStart, Wrong
from chatdev.departments.software.trial.unknown_output import carries_out_named, judge_own
from chatdev.errors import WorkspaceError

_MANY, _FEW = 1000, 50  # lines; how often each stands there
_PROMPTS = re.compile(rb"\binput\(\s*[^\s)]")  # of programs in Python


def try_plan(toolchain: Toolchain, built: BuiltSoftware, software: Mapping[str, bytes], plan: Plan,
             bare: Finding) -> Trial:
    """How the cases of a plan went; `bare` is how it went with nothing at all."""
    tried, allowed = [], _tolerance(plan.request, bare, software)
    conventions = Conventions(toolchain, built, is_open=_leaves_open(plan))
    if plan.own and conventions.is_open:
        plan = begin_with_needed(plan, Probe(conventions, plan.own, software))
    for case in plan.all_cases:
        with built.copy(case.files) as folder:
            tried.append(_try_own(conventions, folder, case) if case is plan.own else
                         _try_case(toolchain, folder, case, allowed))
    trial = Trial(plan, tuple(judge_own(tried, plan)))
    if trial.failed or trial.confirmed:
        return trial
    return replace(trial, shows_sense=carries_out_named(conventions, plan, software))


def _leaves_open(plan: Plan) -> bool:
    """Whether the request does not say how commands are given, nor that the program is a dialogue."""
    return not plan.cases and not plan.reading.commands and not says("dialogue", plan.request)


def _tolerance(request: str, bare: Finding, software: Mapping[str, bytes]) -> Tolerance:
    """What a request leaves open of what is printed."""
    silent = _silent_text(bare, software) if _may_prompt(request) else None
    return Tolerance(silent, coloured=says("colours", request), any_layout=not says("json_layout", request))


def _may_prompt(request: str) -> bool:
    """Whether a program may say something before it reads what is typed: not where it gets a stream, and nobody speaks
    of asking."""
    return not says("unprompted", request) and (says("asks", request) or not says("streams", request))


def _silent_text(bare: Finding, software: Mapping[str, bytes]) -> str | None:
    """What software says when nobody types anything, if it writes a text that waits for an answer, whatever it says at
    the end of its input; else None."""
    said = str(bare.facts.get("streams", ("", ""))[0])
    last = said.rstrip("\n").rpartition("\n")[2]
    return said if is_prompt(last) or any(map(_PROMPTS.search, software.values())) else None


def _try_case(toolchain: Toolchain, folder: Path, case: Case, allowed: Tolerance) -> TriedCase:
    tried = []
    for start in case.starts:
        finding = toolchain.start(folder, Start(start.arguments, _typed_text(case, start)), ends=case.expects)
        tried.append(_judge_start(start, finding, folder, allowed))
    return TriedCase(case, tuple(tried))


def _typed_text(case: Case, start: Start) -> str:
    """What comes in, as the request has it; who copies that from there easily leaves out the end of the last line."""
    typed = start.stdin or ""
    return f"{typed}\n" if typed and case.origin == "tester" and not typed.endswith("\n") else typed


def _try_own(conventions: Conventions, folder: Path, case: Case) -> TriedCase:
    """The Tester's own commands, each by the convention by which the program takes it."""
    tried = []
    for start in case.starts:
        finding = conventions.run(folder, start)
        tried.append(_judge_start(conventions.adapt(start), finding, folder, Tolerance()))
    return TriedCase(case, tuple(tried))


def _judge_start(start: Start, finding: Finding, folder: Path, allowed: Tolerance) -> TriedStart:
    """What is wrong with a start by itself."""
    facts, files = finding.facts, wrong_files(start, folder, allowed)
    status = facts.get("exit_status")
    wrong: Wrong = ""
    if finding.rule in CRASHES:
        wrong = "crash"
    elif facts.get("still_running") and (start.expects or (start.arguments and _goes_round(facts["streams"][0]))):
        wrong = "endless"
    elif not prints_what_is_wanted(start, facts["streams"], status, allowed):
        wrong = "output"
    elif start.status not in (None, status):
        wrong = "status"
    elif files:
        wrong = "files"
    return TriedStart(start, finding, wrong, files=files)


def _goes_round(text: str) -> bool:
    """Whether a program has filled its output with the same few lines."""
    lines = text.splitlines()
    return len(lines) >= _MANY and _FEW * len(set(lines)) <= len(lines)


# A command that a program wants before all others, such as `init`: who tries it learns that from what it says, and a
# trial by looking whether other commands do more after it.


def begin_with_needed(plan: Plan, probe: Probe) -> Plan:
    """The plan with such a command before the Tester's own ones, if there is one that the plan lacks."""
    with suppress(WorkspaceError, NoTimeLeft):  # it may leave what cannot be copied
        if start := _find_needed(probe):
            return replace(plan, own=replace(probe.own, starts=(start, *probe.own.starts)))
    return plan


def _find_needed(probe: Probe) -> Start | None:
    """The start without which the first planned command that has something behind it keeps nothing, if there is one."""
    later = next((start for start in probe.own.starts if len(start.arguments) > 1), None)
    starts = _unplanned_beginnings(probe)
    if later is None or not starts:
        return None
    with probe.fresh_copy() as folder:
        alone, changed = probe.run_and_look(folder, later)
    return None if changed else next((start for start in starts if _opens(probe, start, later, alone.said)), None)


def _unplanned_beginnings(probe: Probe) -> list[Start]:
    planned = {start.arguments[:1] for start in probe.own.starts}
    return [Start((word,)) for word in probe.words_of("begins") if (word,) not in planned]


def _opens(probe: Probe, start: Start, later: Start, alone: str) -> bool:
    """Whether the other start changes files, and says something else than `alone`, once this one was carried out."""
    with probe.fresh_copy() as folder:
        begun, has_begun = probe.run_and_look(folder, start)
        if not (has_begun and is_done(begun)):
            return False
        after, changed = probe.run_and_look(folder, later)
    return changed and is_done(after) and after.said != alone
