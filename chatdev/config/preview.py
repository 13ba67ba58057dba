"""Preview of a run (`--dry-run`): its prompts, as far as they are known before the first reply."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from chatdev.config.inception import Surroundings, ToolDescription, system_prompt, tools_of
from chatdev.config.phases import Phase, bare_name
from chatdev.config.profiles import ModelProfile, ModelSettings, Sizes
from chatdev.config.schema import CompanyConfig
from chatdev.config.schema_text import call_schema
from chatdev.config.settings import profile_of
from chatdev.config.steps import walk
from chatdev.config.templates import render, variables
from chatdev.errors import ConfigError
from chatdev.events import Speaker


@dataclass(frozen=True, slots=True)
class PhasePreview:
    """The prompts of one side of one phase. `place` is the key path of its step; `tools` are those that its model is
    given through the API (others are in `system`, in words); not `known`: the opening holds ‹placeholders› for what
    earlier steps will have written."""

    place: str
    phase: str
    role: str
    speaker: Speaker
    system: str
    opening: str
    known: bool
    tools: tuple[ToolDescription, ...] = ()


class Placeholder:
    """A value that is not there yet; entries of it are placeholders too, and it shows as ‹name›."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __str__(self) -> str:
        return f"‹{self._name}›"

    def __getattr__(self, entry: str) -> Placeholder:
        if entry.startswith("_"):
            raise AttributeError(entry)
        return Placeholder(f"{self._name}.{entry}")

    def __getitem__(self, entry: object) -> Placeholder:
        return Placeholder(f"{self._name}.{entry}")

    def __call__(self, *_: object) -> Placeholder:
        return self

    def __iter__(self) -> Iterator[Placeholder]:
        yield self["…"]

    def __len__(self) -> int:
        return 1


def preview(company: CompanyConfig, inputs: Mapping[str, Any],
            tools: Mapping[str, ToolDescription] | None = None, *, default: ModelSettings | None = None,
            profiles: Sequence[ModelProfile] = (), software: Mapping[str, bytes] | None = None,
            language: str = "") -> list[PhasePreview]:
    """The prompts of every phase step of the chain, in order, instructor before assistant; loops once.

    `inputs` are the visible inputs by name; `tools` are the tools by name (those that are not given are left out).
    `default` is the default model, by whose profile the prompts go; `profiles` are the user's own. `software` is what
    is handed in, by path; `language` is that of the documents.
    """
    show = _Show(company, inputs, tools or {}, default or ModelSettings(), profiles, software or {}, language)
    return [shown for path, step in walk(company.chain) if step.phase_named
            for shown in _of_step(show, ".".join(map(str, path)), step.phase_named)]


@dataclass(frozen=True, slots=True)
class _Show:
    company: CompanyConfig
    inputs: Mapping[str, Any]
    tools: Mapping[str, ToolDescription]
    default: ModelSettings
    profiles: Sequence[ModelProfile]
    software: Mapping[str, bytes]
    language: str

    def profile(self, phase: Phase, role: str) -> ModelProfile:
        """What is known of the model of `role`."""
        return profile_of(self.company, phase, role, self.default, self.profiles)

    def values(self, phase: Phase) -> dict[str, Any]:
        """What the phase reads, as far as it is known."""
        values = known_values(self.company, phase, self.inputs)
        return {**values, "software": self.software} if self.software and "software" in values else values


def _of_step(show: _Show, place: str, name: str) -> Iterator[PhasePreview]:
    phase = show.company.phases[name]
    values = show.values(phase)
    unknown = {key for key, value in values.items() if isinstance(value, Placeholder)}
    given = {"sizes": show.profile(phase, phase.assistant).sizes, **values}
    opening = shown_text(phase.opening, given, f"phases.{name}.opening")
    sides: list[tuple[Speaker, str | None]] = [("instructor", phase.instructor), ("assistant", phase.assistant)]
    for speaker, role in sides:
        if role is None:
            continue
        text = phase.guidance.instructor if speaker == "instructor" else phase.guidance.assistant
        profile = show.profile(phase, role)
        tools = _tools_for(show, phase, speaker, profile.sizes)
        yield PhasePreview(place, name, role, speaker, _system(show, name, speaker, values, tools), opening,
                           not unknown & (variables(phase.opening) | variables(text)),
                           tools if profile.native_tools else ())


def known_values(company: CompanyConfig, phase: Phase, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Values a phase reads: inputs as given (None if absent), everything else as placeholders."""
    visible = {name: inputs.get(name) for name, declared in company.inputs.items() if not declared.hidden}
    visible.setdefault("task", inputs.get("task"))
    read = {name: Placeholder(name) for name in map(bare_name, phase.reads)}
    feedback = {"feedback": Placeholder("feedback")} if phase.feedback else {}
    return {**read, **feedback, **visible, "inputs": visible}


def shown_text(template: str, values: Mapping[str, Any], where: str) -> str:
    """The rendered template; the template itself where a placeholder cannot stand for the value."""
    try:
        return render(template, values, where)
    except ConfigError:
        return template


def _tools_for(show: _Show, phase: Phase, speaker: Speaker, sizes: Sizes) -> tuple[ToolDescription, ...]:
    """What one side of a phase may use, as a model of these sizes gets it."""
    offered = (show.tools[tool] for tool in tools_of(show.company, phase, speaker, sizes) if tool in show.tools)
    return tuple(tool._replace(parameters=call_schema(tool.parameters, sizes)) for tool in offered)


def _system(show: _Show, name: str, speaker: Speaker, values: Mapping[str, Any],
            tools: Sequence[ToolDescription]) -> str:
    company, phase = show.company, show.company.phases[name]
    role = phase.assistant if speaker == "assistant" else phase.instructor or phase.assistant
    profile = show.profile(phase, role)
    try:
        found = Surroundings(values, tools, profile.native_tools, has_software="software" in phase.reads,
                             documents_language=show.language, sizes=profile.sizes)
        return system_prompt(company, name, speaker, found)
    except ConfigError:
        return company.protocol.system
