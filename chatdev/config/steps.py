"""The kinds of steps: what YAML says of each, and what the rest asks of it (design §3).

Each kind knows its own name, its inner steps, what it reads and what it may write. The checks, the drawing and the
estimate ask these questions; how a kind runs is the table in `engine/chain.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Discriminator, Field, Tag

from chatdev.config.phases import Phase
from chatdev.config.templates import compile_expression
from chatdev.config.validation import StrictModel
from chatdev.config.yaml_nodes import KeyPath

Phases = Mapping[str, Phase]


class Step(StrictModel):
    """What every step may say, and the questions that every kind answers."""

    kind: ClassVar[str]
    """The word that begins the step in YAML; events name the kind by it."""
    inner_path: ClassVar[KeyPath] = ()
    """Where the inner steps lie below this one; empty: there are none."""
    loops: ClassVar[bool] = False
    """Whether its inner steps run again and again."""
    side_by_side: ClassVar[bool] = False
    """Whether its inner steps run at the same time, not one after the other."""
    runs_any_phase: ClassVar[bool] = False
    """Whether it may run any phase of the company."""
    announced: ClassVar[bool] = True
    """Whether events of its own tell where it starts and finishes."""

    when: str | None = None
    """Expression; false skips the step."""
    optional: bool = False
    """In `parallel`: a failure of this branch is reported, not raised."""

    @property
    def name(self) -> str:
        """What its place in a run carries; empty: it has none of its own."""
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
        return [name for name in phases if self.runs_any_phase or name == self.phase_named]

    def names_read(self, phases: Phases) -> list[str]:
        """What it must find in long-term memory itself, as in YAML (`name`, or `name?` when it may be absent)."""
        return []

    def names_written(self, phases: Phases) -> frozenset[str]:
        """The long-term names that it may write itself; inner steps not counted."""
        return frozenset(phases[name].writes for name in self.phases_run(phases))


class PhaseStep(Step):
    kind = "phase"
    announced = False  # the phase's own events do
    phase: str

    @property
    def name(self) -> str:
        return self.phase

    @property
    def phase_named(self) -> str:
        return self.phase

    def names_read(self, phases: Phases) -> list[str]:
        return phases[self.phase].reads if self.phase in phases else []


class ToolStep(Step):
    kind = "tool"
    tool: str
    writes: str
    reads: list[str] | None = None
    """Long-term names handed to the tool; unset: the tool's own declaration."""

    @property
    def name(self) -> str:
        return self.tool

    @property
    def detail(self) -> str:
        return self.tool

    @property
    def caption(self) -> str:
        return f"tool {self.tool} → {self.writes}"

    def names_read(self, phases: Phases) -> list[str]:
        return self.reads or []

    def names_written(self, phases: Phases) -> frozenset[str]:
        return frozenset({self.writes})


class Repeat(StrictModel):
    until: str | None = None
    max: int = Field(ge=1)
    steps: list[ChainStep] = Field(min_length=1)


class RepeatStep(Step):
    kind = "repeat"
    inner_path = ("repeat", "steps")
    loops = True
    repeat: Repeat

    @property
    def detail(self) -> str:
        return f"until {self.until or 'max'}, at most {self.repeat.max}"

    @property
    def caption(self) -> str:
        return f"repeat until {self.until or 'the end'}, at most {self.repeat.max} times"

    @property
    def until(self) -> str | None:
        return self.repeat.until

    @property
    def most_passes(self) -> int:
        return self.repeat.max


class Foreach(StrictModel):
    over: str
    """Expression that yields a list."""
    as_: str = Field(alias="as")
    id: str = "id"
    """Field of an item that names it, for `depends_on`; an item without it is named by its position."""
    depends_on: str | None = None
    """Field of an item that lists the ids of its parents."""
    until: str | None = None
    fresh: Literal["software"] | None = None
    """`software`: every item starts from the software as it was before the loop."""
    steps: list[ChainStep] = Field(min_length=1)


class ForeachStep(Step):
    kind = "foreach"
    inner_path = ("foreach", "steps")
    loops = True
    foreach: Foreach

    @property
    def detail(self) -> str:
        return f"{self.item} of {self.foreach.over}"

    @property
    def caption(self) -> str:
        until = f", until {self.until}" if self.until else ""
        return f"for each {self.item} in {self.foreach.over}{until}"

    @property
    def until(self) -> str | None:
        return self.foreach.until

    @property
    def item(self) -> str:
        return self.foreach.as_

    @property
    def most_passes(self) -> None:
        return None

    def names_read(self, phases: Phases) -> list[str]:
        """The names of `over`; raises ExpressionError when it is broken."""
        return sorted(compile_expression(self.foreach.over).names)


class Branch(Step):
    """Several steps as one branch of `parallel`."""

    kind = "steps"
    inner_path = ("steps",)
    announced = False
    steps: list[ChainStep] = Field(min_length=1)

    @property
    def name(self) -> str:
        return ""

    @property
    def caption(self) -> str:
        return "branch"


class ParallelStep(Step):
    kind = "parallel"
    inner_path = ("parallel",)
    side_by_side = True
    parallel: list[BranchStep] = Field(min_length=1)

    @property
    def detail(self) -> str:
        return f"{len(self.parallel)} branches"


class ProcessStep(Step):
    kind = "process"
    runs_any_phase = True
    process: str
    """Long-term name that holds a list of phase names to run in order."""

    @property
    def detail(self) -> str:
        return self.process

    @property
    def caption(self) -> str:
        return f"process {self.process}"

    @property
    def most_passes(self) -> None:
        return None

    def names_read(self, phases: Phases) -> list[str]:
        return [self.process]


STEP_KINDS: tuple[type[Step], ...] = (PhaseStep, ToolStep, RepeatStep, ForeachStep, ParallelStep, ProcessStep)
BRANCH_KINDS: tuple[type[Step], ...] = (*STEP_KINDS, Branch)


def _kind(step: Any) -> str | None:
    """Which step a mapping (or a step already built) is; None when it is none of them."""
    if isinstance(step, Step):
        return step.kind
    return next((cls.kind for cls in BRANCH_KINDS if isinstance(step, dict) and cls.kind in step), None)


_AnyStep = (
    Annotated[PhaseStep, Tag("phase")] | Annotated[ToolStep, Tag("tool")] | Annotated[RepeatStep, Tag("repeat")]
    | Annotated[ForeachStep, Tag("foreach")] | Annotated[ParallelStep, Tag("parallel")]
    | Annotated[ProcessStep, Tag("process")]
)
ChainStep = Annotated[
    _AnyStep,
    Discriminator(_kind, custom_error_type="step",
                  custom_error_message=f"a step is one of: {', '.join(cls.kind for cls in STEP_KINDS)}"),
]
BranchStep = Annotated[
    _AnyStep | Annotated[Branch, Tag("steps")],
    Discriminator(_kind, custom_error_type="step",
                  custom_error_message=f"a branch is one of: {', '.join(cls.kind for cls in BRANCH_KINDS)}"),
]
for _model in (Repeat, Foreach, Branch, ParallelStep):
    _model.model_rebuild()
