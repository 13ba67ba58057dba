"""One side of a phase's pair."""

from __future__ import annotations

from dataclasses import dataclass

from chatdev.engine.context import RoleModel
from chatdev.events import Speaker
from chatdev.llm.base import ToolSpec


@dataclass(frozen=True, slots=True)
class Agent:
    """One side of a phase's pair."""

    speaker: Speaker
    role: str
    title: str
    system: str
    role_model: RoleModel
    tools: tuple[ToolSpec, ...] = ()
