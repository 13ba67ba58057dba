"""Which long-term names a part of the chain writes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from chatdev.config.schema import Company, PhaseStep, StepFields, ToolStep
from chatdev.config.steps import walk


def written_only_in(steps: Sequence[StepFields], company: Company) -> set[str]:
    """The long-term names that no step of the chain outside `steps` writes (`software` is never one of them)."""
    inside = Counter(_writes(steps, company))
    everywhere = Counter(_writes(company.chain, company))
    return {name for name, count in inside.items() if everywhere[name] <= count} - {"software"}


def _writes(steps: Sequence[StepFields], company: Company) -> Iterator[str]:
    for _, step in walk(steps):
        if isinstance(step, PhaseStep):
            yield company.phases[step.phase].writes
        elif isinstance(step, ToolStep):
            yield step.writes
