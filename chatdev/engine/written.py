"""Which long-term names a part of the chain writes."""

from __future__ import annotations

from collections import Counter
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


def written_only_in(steps: Iterable[StepFields], company: Company) -> set[str]:
    """The long-term names that no step of the chain outside `steps` writes (`software` is never one of them)."""
    inside = Counter(_writes(steps, company))
    everywhere = Counter(_writes(company.chain, company))
    return {name for name, count in inside.items() if everywhere[name] <= count} - {"software"}


def _writes(steps: Iterable[StepFields], company: Company) -> Iterator[str]:
    for step in steps:
        match step:
            case PhaseStep():
                yield company.phases[step.phase].writes
            case ToolStep():
                yield step.writes
            case RepeatStep():
                yield from _writes(step.repeat.steps, company)
            case ForeachStep():
                yield from _writes(step.foreach.steps, company)
            case ParallelStep():
                yield from _writes(step.parallel, company)
            case Branch():
                yield from _writes(step.steps, company)
