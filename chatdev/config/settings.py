"""What the user has set: the settings file and the default model; which settings a role works with."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from chatdev.config.environ import process_environ, read_dotenv
from chatdev.config.phases import Phase
from chatdev.config.profiles import ModelProfile, ModelSettings
from chatdev.config.schema import CompanyConfig, Install, Role
from chatdev.config.validation import StrictModel, validate_node
from chatdev.config.yaml_nodes import read
from chatdev.errors import ConfigError
from chatdev.paths import settings_file

MODEL_VARIABLE = "CHATDEV_MODEL"
URL_VARIABLE = "OPENAI_BASE_URL"


class UserSettings(StrictModel):
    """The user settings file. Keys belong into environment variables, never here."""

    model: str | None = None
    base_url: str | None = None
    warehouse: Annotated[str, AfterValidator(lambda path: str(Path(path).expanduser()))] | None = None
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


def default_model(model: str | None = None, base_url: str | None = None, *, user: UserSettings | None = None,
                  process: Mapping[str, str] | None = None, file: Mapping[str, str] | None = None) -> ModelSettings:
    """The default model: flags, then environment (`CHATDEV_MODEL`, `OPENAI_BASE_URL`), then the user's settings, then
    `.env`. `user`, `process` and `file` default to those of this user, process and working directory.

    Raises ConfigError for a name that is blank.
    """
    user = user_settings() if user is None else user
    process = process_environ() if process is None else process
    file = read_dotenv() if file is None else file
    name = _first(model, process.get(MODEL_VARIABLE), user.model, file.get(MODEL_VARIABLE))
    url = _first(base_url, process.get(URL_VARIABLE), user.base_url, file.get(URL_VARIABLE))
    if name is not None and not name.strip():
        raise ConfigError(f"the model name {name!r} is blank; give a name, `local`, or leave the option out")
    return ModelSettings(name=name, base_url=url)


def resolve(company: CompanyConfig, phase: Phase, role: Role, default: ModelSettings) -> ModelSettings:
    """The model of `role` in `phase`: every field from the first of phase, role, default and company that sets it."""
    ranked = (phase.model, role.model, default, company.model)
    return ModelSettings(**{field: _first(*(getattr(settings, field) for settings in ranked))
                            for field in ModelSettings.model_fields})


def _first(*values: Any) -> Any:
    return next((value for value in values if value is not None), None)
