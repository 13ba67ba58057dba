"""Fields of a phase in a company's YAML, its limits with a given model, and the phase as it runs."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag

from chatdev.config.profiles import ModelProfile, ModelSettings, Sizes, number_or_size
from chatdev.config.templates import render
from chatdev.config.yaml_nodes import StrictModel
from chatdev.errors import ConfigError, UnsafePath
from chatdev.workspace.change import reason_to_withhold
from chatdev.workspace.snapshot import safe_path

REFLECTIONS = 2  # design §3
Approve = Literal["before"] | None
Form = Literal["text", "choice", "files", "json", "list"]


class Limits(StrictModel):
    """A budget; what is unset is unlimited."""

    calls: int | None = Field(None, ge=1)
    """Model calls."""
    tokens: int | None = Field(None, ge=1)
    """Prompt and completion tokens together."""
    cost: float | None = Field(None, ge=0, allow_inf_nan=False)
    """US dollars."""
    minutes: float | None = Field(None, gt=0, allow_inf_nan=False)
    """Time that passes, not only that of the calls."""


Most = Annotated[
    Annotated[Annotated[int, Field(ge=1)] | None, Tag("number")]
    | Annotated[Literal["commands", "examples"], Tag("size")],
    Discriminator(number_or_size),
]


class Solution(StrictModel):
    """The form of what a phase agrees on, and how hard to try for it."""

    form: Form = "text"
    options: list[str] = Field([])
    """choice: what may be chosen."""
    schema_: dict[str, Any] = Field({}, alias="schema")
    """json: a JSON schema."""
    as_file: str | None = None
    """files: the whole solution is the content of this one file; a template over what the phase reads."""
    most: Most = None
    """list: how many items there may be at most; more are cut off. A number, or the name of a size of the model."""
    only: list[str] = Field([])
    """files: glob patterns of the paths that may be written; empty means any."""
    beside: list[str] = Field([])
    """files: glob patterns of further paths that may be written where a response names them, without being asked."""
    retries: int = Field(2, ge=0)
    """How often an unreadable response goes back to the assistant."""
    approve: Approve = None
    """`before`: a person accepts, refuses or edits each delivery before it is applied."""

    @property
    def files_named(self) -> list[str]:
        """The files that it names as its own: `as_file`, and what stands in `only` without wildcards."""
        names = [self.as_file] if self.as_file else self.only
        return [name for name in names if not set(name) & set("*?[{")]

    @property
    def is_self_evident(self) -> bool:
        """Whether a readable answer is the solution, so that no marker has to say so."""
        return self.form in ("choice", "json", "list") or self.as_file is not None

    @property
    def longest(self) -> int | None:
        """How many items a list may have, once `settle` has put a number for the name of a size."""
        return self.most if isinstance(self.most, int) else None


class Memory(StrictModel):
    """Short-term memory of a phase."""

    window: int | None = Field(None, ge=1)
    """How many of the last exchanges are kept beside the opening; unset: all."""
    fresh: bool = False
    """Whether each round starts from the opening, rendered anew, without the earlier rounds."""


class Guidance(StrictModel):
    """What each side does in this phase (templates); the mirrored part of the inception prompts."""

    instructor: str = ""
    assistant: str = ""


class OnNoSolution(StrictModel):
    """What stands when even reflection found no solution."""

    value: Any


def _no_solution(choice: Any) -> str:
    return "value" if isinstance(choice, dict | OnNoSolution) else "word"


NoSolution = Annotated[
    Annotated[Literal["fail", "keep", "observed"], Tag("word")] | Annotated[OnNoSolution, Tag("value")],
    Discriminator(_no_solution),
]


def _drafts(choice: Any) -> str:
    return "word" if isinstance(choice, str) else "number"


Drafts = Annotated[
    Annotated[int, Field(ge=1), Tag("number")] | Annotated[Literal["model"], Tag("word")],
    Discriminator(_drafts),
]


class Phase(StrictModel):
    """A dialogue between an instructor and an assistant that ends in a solution."""

    like: str | None = None
    """Another phase of the company; its fields hold where this one gives none."""
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
    mends: str | None = None
    """files: tool that puts right in a delivery what needs no thought, before anything judges it."""
    drafts: Drafts = 1
    """How often the assistant's first delivery is drawn; the best one by `guard`, else by `feedback`, is kept. `model`:
    as often as the profile of the assistant's model says."""
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
    approve: Approve = None
    """`before`: a person says, before the first call, whether the phase runs."""
    stuck: bool = True
    """Whether going in circles ends the phase; false: only the other endings do."""
    model: ModelSettings = ModelSettings()


