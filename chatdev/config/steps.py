"""Steps of a chain as a tree: what lies inside a step, and what it may write."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

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


def nested(step: StepFields) -> tuple[KeyPath, Sequence[StepFields]]:
    """The steps inside a step with their key path below it; none for a simple step."""
    match step:
        case RepeatStep():
            return ("repeat", "steps"), step.repeat.steps
        case ForeachStep():
            return ("foreach", "steps"), step.foreach.steps
        case ParallelStep():
            return ("parallel",), step.parallel
        case Branch():
            return ("steps",), step.steps
    return (), ()


def walk(steps: Sequence[StepFields], path: KeyPath = ("chain",)) -> Iterator[tuple[KeyPath, StepFields]]:
    """Every step with its key path, outer ones first."""
    for n, step in enumerate(steps):
        yield (*path, n), step
        below, inner = nested(step)
        yield from walk(inner, (*path, n, *below))


def names_written(steps: Sequence[StepFields], company: Company) -> frozenset[str]:
    """The names that these steps, nested ones included, may write; a `process` may run any phase."""
    found: set[str] = set()
    for _, step in walk(steps):
        if isinstance(step, PhaseStep) and step.phase in company.phases:
            found.add(company.phases[step.phase].writes)
        elif isinstance(step, ToolStep):
            found.add(step.writes)
        elif isinstance(step, ProcessStep):
            found.update(phase.writes for phase in company.phases.values())
    return frozenset(found)


def files_declared(steps: Sequence[StepFields], company: Company) -> frozenset[str]:
    """The files that these steps name as theirs: `as_file`, and the literal names in `only`."""
    found: set[str] = set()
    for _, step in walk(steps):
        if isinstance(step, PhaseStep) and step.phase in company.phases:
            solution = company.phases[step.phase].solution
            names = [solution.as_file] if solution.as_file else solution.only
            found.update(name for name in names if not set(name) & set("*?["))
    return frozenset(found)


def has_process(company: Company) -> bool:
    """Whether phases may run that the chain does not name."""
    return any(isinstance(step, ProcessStep) for _, step in walk(company.chain))
