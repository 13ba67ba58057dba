"""Providers of models and what leads to them: where an address, a key or a name comes from, which keys may go to which
addresses, and the names that one model has at several providers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from typing import Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict

LOOPBACK = ("127.0.0.1", "localhost", "::1")


class Origin(Enum):
    """Who said something; the value is how people call it."""

    FLAG = "the command line"
    """Also an argument of a function of the library."""
    SET = "--set"
    ENVIRONMENT = "the environment"
    SETTINGS = "the settings file"
    DEFAULT = "the default"
    """The default address: OpenAI's own."""
    DOTENV = ".env"
    """The `.env` of the working folder, which may be somebody else's."""
    COMPANY = "the company"
    RECORD = "the journal"
    """The record of an earlier run, which may be somebody else's."""

    @property
    def is_users(self) -> bool:
        """Whether it is this user's own word. What is not needs the user's consent, or is not followed."""
        return self not in (Origin.DOTENV, Origin.COMPANY, Origin.RECORD)


@dataclass(frozen=True, slots=True)
class Sourced:
    """A value (an address, the name of a model or of a variable) and where it comes from."""

    value: str
    origin: Origin


_OF_THIS_USER = frozenset(origin for origin in Origin if origin.is_users)
_GOES_TO = {
    Origin.FLAG: _OF_THIS_USER,
    Origin.ENVIRONMENT: _OF_THIS_USER,
    Origin.DOTENV: frozenset({Origin.DOTENV, Origin.DEFAULT, Origin.FLAG, Origin.SET}),
}


def may_send(key: Origin, address: Origin, *, named: bool = False) -> bool:
    """Whether a key goes to an address. `named`: by `key_env`, which is the word of a company that the user trusts, or
    of the user.

    A key goes to the address that it belongs to: one that the user has set to addresses that the user has set, one in
    `.env` to the address in the same file, to OpenAI, and to what the user says on the spot. A company gets only the
    key that it names. No key goes where only a journal says.
    """
    if address is Origin.RECORD:
        return False
    if named:
        return address is not Origin.DOTENV or key is Origin.DOTENV
    return address in _GOES_TO.get(key, ())


def is_loopback(address: str) -> bool:
    """Whether the server at `address` is on this machine."""
    return _hostname(address) in LOOPBACK


def without_user(address: str) -> str:
    """The address without what may be secret in it: the user, the password and the query. Letters of its host that look
    like others are written as codes."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return "an address that cannot be read"
    host = parts.netloc.rpartition("@")[2].encode("ascii", "backslashreplace").decode("ascii")
    return f"{parts.scheme}://{host}{parts.path}"


def has_user(address: str) -> bool:
    """Whether the address says as whom to ask (`https://user:password@host`)."""
    try:
        return bool(urlsplit(address).username)
    except ValueError:
        return False


def _hostname(address: str) -> str | None:
    try:
        return urlsplit(address).hostname
    except ValueError:
        return None


# Providers of models by name, and the names that one model has at several of them.

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
