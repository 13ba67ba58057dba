"""What a company's YAML may say: the shapes, field by field (design §4)."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag

from chatdev.config.limits import Limits
from chatdev.config.protocol import Protocol
from chatdev.config.strict import Strict

Install = Literal["auto", "ask", "never"]
Form = Literal["text", "choice", "files", "json", "list"]


class ModelSettings(Strict):
    """A model and how to draw from it; every unset value falls back to phase < role < company < command line."""

    name: str | None = None
    """A model name of the endpoint, `local`, or `local:PATH.gguf`."""
    base_url: str | None = None
    """An OpenAI-compatible endpoint of its own."""
    key_env: str | None = None
    """Name of the environment variable that holds this endpoint's key."""
    temperature: float | None = Field(None, ge=0, le=2)
    top_p: float | None = Field(None, gt=0, le=1)
    max_tokens: int | None = Field(None, gt=0)
    seed: int | None = None


class Input(Strict):
    """Something the user hands in with `--input name=value` (`task` also as `--task`)."""

    about: str = ""
    kind: Literal["text", "file", "image"] = "text"
    required: bool = False
    hidden: bool = False
    """True: tools only; no template may name it."""
    default: str | None = None


class Role(Strict):
    """Somebody of the company."""

    title: str
    prompt: str = ""
    """Template: who this is; may use `task` and other inputs."""
    tools: list[str] = Field([])
    model: ModelSettings = ModelSettings()


class Solution(Strict):
    """The form of what a phase agrees on, and how hard to try for it."""

    form: Form = "text"
    options: list[str] = Field([])
    """choice: what may be chosen."""
    schema_: dict[str, Any] = Field({}, alias="schema")
    """json: a JSON schema."""
    as_file: str | None = None
    """files: the whole solution is the content of this one file."""
    most: int | None = Field(None, ge=1)
    """list: so many items at most; more are cut off."""
    only: list[str] = Field([])
    """files: glob patterns of the paths that may be written; empty means any."""
    retries: int = Field(2, ge=0)
    """How often an unreadable response goes back to the assistant."""


class Memory(Strict):
    """Short-term memory of a phase."""

    window: int | None = Field(None, ge=1)
    """Keep the opening and only the last so many exchanges; unset keeps all."""


class Guidance(Strict):
    """What each side does in this phase (templates); the mirrored part of the inception prompts."""

    instructor: str = ""
    assistant: str = ""


class OnNoSolution(Strict):
    """What stands when even reflection found no solution."""

    value: Any


def _no_solution(choice: Any) -> str:
    return "value" if isinstance(choice, dict | OnNoSolution) else "word"


NoSolution = Annotated[
    Annotated[Literal["fail", "keep", "observed"], Tag("word")] | Annotated[OnNoSolution, Tag("value")],
    Discriminator(_no_solution),
]


class Phase(Strict):
    """A dialogue between an instructor and an assistant that ends in a solution."""

    about: str
    """The objective of the subtask, one sentence; both agents read it."""
    instructor: str | None = None
    """Role that instructs; None: the assistant acts alone on the opening."""
    assistant: str
    reads: list[str] = Field([])
    """Names the opening and guidance may use: `name`, or `name?` when it may be absent."""
    writes: str
    """Long-term name of the solution; `software` for files."""
    opening: str
    guidance: Guidance = Guidance()
    solution: Solution = Solution()
    opens: Literal["brief", "instructor"] = "brief"
    concludes: Literal["assistant", "instructor", "either"] = "either"
    rounds: int = Field(10, ge=1)
    dehallucination: bool = False
    questions: int = Field(1, ge=1)
    """Most questions the assistant may ask in one round when `dehallucination` is on."""
    feedback: str | None = None
    """Tool whose report on each delivery the pair reads next; passing ends the phase."""
    guard: str | None = None
    """Tool that only protects: a delivery that is worse by it than the one before is not kept. The pair reads its
    report, too."""
    memory: Memory = Memory()
    tools: list[str] | None = None
    """Narrows the assistant's tools; unset: all of its role's."""
    tool_calls: int = Field(8, ge=1)
    """Most tool calls in one turn."""
    on_no_solution: NoSolution = "fail"
    """`observed`: what the tools said in the phase stands, and nothing is reflected on."""
    once: bool = False
    """Whether a run that adds to a finished one keeps that one's solution and skips the phase."""
    budget: Limits = Limits()
    """What one execution may take; reaching it ends the phase as the last round does."""
    stuck: bool = True
    """Whether going in circles ends the phase; false: only the other endings do."""
    model: ModelSettings = ModelSettings()


