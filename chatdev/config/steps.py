"""Steps of a chain: what every kind answers, and walks through a chain (design §3).

Each kind (`step_kinds`) knows its own name, its inner steps, what it reads and what it may write. The checks, the
drawing and the estimate ask these questions; how a kind runs is the table in `engine/chain.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from chatdev.config.phases import Phase
from chatdev.config.validation import StrictModel
from chatdev.config.yaml_nodes import KeyPath

Phases = Mapping[str, Phase]


class Step(StrictModel):
    """Fields of every step, and the methods of every kind."""

    kind: ClassVar[str]
    """The word that begins the step in YAML; events name the kind by it."""
    inner_path: ClassVar[KeyPath] = ()
    """Where the inner steps lie below this one; empty: there are none."""
    loops: ClassVar[bool] = False
    """Whether its inner steps run again and again."""
    side_by_side: ClassVar[bool] = False
    """Whether its inner steps run at the same time, not one after the other."""
    announced: ClassVar[bool] = True
    """Whether events of its own tell where it starts and finishes."""

    when: str | None = None
    """Expression; false skips the step."""
    optional: bool = False
    """In `parallel`: a failure of this branch is reported, not raised."""

    @property
    def name(self) -> str:
        """Name in the place of the run; empty: none of its own."""
        return self.kind

    @property
    def detail(self) -> str:
        """What the event of its start says beside the kind."""
        return ""

    @property
    def caption(self) -> str:
        """One line for drawings."""
        return self.name

    @property
    def children(self) -> Sequence[Step]:
        """Its inner steps."""
        inner: Any = self if self.inner_path else ()
        for key in self.inner_path:
            inner = getattr(inner, str(key))
        return inner  # type: ignore[no-any-return]  # the schema has a list of steps there

    @property
    def until(self) -> str | None:
        """Expression that ends its loop."""
        return None

    @property
    def item(self) -> str | None:
        """The name that only its inner steps see."""
        return None

    @property
    def most_passes(self) -> int | None:
        """How often its inner steps run at most; None: that shows only when it runs."""
        return 1

    @property
    def phase_named(self) -> str | None:
        """The phase that it names."""
        return None

    def phases_run(self, phases: Phases) -> list[str]:
        """The phases among `phases` that it may run itself; inner steps not counted."""
        return [name for name in phases if name == self.phase_named]

    def names_read(self, phases: Phases) -> list[str]:
        """Names it reads from long-term memory, as in YAML (`name`, or `name?` if optional)."""
        return []

    def names_written(self, phases: Phases) -> frozenset[str]:
        """The long-term names that it may write itself; inner steps not counted."""
        return frozenset(phases[name].writes for name in self.phases_run(phases))


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
