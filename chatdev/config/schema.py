"""Fields of a company's YAML: the company, its inputs and its roles (design §4).

Phases are in `phases`, the kinds of steps in `steps`, models in `profiles`, texts for models in `protocol`.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from chatdev.config.phases import Phase
from chatdev.config.profiles import ModelSettings
from chatdev.config.protocol import PromptProtocol
from chatdev.config.step_kinds import ChainStep
from chatdev.config.validation import StrictModel

Install = Literal["auto", "ask", "never"]


class Input(StrictModel):
    """Something the user hands in with `--input name=value` (`task` also as `--task`)."""

    about: str = ""
    kind: Literal["text", "file", "files", "image"] = "text"
    """`files`: a folder, or a file each time that it is given; the value is text by path."""
    required: bool = False
    hidden: bool = False
    """True: tools only; no template may name it."""
    default: str | None = None


class Role(StrictModel):
    """Somebody of the company."""

    title: str
    prompt: str = ""
    """Template: who this is; may use `task` and other inputs."""
    tools: list[str] = Field([])
    tools_when: Literal["always", "strong"] = "always"
    """`strong`: the tools are offered only to models whose `sizes.program` is not `small`."""
    model: ModelSettings = ModelSettings()


class CompanyConfig(StrictModel):
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
    changes: bool = False
    """Whether it only changes software that is there (`--path`), and makes none."""
    chain: list[ChainStep] = Field(min_length=1)
    success: str
    """Expression over long-term memory; reads what the last tool step wrote."""
    protocol: PromptProtocol
    install: Install = "auto"
    """Whether packages that programs import are installed; a user may be stricter."""
    with_roles: bool = True
    """False leaves the role prompts out (an ablation of the paper)."""