class StepFields(Strict):
    """What every step may say."""

    when: str | None = None
    """Expression; false skips the step."""
    optional: bool = False
    """In `parallel`: a failure of this branch is reported, not raised."""


class PhaseStep(StepFields):
    phase: str


class ToolStep(StepFields):
    tool: str
    writes: str
    reads: list[str] | None = None
    """Long-term names handed to the tool; unset: the tool's own declaration."""


class Repeat(Strict):
    until: str | None = None
    max: int = Field(ge=1)
    steps: list[Step] = Field(min_length=1)


class RepeatStep(StepFields):
    repeat: Repeat


class Foreach(Strict):
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
    steps: list[Step] = Field(min_length=1)


class ForeachStep(StepFields):
    foreach: Foreach


class Branch(StepFields):
    """Several steps as one branch of `parallel`."""

    steps: list[Step] = Field(min_length=1)


class ParallelStep(StepFields):
    parallel: list[BranchStep] = Field(min_length=1)


class ProcessStep(StepFields):
    process: str
    """Long-term name that holds a list of phase names to run in order."""


_STEPS: dict[str, type[StepFields]] = {
    "phase": PhaseStep, "tool": ToolStep, "repeat": RepeatStep, "foreach": ForeachStep, "parallel": ParallelStep,
    "process": ProcessStep,
}
_BRANCHES: dict[str, type[StepFields]] = {**_STEPS, "steps": Branch}


def _kind(step: Any, kinds: dict[str, type[StepFields]]) -> str | None:
    """Which step a mapping (or a step already built) is; None when it is none of them."""
    for name, cls in kinds.items():
        if isinstance(step, cls) or (isinstance(step, dict) and name in step):
            return name
    return None


def _step_kind(step: Any) -> str | None:
    return _kind(step, _STEPS)


def _branch_kind(step: Any) -> str | None:
    return _kind(step, _BRANCHES)


_AnyStep = (
    Annotated[PhaseStep, Tag("phase")] | Annotated[ToolStep, Tag("tool")] | Annotated[RepeatStep, Tag("repeat")]
    | Annotated[ForeachStep, Tag("foreach")] | Annotated[ParallelStep, Tag("parallel")]
    | Annotated[ProcessStep, Tag("process")]
)
Step = Annotated[
    _AnyStep,
    Discriminator(_step_kind, custom_error_type="step",
                  custom_error_message=f"a step is one of: {', '.join(_STEPS)}"),
]
BranchStep = Annotated[
    _AnyStep | Annotated[Branch, Tag("steps")],
    Discriminator(_branch_kind, custom_error_type="step",
                  custom_error_message=f"a branch is one of: {', '.join(_BRANCHES)}"),
]


class Company(Strict):
    """A company: roles, phases and a chain."""

    company: str
    about: str
    source: str = ""
    extends: str | None = None
    background: str = ""
    """Template: what the company is; both agents of every phase read it."""
    inputs: dict[str, Input]
    model: ModelSettings = ModelSettings()
    roles: dict[str, Role]
    phases: dict[str, Phase]
    chain: list[Step] = Field(min_length=1)
    success: str
    """Expression over long-term memory; reads what the last tool step wrote."""
    protocol: Protocol
    install: Install = "auto"
    """Whether packages that programs import are installed; a user may be stricter."""
    with_roles: bool = True
    """False leaves the role prompts out (an ablation of the paper)."""


for _model in (Repeat, Foreach, Branch, ParallelStep, Company):
    _model.model_rebuild()