def bare_name(read: str) -> str:
    """The name behind an entry of `reads`: `plan` of `plan?`."""
    return read.removesuffix("?")


def names_read(reads: Sequence[str]) -> frozenset[str]:
    """The names behind `reads`, optional or not."""
    return frozenset(map(bare_name, reads))


@dataclass(frozen=True, slots=True)
class PhaseLimits:
    """Limits of one execution of a phase: those of the phase, within those of the model's profile."""

    rounds: int
    """Most rounds; 1 without an instructor and without feedback."""
    questions: int
    """Most questions of the assistant in one round; 0: it may not ask."""
    window: int | None
    """Exchanges that are remembered beside the opening; None: all."""
    budget: Limits
    """Budget of its calls, without reflections."""
    reflections: int
    """Most attempts to draw the conclusion that the pair did not."""
    drafts: int = 1
    """Most drafts of the first delivery."""
    drafts_at_once: int = 1


def phase_limits(phase: Phase, profile: ModelProfile) -> PhaseLimits:
    """The limits of `phase` when its assistant's model has this profile. The engine keeps to them, and the estimate
    counts with them."""
    alone = phase.instructor is None
    rounds = 1 if alone and phase.feedback is None else min(phase.rounds, profile.rounds or phase.rounds)
    asks = phase.dehallucination and not alone
    drafts = _most_drafts(phase, profile)
    return PhaseLimits(rounds, min(phase.questions, profile.questions or phase.questions) if asks else 0,
                       phase.memory.window or profile.window, phase.budget,
                       0 if phase.on_no_solution == "observed" else REFLECTIONS,
                       drafts, min(drafts, profile.drafts_at_once))


def _most_drafts(phase: Phase, profile: ModelProfile) -> int:
    return profile.drafts if phase.drafts == "model" or profile.is_person else phase.drafts


# A phase as it runs: what its YAML leaves to the model's sizes and to the values at hand is put in.


def settle(phase: Phase, values: Mapping[str, Any], sizes: Sizes) -> Phase:
    """The phase with a number for the name of a size, and with the name of its one file. Raises ConfigError for a name
    that cannot be rendered, or that no file of the software can have."""
    solution, found = phase.solution, dict[str, Any]()
    if isinstance(solution.most, str):
        found["most"] = sizes.number(solution.most)
    if solution.as_file and is_template(solution.as_file):
        found["as_file"] = _file_named(solution.as_file, values)
    return phase.model_copy(update={"solution": solution.model_copy(update=found)}) if found else phase


def is_template(name: str) -> bool:
    """Whether a file's name still has to be rendered."""
    return "{" in name


def unsafe_name(name: str) -> str:
    """Reason why no file of the software can have this name (wildcards count as letters); empty if one can."""
    try:
        plain = safe_path(re.sub(r"[*?\[\]]", "x", name))
    except UnsafePath as problem:
        return str(problem)
    if why := reason_to_withhold(plain):
        return f"{name!r} may not be written: {why}"
    return "" if len(plain) == len(name) else f"{name!r} is not in its plain form"


def _file_named(template: str, values: Mapping[str, Any]) -> str:
    name = render(template, values, "solution.as_file").strip()
    if problem := unsafe_name(name):
        raise ConfigError(f"solution.as_file: {problem}; a phase without a file to write is left out by `when`")
    return name
