"""Resources of a session, opened and closed with it: models, sandbox, limits, packages; and what is checked before the
first paid call."""

from __future__ import annotations

import json
import resource
import shlex
import stat
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from math import inf
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

from pydantic import ValidationError

from chatdev.config.phases import Limits, names_read
from chatdev.config.profiles import ModelProfile, ModelSettings, choose_served, profile_for, refuse_unknown_profile
from chatdev.config.schema import CompanyConfig
from chatdev.config.settings import (
    Authorship,
    DefaultModel,
    ModelChoice,
    UserSettings,
    choose_model,
    find_default_model,
    profile_of_settings,
    user_settings,
)
from chatdev.connection import HUMAN, LOCAL, Connection, NamedProvider, Origin, Sourced
from chatdev.engine.budget import Spending
from chatdev.engine.context import Replied, RoleModel, result_from_json
from chatdev.engine.people import Person
from chatdev.errors import ConfigError, ConsentMissing, JournalError, RecordEnds
from chatdev.journal import Journal
from chatdev.llm.base import Model, Reply, Request, Sampling, model_name
from chatdev.llm.local.weights import installed_file
from chatdev.llm.registry import DEFAULT_NAME, Models
from chatdev.mcp.servers import ServerTool, ToolServers
from chatdev.packages.imports import Supply
from chatdev.paths import settings_file, working_folder
from chatdev.runner.consent import CompanyWord, allow_strangers, check_places, open_models, refuse_servers
from chatdev.runner.options import RunOptions
from chatdev.runner.people import PeopleDesk, approval_points
from chatdev.runner.recorded import JOURNAL, Order
from chatdev.runner.report import Run
from chatdev.runner.telemetry import LiveSpans, wants_spans
from chatdev.runner.toolbox import KnownTools, describe_server, find_servers, make_supply, resolve_install_policy
from chatdev.sandbox.base import Execution, ProcessLimits, Sandbox, SandboxJob
from chatdev.sandbox.kinds import find_sandbox
from chatdev.tools.base import Tool
from chatdev.workspace.run_folder import RunFolder


@dataclass(slots=True)
class Resources:
    """Resources of a session; those opened here are closed at its end."""

    options: RunOptions
    user: UserSettings
    models: Models
    tools: KnownTools
    closing: AsyncExitStack
    desk: PeopleDesk
    """Where people are asked."""
    run: Run | None = None
    """The run, as soon as it is under way; an interrupted one is complete up to the interruption."""
    spans: LiveSpans | None = None
    """What sends the spans of the run."""
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

    def open_spans(self) -> None:
        """Have `spans` where spans are asked for. Raises MissingProgram, ConfigError."""
        if wants_spans(self.options.otel):
            self.spans = LiveSpans(self.options.otel)
            self.closing.push_async_callback(self.spans.close)

    def temporary_folder(self) -> Path:
        """A folder that is there until the session ends."""
        return Path(self.closing.enter_context(tempfile.TemporaryDirectory(prefix="replay-")))


@asynccontextmanager
async def open_resources(options: RunOptions, tools: Iterable[Tool] = ()) -> AsyncIterator[Resources]:
    """The resources of a session, closed at its end; `tools` beside the installed ones. Raises ConfigError."""
    check_surroundings()
    async with AsyncExitStack() as closing:
        user = user_settings()
        desk = PeopleDesk(options.answer, options.wait)
        models = open_models(options.rate_limit, given=options.own_model, api_key=options.api_key, person=Person(desk))
        closing.push_async_callback(models.close)
        yield Resources(options, user, models, KnownTools(tools), closing, desk)


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
    _choices: dict[tuple[str, str], ModelChoice] = field(default_factory=dict)
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
        return {key: self.models.connect(one.name, one.address, one.key_env, one.provider)
                for key, one in choices.items()}

    def model_name(self, phase: str, role: str) -> str:
        """Name of the model of `role` in `phase`, as far as it is known before its server is asked."""
        choice = self._choose(phase, role)
        name = choice.settings.name or self.models.default_name(choice.address, choice.key_env, choice.provider)
        connection = self.models.connect(choice.name, choice.address, choice.key_env, choice.provider)
        is_named = choice.name is not None and choice.name.origin is not Origin.DEFAULT
        return name if is_named or connection is None or not connection.may_lack_default else f"{name}, or what it has,"

    def _all_roles(self) -> Iterator[tuple[str, str]]:
        for name, phase in self.company.phases.items():
            for role in (phase.assistant, phase.instructor):
                if role is not None:
                    yield name, role

    def _choose(self, phase: str, role: str) -> ModelChoice:
        key = (phase, role)
        if key not in self._choices:
            self._choices[key] = choose_model(self.company, phase, role, self.default, self.authorship)
        return self._choices[key]

    @property
    def profiles_in_use(self) -> list[ModelProfile]:
        """The profiles of all models that a role uses, by name."""
        found = {role_model.sampling.model: role_model.profile for role_model in self._role_models.values()}
        return [found[name] for name in sorted(found)]

    def _make(self, choice: ModelChoice) -> RoleModel:
        settled = settle_model(choice, self.models)
        if settled != choice and choice.name == self.default.name:
            self.default = replace(self.default, name=settled.name)
        settings = settled.settings
        model, name = self.models.get(settled.name, settled.address, settled.key_env, settled.provider)
        profile = find_profile(settings, name, self.profiles)
        sampling = Sampling(name, settings.temperature, settings.top_p, profile.longest(settings.max_tokens),
                            settings.seed, settings.reasoning_effort or profile.reasoning_effort,
                            settings.extra_body or profile.extra_body)
        return RoleModel(model, sampling, profile, {**(profile.headers or {}), **(settings.headers or {})})


