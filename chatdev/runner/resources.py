"""What a session of a run opens and closes again, and what a company works with: models, sandbox, limits, packages."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from chatdev.config.environ import environ
from chatdev.config.phases import Limits
from chatdev.config.profiles import ModelProfile, ModelSettings, profile_for
from chatdev.config.schema import CompanyConfig
from chatdev.config.settings import UserSettings, default_model, resolve, user_settings
from chatdev.engine.context import RoleModel
from chatdev.errors import RecordEnds
from chatdev.journal import Journal
from chatdev.llm.base import Model, Reply, Request, Sampling, model_name
from chatdev.llm.registry import DEFAULT_NAME, LOCAL, Models
from chatdev.runner.options import RunOptions
from chatdev.runner.recorded import JOURNAL
from chatdev.runner.result import Run
from chatdev.runner.spending import read_limits, refuse_unpriced
from chatdev.runner.toolbox import KnownTools, make_supply, resolve_install_policy
from chatdev.sandbox.base import Execution, Sandbox, SandboxJob
from chatdev.sandbox.kinds import find_sandbox
from chatdev.tools.function import Tool
from chatdev.tools.software.installing.supply import Supply
from chatdev.workspace.run_folder import RunFolder


@dataclass(slots=True)
class Resources:
    """What a session has to work with; what it opens here is closed at its end."""

    options: RunOptions
    user: UserSettings
    models: Models
    tools: KnownTools
    closing: AsyncExitStack
    run: Run | None = None
    """The run, as soon as it is under way; an interrupted one is complete up to the interruption."""
    _journal: Journal | None = None

    def sandbox(self, name: str | None) -> Sandbox:
        """The sandbox called `name`, or the user's. Raises SandboxError when it does not work here."""
        sandbox = find_sandbox(name or self.user.sandbox or "bubblewrap")
        self.closing.callback(sandbox.stop_all)
        return sandbox

    def journal(self, folder: RunFolder, *, held: bool) -> Journal:
        """The journal of the session's run, locked from the first call on. Raises WorkspaceError when another
        process writes it."""
        if self._journal is None:
            self._journal = Journal(folder.run / JOURNAL, held=held)
            self.closing.callback(self._journal.close)
        return self._journal

    def temporary_folder(self) -> Path:
        """A folder that is there until the session ends."""
        return Path(self.closing.enter_context(tempfile.TemporaryDirectory(prefix="replay-")))


@asynccontextmanager
async def open_resources(options: RunOptions, tools: Iterable[Tool] = ()) -> AsyncIterator[Resources]:
    """The resources of a session, closed at its end; `tools` beside the installed ones. Raises ConfigError."""
    async with AsyncExitStack() as closing:
        user = user_settings()
        models = Models(environ(), options.rate_limit, given=options.own_model, api_key=options.api_key)
        closing.push_async_callback(models.close)
        yield Resources(options, user, models, KnownTools(tools), closing)


@dataclass(slots=True)
class RoleModels:
    """The model, sampling and profile of every role in every phase, each resolved once; models of one endpoint share
    one client."""

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
        sampling = Sampling(name, settings.temperature, settings.top_p, settings.max_tokens or profile.max_tokens,
                            settings.seed)
        return RoleModel(model, sampling, profile)


@dataclass(frozen=True, slots=True)
class Equipment:
    """What one company works with: everything is found and checked. `options` are complete."""

    options: RunOptions
    role_models: RoleModels
    sandbox: Sandbox
    limits: Limits
    supply: Supply = field(default_factory=Supply)


def resolve_resources(company: CompanyConfig, options: RunOptions, resources: Resources) -> Equipment:
    """The models, sandbox and limits for a company. Raises ConfigError, MissingModel or SandboxError."""
    sandbox = resources.sandbox(options.sandbox)
    options = resolve_install_policy(options, resources.user, company)
    name = None if options.model is None else model_name(options.model)
    default = default_model(name, options.base_url, user=resources.user)
    if not (default.name or company.model.name):
        default = default.model_copy(update={"name": resources.models.default_name(default.base_url)})
    role_models = RoleModels(company, default, resources.models, resources.user.models)
    limits = read_limits(options)
    refuse_unpriced(role_models.check(), limits, company)
    return Equipment(options, role_models, sandbox, limits, supply=make_supply(options, resources.closing))


class _Absent:
    """Stands in a replay where models and sandbox stand in a run."""

    name = "replay"

    async def complete(self, request: Request) -> Reply:
        """Never called: every activity is on record, or the replay ends before it."""
        raise RecordEnds("a replay asks no model")

    async def close(self) -> None:
        """Nothing is open."""

    def run(self, job: SandboxJob) -> Execution:
        """Never called, as `complete`."""
        raise RecordEnds("a replay runs nothing")

    def stop_all(self) -> None:
        """Nothing runs."""


class _NoModels(Models):
    """Names without models behind them."""

    def __init__(self) -> None:
        super().__init__({})

    def get(self, name: str | None, base_url: str | None = None, key_env: str | None = None) -> tuple[Model, str]:
        """No model, by the name that the model went by."""
        name = name or DEFAULT_NAME
        return _Absent(), LOCAL if name.startswith(f"{LOCAL}:") else name


def replay_equipment(company: CompanyConfig, model: ModelSettings, profiles: Sequence[ModelProfile],
                     options: RunOptions) -> Equipment:
    """What a replay has: the names and profiles of models, and no model behind them."""
    return Equipment(options, RoleModels(company, model, _NoModels(), profiles), _Absent(), Limits())
