"""Providers of models by name, and the names that one model has at several of them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, ConfigDict

from chatdev.origins import Origin

HUMAN = "human"
"""The name of a model that is a person."""
_VENDOR = re.compile(r"^(?:[a-z-]+\.)?(?:anthropic|amazon|cohere|deepseek|meta|mistral|openai|qwen)\.")  # and region
_REVISION = re.compile(r"-v\d+:\d+$")
_DOTTED = re.compile(r"(?<=\d)\.(?=\d)")


class Provider(BaseModel):
    """A provider as `models.yaml` has it: where it is asked, and which variables may hold the key."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, hide_input_in_errors=True)

    name: str = ""
    url: str = ""
    """Address of its OpenAI-compatible interface; empty: a variable of the user's has it (Azure)."""
    keys: list[str] = []
    """Environment variables of the key; the first that is set counts."""
    aliases: list[str] = []
    dialect: Literal["openai", "azure"] = "openai"
    """`azure`: deployments instead of models, at the address in `AZURE_OPENAI_ENDPOINT`."""
    needs_key: bool = True
    gateway: bool = False
    """Whether its names of models begin with their makers' (`openai/gpt-4o`) and stay as they are."""
    local: bool = False
    """Whether it serves models on one's own machine, where they cost nothing."""
    list_headers: dict[str, str] = {}
    """Further headers of a request for its list of models; `{key}` stands for the key."""

    @property
    def is_hosted_gateway(self) -> bool:
        """Whether it passes requests on, for money."""
        return self.gateway and not self.local

    def own_name(self, model: str) -> str:
        """The name that it has for a model which may begin with the provider's own."""
        prefix, _, rest = model.partition("/")
        said = prefix.lower() in (self.name, *self.aliases)
        return rest if rest and said and not self.gateway else model


@dataclass(frozen=True, slots=True)
class NamedProvider:
    """A provider, and who says that it is asked."""

    provider: Provider
    origin: Origin


def spellings(model: str) -> list[str]:
    """The name of a model in small letters, and the shorter ones that it stands for: without the prefixes of gateways
    (`openrouter/openai/gpt-4o`), regions and revisions (`us.anthropic.claude-…-v1:0`), with dashes for dots."""
    name = model.strip().lower()
    if name.partition(":")[0] == "local":
        return [name]
    parts = name.split("/")
    shorter = ["/".join(parts[n:]) for n in range(1, len(parts))]
    plain = _REVISION.sub("", _VENDOR.sub("", parts[-1].replace("@", "-")))
    found = dict.fromkeys((*shorter, plain, _DOTTED.sub("-", plain)))
    return [name, *(one for one in found if one.partition(":")[0] != "local")]
