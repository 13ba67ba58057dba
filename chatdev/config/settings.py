"""Settings of the user: the settings file, environment variables and `.env`, which model each role works with; and
which companies and `.env` files the user trusts, by digest of what they say."""

from __future__ import annotations

import json
import os
import re
import stat
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from io import StringIO
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

from dotenv.parser import Binding, parse_stream
from pydantic import AfterValidator, Field

from chatdev.config.phases import Phase
from chatdev.config.profiles import ModelProfile, ModelSettings, find_provider, profile_for, provider_of
from chatdev.config.schema import CompanyConfig, Install, Role
from chatdev.config.yaml_nodes import StrictModel, display_path, read, read_text, validate_node
from chatdev.connection import HUMAN, NamedProvider, Origin, Sourced, is_loopback
from chatdev.errors import ConfigError
from chatdev.paths import expand_home, settings_file, trust_file, working_folder
from chatdev.safe_text import keep_variables

MODEL_VARIABLE = "CHATDEV_MODEL"
URL_VARIABLE = "OPENAI_BASE_URL"


class UserSettings(StrictModel):
    """The user settings file. Keys belong into environment variables, never here."""

    model: str | None = None
    provider: str | None = None
    base_url: str | None = None
    warehouse: Annotated[str, AfterValidator(lambda path: str(expand_home(path)))] | None = None
    """Folder that runs are written to; `~` is the home."""
    sandbox: Literal["bubblewrap", "docker", "none"] | None = None
    install: Install | None = None
    """Whether packages that programs import are installed."""
    models: list[ModelProfile] = Field([])
    """Profiles looked at before the bundled ones."""


def user_settings(path: Path | None = None) -> UserSettings:
    """The user's settings; empty when there is no file. Raises ConfigError for a broken file or unknown keys."""
    path = path or settings_file()
    return validate_node(UserSettings, read(path)) if path.is_file() else UserSettings()


@dataclass(frozen=True, slots=True)
class DefaultModel:
    """The default model, its address and its provider, each with where it comes from."""

    name: Sourced | None = None
    address: Sourced | None = None
    provider: Sourced | None = None

    @property
    def settings(self) -> ModelSettings:
        """The same without where it comes from."""
        name, address, provider = (found.value if found else None
                                   for found in (self.name, self.address, self.provider))
        return ModelSettings(name=name, base_url=address, provider=provider)


def find_default_model(model: str | None = None, base_url: str | None = None, provider: str | None = None, *,
                       user: UserSettings | None = None, process: Mapping[str, str] | None = None,
                       file: Mapping[str, str] | None = None) -> DefaultModel:
    """The default model: flags, then environment (`CHATDEV_MODEL`, `OPENAI_BASE_URL`), then the user's settings, then
    `.env`; who names an address or a provider first names both. `user`, `process` and `file` default to those of this
    user, process and working directory.

    Raises ConfigError for a name that is blank, and for a provider that nobody knows.
    """
    user = user_settings() if user is None else user
    process = process_environ() if process is None else process
    file = read_dotenv() if file is None else file
    names = {Origin.FLAG: model, Origin.ENVIRONMENT: process.get(MODEL_VARIABLE), Origin.SETTINGS: user.model,
             Origin.DOTENV: file.get(MODEL_VARIABLE)}
    addresses = {Origin.FLAG: base_url, Origin.ENVIRONMENT: process.get(URL_VARIABLE), Origin.SETTINGS: user.base_url,
                 Origin.DOTENV: file.get(URL_VARIABLE)}
    providers = {Origin.FLAG: provider, Origin.SETTINGS: user.provider}
    where = next((origin for origin, address in addresses.items()
                  if address is not None or providers.get(origin) is not None), Origin.DEFAULT)
    name = next((Sourced(value, origin) for origin, value in names.items() if value is not None), None)
    if name and not name.value.strip():
        raise ConfigError(f"the model name {name.value!r} is blank; give a name, `local`, or leave the option out")
    said, address = providers.get(where), addresses.get(where)
    return DefaultModel(name, None if address is None else Sourced(address, where),
                        None if said is None else Sourced(provider_of(said).name, where))


def default_model(model: str | None = None, base_url: str | None = None, provider: str | None = None, *,
                  user: UserSettings | None = None, process: Mapping[str, str] | None = None,
                  file: Mapping[str, str] | None = None) -> ModelSettings:
    """What `find_default_model` finds, without where it comes from."""
    return find_default_model(model, base_url, provider, user=user, process=process, file=file).settings


