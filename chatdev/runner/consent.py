"""Whether the user consents to what a company, a run folder or the working folder's `.env` names: addresses of models,
variables whose values are sent there, files of models, files that a tool opens, servers of tools. Consent is given
once, by digest of all that they say."""

from __future__ import annotations

import hashlib
import json
import shlex
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from chatdev.config.load import load_company
from chatdev.config.profiles import ModelSettings, find_provider, provider_of
from chatdev.config.schema import CompanyConfig
from chatdev.config.settings import (
    MODEL_VARIABLE,
    URL_VARIABLE,
    Authorship,
    Trust,
    outward_settings,
    process_environ,
    read_dotenv,
    trusted_digests,
)
from chatdev.config.yaml_nodes import dump
from chatdev.connection import AZURE_KEY_VARIABLE, AZURE_URL_VARIABLE, KEY_VARIABLE, Connection, Origin, without_user
from chatdev.errors import ConfigError, ConsentMissing
from chatdev.llm.base import Model, RateLimit
from chatdev.llm.registry import Models
from chatdev.paths import working_folder
from chatdev.runner.toolbox import KnownTools, describe_server, servers_of_others
from chatdev.safe_text import PLACEHOLDER
from chatdev.tools.base import PlaceInput

# Inputs that name a place (a database or a file that a tool opens by itself), and whose word each one is.


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
    if tools is None or not company.inputs:
        return {}
    return {name: taken for tool in tools_of(company, tools) for name, taken in tools.tool(tool).places.items()
            if name in company.inputs}


def tools_of(company: CompanyConfig, tools: KnownTools) -> list[str]:
    """The tools that a company names, wherever in it."""
    return sorted({*tools}.intersection(_texts(company.model_dump(mode="python"))))


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


# Consent: what is named, whether it is allowed, and remembering that.

Trusted = bool | Collection[str]
"""Trust in addition to that on record: in all, in none, or in these digests."""


@dataclass(frozen=True, slots=True)
class Stranger:
    """Somebody whose word needs the user's consent: a company, or a `.env`. `names` says in words what it names, and
    `digest` changes whenever that does; `other_digests` are as good."""

    kind: str
    name: str
    place: str
    """Its file or folder, as commands take it."""
    digest: str
    names: tuple[str, ...]
    other_digests: tuple[str, ...] = ()

    def is_trusted(self, trusted: Trusted) -> bool:
        """Whether the user consents, here and now or on record. Raises ConfigError where the record is broken."""
        if isinstance(trusted, bool):
            return trusted or self._is_among(trusted_digests())
        return self._is_among(trusted) or self._is_among(trusted_digests())

    def trust(self) -> Trust:
        """The consent to it, as it is put on record."""
        return Trust(self.kind, self.name, str(Path(self.place).resolve()), self.digest, self.names,
                     datetime.now(UTC).isoformat(timespec="seconds"))

    def describe(self) -> str:
        """The named addresses, keys and files, one a line."""
        return "\n".join((f"{self.describe_self()} names:", *(f"  {line}" for line in self.names)))

    def describe_self(self) -> str:
        """Who it is."""
        return f"company {self.name} ({self.place})" if self.kind == "company" else self.place

    def _is_among(self, digests: Collection[str]) -> bool:
        return not {self.digest, *self.other_digests}.isdisjoint(digests)


@dataclass(frozen=True)
class CompanyWord:
    """A company that is to run, and where it comes from: the arguments of `load_company`, none for a value of the
    caller's. `sets_are_users`: whether what was set on top is this user's word and not a journal's. `record`: the run
    folder or journal that it comes from, where it is that of a record. `inputs`: what places its inputs may name."""

    config: CompanyConfig
    source: Mapping[str, Any] = field(default_factory=dict)
    tools: KnownTools | None = None
    sets_are_users: bool = False
    own: bool = False
    record: Path | None = None
    inputs: KnownInputs = field(default_factory=KnownInputs)

    @property
    def authorship(self) -> Authorship:
        """Whose word its fields are."""
        return Authorship(self.source.get("sets", ()) if self.sets_are_users else (), own=self.own)

    @cached_property
    def places(self) -> list[NamedPlace]:
        """The places that its inputs name, with whose word each is."""
        return find_places(self.config, self.tools, self.authorship, self.inputs)

    @property
    def strangers(self) -> set[Origin]:
        """Whose consent the places and servers need: the company's, which speaks for its record too."""
        named = any(place.is_strangers for place in self.places) or servers_of_others(self.config, self.authorship)
        return {Origin.COMPANY} if named else set()

    def stranger(self) -> Stranger:
        """Whom the user may trust. The digest is of the whole company as its files have it, without what was set on
        top by this user. What a record says was set on top, has in the place of the files, or names as a place, is part
        of it."""
        recorded = [place for place in self.places if place.origin is Origin.RECORD and place.is_strangers]
        words = [place.describe() for place in recorded]
        as_it_runs = _digest("\n".join((dump(self.config), *(f"{place.input}={place.value}" for place in recorded))))
        plain = self._without_sets()
        place = str(self.record or self.source.get("name_or_path", self.config.company))
        if plain is None:
            return Stranger("company", self.config.company, place, as_it_runs, (*self._names(self.config), *words))
        named = self._names(plain)
        return Stranger("company", self.config.company, place, _digest(dump(plain)), named, (as_it_runs,))

    def _names(self, config: CompanyConfig) -> tuple[str, ...]:
        """Names in a company's own text that need consent, in words."""
        places = find_places(config, self.tools, Authorship(own=self.own), KnownInputs())
        return (*company_names(config), *(place.describe() for place in places if place.is_strangers))

    def _without_sets(self) -> CompanyConfig | None:
        """The company as its files have it; None for one of a record, whose paths are not followed."""
        if not self.sets_are_users or "name_or_path" not in self.source:
            return None
        try:
            return load_company(self.source["name_or_path"], tools=self.tools)
        except ConfigError:
            return None


