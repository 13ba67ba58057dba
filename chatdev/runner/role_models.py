"""The model, sampling and profile of every role in every phase, resolved once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from chatdev.config.profiles import ModelProfile, ModelSettings, profile_for
from chatdev.config.schema import CompanyConfig
from chatdev.config.settings import resolve
from chatdev.engine.context import RoleModel
from chatdev.llm.base import Sampling
from chatdev.llm.registry import Models


@dataclass(slots=True)
class RoleModels:
    """Finds the model of a role in a phase; models of one endpoint share one client."""

    company: CompanyConfig
    default: ModelSettings
    models: Models
    profiles: Sequence[ModelProfile] = ()
    """The user's own profiles, looked at before the bundled ones."""
    _role_models: dict[tuple[str, str], RoleModel] = field(default_factory=dict)

    def __call__(self, phase: str, role: str) -> RoleModel:
        """The model of `role` in `phase`. Raises MissingModel when there is no way to reach its model."""
        key = (phase, role)
        if key not in self._role_models:
            self._role_models[key] = self._make(
                resolve(self.company, self.company.phases[phase], self.company.roles[role], self.default))
        return self._role_models[key]

    def check(self) -> Mapping[tuple[str, str], RoleModel]:
        """Find the model of every role, so that a missing model is found before the first call."""
        for name, phase in self.company.phases.items():
            for role in (phase.assistant, phase.instructor):
                if role is not None:
                    self(name, role)
        return self._role_models

    @property
    def profiles_in_use(self) -> list[ModelProfile]:
        """The profiles of all models that a role uses, by name."""
        found = {role_model.sampling.model: role_model.profile for role_model in self._role_models.values()}
        return [found[name] for name in sorted(found)]

    def _make(self, settings: ModelSettings) -> RoleModel:
        model, name = self.models.get(settings.name, settings.base_url, settings.key_env)
        profile = profile_for(name, self.profiles)
        return RoleModel(model, Sampling(name, settings.temperature, settings.top_p,
                                    settings.max_tokens or profile.max_tokens, settings.seed), profile)
