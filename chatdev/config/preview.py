"""Preview of a run (`--dry-run`): its prompts, as far as they are known before the first reply."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from chatdev.config.inception import Surroundings, ToolDescription, system_prompt, tools_of
from chatdev.config.phases import Phase, bare_name
from chatdev.config.profiles import ModelProfile, ModelSettings, Sizes
from chatdev.config.schema import CompanyConfig
from chatdev.config.settings import profile_of
from chatdev.config.steps import walk
from chatdev.config.templates import render, variables
from chatdev.errors import ConfigError
from chatdev.events import Speaker


@dataclass(frozen=True, slots=True)
class PhasePreview:
    """The prompts of one side of one phase. `place` is the key path of its step; not `known`: the opening holds
    ‹placeholders› for what earlier steps will have written."""

    place: str
    phase: str
    role: str
    speaker: Speaker
    system: str
    opening: str
    known: bool


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
            profiles: Sequence[ModelProfile] = ()) -> list[PhasePreview]:
    """The prompts of every phase step of the chain, in order, instructor before assistant; loops once.

    `inputs` are the visible inputs by name; `tools` are the tools by name, shown as to a model without native tool
    calls (those that are not given are left out). `default` is the default model, whose sizes the prompts go by;
    `profiles` are the user's own.
    """
    show = _Show(company, inputs, tools or {}, default or ModelSettings(), profiles)
    return [shown for path, step in walk(company.chain) if step.phase_named
            for shown in _of_step(show, ".".join(map(str, path)), step.phase_named)]


@dataclass(frozen=True, slots=True)
class _Show:
    company: CompanyConfig
    inputs: Mapping[str, Any]
    tools: Mapping[str, ToolDescription]
    default: ModelSettings
    profiles: Sequence[ModelProfile]

    def sizes(self, phase: Phase, role: str) -> Sizes:
        """What the model of `role` can do at a time."""
        return profile_of(self.company, phase, role, self.default, self.profiles).sizes


def _of_step(show: _Show, place: str, name: str) -> Iterator[PhasePreview]:
    company, inputs = show.company, show.inputs
    phase = company.phases[name]
    values = known_values(company, phase, inputs)
    unknown = {key for key, value in values.items() if isinstance(value, Placeholder)}
    given = {"sizes": show.sizes(phase, phase.assistant), **values}
    opening = shown_text(phase.opening, given, f"phases.{name}.opening")
    sides: list[tuple[Speaker, str | None]] = [("instructor", phase.instructor), ("assistant", phase.assistant)]
    for speaker, role in sides:
        if role is None:
            continue
        text = phase.guidance.instructor if speaker == "instructor" else phase.guidance.assistant
        yield PhasePreview(place, name, role, speaker, _system(show, name, speaker, values), opening,
                           not unknown & (variables(phase.opening) | variables(text)))


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


def _system(show: _Show, name: str, speaker: Speaker, values: Mapping[str, Any]) -> str:
    company, phase = show.company, show.company.phases[name]
    role = phase.assistant if speaker == "assistant" else phase.instructor or phase.assistant
    sizes = show.sizes(phase, role)
    tools = [show.tools[tool] for tool in tools_of(company, phase, speaker, sizes) if tool in show.tools]
    try:
        found = Surroundings(values, tools, has_software="software" in phase.reads, sizes=sizes)
        return system_prompt(company, name, speaker, found)
    except ConfigError:
        return company.protocol.system
