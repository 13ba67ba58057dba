"""`software.run` and `software.use`: does the software start, and does it do what its users type?"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from chatdev.tools.base import ToolContext, Verdict, template
from chatdev.tools.function import tool
from chatdev.tools.software import knowledge
from chatdev.tools.software.session import Session, example_lines, examples, plain_text, plan_lines, sessions
from chatdev.tools.software.toolchain import judge, toolchain_of, use_in_copy
from chatdev.tools.software.verdict import Finding, verdict

_MISTAKES = {"crashed", "missing_module", "killed", "exceeded"}
"""Rules that a user's command must not meet. An exit status is none: a program may refuse what was typed."""
_SCORE_OF_A_START = 5.0  # above every version that does not start (rules.yaml), below one that passes
_TAIL_LINES, _TAIL_CHARACTERS = 5, 300  # of what one command says
_MOST_SHOWN = 500  # characters of a command, and of a line that is typed


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
    """Start the software as `software.run` does, then type the `examples` and the `commands` as a user would.

    `commands` is a list of lines (see `plan_lines` and `sessions`), `examples` one of commands with what they print as
    the `task` says (see `examples`); all run one after the other on one throwaway copy, so that what one keeps the next
    one finds. Without any, and for pages, the verdict is that of `software.run`.
    """
    toolchain = toolchain_of(context)
    started = verdict(judge(toolchain, context))
    plan = _plan(context, toolchain.typed_command) if started.passed and started.judged else []
    if not plan:
        return replace(started, evidence={**started.evidence, "commands": []})
    findings = use_in_copy(toolchain, context, plan)
    lines = [_report_line(session, finding) for session, finding in zip(plan, findings, strict=True)]
    failed = sum(line["failed"] for line in lines)
    report = template(knowledge.report_template("use")).render(sessions=lines, failed=failed).strip()
    evidence = {**started.evidence, "commands": [{"command": line["command"], "typed": line["typed"],
                                                  "failed": line["failed"]} for line in lines]}
    if failed:
        return Verdict(False, report, _SCORE_OF_A_START + 4 * (1 - failed / len(lines)), evidence)
    return Verdict(True, report, started.score, evidence)


def _plan(context: ToolContext, command: str | None) -> list[Session]:
    """What users type: the examples that the task promises, then the commands; nothing where no command is typed."""
    if command is None:
        return []
    values = context.values
    promised = examples(example_lines(values.get("examples")), str(context.inputs.get("task") or ""), command)
    known = {(session.arguments, session.typed) for session in promised}
    return promised + [session for session in sessions(plan_lines(values.get("commands")), command)
                       if (session.arguments, session.typed) not in known]


def _report_line(session: Session, finding: Finding) -> dict[str, Any]:
    """One session as the report shows it."""
    facts, crashed = finding.facts, finding.rule in _MISTAKES
    said = facts["stdout"] or ("" if crashed else facts["stderr"])
    wrong = bool(session.prints) and session.prints not in map(plain_text, str(facts["printed"]).splitlines())
    return {"command": _shorten(facts["command"]), "typed": list(map(_shorten, session.typed)),
            "crashed": crashed, "failed": crashed or wrong, "expected": session.prints if wrong else "",
            "said": "\n".join(said.splitlines()[-_TAIL_LINES:])[-_TAIL_CHARACTERS:],
            "frames": facts["frames"], "error": facts["exception"] or _last_words(finding)}


def _shorten(line: str) -> str:
    return line if len(line) <= _MOST_SHOWN else f"{line[:_MOST_SHOWN]} … ({len(line)} characters)"


def _last_words(finding: Finding) -> str:
    """What is known of an end without a traceback of Python."""
    if finding.rule == "exceeded":
        what = finding.facts["exceeded"]
        return "not started: no command line can hold this" if what == "command" else f"ended for too much {what}"
    return f"ended by {finding.facts['signal']}" if finding.rule == "killed" else str(finding.facts["stderr"])
