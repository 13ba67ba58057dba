"""Checks of the chain: names are written before they are read, loops can end, branches do not collide.

The walk follows what *may* have been written: a step with `when`, a loop body and an optional branch count as run.
A loop's body is walked once, as its first pass sees it; a branch sees what was written before the fork. `software`
is there from the start: empty, or what the user gave to work on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from chatdev.config.mistakes import RESERVED, Mistake, Tools, is_name, items_of, unknown_tool, write_problem
from chatdev.config.phases import bare_name
from chatdev.config.schema import CompanyConfig
from chatdev.config.step_kinds import ForeachStep, PhaseStep, ProcessStep, ToolStep
from chatdev.config.steps import Step, files_declared, names_written, walk
from chatdev.config.templates import compile_expression
from chatdev.config.validation import name_hint
from chatdev.config.yaml_nodes import KeyPath
from chatdev.errors import ExpressionError

Names = frozenset[str]


def check_chain(company: CompanyConfig, tools: Tools) -> list[Mistake]:
    """Findings in the chain and in `success`."""
    walk_ = _Walk(company, tools)
    walk_.steps(company.chain, ("chain",), frozenset({"task", "inputs", "software", *company.inputs}))
    walk_.processes()
    walk_.success()
    return walk_.findings


class _Walk:
    """Follows the chain and collects findings."""

    def __init__(self, company: CompanyConfig, tools: Tools) -> None:
        self.company = company
        self.tools = tools
        self.findings: list[Mistake] = []
        self.items = items_of(company)
        self.absent = {name for name, declared in company.inputs.items()
                       if not (declared.required or declared.hidden or declared.default is not None)} - {"task"}
        self.written = names_written(company.chain, company.phases)
        self.anywhere = self.written | {"task", "inputs", "software", *company.inputs}

    def steps(self, steps: Sequence[Step], path: KeyPath, before: Names) -> Names:
        """The names there may be after the steps."""
        for n, step in enumerate(steps):
            before |= self.step(step, (*path, n), before)
        return before

    def step(self, step: Step, path: KeyPath, before: Names) -> Names:
        """The names there may be after one step."""
        self.conditions(step, path, before)
        if check := _CHECKS.get(type(step)):
            check(self, step, path, before)
        inside = before if step.item is None else before | {step.item}
        if step.until is not None:
            self.loop_condition(step, (*path, step.inner_path[0], "until"), inside)
        if step.side_by_side:
            self.branches(step, path, before)
        else:
            self.steps(step.children, (*path, *step.inner_path), inside)
        return before | names_written([step], self.company.phases)

    def conditions(self, step: Step, path: KeyPath, before: Names) -> None:
        if step.when is not None:
            self.expression(step.when, (*path, "when"), before | {"sizes"} if step.phase_named else before)
        if step.optional and path[-2] != "parallel":
            self.report((*path, "optional"), "`optional` belongs to a branch of `parallel`; use `when`, or remove it")

    def loop_condition(self, step: Step, path: KeyPath, inside: Names) -> None:
        text, changing = step.until or "", names_written(step.children, self.company.phases)
        names = self.expression(text, path, inside)
        if step.item is not None:
            changing |= {step.item}
        if names is not None and not names & changing:
            self.report(path, f"{text!r} names nothing that the loop writes, so it can never become true in it; name "
                       f"one of {', '.join(sorted(changing))}")

    def branches(self, step: Step, path: KeyPath, before: Names) -> None:
        """Each branch sees what was written before the fork, and no two may write one thing."""
        names: dict[str, int] = {}
        phases = self.company.phases
        for n, branch in enumerate(step.children):
            self.step(branch, (*path, *step.inner_path, n), before)
            written = {f"`{name}`" for name in names_written([branch], phases) - {"software"}}
            for what in sorted(written | {f"the file {file}" for file in files_declared([branch], phases)}):
                if what in names:
                    self.report((*path, *step.inner_path, n), f"this branch and branch {names[what]} both write "
                                f"{what}; let one of them write it, or run them one after the other")
                names[what] = n

    def phase(self, step: PhaseStep, path: KeyPath, before: Names) -> None:
        phases = self.company.phases
        phase = phases.get(step.phase)
        if phase is None:
            self.report((*path, "phase"), f"there is no phase {step.phase!r}; {name_hint(step.phase, phases)}")
            return
        if isinstance(step.rounds, str):
            self.expression(step.rounds, (*path, "rounds"), before | {"sizes"})
        if step.fresh and not (phase.guard and phase.writes == "software"):
            self.report((*path, "fresh"), "a phase that writes the software anew needs a `guard`, by which the new one "
                        f"is compared with what was there; give {step.phase!r} one, or leave this key out")
        self.need(phase.reads, ("phases", step.phase, "reads"), before)
        for tool in (phase.feedback, phase.guard, phase.mends):
            if self.tools and tool is not None and tool in self.tools:
                self.need(self.tools[tool].reads, path, before | {phase.writes}, f"its tool {tool} ")

    def tool(self, step: ToolStep, path: KeyPath, before: Names) -> None:
        self.findings += unknown_tool(step.tool, self.tools, (*path, "tool"))
        facts = self.tools.get(step.tool) if self.tools else None
        reads = step.reads if step.reads is not None else facts.reads if facts else ()
        self.need(reads, path if step.reads is None else (*path, "reads"), before, f"the tool {step.tool} ")
        if problem := write_problem(self.company, step.writes, self.items):
            self.report((*path, "writes"), problem)
        elif step.writes == "software" and facts and not facts.writes_files:
            self.report((*path, "writes"), f"the tool {step.tool} makes no files; write another name than `software`")

    def foreach(self, step: ForeachStep, path: KeyPath, before: Names) -> None:
        name = step.item
        if not is_name(name) or name in RESERVED or name in before | self.anywhere:
            self.report((*path, "foreach", "as"), f"an item cannot be called {name!r}; take a name that nothing else "
                       "has")
        if self.expression(step.foreach.over, (*path, "foreach", "over"), before):
            self.need(step.names_read(self.company.phases), (*path, "foreach", "over"), before)

    def process(self, step: ProcessStep, path: KeyPath, before: Names) -> None:
        self.need(step.names_read(self.company.phases), (*path, "process"), before)
        for n, name in enumerate(step.phases):
            if name not in self.company.phases:
                self.report((*path, "phases", n), f"there is no phase {name!r}; {name_hint(name, self.company.phases)}")

    def processes(self) -> None:
        """Phases that a process may run can only be given what something writes."""
        steps = [step for _, step in walk(self.company.chain)]
        may_run = {name for step in steps for name in step.phases_run(self.company.phases)}
        for name, phase in self.company.phases.items():
            if name in may_run - {step.phase_named for step in steps}:
                self.need(phase.reads, ("phases", name, "reads"), self.anywhere | self.items)

    def success(self) -> None:
        """`success` reads what the last step, a tool, writes: leaving phases out never changes what success means."""
        last = self.company.chain[-1]
        if last.kind != "tool":
            self.report(("chain", len(self.company.chain) - 1), "the last step must be a tool that states the verdict, "
                       "e.g. `{tool: software.run, writes: test}`; add one")
            return
        written = last.names_written(self.company.phases)
        names = self.expression(self.company.success, ("success",), written)
        if names is not None and names != written:
            (verdict,) = written
            self.report(("success",), f"{self.company.success!r} must read {verdict!r}, which the last step writes, "
                       f"and nothing else; write e.g. `{verdict}.passed`")

    def expression(self, text: str, path: KeyPath, before: Names) -> Names | None:
        """The names of an expression; None when it is broken or names what there is nowhere."""
        try:
            names = compile_expression(text).names
        except ExpressionError as error:
            self.report(path, str(error))
            return None
        there = before | self.anywhere
        unknown = names - there
        for name in sorted(unknown):
            self.report(path, f"names {name!r}, which nothing writes; {name_hint(name, sorted(there))}")
        return None if unknown else names

    def need(self, reads: Sequence[str], path: KeyPath, before: Names, who: str = "") -> None:
        """Findings for each read that nothing can have written yet."""
        for problem in self.missing_reads(reads, before):
            self.report(path, f"{who}{problem}")

    def missing_reads(self, reads: Sequence[str], before: Names) -> Iterator[str]:
        for read in reads:
            name = bare_name(read)
            if read != name:
                continue
            if name in self.absent:
                yield f"reads the input {name!r}, which may be absent; write `{name}?` or give it a default"
            elif name not in before:
                later = "only a later step writes" if name in self.written else "nothing writes"
                hint = name_hint(name, sorted(before))
                yield f"reads {name!r}, which {later}; write it before, or `{name}?` ({hint})"

    def report(self, path: KeyPath, text: str) -> None:
        finding = Mistake(path, text)
        if finding not in self.findings:
            self.findings.append(finding)


_CHECKS: Mapping[type[Step], Callable[[_Walk, Any, KeyPath, Names], None]] = {
    PhaseStep: _Walk.phase, ToolStep: _Walk.tool, ForeachStep: _Walk.foreach, ProcessStep: _Walk.process,
}
"""Mistakes special to this kind of step."""
