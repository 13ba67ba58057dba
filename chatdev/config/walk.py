"""Walking a chain: every step in it, and what parts of it may write."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from chatdev.config.steps import Phases, Step
from chatdev.config.yaml_nodes import KeyPath


def walk(steps: Sequence[Step], path: KeyPath = ("chain",)) -> Iterator[tuple[KeyPath, Step]]:
    """Every step with its key path, outer ones first."""
    for n, step in enumerate(steps):
        yield (*path, n), step
        yield from walk(step.children, (*path, n, *step.inner_path))


def names_written(steps: Sequence[Step], phases: Phases) -> frozenset[str]:
    """The names that these steps, inner ones included, may write."""
    return frozenset(name for _, step in walk(steps) for name in step.names_written(phases))


def names_written_only_in(steps: Sequence[Step], chain: Sequence[Step], phases: Phases) -> frozenset[str]:
    """The names that no step of the chain outside `steps` may write (`software` is never one of them)."""
    inside, everywhere = (Counter(name for _, step in walk(part) for name in step.names_written(phases))
                          for part in (steps, chain))
    return frozenset(name for name, count in inside.items() if everywhere[name] <= count) - {"software"}


def files_declared(steps: Sequence[Step], phases: Phases) -> frozenset[str]:
    """The files that these steps, inner ones included, name as theirs."""
    named = {step.phase_named for _, step in walk(steps)}
    return frozenset(file for name, phase in phases.items() if name in named for file in phase.solution.files_named)