def settle_model(choice: ModelChoice, models: Models) -> ModelChoice:
    """The choice with a model that its server has, where nobody names one: the server is asked for its list. Raises
    ConfigError where it has several."""
    if choice.name and choice.name.origin is not Origin.DEFAULT:
        return choice
    served = models.served(choice.address, choice.key_env, choice.provider)
    return replace(choice, name=Sourced(choose_served(served, DEFAULT_NAME), Origin.DEFAULT)) if served else choice


def find_profile(settings: ModelSettings, name: str, own: Sequence[ModelProfile]) -> ModelProfile:
    """The profile of a resolved model that goes by this name. Raises ConfigError where nobody knows the model whose
    profile it is to have."""
    if settings.profile:
        refuse_unknown_profile(settings.profile, own)
    return profile_of_settings(settings.model_copy(update={"name": name}), own)


@dataclass(frozen=True, slots=True)
class Equipment:
    """Resources of one company, found and checked. `options` are complete."""

    options: RunOptions
    role_models: RoleModels
    sandbox: Sandbox
    limits: Limits
    supply: Supply = field(default_factory=Supply)
    servers: ToolServers = field(default_factory=ToolServers)


def resolve_resources(word: CompanyWord, options: RunOptions, resources: Resources,
                      known: Mapping[str, ServerTool] = MappingProxyType({})) -> Equipment:
    """The models, sandbox, limits and servers for a company; `known` is what a record says of their tools. Raises
    ConfigError, MissingModel or SandboxError; ConsentMissing where it or `.env` names what the user has not consented
    to."""
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
    servers = find_servers(company, known)
    resources.closing.push_async_callback(servers.close)
    return Equipment(options, role_models, sandbox, limits, make_supply(options, resources.closing), servers)


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
    default = find_default_model(name, options.base_url, options.provider, user=user, process=models.environment,
                                 file=models.folder)
    if not (default.name or word.config.model.name):
        named = models.default_name(default.address or default.provider)
        default = replace(default, name=Sourced(named, Origin.DEFAULT))
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
            key_env: Sourced | str | None = None, provider: NamedProvider | None = None) -> tuple[Model, str]:
        """Stand-in with the name of the recorded model."""
        called = (name.value if isinstance(name, Sourced) else name) or DEFAULT_NAME
        return _Absent(), LOCAL if called.startswith(f"{LOCAL}:") else called


def replay_equipment(company: CompanyConfig, order: Order, options: RunOptions) -> Equipment:
    """Resources of a replay: names and profiles of models, and descriptions of servers' tools, without either."""
    model = order.options.get("model")
    default = DefaultModel(Sourced(model, Origin.RECORD) if model else None)
    role_models = RoleModels(company, default, _NoModels(), order.profiles)
    return Equipment(options, role_models, _Absent(), Limits(), servers=ToolServers(known=order.mcp))


# Preflight checks of the process: working folder, temporary folder, limit of open files.

_LEAST_DESCRIPTORS = 64
"""Files, pipes and connections of a run with programs in a sandbox, with room to spare."""
_SCRATCH = 1 << 16  # bytes: a temporary folder that has no room for these has none for a copy of the software


def check_surroundings() -> None:
    """Raise ConfigError, with what to do, for surroundings in which no run comes to its end."""
    working_folder()
    check_file_names(sys.getfilesystemencoding())
    _check_descriptors()
    _check_temporary_folder()


