"""Settings of the user: the settings file, the default model, and the settings of each role."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from chatdev.config.environ import process_environ, read_dotenv
from chatdev.config.phases import Phase
from chatdev.config.profiles import ModelProfile, ModelSettings, profile_for
from chatdev.config.schema import CompanyConfig, Install, Role
from chatdev.config.validation import StrictModel, validate_node
from chatdev.config.yaml_nodes import read
from chatdev.errors import ConfigError
from chatdev.origins import Origin, Sourced
from chatdev.paths import expand_home, settings_file

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