def resolve(company: CompanyConfig, phase: Phase, role: Role, default: ModelSettings) -> ModelSettings:
    """The model of `role` in `phase`: every field from the first of phase, role, default and company that sets it;
    address and provider from the first that sets one of them, else the provider that the model's name begins with. A
    key that is named beside an address goes to no other one. A role that a person plays is theirs in every phase.
    Raises ConfigError where nobody knows a provider."""
    ranked = (phase.model, role.model, default, company.model)
    if HUMAN in (role.model.name, _first(*(settings.name for settings in ranked))):
        return ModelSettings(name=HUMAN)
    found = {field: _first(*(getattr(settings, field) for settings in ranked)) for field in ModelSettings.model_fields}
    found["base_url"], found["provider"] = next(filter(any, map(_place, ranked)), (None, None))
    named = next((settings for settings in ranked if settings.key_env is not None), None)
    if named and any(_place(named)) and _place(named) != (found["base_url"], found["provider"]):
        found["key_env"] = None
    return ModelSettings(**{**found, **_at_provider(found["name"], found["base_url"], found["provider"])})


def _place(settings: ModelSettings) -> tuple[str | None, str | None]:
    return settings.base_url, settings.provider


def _at_provider(name: str | None, address: str | None, provider: str | None) -> dict[str, str | None]:
    """Provider and name of a model; one with a provider's prefix is that provider's where no address is given, and a
    name of a gateway's where one is."""
    prefix, _, rest = (name or "").partition("/")
    if provider is None:
        known = find_provider(prefix) if rest and address is None else None
        return {"name": rest, "provider": known.name} if known else {}
    asked = provider_of(provider)
    other = find_provider(prefix) if rest and not asked.gateway and address is None else None
    if other and other.name != asked.name:
        raise ConfigError(f"the model {name!r} is one of the provider {other.name}, and {asked.name} is named as the "
                          f"provider; leave --provider out, or give the name that {asked.name} has for it")
    return {"name": name and asked.own_name(name), "provider": asked.name}


def address_of(settings: ModelSettings) -> str | None:
    """The address that a resolved model is asked at; None: that of the variables, or OpenAI's."""
    return settings.base_url or (provider_of(settings.provider).url or None if settings.provider else None)


def profile_of(company: CompanyConfig, phase: Phase, role: str, default: ModelSettings,
               own: Sequence[ModelProfile] = ()) -> ModelProfile:
    """The profile of the model of `role` in `phase`; `own` are the user's."""
    return profile_of_settings(resolve(company, phase, company.roles[role], default), own)


def profile_of_settings(settings: ModelSettings, own: Sequence[ModelProfile] = ()) -> ModelProfile:
    """The profile of a resolved model, by the name of its `profile`, else by its own."""
    provider = provider_of(settings.provider) if settings.provider else None
    return profile_for(settings.profile or settings.name or "", own, address_of(settings), provider)


def _first(*values: Any) -> Any:
    return next((value for value in values if value is not None), None)


# Environment variables and a `.env` file, so kept that no secret shows in a message, a repr or a dump.

_MOST_BLANKS = 100
_BLANKS = re.compile(rf"[^\S\r\n]{{{_MOST_BLANKS},}}")


class Environ(Mapping[str, str]):
    """Variables by name; its repr shows none, and the secrets among them are known as such from now on."""

    def __init__(self, values: Mapping[str, str]) -> None:
        self._values = dict(values)
        keep_variables(self._values)

    def __getitem__(self, name: str) -> str:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"Environ({len(self)} variables)"


def read_dotenv(folder: Path | None = None) -> Environ:
    """The variables of `.env` in `folder` (default: the working directory); none when there is no such file.

    Lines `NAME=value` as python-dotenv reads them: also `export NAME=value`, quoted values (in double quotes with
    escapes and several lines) and comments; nothing is put in the place of `${NAME}`. Raises ConfigError, without the
    value, for a line that is something else.
    """
    path = (folder or working_folder()) / ".env"
    if not path.is_file():
        return Environ({})
    values: dict[str, str] = {}
    for binding in _bindings(read_text(path)):
        if _is_setting(binding):
            values[binding.key or ""] = binding.value or ""
        elif binding.key or binding.error:
            raise ConfigError(f"{display_path(path)}:{_line(binding)}: this line is not `NAME=value`; fix it or begin "
                              "it with #")
    return Environ(values)


