"""Resources of a session, opened and closed with it: models, sandbox, limits, packages."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from chatdev.config.phases import Limits, names_read
from chatdev.config.profiles import ModelProfile, profile_for
from chatdev.config.schema import CompanyConfig
from chatdev.config.settings import (
    Authorship,
    DefaultModel,
    ModelChoice,
    UserSettings,
    choose_model,
    find_default_model,
    user_settings,
)
from chatdev.engine.context import RoleModel
from chatdev.errors import ConfigError, RecordEnds
from chatdev.journal import Journal
from chatdev.llm.base import Model, Reply, Request, Sampling, model_name
from chatdev.llm.connection import LOCAL, Connection
from chatdev.llm.registry import DEFAULT_NAME, Models
from chatdev.origins import Origin, Sourced
from chatdev.packages.supply import Supply
from chatdev.runner.consent import CompanyWord, allow_strangers, open_models
from chatdev.runner.options import RunOptions
from chatdev.runner.places import check_places, refuse_servers
from chatdev.runner.recorded import JOURNAL
from chatdev.runner.result import Run
from chatdev.runner.spending import read_limits, refuse_unpriced
from chatdev.runner.surroundings import check_surroundings
from chatdev.runner.toolbox import KnownTools, make_supply, resolve_install_policy
from chatdev.sandbox.base import Execution, Sandbox, SandboxJob
from chatdev.sandbox.kinds import find_sandbox
from chatdev.tools.function import Tool
from chatdev.workspace.run_folder import RunFolder


@dataclass(slots=True)
class Resources:
    """Resources of a session; those opened here are closed at its end."""

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
    check_surroundings()
    async with AsyncExitStack() as closing:
        user = user_settings()
        models = open_models(options.rate_limit, given=options.own_model, api_key=options.api_key)
        closing.push_async_callback(models.close)
        yield Resources(options, user, models, KnownTools(tools), closing)


@dataclass(slots=True)
class RoleModels:
    """The model, sampling and profile of every role in every phase, each resolved once; models of one endpoint share
    one client."""

    company: CompanyConfig
    default: DefaultModel
    models: Models
    profiles: Sequence[ModelProfile] = ()
    """The user's own profiles, looked at before the bundled ones."""
    authorship: Authorship = field(default_factory=Authorship)
    _role_models: dict[tuple[str, str], RoleModel] = field(default_factory=dict)

    def __call__(self, phase: str, role: str) -> RoleModel:
        """The model of `role` in `phase`. Raises MissingModel when there is no way to reach its model."""
        key = (phase, role)
        if key not in self._role_models:
            self._role_models[key] = self._make(self._choose(phase, role))
        return self._role_models[key]

    def check(self) -> Mapping[tuple[str, str], RoleModel]:
        """Find the model of every role, so that a missing model is found before the first call."""
        for phase, role in self._all_roles():
            self(phase, role)
        return self._role_models

    def connections(self) -> Mapping[tuple[str, str], Connection | None]:
        """Connection (address and key) of every role's model in every phase, without using it; None for a model
        object."""
        choices = {(phase, role): self._choose(phase, role) for phase, role in self._all_roles()}
        return {key: self.models.connect(one.name, one.address, one.key_env) for key, one in choices.items()}

    def model_name(self, phase: str, role: str) -> str:
        """Name of the model of `role` in `phase`."""
        choice = self._choose(phase, role)
        return choice.settings.name or self.models.default_name(choice.address, choice.key_env)

    def _all_roles(self) -> Iterator[tuple[str, str]]:
        for name, phase in self.company.phases.items():
            for role in (phase.assistant, phase.instructor):
                if role is not None:
                    yield name, role

    def _choose(self, phase: str, role: str) -> ModelChoice:
        return choose_model(self.company, phase, role, self.default, self.authorship)

    @property
    def profiles_in_use(self) -> list[ModelProfile]:
        """The profiles of all models that a role uses, by name."""
        found = {role_model.sampling.model: role_model.profile for role_model in self._role_models.values()}
        return [found[name] for name in sorted(found)]

    def _make(self, choice: ModelChoice) -> RoleModel:
        settings = choice.settings
        model, name = self.models.get(choice.name, choice.address, choice.key_env)
        profile = profile_for(name, self.profiles)
        sampling = Sampling(name, settings.temperature, settings.top_p, profile.longest(settings.max_tokens),
                            settings.seed)
        return RoleModel(model, sampling, profile)


