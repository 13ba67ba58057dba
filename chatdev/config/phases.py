"""Fields of a phase in a company's YAML, its limits with a given model, the phase as it runs, and its inception
prompts: what one agent reads at its start (ChatDev §3.1, equation 2).

The words are in the company's `protocol`; here is only what they may speak of. Both sides get the same parts, mirrored.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

from pydantic import Discriminator, Field, Tag

from chatdev.config.profiles import ModelProfile, ModelSettings, Sizes, number_or_size
from chatdev.config.templates import render
from chatdev.config.yaml_nodes import StrictModel
from chatdev.errors import ConfigError, UnsafePath
from chatdev.events import Speaker
from chatdev.workspace.change import reason_to_withhold
from chatdev.workspace.file_tree import safe_path

if TYPE_CHECKING:
    from chatdev.config.schema import CompanyConfig

SOLUTION_MARKER = "<SOLUTION>"
"""Begins an utterance that concludes the phase."""
QUESTION_MARKER = "<QUESTION>"
"""Begins an assistant's question (dehallucination)."""

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


class ToolDescription(NamedTuple):
    """A tool as agents see it."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    """JSON schema."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Values and tools of one agent at the start of a phase."""

    values: Mapping[str, Any]
    """The visible inputs by name and what the phase reads, None for a `name?` that is absent."""
    tools: Sequence[ToolDescription] = ()
    """Those that the agent may use."""
    native_tools: bool = False
    """Whether its model is given them through the API."""
    has_software: bool = False
    example: str = ""
    """A part of the software as a delivery brings it, or empty."""
    documents_language: str = ""
    sizes: Sizes = field(default_factory=Sizes)
    """What its model can do at a time."""
    is_person: bool = False
    """Whether a person plays the role; then the message is `protocol.person`."""


def system_prompt(company: CompanyConfig, phase_name: str, speaker: Speaker, found: Surroundings) -> str:
    """The system message of one side of a phase: `protocol.system`, for a person `protocol.person`, with

    company, background, phase {name, about}, me {title, prompt}, other {title} or None, speaker, guidance,
    tools [{name, description, parameters}], native_tools, tool_text, form, form_text, may_conclude,
    other_may_conclude, dehallucination, questions, rounds, opens, feedback, code (whether there is code to speak of)
    and self_evident (whether a readable answer is the solution), each true or false; marker, question_marker,
    documents_language, sizes.

    Raises ConfigError when a template cannot be rendered.
    """
    phase = settle(company.phases[phase_name], found.values, found.sizes)
    other: Speaker = "assistant" if speaker == "instructor" else "instructor"
    counterpart = _role_name(phase, other)
    given = {"sizes": found.sizes, **_inputs(company, found.values)}
    tools = [tool._asdict() for tool in found.tools]
    name = "person" if found.is_person else "system"
    return render(getattr(company.protocol, name), {
        "company": company.company,
        "background": render(company.background, given, "background"),
        "phase": {"name": phase_name, "about": phase.about},
        "me": _me(company, _role_name(phase, speaker), given),
        "other": {"title": company.roles[counterpart].title} if counterpart else None,
        "speaker": speaker,
        "guidance": _guidance(phase, phase_name, speaker, found),
        "tools": tools,
        "native_tools": found.native_tools,
        "tool_text": "" if found.native_tools else tool_text(company, tools, found.sizes),
        "form": phase.solution.form,
        "form_text": form_text(company, phase, has_software=found.has_software, example=found.example,
                               sizes=found.sizes),
        "may_conclude": phase.concludes in (speaker, "either"),
        "other_may_conclude": counterpart is not None and phase.concludes in (other, "either"),
        **{name: getattr(phase, name) for name in ("dehallucination", "questions", "rounds", "opens")},
        "feedback": phase.feedback is not None,
        "code": found.has_software or phase.writes == "software",
        "self_evident": phase.solution.is_self_evident,
        "sizes": found.sizes,
        "marker": SOLUTION_MARKER,
        "question_marker": QUESTION_MARKER,
        "documents_language": found.documents_language,
    }, f"protocol.{name}")


def form_text(company: CompanyConfig, phase: Phase, *, has_software: bool, example: str = "",
              sizes: Sizes | None = None) -> str:
    """How the solution of `phase` is to be written: the protocol's entry for its form, with options, schema (JSON
    schema as a mapping), most, file, only, writes, marker, example (a part of the software as a delivery brings it, or
    empty). Files are changed by `files_partial` once there is software."""
    solution = phase.solution
    name: str = solution.form
    if name == "files" and solution.as_file:
        name = "as_file"
    elif name == "files" and has_software:
        name = "files_partial"
    template = getattr(company.protocol, {"json": "json_", "list": "list_"}.get(name, name))
    return render(template, {
        "options": solution.options, "schema": solution.schema_, "most": solution.longest, "file": solution.as_file,
        "only": solution.only, "writes": phase.writes, "marker": SOLUTION_MARKER, "example": example,
        "sizes": sizes or Sizes(),
    }, f"protocol.{name}")


def tools_of(company: CompanyConfig, phase: Phase, speaker: Speaker, sizes: Sizes) -> list[str]:
    """Names of the tools that one side of a phase may use: its role's, if its model has these sizes, which the phase
    may narrow for the assistant."""
    name = _role_name(phase, speaker)
    role = company.roles[name] if name is not None else None
    if role is None or (role.tools_when == "strong" and sizes.program == "small"):
        return []
    return phase.tools if speaker == "assistant" and phase.tools is not None else role.tools


def tool_text(company: CompanyConfig, tools: Sequence[Mapping[str, Any]], sizes: Sizes) -> str:
    """How to call tools, for models without native tool calls; empty when there are none."""
    return render(company.protocol.tools, {"tools": tools, "sizes": sizes}, "protocol.tools") if tools else ""


def _inputs(company: CompanyConfig, values: Mapping[str, Any]) -> dict[str, Any]:
    """Names for role prompts and the background: the visible inputs by name, and all of them as `inputs`."""
    hidden = {name for name, declared in company.inputs.items() if declared.hidden}
    visible = {name: values.get(name) for name in ("task", *company.inputs) if name not in hidden}
    return {**visible, "inputs": visible}


def _role_name(phase: Phase, speaker: Speaker) -> str | None:
    return phase.assistant if speaker == "assistant" else phase.instructor


def _me(company: CompanyConfig, name: str | None, given: Mapping[str, Any]) -> dict[str, str]:
    """Title and prompt of the speaker; without roles (an ablation) only the title."""
    if name is None:
        return {"title": "", "prompt": ""}
    role = company.roles[name]
    return {"title": role.title, "prompt": render(role.prompt, given, f"roles.{name}.prompt")
            if company.with_roles else ""}


def _guidance(phase: Phase, phase_name: str, speaker: Speaker, found: Surroundings) -> str:
    template = phase.guidance.instructor if speaker == "instructor" else phase.guidance.assistant
    seen = {name: found.values[name] for name in names_read(phase.reads) if name in found.values}
    return render(template, {"sizes": found.sizes, **seen}, f"phases.{phase_name}.guidance.{speaker}")