def keep_dotenvs(software: Mapping[str, bytes]) -> None:
    """Remember the secrets in the `.env` files of a software (also `.env.local` and the like), whatever else is in
    them: of a line that python-dotenv cannot read, what stands behind the `=` and each word of it."""
    for path, data in software.items():
        name = path.rpartition("/")[2]
        if name == ".env" or name.startswith(".env."):
            for binding in _bindings(data.decode("utf-8", "replace")):
                for variable, value in _readings(binding):
                    keep_variables({variable: value})


def _bindings(text: str) -> Iterator[Binding]:
    """What python-dotenv reads. Long runs of blanks are cut short: its time grows with their square."""
    return parse_stream(StringIO(_BLANKS.sub(" " * _MOST_BLANKS, text)))


def _readings(binding: Binding) -> Iterator[tuple[str, str]]:
    """What a line may say: name and value, several of them where it is broken."""
    if not binding.error:
        yield binding.key or "", binding.value or ""
        return
    name, _, value = binding.original.string.partition("=")
    for part in (value, *value.split()):
        yield name.strip(), part.strip().strip("\"'")


def _is_setting(binding: Binding) -> bool:
    """Whether it is a variable with a value; comments and broken lines are none."""
    name = binding.key or ""
    return binding.value is not None and name.isidentifier() and name.isascii()


def _line(binding: Binding) -> int:
    """The number of its line; empty lines before it belong to what python-dotenv calls its original."""
    text = binding.original.string
    return int(binding.original.line + len(text[:len(text) - len(text.lstrip())].splitlines()))


def environ(folder: Path | None = None) -> Environ:
    """The process's variables on top of those in `.env`; empty ones count as unset."""
    return Environ({**read_dotenv(folder), **process_environ()})


def process_environ() -> Environ:
    """The process's variables that are not empty."""
    return Environ({name: value for name, value in os.environ.items() if value})


# Which model a role works with in a phase, where it is asked and with which key, each with who says so.


@dataclass(frozen=True, slots=True)
class Authorship:
    """Whose word a company's fields are: the company's, unless the user set them on top (`sets`, as `--set` has them).
    `own`: the whole company is a value of the caller's."""

    sets: Sequence[str] = ()
    own: bool = False

    def origin(self, *path: str) -> Origin:
        """Who says what stands in the field at `path`."""
        if self.own:
            return Origin.FLAG
        assigned = (tuple(one.partition("=")[0].strip().split(".")) for one in self.sets)
        return Origin.SET if any(path[:len(keys)] == keys for keys in assigned) else Origin.COMPANY


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """The model of a role in a phase: its settings, and the name, address, key variable and provider with their
    origins. None: unset."""

    settings: ModelSettings
    name: Sourced | None
    address: Sourced | None
    key_env: Sourced | None
    provider: NamedProvider | None


def choose_model(company: CompanyConfig, phase: str, role: str, default: DefaultModel,
                 authorship: Authorship) -> ModelChoice:
    """What `resolve` finds for `role` in `phase`, with the origins."""
    found = resolve(company, company.phases[phase], company.roles[role], default.settings)
    ranked = (_Level(("phases", phase, "model"), company.phases[phase].model),
              _Level(("roles", role, "model"), company.roles[role].model), default, _Level(("model",), company.model))

    def sources(field: str) -> Iterator[Sourced]:
        return (said for level in ranked if (said := _say(level, field, authorship)))

    def source(field: str) -> Sourced | None:
        value = getattr(found, field)
        return None if value is None else next(said for said in sources(field) if said.value == value)

    named = next(sources("name"), None)
    name = named and Sourced(found.name or named.value, named.origin)
    return ModelChoice(found, name, source("base_url"), source("key_env"),
                       _provider_choice(found.provider, [*sources("provider"), *filter(None, [named])]))


def choose_default(default: DefaultModel) -> ModelChoice:
    """The default model by itself, for what is no role of a company."""
    said = default.settings
    found = said.model_copy(update=_at_provider(said.name, said.base_url, said.provider))
    name = default.name and Sourced(found.name or default.name.value, default.name.origin)
    words = [word for word in (default.provider, default.name) if word]
    return ModelChoice(found, name, default.address, None, _provider_choice(found.provider, words))


def _provider_choice(provider: str | None, said: Sequence[Sourced]) -> NamedProvider | None:
    """The provider, with the first who says it, as itself or in a model's name."""
    if provider is None:
        return None
    known = provider_of(provider)
    words = (known.name, *known.aliases)
    return NamedProvider(known, next(one.origin for one in said if one.value.partition("/")[0].lower() in words))


