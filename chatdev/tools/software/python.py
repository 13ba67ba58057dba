"""Judging Python software: compile everything, provide its modules, start it on a throwaway copy."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from chatdev.sandbox.base import BOX
from chatdev.tools.base import ToolContext
from chatdev.tools.software.copy import throwaway
from chatdev.tools.software.installing.supply import Supply
from chatdev.tools.software.program import Program, lacks, prepare
from chatdev.tools.software.session import Session
from chatdev.tools.software.static import data_errors, syntax_errors, undefined_names
from chatdev.tools.software.verdict import Finding, facts_of, last_traceback, missing_module, rule_of
from chatdev.workspace.entry import find_entry

_SECONDS = 3.0  # a program that runs so long without an error has started
_SECONDS_WHEN_SLOW = 5.0  # windows have to come up, large modules to be imported
_SECONDS_FOR_DISPLAY = 1.0  # what a display takes to come up, roughly


def examine(context: ToolContext) -> Finding:
    """The first rule of compile, entry, modules, display and run that has something to say."""
    files = context.software
    if errors := [*syntax_errors(files), *data_errors(files)]:
        return Finding("does_not_compile", {"errors": errors})
    entry = find_entry(files)
    if entry.path is None:
        return Finding("nothing_to_run", {"candidates": entry.candidates})
    if undefined := undefined_names(files):
        return Finding("undefined_name", {"errors": undefined})
    program = _prepared(context)
    evidence = {"command": program.command, "installed": list(program.installed), "missing": dict(program.missing)}
    if program.missing:
        return Finding("missing_module", {"missing": list(program.missing), "reasons": program.missing}, evidence)
    if lacking := lacks(program):
        return Finding("no_display", {"lacks": lacking}, evidence)
    return _start(program, context, evidence)


def use(context: ToolContext, sessions: Sequence[Session]) -> list[Finding]:
    """How each session went, one after the other on one throwaway copy, of software that `examine` found nothing
    against."""
    program = _prepared(context)
    with throwaway(context.scratch, context.software) as folder:
        return [_tried(program, context, folder, session) for session in sessions]


def _prepared(context: ToolContext) -> Program:
    return prepare(context.software, context.run_folder, context.sandbox, Supply.of(context.options))


def _start(program: Program, context: ToolContext, evidence: Mapping[str, object]) -> Finding:
    with throwaway(context.scratch, context.software) as folder:
        finding = _tried(program, context, folder, Session())
    return replace(finding, evidence={**evidence, **finding.evidence})


def _tried(program: Program, context: ToolContext, folder: Path, session: Session) -> Finding:
    seconds = _SECONDS_WHEN_SLOW if program.windows or program.installed else _SECONDS
    waiting = _SECONDS_FOR_DISPLAY if program.needs_display else 0.0
    job = program.job(folder, seconds + waiting, session.arguments)
    typed = "".join(f"{line}\n" for line in session.typed)
    execution = context.sandbox.run(replace(job, stdin=typed or None))
    rule = rule_of(execution, context.software)
    places = {f"{BOX}/": "", f"{folder.resolve()}/": "", **{str(path): "<modules>" for path in program.modules.folders}}
    facts = facts_of(execution, context.software, places)
    if name := missing_module(last_traceback(execution.stderr)):
        rule = "crashed" if f"{name}.py" in context.software else rule
        facts["missing"] = [name]
    command = shlex.join((*program.command.split(), *session.arguments))
    return Finding(rule, {**facts, "command": command, "seconds": int(seconds), "lacks": "a working display"},
                   {"exit_status": execution.exit_status, "signal": execution.signal,
                    "timed_out": execution.timed_out})
