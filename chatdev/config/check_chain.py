"""Checks of the chain: names are written before they are read, loops can end, branches do not collide.

The walk follows what *may* have been written: a step with `when`, a loop body and an optional branch count as run.
A loop's body is walked once, as its first pass sees it; a branch sees what was written before the fork. `software`
is there from the start: empty, or what the user gave to work on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from chatdev.config.check_phases import unknown_tool, unwritable
from chatdev.config.expressions import compile_expression
from chatdev.config.facts import RESERVED, Finding, ToolFacts, bare, is_name
from chatdev.config.nearest import known
from chatdev.config.schema import (
    Branch,
    Company,
    ForeachStep,
    ParallelStep,
    PhaseStep,
    ProcessStep,
    RepeatStep,
    StepFields,
    ToolStep,
)
from chatdev.config.source import KeyPath
from chatdev.config.steps import files_declared, has_process, names_written, nested, walk
from chatdev.errors import ExpressionError

Names = frozenset[str]


def check_chain(company: Company, tools: Mapping[str, ToolFacts] | None) -> list[Finding]:
    """Findings in the chain and in `success`."""
    walk_ = _Walk(company, tools)
    walk_.steps(company.chain, ("chain",), frozenset({"task", "inputs", "software", *company.inputs}))
    walk_.processes()
    walk_.success()
    return walk_.findings


class _Walk:
    """Follows the chain and collects findings."""

    def __init__(self, company: Company, tools: Mapping[str, ToolFacts] | None) -> None:
        self.company = company
        self.tools = tools
        self.findings: list[Finding] = []
        self.items = {step.foreach.as_ for _, step in walk(company.chain) if isinstance(step, ForeachStep)}
        self.absent = {name for name, declared in company.inputs.items()
                       if not (declared.required or declared.hidden or declared.default is not None)} - {"task"}
        self.written = names_written(company.chain, company)
        self.anywhere = self.written | {"task", "inputs", "software", *company.inputs}

    def steps(self, steps: Sequence[StepFields], path: KeyPath, before: Names) -> Names:
        """The names there may be after the steps."""
        for n, step in enumerate(steps):
            before |= self.step(step, (*path, n), before)
        return before

    def step(self, step: StepFields, path: KeyPath, before: Names) -> Names:
        """The names there may be after one step."""
        self.conditions(step, path, before)
        match step:
            case PhaseStep():
                return before | self.phase(step, path, before)
            case ToolStep():
                return before | self.tool(step, path, before)
            case RepeatStep() | ForeachStep():
                return self.loop(step, path, before)
            case ParallelStep():
                return self.parallel(step, path, before)
            case ProcessStep():
                self.need([step.process], (*path, "process"), before)
                return before | names_written([step], self.company)
            case Branch():
                return self.steps(step.steps, (*path, "steps"), before)
        raise TypeError(f"not a step: {step!r}")

    def conditions(self, step: StepFields, path: KeyPath, before: Names) -> None:
        if step.when is not None:
            self.expression(step.when, (*path, "when"), before)
        if step.optional and path[-2] != "parallel":
            self.found((*path, "optional"), "`optional` belongs to a branch of `parallel`; use `when`, or remove it")

    def phase(self, step: PhaseStep, path: KeyPath, before: Names) -> Names:
        phase = self.company.phases.get(step.phase)
        if phase is None:
            self.found((*path, "phase"), f"there is no phase {step.phase!r}; {known(step.phase, self.company.phases)}")
            return frozenset()
        self.need(phase.reads, ("phases", step.phase, "reads"), before)
        for tool in (phase.feedback, phase.guard):
            if self.tools and tool is not None and tool in self.tools:
                self.need(self.tools[tool].reads, path, before | {phase.writes}, f"its tool {tool} ")
        return frozenset({phase.writes})

    def tool(self, step: ToolStep, path: KeyPath, before: Names) -> Names:
        self.findings += unknown_tool(step.tool, self.tools, (*path, "tool"))
        facts = self.tools.get(step.tool) if self.tools else None
        reads = step.reads if step.reads is not None else facts.reads if facts else ()
        self.need(reads, path if step.reads is None else (*path, "reads"), before, f"the tool {step.tool} ")
        if problem := unwritable(self.company, step.writes, self.items):
            self.found((*path, "writes"), problem)
        elif step.writes == "software" and facts and not facts.writes_files:
            self.found((*path, "writes"), f"the tool {step.tool} makes no files; write another name than `software`")
        return frozenset({step.writes})

    def loop(self, step: RepeatStep | ForeachStep, path: KeyPath, before: Names) -> Names:
        below, body = nested(step)
        inside, own = before, (*path, below[0])
        if isinstance(step, ForeachStep):
            inside = before | self.item(step, own, before)
        until = step.foreach.until if isinstance(step, ForeachStep) else step.repeat.until
        if until is not None:
            self.until(until, (*own, "until"), inside, names_written(body, self.company) | (inside - before))
        return before | (self.steps(body, (*path, *below), inside) - (inside - before))

    def item(self, step: ForeachStep, path: KeyPath, before: Names) -> Names:
        name = step.foreach.as_
        if not is_name(name) or name in RESERVED or name in before | self.anywhere:
            self.found((*path, "as"), f"an item cannot be called {name!r}; take a name that nothing else has")
        if names := self.expression(step.foreach.over, (*path, "over"), before):
            self.need(sorted(names), (*path, "over"), before)
        return frozenset({name})

    def until(self, text: str, path: KeyPath, inside: Names, changing: Names) -> None:
        names = self.expression(text, path, inside)
        if names is not None and not names & changing:
            self.found(path, f"{text!r} names nothing that the loop writes, so it can never become true in it; name "
                       f"one of {', '.join(sorted(changing))}")

    def parallel(self, step: ParallelStep, path: KeyPath, before: Names) -> Names:
        after = before
        names: dict[str, int] = {}
        for n, branch in enumerate(step.parallel):
            after |= self.step(branch, (*path, "parallel", n), before)
            writes = names_written([branch], self.company) - {"software"}
            for what in sorted({f"`{name}`" for name in writes} | {f"the file {f}" for f in
                                                                   files_declared([branch], self.company)}):
                if what in names:
                    self.found((*path, "parallel", n), f"this branch and branch {names[what]} both write {what}; let "
                               "one of them write it, or run them one after the other")
                names[what] = n
        return after

    def processes(self) -> None:
        """Phases that a process may run can only be given what something writes."""
        if has_process(self.company):
            in_chain = {step.phase for _, step in walk(self.company.chain) if isinstance(step, PhaseStep)}
            for name, phase in self.company.phases.items():
                if name not in in_chain:
                    self.need(phase.reads, ("phases", name, "reads"), self.anywhere | self.items)

    def success(self) -> None:
        """`success` reads what the last step, a tool, writes: leaving phases out never changes what success means."""
        last = self.company.chain[-1]
        if not isinstance(last, ToolStep):
            self.found(("chain", len(self.company.chain) - 1), "the last step must be a tool that states the verdict, "
                       "e.g. `{tool: software.run, writes: test}`; add one")
            return
        names = self.expression(self.company.success, ("success",), frozenset({last.writes}))
        if names is not None and names != {last.writes}:
            self.found(("success",), f"{self.company.success!r} must read {last.writes!r}, which the last step writes, "
                       f"and nothing else; write e.g. `{last.writes}.passed`")

    def expression(self, text: str, path: KeyPath, before: Names) -> Names | None:
        """The names of an expression; None when it is broken or names what there is nowhere."""
        try:
            names = compile_expression(text).names
        except ExpressionError as error:
            self.found(path, str(error))
            return None
        unknown = names - before - self.anywhere
        for name in sorted(unknown):
            self.found(path, f"names {name!r}, which nothing writes; {known(name, sorted(before | self.anywhere))}")
        return None if unknown else names

    def need(self, reads: Sequence[str], path: KeyPath, before: Names, who: str = "") -> None:
        """Findings for each read that nothing can have written yet."""
        for problem in self.unsatisfied(reads, before):
            self.found(path, f"{who}{problem}")

    def unsatisfied(self, reads: Sequence[str], before: Names) -> Iterator[str]:
        for read in reads:
            name = bare(read)
            if read != name:
                continue
            if name in self.absent:
                yield f"reads the input {name!r}, which may be absent; write `{name}?` or give it a default"
            elif name not in before:
                later = "only a later step writes" if name in self.written else "nothing writes"
                yield f"reads {name!r}, which {later}; write it before, or `{name}?` ({known(name, sorted(before))})"

    def found(self, path: KeyPath, text: str) -> None:
        finding = Finding(path, text)
        if finding not in self.findings:
            self.findings.append(finding)
