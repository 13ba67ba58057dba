"""Settings of the user: the settings file, environment variables and `.env`, and which model each role works with."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

from dotenv.parser import Binding, parse_stream
from pydantic import AfterValidator, Field

from chatdev.config.phases import Phase
from chatdev.config.profiles import ModelProfile, ModelSettings, profile_for
from chatdev.config.schema import CompanyConfig, Install, Role
from chatdev.config.yaml_nodes import StrictModel, display_path, read, read_text, validate_node
from chatdev.errors import ConfigError
from chatdev.origins import Origin, Sourced, is_loopback
from chatdev.paths import expand_home, settings_file, working_folder
from chatdev.secrets import keep_variables

MODEL_VARIABLE = "CHATDEV_MODEL"
URL_VARIABLE = "OPENAI_BASE_URL"


class UserSettings(StrictModel):
    """The user settings file. Keys belong into environment variables, never here."""

    model: str | None = None
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
    """The default model and its address, each with where it comes from."""

    name: Sourced | None = None
    address: Sourced | None = None

    @property
    def settings(self) -> ModelSettings:
        """The same without where it comes from."""
        name, address = (found.value if found else None for found in (self.name, self.address))
        return ModelSettings(name=name, base_url=address)


def find_default_model(model: str | None = None, base_url: str | None = None, *, user: UserSettings | None = None,
                       process: Mapping[str, str] | None = None, file: Mapping[str, str] | None = None) -> DefaultModel:
    """The default model: flags, then environment (`CHATDEV_MODEL`, `OPENAI_BASE_URL`), then the user's settings, then
    `.env`. `user`, `process` and `file` default to those of this user, process and working directory.

    Raises ConfigError for a name that is blank.
    """
    user = user_settings() if user is None else user
    process = process_environ() if process is None else process
    file = read_dotenv() if file is None else file

    def first(flag: str | None, variable: str, setting: str | None) -> Sourced | None:
        ranked = {Origin.FLAG: flag, Origin.ENVIRONMENT: process.get(variable), Origin.SETTINGS: setting,
                  Origin.DOTENV: file.get(variable)}
        return next((Sourced(value, origin) for origin, value in ranked.items() if value is not None), None)

    found = DefaultModel(first(model, MODEL_VARIABLE, user.model), first(base_url, URL_VARIABLE, user.base_url))
    if found.name and not found.name.value.strip():
        raise ConfigError(f"the model name {found.name.value!r} is blank; give a name, `local`, or leave the option "
                          "out")
    return found


def default_model(model: str | None = None, base_url: str | None = None, *, user: UserSettings | None = None,
                  process: Mapping[str, str] | None = None, file: Mapping[str, str] | None = None) -> ModelSettings:
    """What `find_default_model` finds, without where it comes from."""
    return find_default_model(model, base_url, user=user, process=process, file=file).settings


def resolve(company: CompanyConfig, phase: Phase, role: Role, default: ModelSettings) -> ModelSettings:
    """The model of `role` in `phase`: every field from the first of phase, role, default and company that sets it. A
    key that is named beside an address goes to no other one."""
    ranked = (phase.model, role.model, default, company.model)
    found = {field: _first(*(getattr(settings, field) for settings in ranked)) for field in ModelSettings.model_fields}
    named = next((settings for settings in ranked if settings.key_env is not None), None)
    if named and named.base_url not in (None, found["base_url"]):
        found["key_env"] = None
    return ModelSettings(**found)


def profile_of(company: CompanyConfig, phase: Phase, role: str, default: ModelSettings,
               own: Sequence[ModelProfile] = ()) -> ModelProfile:
    """The profile of the model of `role` in `phase`; `own` are the user's."""
    return profile_for(resolve(company, phase, company.roles[role], default).name or "", own)


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
    """The model of a role in a phase: its settings, and the name, address and key variable with their origins. None:
    unset."""

    settings: ModelSettings
    name: Sourced | None
    address: Sourced | None
    key_env: Sourced | None


def choose_model(company: CompanyConfig, phase: str, role: str, default: DefaultModel,
                 authorship: Authorship) -> ModelChoice:
    """What `resolve` finds for `role` in `phase`, with the origins."""
    found = resolve(company, company.phases[phase], company.roles[role], default.settings)
    ranked = (_Level(("phases", phase, "model"), company.phases[phase].model),
              _Level(("roles", role, "model"), company.roles[role].model), default, _Level(("model",), company.model))

    def source(field: str) -> Sourced | None:
        value = getattr(found, field)
        if value is None:
            return None
        return next(said for level in ranked if (said := _say(level, field, authorship)) and said.value == value)

    return ModelChoice(found, source("name"), source("base_url"), source("key_env"))


def outward_settings(company: CompanyConfig) -> Iterator[tuple[str, ModelSettings]]:
    """The settings of models, by the path of their field, that name an address, the variable of a key, or a file."""
    levels = {"model": company.model,
              **{f"roles.{name}.model": role.model for name, role in company.roles.items()},
              **{f"phases.{name}.model": phase.model for name, phase in company.phases.items()}}
    for path, model in levels.items():
        is_file = (model.name or "").startswith("local:")
        if model.key_env or is_file or (model.base_url and not is_loopback(model.base_url)):
            yield path, model


class _Level(NamedTuple):
    path: tuple[str, ...]
    model: ModelSettings


def _say(level: _Level | DefaultModel, field: str, authorship: Authorship) -> Sourced | None:
    if isinstance(level, DefaultModel):
        return {"name": level.name, "base_url": level.address}.get(field)
    value = getattr(level.model, field)
    return None if value is None else Sourced(value, authorship.origin(*level.path, field))
