"""What the runner hands to the engine: the company, its models and tools, and where events go."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from chatdev.config.profiles import ModelProfile
from chatdev.config.prompts import render
from chatdev.config.schema import CompanyConfig
from chatdev.engine.activity import Activities
from chatdev.engine.budget import Budget
from chatdev.engine.state import Files
from chatdev.events import Event
from chatdev.llm.base import Image, Model, Sampling, ToolSpec

Emit = Callable[[Event], None]


@dataclass(frozen=True, slots=True)
class RoleModel:
    """A model, how to draw from it, and what is known of it, for one role in one phase."""

    model: Model
    sampling: Sampling
    profile: ModelProfile


class Toolbox(Protocol):
    """The tools of this run."""

    def spec(self, name: str) -> ToolSpec:
        """What agents are told of the tool."""
        ...

    def reads(self, name: str) -> tuple[str, ...]:
        """Long-term names that the tool declares to read (`name?` when it may be absent)."""
        ...

    def call(self, name: str, software: Files, values: Mapping[str, Any],
             arguments: Mapping[str, Any]) -> Awaitable[Any]:
        """The tool's result as plain JSON values; a verdict has `passed`, `report` and `score`."""
        ...


@dataclass(frozen=True, slots=True)
class RunContext:
    """Everything a phase needs beside the state."""

    company: CompanyConfig
    run_name: str
    inputs: Mapping[str, Any]
    """Visible inputs by name; hidden ones reach tools through the toolbox only."""
    images: Mapping[str, Image]
    activities: Activities
    toolbox: Toolbox
    role_model: Callable[[str, str], RoleModel]
    """The role_model of (phase, role)."""
    emit: Emit
    documents_language: str = "English"
    stream: bool = False
    budget: Budget = field(default_factory=Budget)
    """What the whole run may spend, over all its sessions."""

    def say(self, entry: str, **values: Any) -> str:
        """One of the protocol's texts, rendered."""
        template = getattr(self.company.protocol, entry)
        return render(template, values, f"protocol.{entry}")