def check_file_names(encoding: str) -> None:
    """Raise ConfigError for an encoding of file names that has not every character: models write such names."""
    if encoding.replace("-", "").lower() != "utf8":
        raise ConfigError(f"Python writes file names in {encoding} here, and software may have names with other "
                          "characters; set PYTHONUTF8=1 or a locale such as LANG=C.UTF-8")


def _check_descriptors() -> None:
    most, highest = resource.getrlimit(resource.RLIMIT_NOFILE)
    check_highest_limit(highest)
    try:
        used = sum(1 for _ in Path("/proc/self/fd").iterdir())
    except OSError:  # no /proc; or there is none left for looking
        used = most if most < _LEAST_DESCRIPTORS else 0
    if most != resource.RLIM_INFINITY and most - used < _LEAST_DESCRIPTORS:
        raise ConfigError(f"this process may open {most} files, and {used} are open; a run takes {_LEAST_DESCRIPTORS} "
                          "more: raise the limit (ulimit -n 1024)")


def check_highest_limit(highest: int) -> None:
    """Raise ConfigError where a program in the sandbox may not open as many files as it is given."""
    needed = ProcessLimits().open_files
    if highest != resource.RLIM_INFINITY and highest < needed:
        raise ConfigError(f"no process may open more than {highest} files here, and programs in the sandbox may open "
                          f"{needed}; raise the hard limit (ulimit -Hn 1024)")


def _check_temporary_folder() -> None:
    try:
        with tempfile.TemporaryDirectory(prefix="chatdev-") as folder:
            file = Path(folder) / "scratch"
            file.write_bytes(bytes(_SCRATCH))
            modes = [stat.S_IMODE(path.stat().st_mode) for path in (file, _folder_in(folder))]
    except OSError as error:
        raise ConfigError(f"nothing can be written in a temporary folder ({error.strerror or error}); set TMPDIR to a "
                          "folder with room that you may write in") from None
    if any(mode & needed != needed for mode, needed in zip(modes, (0o600, 0o700), strict=True)):
        raise ConfigError("this process makes files that it may not read or write itself; set a usual umask: umask 022")


def _folder_in(folder: str) -> Path:
    made = Path(folder) / "folder"
    made.mkdir()
    return made


# The budget: its limits as the user gave them, the prices it needs, and what earlier sessions spent.

N = TypeVar("N", int, float)


def read_limits(options: RunOptions) -> Limits:
    """The run's limits. Raises ConfigError for one that is none."""
    given = {"calls": options.max_calls, "tokens": options.max_tokens, "cost": options.max_cost,
             "minutes": options.max_minutes}
    try:
        return Limits.model_validate(given)
    except ValidationError as error:
        lines = [f"max_{e['loc'][0]}: {e['msg'][:1].lower()}{e['msg'][1:]} (given: {e['input']!r})"
                 for e in error.errors()]
        raise ConfigError("\n".join(lines)) from None


def refuse_unpriced(role_models: Mapping[tuple[str, str], RoleModel], limits: Limits, company: CompanyConfig) -> None:
    """Raise ConfigError when a cost is limited and the price of a model that counts in it is unknown."""
    for (phase, _), role_model in role_models.items():
        own = company.phases[phase].budget.cost is not None
        if role_model.profile.price is None and (own or limits.cost is not None):
            what = f"phases.{phase}.budget.cost" if own else "--max-cost"
            raise ConfigError(_price_missing_text(role_model.sampling.model, what))


def _price_missing_text(model: str, what: str) -> str:
    return (f"{what} needs the price of every model, and that of {model!r} is unknown. Write it into {settings_file()}"
            f" (US dollars per million tokens):\n  models:\n    - {_price_line(model)}\n"
            "or limit calls, tokens or minutes instead")


def describe_unpriced(models: Collection[str]) -> str:
    """Which models have no known price, and the lines that give them one."""
    lines = "; ".join(_price_line(model) for model in models)
    return (f"unknown for {', '.join(models)}; for one, add to `models:` in {settings_file()}, in US dollars per "
            f"million tokens: {lines}")


def _price_line(model: str) -> str:
    return f"{{match: [{json.dumps(model)}], price: {{prompt: 1.0, completion: 4.0}}}}"


