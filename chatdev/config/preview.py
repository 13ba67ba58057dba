"""What a run would say (`--dry-run`): prompts as far as they are known before any model has spoken."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from chatdev.config.facts import bare
from chatdev.config.inception import system_prompt
from chatdev.config.prompts import render, variables
from chatdev.config.schema import Company, Phase, PhaseStep
from chatdev.config.steps import walk
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


def preview(company: Company, inputs: Mapping[str, Any]) -> list[PhasePreview]:
    """The prompts of every phase step of the chain, in order, instructor before assistant; loops once.

    `inputs` are the visible inputs by name. Tools are left out of the system prompts: their texts come with them.
    """
    return [shown for path, step in walk(company.chain) if isinstance(step, PhaseStep)
            for shown in _of_step(company, ".".join(map(str, path)), step.phase, inputs)]


def _of_step(company: Company, place: str, name: str, inputs: Mapping[str, Any]) -> Iterator[PhasePreview]:
    phase = company.phases[name]
    values = known_values(company, phase, inputs)
    unknown = {key for key, value in values.items() if isinstance(value, Placeholder)}
    opening = shown_text(phase.opening, values, f"phases.{name}.opening")
    sides: list[tuple[Speaker, str | None]] = [("instructor", phase.instructor), ("assistant", phase.assistant)]
    for speaker, role in sides:
        if role is None:
            continue
        text = phase.guidance.instructor if speaker == "instructor" else phase.guidance.assistant
        yield PhasePreview(place, name, role, speaker, _system(company, name, speaker, values), opening,
                           not unknown & (variables(phase.opening) | variables(text)))


def known_values(company: Company, phase: Phase, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """What a phase reads: inputs as given (None when absent), everything else as placeholders."""
    visible = {name: inputs.get(name) for name, declared in company.inputs.items() if not declared.hidden}
    visible.setdefault("task", inputs.get("task"))
    read = {name: Placeholder(name) for name in map(bare, phase.reads)}
    feedback = {"feedback": Placeholder("feedback")} if phase.feedback else {}
    return {**read, **feedback, **visible, "inputs": visible}


def shown_text(template: str, values: Mapping[str, Any], where: str) -> str:
    """The rendered template; the template itself where a placeholder cannot stand for the value."""
    try:
        return render(template, values, where)
    except ConfigError:
        return template


def _system(company: Company, name: str, speaker: Speaker, values: Mapping[str, Any]) -> str:
    phase = company.phases[name]
    try:
        return system_prompt(company, name, speaker, values=values, has_software="software" in map(bare, phase.reads))
    except ConfigError:
        return company.protocol.system
