"""Inputs that name a place: a database or a file that a tool opens by itself. Whose word each one is.

A place counts from the user. What a company or a record names is a stranger's word: a file is opened with the user's
consent, and a server never, because the passwords that drivers find by themselves (PGPASSWORD, ~/.pgpass) would go
there.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from chatdev.config.schema import CompanyConfig
from chatdev.config.settings import Authorship
from chatdev.errors import ConfigError
from chatdev.origins import Origin, without_user
from chatdev.runner.toolbox import KnownTools
from chatdev.secrets import PLACEHOLDER
from chatdev.tools.base import PlaceInput


@dataclass(frozen=True, slots=True)
class NamedPlace:
    """A place that an input names, with its origin."""

    input: str
    value: str
    origin: Origin
    taken: PlaceInput

    @property
    def is_strangers(self) -> bool:
        """Whether the place comes from neither the user nor chatdev."""
        return not (self.origin.is_users or self.value == self.taken.default)

    @property
    def is_server(self) -> bool:
        """Whether it is an address, and no file of this machine."""
        return "://" in self.value and not self.value.startswith("sqlite:")

    def describe(self) -> str:
        """The place in words, without passwords."""
        if self.is_server:
            return (f"the server {without_user(self.value)} as the input `{self.input}`, which is not asked unless you "
                    f"name it yourself: --input {self.input}=…")
        return f"the file {self.value} as the input `{self.input}`"


@dataclass(frozen=True, slots=True)
class KnownInputs:
    """Values of a run's inputs beside the company's defaults: those the user gave now, and those on record."""

    given: Mapping[str, Any] = field(default_factory=dict)
    recorded: Mapping[str, Any] = field(default_factory=dict)


def place_inputs(company: CompanyConfig, tools: KnownTools | None) -> dict[str, PlaceInput]:
    """The company's inputs that one of its tools takes as a place, by name."""
    if tools is None:
        return {}
    return {name: taken for tool in tools_of(company, tools) for name, taken in tools.tool(tool).places.items()
            if name in company.inputs}


def tools_of(company: CompanyConfig, tools: KnownTools) -> list[str]:
    """The tools that a company names, wherever in it."""
    return sorted({text for text in _texts(company.model_dump(mode="python")) if text in tools})


def find_places(company: CompanyConfig, tools: KnownTools | None, authorship: Authorship,
                inputs: KnownInputs) -> list[NamedPlace]:
    """Places that the company's inputs name, with their origins; empty inputs are left out."""
    found = []
    for name, taken in place_inputs(company, tools).items():
        default = company.inputs[name].default
        if name in inputs.given:
            value, origin = inputs.given[name], Origin.FLAG
        elif inputs.recorded.get(name, default) != default:
            value, origin = inputs.recorded[name], Origin.RECORD
        else:
            value, origin = default, authorship.origin("inputs", name, "default")
        if text := str(value or "").strip():
            found.append(NamedPlace(name, text, origin, taken))
    return found


def refuse_servers(places: Collection[NamedPlace]) -> None:
    """Raise ConfigError for a server that is a stranger's word."""
    for place in places:
        if place.is_strangers and place.is_server:
            again = " with its password" if PLACEHOLDER in place.value else ""
            raise ConfigError(f"{place.origin.value} names {place.describe()}{again}. Your passwords (PGPASSWORD, "
                              "~/.pgpass) would go there, so consent alone does not do")


def check_places(company: CompanyConfig, places: Collection[NamedPlace]) -> None:
    """Raise ConfigError for a place that does not hold what its tool needs; chatdev's own may hold nothing."""
    for place in places:
        if place.value != place.taken.default:
            place.taken.check(place.value, company)


def give_places(recorded: Mapping[str, Any], given: Mapping[str, Any], company: CompanyConfig,
                tools: KnownTools) -> dict[str, Any]:
    """The inputs of a recorded run with the places that the user names anew. Raises ConfigError for another input,
    which a run keeps."""
    places = place_inputs(company, tools)
    if other := sorted(given.keys() - places.keys()):
        known = f"; its places are: {', '.join(places)}" if places else ""
        raise ConfigError(f"--input {other[0]}: a run keeps its inputs; only one that names a place may be given "
                          f"again{known}")
    return {**recorded, **{name: str(value) for name, value in given.items()}}


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for child in value.values():
            yield from _texts(child)
    elif isinstance(value, list | tuple):
        for child in value:
            yield from _texts(child)
