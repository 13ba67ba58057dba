"""`software.use`: does the software do what its users type, without crashing?"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from chatdev.tools.base import ToolContext, Verdict
from chatdev.tools.function import tool
from chatdev.tools.software import examine, knowledge, python
from chatdev.tools.software.languages import is_python, language_of
from chatdev.tools.software.run import run
from chatdev.tools.software.session import PYTHON, Session, examples, plain, sessions
from chatdev.tools.software.verdict import Finding, template

_MISTAKES = {"crashed", "missing_module", "killed", "exceeded"}
"""Rules that a user's command must not meet. An exit status is none: a program may refuse what was typed."""
_SCORE_OF_A_START = 5.0  # above every version that does not start (rules.yaml), below one that passes
_TAIL_LINES, _TAIL_CHARACTERS = 5, 300  # of what one command says


@tool(reads=("software", "commands?", "examples?"))
def use(context: ToolContext) -> Verdict:
    """Start the software as `software.run` does, then type the `examples` and the `commands` as a user would.

    `commands` is a list of lines (see `sessions`), `examples` one of commands with what they print as the `task` says
    (see `examples`); all run one after the other on one throwaway copy, so that what one keeps the next one finds.
    Without any, and for pages, the verdict is that of `software.run`.
    """
    started: Verdict = run.call(context, {})
    plan, findings = _carried_out(context) if started.passed and started.judged else ([], [])
    if not plan:
        return replace(started, evidence={**started.evidence, "commands": []})
    lines = [_line(*pair) for pair in zip(plan, findings, strict=True)]
    failed = sum(line["failed"] for line in lines)
    report = template(knowledge.report_template("use")).render(sessions=lines, failed=failed).strip()
    evidence = {**started.evidence, "commands": [{"command": line["command"], "typed": line["typed"],
                                                  "failed": line["failed"]} for line in lines]}
    if failed:
        return Verdict(False, report, _SCORE_OF_A_START + 4 * (1 - failed / len(lines)), evidence)
    return Verdict(True, report, started.score, evidence)


def _carried_out(context: ToolContext) -> tuple[list[Session], list[Finding]]:
    """The sessions of the plan, and how each of them went."""
    if is_python(context.software):
        plan = _plan(context)
        return plan, python.use(context, plan) if plan else []
    language = language_of(context.software)
    plan = _plan(context, language.command) if language and not language.page else []
    return plan, examine.use(context, language, plan) if language and plan else []


def _plan(context: ToolContext, command: str = PYTHON) -> list[Session]:
    values = context.values
    promised = examples(values.get("examples") or (), str(context.inputs.get("task") or ""), command)
    known = {(session.arguments, session.typed) for session in promised}
    return promised + [session for session in sessions(values.get("commands") or (), command)
                       if (session.arguments, session.typed) not in known]


def _line(session: Session, finding: Finding) -> dict[str, Any]:
    """One session as the report shows it."""
    facts, crashed = finding.facts, finding.rule in _MISTAKES
    said = facts["stdout"] or ("" if crashed else facts["stderr"])
    wrong = bool(session.prints) and session.prints not in map(plain, str(facts["printed"]).splitlines())
    return {"command": facts["command"], "typed": list(session.typed), "crashed": crashed, "failed": crashed or wrong,
            "expected": session.prints if wrong else "",
            "said": "\n".join(said.splitlines()[-_TAIL_LINES:])[-_TAIL_CHARACTERS:],
            "frames": facts["frames"], "error": facts["exception"] or _last_words(finding)}


def _last_words(finding: Finding) -> str:
    """What is known of an end without a traceback of Python."""
    if finding.rule == "exceeded":
        return f"ended for too much {finding.facts['exceeded']}"
    return f"ended by {finding.facts['signal']}" if finding.rule == "killed" else str(finding.facts["stderr"])
