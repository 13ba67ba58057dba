"""Which model a role works with in a phase, where it is asked and with which key, each with who says so."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from chatdev.config.profiles import ModelSettings
from chatdev.config.schema import CompanyConfig
from chatdev.config.settings import DefaultModel, resolve
from chatdev.origins import Origin, Sourced, is_loopback


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
