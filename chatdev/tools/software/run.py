"""`software.run` and `software.use`: does the software start, and does it do what its users type?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from chatdev.tools.base import ToolContext, Verdict, template
from chatdev.tools.function import tool
from chatdev.tools.software import knowledge
from chatdev.tools.software.plan import Plan, plan_of
from chatdev.tools.software.shown import show_case, show_start
from chatdev.tools.software.toolchain import judge, toolchain_of
from chatdev.tools.software.trial import CRASHES, TriedCase, TriedStart, try_plan, writes_prompts
from chatdev.tools.software.verdict import Finding, verdict

_SCORE_OF_A_START = 5.0  # above every version that does not start (rules.yaml), below one that passes
_SCORE_OF_CRASHES = 4.5
_FOR_EXAMPLES, _FOR_COMMANDS = 3.0, 4.0  # added for examples that hold, and where there are none for commands that work


@tool(reads=("software",))
def run(context: ToolContext) -> Verdict:
    """Start the software in the sandbox, with no input and no arguments, and say whether it works.

    It is compiled or checked first, and a Python program's modules are installed. The report shows the rule that
    applied, the error with its place in the software, and the last lines of the output; `rules.yaml` lists all rules,
    `languages.yaml` all languages but Python.
    """
    return verdict(judge(toolchain_of(context), context))


@tool(reads=("software", "commands?", "examples?"))
def use(context: ToolContext) -> Verdict:
    """Start the software as `software.run` does, then try the examples of the `task` and the `commands` of a Tester.

    Examples are read from the task by rule (`software.examples`); `examples` are those that a Tester copied from it, as
    cases in JSON or as lines such as `COMMAND => OUTPUT`. Each is tried in a fresh copy. `commands` is a list of lines
    (see `plan_lines` and `sessions`), which run one after the other in a further copy. Without any, and for pages, the
    verdict is that of `software.run`.
    """
    toolchain = toolchain_of(context)
    bare = judge(toolchain, context)
    started = verdict(bare)
    if toolchain.typed_command is None or not started.judged:
        return replace(started, evidence={**started.evidence, "commands": []})
    plan = plan_of(context, toolchain.typed_command)
    tried = try_plan(toolchain, context, plan, prompts=writes_prompts(bare)) if _is_worth_trying(bare, started, plan) else []
    examples = [start for case in tried if case.case is not plan.own for start in case.starts if start.start.expects]
    if not tried or not (started.passed or any(not start.wrong for start in examples)):
        of = sum(start.expects for case in plan.cases for start in case.starts)
        return replace(started, evidence={**started.evidence, "commands": []}, examples=(0, of) if of else None)
    return _verdict(context, plan, started, tried)


def _is_worth_trying(bare: Finding, started: Verdict, plan: Plan) -> bool:
    """Whether there is something to try of software that starts, or that may only have lacked what an example gives."""
    return bool(plan.all_cases if started.passed else plan.cases and bare.rule in ("crashed", "failed_status"))


def _verdict(context: ToolContext, plan: Plan, started: Verdict, tried: Sequence[TriedCase]) -> Verdict:
    every = [start for case in tried for start in case.starts]
    examples = [start for case in tried if case.case is not plan.own for start in case.starts if start.start.expects]
    held = sum(not start.wrong for start in examples)
    failed = [start for start in every if start.failed]
    shown = [show_case(case, context.software) for case in sorted(tried, key=lambda case: not case.failed)]
    own = sum(len(case.starts) for case in tried) - len(examples)
    report = template(knowledge.report_template("use")).render(
        cases=shown, examples=len(examples), held=held, failed=len(failed), others=own,
        other_failed=len(failed) - sum(start.failed for start in examples),
        contradictory=[case.to_dict() for case in plan.reading.contradictory],
        left_out=[" ".join(start.arguments) for start in plan.left_out]).strip()
    evidence = {**started.evidence, "commands": [_command(start) for start in every],
                "cases": [{key: case[key] for key in ("from", "passed", "starts")} for case in shown]}
    counts = (held, len(examples)) if examples else None
    if not failed:
        return Verdict(True, report, started.score, evidence, examples=counts)
    return Verdict(False, report, _score(every, failed, held, len(examples)), evidence, examples=counts)


def _score(every: Sequence[TriedStart], failed: Sequence[TriedStart], held: int, of: int) -> float:
    """How near to working software is that starts: by its examples first, then by everything else."""
    if all(start.finding.rule in CRASHES for start in every):
        return _SCORE_OF_CRASHES if of else _SCORE_OF_A_START
    working = 1 - len(failed) / len(every)
    if not of:
        return _SCORE_OF_A_START + _FOR_COMMANDS * working
    return _SCORE_OF_A_START + _FOR_EXAMPLES * held / of + working / (1 + of)


def _command(start: TriedStart) -> dict[str, Any]:
    shown = show_start(start, {})
    return {"command": shown["command"], "typed": shown["typed"], "failed": start.failed}