@dataclass(frozen=True, slots=True)
class Equipment:
    """Resources of one company, found and checked. `options` are complete."""

    options: RunOptions
    role_models: RoleModels
    sandbox: Sandbox
    limits: Limits
    supply: Supply = field(default_factory=Supply)


def resolve_resources(word: CompanyWord, options: RunOptions, resources: Resources) -> Equipment:
    """The models, sandbox and limits for a company. Raises ConfigError, MissingModel or SandboxError; ConsentMissing
    where it or `.env` names what the user has not consented to."""
    company = word.config
    places = word.places
    refuse_servers(places)
    sandbox = resources.sandbox(options.sandbox)
    options = resolve_install_policy(options, resources.user, company)
    role_models = find_role_models(word, options, resources.user, resources.models)
    allow_strangers(resources.models, role_models.connections().values(), options.trust, word)
    check_places(company, places)
    limits = read_limits(options)
    refuse_unpriced(role_models.check(), limits, company)
    return Equipment(options, role_models, sandbox, limits, supply=make_supply(options, resources.closing))


def refuse_blind(role_models: RoleModels, images: Collection[str]) -> None:
    """Raise ConfigError where a phase shows one of these inputs to a model that is known to look at no pictures."""
    for (phase, role), found in role_models.check().items():
        shown = sorted(names_read(role_models.company.phases[phase].reads) & set(images))
        if shown and not found.profile.pictures:
            raise ConfigError(f"input {shown[0]!r}: the role {role!r} looks at it, and its model "
                              f"{found.sampling.model!r} takes no pictures; give the role a model that does: --set "
                              f"roles.{role}.model.name=MODEL; or leave {shown[0]!r} out and describe it in words")


def find_role_models(word: CompanyWord, options: RunOptions, user: UserSettings, models: Models) -> RoleModels:
    """Which model each role of a company has; none is opened. Raises ConfigError."""
    name = None if options.model is None else model_name(options.model)
    default = find_default_model(name, options.base_url, user=user)
    if not (default.name or word.config.model.name):
        default = replace(default, name=Sourced(models.default_name(default.address), Origin.DEFAULT))
    return RoleModels(word.config, default, models, user.models, word.authorship)


def find_connections(word: CompanyWord, options: RunOptions) -> Collection[Connection | None]:
    """Connections of the models of a company's roles, without opening them; None for a model object. Raises
    ConfigError."""
    models = open_models(given=options.own_model, api_key=options.api_key)
    return find_role_models(word, options, user_settings(), models).connections().values()


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

    def get(self, name: Sourced | str | None, base_url: Sourced | str | None = None,
            key_env: Sourced | str | None = None) -> tuple[Model, str]:
        """Stand-in with the name of the recorded model."""
        called = (name.value if isinstance(name, Sourced) else name) or DEFAULT_NAME
        return _Absent(), LOCAL if called.startswith(f"{LOCAL}:") else called


def replay_equipment(company: CompanyConfig, model: str | None, profiles: Sequence[ModelProfile],
                     options: RunOptions) -> Equipment:
    """Resources of a replay: names and profiles of models, without the models. `model` is the default one."""
    default = DefaultModel(Sourced(model, Origin.RECORD) if model else None)
    return Equipment(options, RoleModels(company, default, _NoModels(), profiles), _Absent(), Limits())
