"""The kinds of steps: what YAML says of each, and how each answers the questions of `steps` (design §3)."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag

from chatdev.config.steps import Phases, Step
from chatdev.config.templates import compile_expression
from chatdev.config.validation import StrictModel


def _rounds(given: Any) -> str:
    return "expression" if isinstance(given, str) else "number"


Rounds = Annotated[
    Annotated[Annotated[int, Field(ge=1)] | None, Tag("number")] | Annotated[str, Tag("expression")],
    Discriminator(_rounds),
]


class PhaseStep(Step):
    """Run one phase."""

    kind = "phase"
    announced = False  # the phase's own events do
    phase: str
    rounds: Rounds = None
    """Most rounds here, overriding the phase: a number, or an expression for one."""
    fresh: Literal["software"] | None = None
    """`software`: the phase writes anew, as if there were no files yet; what it leaves stands only if its guard finds
    it better than what was there."""

    @property
    def name(self) -> str:
        return self.phase

    @property
    def phase_named(self) -> str:
        return self.phase

    def names_read(self, phases: Phases) -> list[str]:
        return phases[self.phase].reads if self.phase in phases else []


class ToolStep(Step):
    """Call a tool, without a model."""

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
    """The body of `repeat`."""

    until: str | None = None
    max: int = Field(ge=1)
    steps: list[ChainStep] = Field(min_length=1)


class RepeatStep(Step):
    """Run steps until an expression holds, `max` times at most."""

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
    """The body of `foreach`."""

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
    """Run steps once for each item of a list."""

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
    """Run branches at the same time; their writes meet at the end."""

    kind = "parallel"
    inner_path = ("parallel",)
    side_by_side = True
    parallel: list[BranchStep] = Field(min_length=1)

    @property
    def detail(self) -> str:
        return f"{len(self.parallel)} branches"


class ProcessStep(Step):
    """Run the phases that a list in long-term memory names."""

    kind = "process"
    inner_path = ("supplies",)
    process: str
    """Long-term name that holds a list of phase names to run in order."""
    phases: list[str] = Field([])
    """The phases that the list may name, in their default order; unset: all of the company."""
    supplies: list[ToolStep] = Field([])
    """Tools for what phases of the list read and no phase writes: each is called before a phase that reads what it
    writes."""

    @property
    def detail(self) -> str:
        return self.process

    @property
    def caption(self) -> str:
        return f"process {self.process}"

    @property
    def most_passes(self) -> None:
        return None

    def phases_run(self, phases: Phases) -> list[str]:
        return [name for name in phases if name in self.phases or not self.phases]

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