def outward_settings(company: CompanyConfig) -> Iterator[tuple[str, ModelSettings]]:
    """The settings of models, by the path of their field, that name an address, the variable of a key, or a file."""
    levels = {"model": company.model,
              **{f"roles.{name}.model": role.model for name, role in company.roles.items()},
              **{f"phases.{name}.model": phase.model for name, phase in company.phases.items()}}
    for path, model in levels.items():
        placed = model.model_copy(update=_at_provider(model.name, model.base_url, model.provider))
        is_file, address = (model.name or "").startswith("local:"), address_of(placed)
        if model.key_env or is_file or (address and not is_loopback(address)):
            yield path, placed


class _Level(NamedTuple):
    path: tuple[str, ...]
    model: ModelSettings


def _say(level: _Level | DefaultModel, field: str, authorship: Authorship) -> Sourced | None:
    if isinstance(level, DefaultModel):
        return {"name": level.name, "base_url": level.address, "provider": level.provider}.get(field)
    value = getattr(level.model, field)
    return None if value is None else Sourced(value, authorship.origin(*level.path, field))


# Which companies and `.env` files the user trusts: a file beside the settings, by digest of what they say.

_MOST_BYTES = 4 << 20
_OTHERS_MAY_WRITE = stat.S_IWGRP | stat.S_IWOTH


@dataclass(frozen=True, slots=True)
class Trust:
    """One consent: to whom (`.env` or `company`, its name and the place where it was seen), by digest, when, and to
    what, in words."""

    kind: str
    name: str
    place: str
    digest: str
    names: tuple[str, ...]
    given: str


def read_trust(file: Path | None = None) -> list[Trust]:
    """Consents on record, oldest first. Raises ConfigError, which means no trust at all, where the file is broken
    or somebody else may write it."""
    path = file or trust_file()
    try:
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as opened:  # no FIFO keeps us waiting
            _refuse_others(path, os.fstat(opened.fileno()))
            data = opened.read(_MOST_BYTES + 1)
    except FileNotFoundError:
        return []
    except OSError as error:
        raise ConfigError(f"{path} cannot be read ({error.strerror or error}), so nobody is trusted; check its "
                          "permissions") from error
    try:
        if len(data) > _MOST_BYTES:
            raise ValueError(f"more than {_MOST_BYTES >> 20} MB")
        return [_trust(entry) for entry in json.loads(data)["trusted"]]
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise ConfigError(f"{path} is broken ({error}), so nobody is trusted; remove it, and trust again: "
                          "chatdev trust …") from None


def trusted_digests() -> frozenset[str]:
    """The digests of all that the user trusts. Raises ConfigError where the file is broken."""
    return frozenset(trust.digest for trust in read_trust())


def add_trust(trust: Trust) -> None:
    """Put a consent on record, in the place of an earlier one to the same digest. Raises ConfigError."""
    _write([*(one for one in read_trust() if one.digest != trust.digest), trust])


def remove_trust(word: str) -> list[Trust]:
    """Take back the consents to what has this name, this place or a digest that begins so; those it took back. Raises
    ConfigError when there are none."""
    known = read_trust()
    place = str(Path(word).resolve())
    gone = [one for one in known if word in (one.name, one.place) or place == one.place
            or (len(word) >= 8 and one.digest.startswith(word))]
    if not gone:
        raise ConfigError(f"nothing is trusted under {word!r}; `chatdev trust --list` shows what is")
    _write([one for one in known if one not in gone])
    return gone


def _trust(entry: Any) -> Trust:
    found = Trust(**{**entry, "names": tuple(entry["names"])})
    if not all(isinstance(text, str) for text in (*found.names, found.kind, found.name, found.place, found.digest,
                                                  found.given)):
        raise TypeError("an entry holds something else than texts")
    return found


def _refuse_others(path: Path, status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise ConfigError(f"{path} is no plain file, so nobody is trusted; remove it")
    if status.st_mode & _OTHERS_MAY_WRITE or status.st_uid not in (0, os.geteuid()):
        raise ConfigError(f"{path} can be written by others, so nobody is trusted; look at what is in it, then: "
                          f"chmod 600 {path}")


def _write(trusts: Sequence[Trust]) -> None:
    """Replace the file, as a whole or not at all; only the user may read it."""
    path = trust_file()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=".trust-", dir=path.parent)  # readable for this user alone
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                json.dump({"trusted": [asdict(trust) for trust in trusts]}, file, indent=1)
                file.flush()
                os.fsync(file.fileno())
            Path(name).replace(path)
        except BaseException:
            with suppress(OSError):
                Path(name).unlink()
            raise
    except OSError as error:
        raise ConfigError(f"your consent cannot be kept in {path}: {error.strerror or error}; give it for one run: "
                          "--trust") from error
