"""Inception prompts: what one agent reads at the start of a phase (ChatDev §3.1, equation 2).

The words are in the company's `protocol`; here is only what they may speak of. Both sides get the same parts,
mirrored.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from chatdev.config.phases import Phase, names_read, settle
from chatdev.config.profiles import Sizes
from chatdev.config.schema import QUESTION_MARKER, SOLUTION_MARKER, CompanyConfig
from chatdev.config.templates import render
from chatdev.events import Speaker


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