def company_names(company: CompanyConfig) -> tuple[str, ...]:
    """Addresses, keys and files of a company's models, and its servers, that need consent, in words."""
    return (*(f"{_describe(settings)} ({path})" for path, settings in outward_settings(company)),
            *(describe_server(name, server) for name, server in company.mcp.items()))


def _describe(settings: ModelSettings) -> str:
    words = [f"model {settings.name}" if settings.name else "the default model"]
    if settings.base_url:
        words.append(f"at {without_user(settings.base_url)}")
    if settings.provider:
        keys = provider_of(settings.provider).keys
        words.append(f"of the provider {settings.provider}")
        words += [f"with the key in your variable {' or '.join(keys)}"] * bool(keys)
    if settings.key_env:
        words.append(f"with the key in your variable {settings.key_env}")
    return " ".join(words)


def dotenv_stranger(folder: Path | None = None) -> Stranger:
    """The `.env` in `folder` (default: the working one). Its digest is of the addresses in it, a file of a model, and
    of which keys it has of its own."""
    file = (folder or working_folder()).resolve() / ".env"
    variables = {name: value for name, value in read_dotenv(folder).items() if value}
    addresses = {name: variables[name] for name in (URL_VARIABLE, AZURE_URL_VARIABLE) if name in variables}
    model = variables.get(MODEL_VARIABLE, "")
    of_provider = _keys_of_provider(model)
    files = {MODEL_VARIABLE: model} if model.startswith("local:") or of_provider else {}
    keys = [name for name in dict.fromkeys((KEY_VARIABLE, AZURE_KEY_VARIABLE, *of_provider)) if name in variables]
    names = [*(f"{name}={without_user(address)}" for name, address in addresses.items()),
             *(f"{name}={file}" for name, file in files.items())]
    names.append(f"with its own {' and '.join(keys)}" if keys else "without a key of its own: none of yours goes there")
    digest = _digest(json.dumps([addresses, files, keys]))
    return Stranger(".env", ".env", str(file), digest, tuple(names) if addresses or files else ())


def _keys_of_provider(model: str) -> list[str]:
    """The variables of the key of the provider that a model's name begins with; none where it begins with none."""
    provider = find_provider(model.partition("/")[0]) if "/" in model else None
    return provider.keys if provider else []


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def open_models(rate: RateLimit | None = None, *, given: Model | None = None, api_key: str | None = None,
                person: Model | None = None) -> Models:
    """The models of this process and working folder; what `.env` names is refused until `allow_strangers`."""
    return Models(process_environ(), rate, given=given, api_key=api_key, folder=read_dotenv(), person=person)


def allow_strangers(models: Models, connections: Iterable[Connection | None], trusted: Trusted = False,
                    company: CompanyWord | None = None) -> None:
    """Let `models` take what strangers name in these connections, where the user consents. Raises ConsentMissing, which
    says what is named and how to consent, where the user does not."""
    named = {origin for connection in connections if connection for origin in connection.strangers}
    named |= company.strangers if company else set()
    known: dict[Origin, Callable[[], Stranger]] = {Origin.DOTENV: dotenv_stranger}
    if company:
        known[Origin.COMPANY] = company.stranger
    strangers = [find() for origin, find in known.items() if origin in named]
    if missing := tuple(stranger for stranger in strangers if not stranger.is_trusted(trusted)):
        raise ConsentMissing("\n".join(_lines_of_refusal(missing)), missing)
    models.allow(named & known.keys())


def _lines_of_refusal(missing: Iterable[Stranger]) -> Iterator[str]:
    yield "your consent is needed, once, before anything is sent"
    for stranger in missing:
        yield stranger.describe()
        yield f"  to consent: chatdev trust {shlex.quote(stranger.place)}"
    yield "or give it for one run only: --trust (in the library: trust=True)"