def sum_past_spending(records: Iterable[Mapping[str, Any]], profiles: Sequence[ModelProfile] = ()) -> Spending:
    """Spending of the sessions in a journal, for the one that resumes the run: every live call and the time of each
    session.

    A call without a known cost is priced by the profile its model has now. A session that was killed left no time of
    its own; the time of its calls stands for it. Its last calls may have no event yet; they are in its activities.
    """
    profile = cache(lambda model: profile_for(model, profiles))
    total, unfinished = Spending(), 0.0
    without_event: dict[str, Spending] = {}
    for record in records:
        match record["kind"]:
            case "Activity" if not record.get("copied") and (spent := _activity_spending(record, profile)):
                without_event[record["place"]] = spent
            case "ModelCalled" | "ToolCalled" if not record.get("replayed"):
                unfinished += _at_least_nothing(record["seconds"])
                if record["kind"] == "ModelCalled":
                    without_event.pop(record["place"], None)
                    total += _call_spending(record, profile)
            case "RunStarted":  # the session before was killed, if anything is left of it
                total, unfinished = total + Spending(seconds=unfinished), 0.0
            case "RunFinished":
                total, unfinished = total + Spending(seconds=_at_least_nothing(record["seconds"])), 0.0
    return sum(without_event.values(), total + Spending(seconds=unfinished))


def _activity_spending(record: Mapping[str, Any], profile: Callable[[str], ModelProfile]) -> Spending | None:
    """Spending of a model's reply; None for other activities."""
    result = result_from_json(record["result"])
    if not isinstance(result, Replied) or result.reply.model == HUMAN:
        return None
    usage = result.reply.usage
    model = result.reply.model or record["request"]["sampling"]["model"]
    cost = profile(model).cost(usage.prompt_tokens, usage.completion_tokens, usage.cached_tokens)
    tokens = _at_least_nothing(usage.prompt_tokens) + _at_least_nothing(usage.completion_tokens)
    return Spending(1, tokens, cost, _at_least_nothing(result.seconds))


def _call_spending(record: Mapping[str, Any], profile: Callable[[str], ModelProfile]) -> Spending:
    tokens = _at_least_nothing(record["prompt_tokens"]), _at_least_nothing(record["completion_tokens"])
    cost = record.get("cost")
    return Spending(1, sum(tokens), profile(record["model"]).cost(*tokens) if cost is None
                    else _at_least_nothing(cost))


def _at_least_nothing(spent: N) -> N:
    """The amount, if it can have been spent. Raises JournalError for a negative or infinite one."""
    if not 0 <= spent < inf:
        raise JournalError(f"the journal says that {spent} was spent, which is no amount; it is damaged")
    return spent


# The line that says, before a run, which models are asked where, and which keys go there.


def describe_models(word: CompanyWord, options: RunOptions) -> str:
    """Model, address and the name of the key's variable, for every role; the places that somebody else than the user
    has tools open; and what still needs the user's consent. Nothing is sent, and nothing refused. Raises
    ConfigError."""
    word = replace(word, inputs=replace(word.inputs, given=options.inputs))
    models = open_models(given=options.own_model, api_key=options.api_key)
    role_models = find_role_models(word, options, user_settings(), models)
    connections = role_models.connections()
    roles: dict[str, dict[str, None]] = {}
    for (phase, role), connection in connections.items():
        roles.setdefault(_describe(role_models.model_name(phase, role), connection), {})[role] = None
    if len(roles) == 1:
        said = f"model {next(iter(roles))}"
    else:
        said = "models " + "; ".join(f"{model} ({', '.join(found)})" for model, found in roles.items())
    said = "; ".join((said, *(f"{place.origin.value} names {place.describe()}" for place in word.places
                              if place.is_strangers)))
    if approved := approval_points(word.config):
        said = f"{said}; a person approves of {', '.join(approved)}"
    said = "; ".join((said, *(f"tools of {describe_server(*one)}" for one in word.config.mcp.items())))
    try:
        allow_strangers(models, connections.values(), options.trust, word)
    except ConsentMissing as missing:
        return "; ".join((said, *_open_questions(missing)))
    return said


def _describe(name: str, connection: Connection | None) -> str:
    if name == HUMAN:
        return "a person"
    if connection is None:
        return f"{name}, an object of the caller's"
    if connection.address.value == LOCAL and installed_file() is None:
        return "none that can be reached yet (`chatdev doctor` says more)"
    return str(connection) if connection.is_local_model else f"{name} at {connection}"


def _open_questions(missing: ConsentMissing) -> Iterator[str]:
    for stranger in missing.subjects:
        yield f"needs your consent: chatdev trust {shlex.quote(stranger.place)}"
