"""Which long-term names a part of the chain writes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from chatdev.config.schema import (
    Branch,
    Company,
    ForeachStep,
    ParallelStep,
    PhaseStep,
    RepeatStep,
    StepFields,
    ToolStep,
)


def names_written(steps: Iterable[StepFields], company: Company) -> set[str]:
    """The names that the steps, nested ones included, may write; `software` is not one of them."""
    return {name for step in steps for name in _of(step, company)} - {"software"}


def _of(step: StepFields, company: Company) -> Iterator[str]:
    match step:
        case PhaseStep():
            yield company.phases[step.phase].writes
        case ToolStep():
            yield step.writes
        case RepeatStep():
            yield from names_written(step.repeat.steps, company)
        case ForeachStep():
            yield from names_written(step.foreach.steps, company)
        case ParallelStep():
            yield from names_written(step.parallel, company)
        case Branch():
            yield from names_written(step.steps, company)
