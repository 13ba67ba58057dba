"""Plan of a session, as a value: a new run, a resumed one, a fork, a follow-up or a replay.

Planning may ask or refuse, and makes only the locks and folders of the session.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from chatdev.config.schema import CompanyConfig, walk
from chatdev.config.settings import keep_dotenvs
from chatdev.config.templates import listing, render
from chatdev.config.yaml_nodes import dump
from chatdev.engine.budget import Spending
from chatdev.engine.context import SEMANTICS, Differing, Finished, Record
from chatdev.errors import ConfigError, JournalError
from chatdev.llm.base import count_tokens
from chatdev.runner.consent import CompanyWord, KnownInputs, give_places
from chatdev.runner.options import InputValues, ResumeChoices, RunOptions, gather_inputs, split_inputs
from chatdev.runner.recorded import (
    JOURNAL,
    Order,
    RecordedRun,
    current_company,
    options_to_keep,
    recorded_company,
    require_given,
    require_tools,
    restore_options,
)
from chatdev.runner.resources import (
    Equipment,
    Resources,
    RoleModels,
    refuse_blind,
    replay_equipment,
    resolve_resources,
    sum_past_spending,
)
from chatdev.runner.toolbox import KnownTools
from chatdev.safe_text import holds_secret, scrub, scrub_bytes
from chatdev.workspace.change import HandedIn, hand_in
from chatdev.workspace.file_tree import Software
from chatdev.workspace.run_folder import RunFolder, slug

if TYPE_CHECKING:
    from chatdev.runner.api import Company


_TIME = re.compile(r"-\d{14}(-\d+)?$")


@dataclass(frozen=True, slots=True)
class NewFolder:
    """A run folder that is still to be made."""

    warehouse: Path
    name: str

    def __post_init__(self) -> None:
        refuse_odd_bytes(self.warehouse)


@dataclass(frozen=True, slots=True)
class Past:
    """Record of a run, and how closely the session follows it (the last six fields are those of `Record`)."""

    recorded: RecordedRun
    finished: Mapping[str, Finished]
    """The activities that are taken from the record."""
    differing: Differing = "refuse"
    complete: bool = False
    changed: bool = False
    any_model: bool = False
    speed: float | None = None
    failed: Mapping[str, Finished] = field(default_factory=dict)

    def record(self) -> Record:
        """A record for one session."""
        return Record(self.finished, self.differing, complete=self.complete, changed=self.changed,
                      any_model=self.any_model, speed=self.speed, failed=self.failed)


@dataclass(frozen=True, slots=True)
class RunPlan:
    """One session of a run: who does what, where, after which past."""

    company: CompanyConfig
    order: Order
    inputs: InputValues
    equipment: Equipment
    folder: RunFolder | NewFolder
    past: Past | None = None
    spent: Spending = field(default_factory=Spending)
    """Spending of earlier sessions of the run."""
    follows: Path | None = None
    """The journal of a finished run whose long-term memory this one begins with."""
    notes: Sequence[str] = ()
    """Differences from the run that this one continues."""


def refuse_odd_bytes(folder: Path) -> None:
    """Raise ConfigError for a folder whose whole path is no text: the record of a run names it."""
    try:
        str(folder.absolute()).encode("utf-8")
    except UnicodeEncodeError:
        raise ConfigError(f"the path {str(folder)!r} has bytes that are no UTF-8, and the record of a run names its "
                          "folder; give another one: --warehouse FOLDER, or rename it") from None


def plan_run(company: Company, task: str, resources: Resources) -> RunPlan:
    """A new run of `company` on `task`. Raises ConfigError, MissingModel and the like."""
    options = resources.options
    word = replace(company.word, inputs=KnownInputs(given=options.inputs))
    equipment = resolve_resources(word, options, resources)
    _refuse_secrets(company.resolved)  # every key is known now
    inputs = gather_inputs(company.config, task, options.inputs)
    refuse_blind(equipment.role_models, inputs.images)
    handed_in = software_at(options.software)
    if company.config.changes and not handed_in.files:
        raise ConfigError(f"company {company.config.company!r} changes software that is there; give it: --path FOLDER")
    refuse_oversize(company.config, handed_in.files, equipment.role_models)
    order = Order(company.resolved, company.source, inputs.everything, inputs.images, software=handed_in.files,
                  origin=handed_in.origin)
    warehouse = Path(options.warehouse or resources.user.warehouse or "warehouse")
    return RunPlan(company.config, _complete_order(order, equipment, resources), inputs, equipment,
                   folder=NewFolder(warehouse, _run_name(options, scrub(task))),
                   notes=handed_in.notes if options.software else ())


def plan_resume(path: Path, choices: ResumeChoices, resources: Resources) -> RunPlan:
    """Go on with the run in the folder `path` where it stopped. Raises JournalError, ConfigError and the like."""
    refuse_odd_bytes(path)
    folder = RunFolder.open(path)
    if not os.path.lexists(folder.run / JOURNAL):
        raise JournalError(f"{path} has no journal: the run was stopped before it began; start a new run")
    resources.journal(folder, held=True)  # locked before it is read
    recorded = RecordedRun.read(folder.path)
    past = Past(recorded, recorded.reusable_activities, failed=recorded.failed_activities)
    plan = _plan_after(past, folder, choices, resources)
    return replace(plan, spent=sum_past_spending(recorded.records, resources.user.models))


def plan_fork(path: Path, place: str, choices: ResumeChoices, resources: Resources) -> RunPlan:
    """Do the run in the folder `path` again in a new folder: up to the activity `place` as recorded, then live.
    Raises ConfigError when there is no such activity."""
    recorded = RecordedRun.read(RunFolder.open(path).path)
    past = Past(recorded, recorded.activities_before(place))
    return _plan_after(past, _folder_beside(path, resources), choices, resources)


def plan_follow_up(path: Path, request: str, choices: ResumeChoices, resources: Resources) -> RunPlan:
    """A new run for a further request to a finished one: its software is the software to start from, its solutions are
    the long-term memory. Raises ConfigError when the run is not over or the request is empty."""
    if not request.strip():
        raise ConfigError("--task is empty; say what to add")
    folder = RunFolder.open(path)
    recorded = RecordedRun.read(folder.path)
    if not recorded.is_over:
        raise ConfigError(f"{path} is not finished ({recorded.status}), so nothing can be added to it; finish it "
                          f"first: chatdev resume {shlex.quote(str(path))}")
    before = recorded.order
    require_given(before, resources.options, resources.tools)
    company, note = _find_company(before, choices, resources)
    if "task" not in company.inputs:
        raise ConfigError(f"company {company.company!r} takes no `task`, so nothing can be added to one")
    restored = restore_options(before.options, resources.options, resources.user,
                               keep_budget=choices.keep_budget)
    before = _with_places(before, company, resources)
    word = _word_of(company, before, choices.company or path, resources)
    equipment = resolve_resources(word, restored.options, resources, before.mcp)
    task = render(company.protocol.follow_up, {"task": before.inputs["task"], "request": scrub(request)},
                  "protocol.follow_up")
    order = replace(before, company=_dump_without_secrets(company), inputs={**before.inputs, "task": task},
                    software=Software.load(folder.software), semantics=SEMANTICS,
                    origin={**before.origin, "follows": str(folder.path), "request": scrub(request)})
    return RunPlan(company, _complete_order(order, equipment, resources), _inputs_of(order, company), equipment,
                   folder=_folder_beside(path, resources), follows=recorded.path,
                   notes=(*note, *restored.notes))


def plan_replay(path: Path, speed: float | None, resources: Resources) -> RunPlan:
    """Play the journal at `path`, or of the run folder `path`, again; `speed` times as fast as it was, or at once. The
    new run folder is a temporary one unless a warehouse is given. Raises JournalError."""
    recorded, options = RecordedRun.read(path), resources.options
    order = recorded.order
    require_tools(order, resources.tools)
    company = recorded_company(order, resources.tools)
    equipment = replay_equipment(company, order,
                                 replace(options, language=options.language or order.options.get("language")))
    folder = NewFolder(Path(options.warehouse or resources.temporary_folder()), options.name or "replay")
    return RunPlan(company, order, _inputs_of(order, company), equipment, folder=folder,
                   past=Past(recorded, recorded.finished, "ignore", complete=True, speed=speed))


def _plan_after(past: Past, folder: RunFolder | NewFolder, choices: ResumeChoices, resources: Resources) -> RunPlan:
    """Go through the past, and on from there."""
    before, options = past.recorded.order, resources.options
    require_given(before, options, resources.tools)
    company, note = _find_company(before, choices, resources)
    restored = restore_options(before.options, options, resources.user, keep_budget=choices.keep_budget)
    before = _with_places(before, company, resources)
    word = _word_of(company, before, choices.company or past.recorded.path.parents[1], resources)
    equipment = resolve_resources(word, restored.options, resources, before.mcp)
    order = _complete_order(replace(before, company=_dump_without_secrets(company)), equipment, resources)
    past = replace(past, differing="perform" if choices.from_here else "refuse",
                   changed=order.company != before.company,
                   any_model=bool(options.model or options.provider or options.base_url) or past.recorded.models_vary)
    return RunPlan(company, order, _inputs_of(order, company), equipment, folder=folder, past=past,
                   notes=(*note, *restored.notes))


async def learn_tools(plan: RunPlan) -> RunPlan:
    """The plan with what servers say of the tools that no record describes; they are started for it. Raises
    ToolError."""
    servers = plan.equipment.servers
    if not servers.lacking:
        return plan
    await servers.list_tools()
    return replace(plan, order=replace(plan.order, mcp=dict(servers.tools)))


def word_of_record(path: Path, tools: KnownTools) -> CompanyWord:
    """What the record in a run folder, or the journal at `path`, names, as `resume` goes on with it. Raises
    JournalError, ConfigError."""
    before = RecordedRun.read(path).order
    return CompanyWord(current_company(before, tools)[0], before.source, tools, record=path,
                       inputs=KnownInputs(recorded=before.inputs))


def _find_company(before: Order, choices: ResumeChoices, resources: Resources) -> tuple[CompanyConfig, Sequence[str]]:
    """The company of a recorded run, as it is now or as it was, and what is to be said of that."""
    if choices.as_it_was:
        return recorded_company(before, resources.tools), ()
    company, note = current_company(before, resources.tools, choices.company)
    if note and choices.from_here:
        raise ConfigError(f"--from-here goes on with the company as it is now, and {note}")
    return company, (note,) if note else ()


def _word_of(company: CompanyConfig, before: Order, place: str | Path, resources: Resources) -> CompanyWord:
    """The company of a recorded run, to be trusted at `place`: nothing in it is this user's word, whatever the record
    says was set."""
    return CompanyWord(company, before.source, resources.tools, record=Path(place),
                       inputs=KnownInputs(resources.options.inputs, before.inputs))


def _with_places(before: Order, company: CompanyConfig, resources: Resources) -> Order:
    """The order with the places that the user names anew."""
    return replace(before, inputs=give_places(before.inputs, resources.options.inputs, company, resources.tools))


def _inputs_of(order: Order, company: CompanyConfig) -> InputValues:
    return split_inputs(company, order.inputs, order.images)


def _complete_order(order: Order, equipment: Equipment, resources: Resources) -> Order:
    """The order with what it says of models, options and tools."""
    role_models = equipment.role_models
    return replace(order, options=options_to_keep(equipment.options, role_models.default.settings.name),
                   profiles=role_models.profiles_in_use,
                   tools=[name for name in resources.tools.given if name in order.company])


def _dump_without_secrets(company: CompanyConfig) -> str:
    resolved = dump(company)
    _refuse_secrets(resolved)
    return resolved


def _refuse_secrets(resolved: str) -> None:
    """Every model reads the company and every run keeps a copy of it: raise ConfigError for a key in it."""
    if holds_secret(resolved):
        raise ConfigError("the company's YAML holds a key or a password; take it out: `key_env` names the environment "
                          "variable of a model's key, and OPENAI_BASE_URL may be an address with a password")


def _run_name(options: RunOptions, task: str) -> str:
    """The run's name: as given, else the first words of the task."""
    name = options.name or slug(" ".join(task.split()[:6]))
    return scrub(f"{name}_{options.org}" if options.org else name)


def _folder_beside(path: Path, resources: Resources) -> NewFolder:
    """Beside the run that it comes from and under its name, unless the user says otherwise."""
    options, path = resources.options, path.resolve()
    return NewFolder(Path(options.warehouse or path.parent), options.name or _TIME.sub("", path.name))


def software_at(folder: str | Path | None) -> HandedIn:
    """What the user hands in, without the values of secrets."""
    if folder is None:
        return HandedIn()
    if not Path(folder).is_dir():
        raise ConfigError(f"there is no folder {folder} with software to start from")
    found = hand_in(Path(folder))
    keep_dotenvs(found.files)
    return replace(found, files={path: scrub_bytes(data) for path, data in found.files.items()})


# Whether software that is handed in fits the windows of the models that are shown all of it.

_ALL_OF_IT = re.compile(r"\bsoftware\s*\|\s*listing\b")
_FEWEST = 12  # characters of a token, on the side of what fits


def refuse_oversize(company: CompanyConfig, software: Mapping[str, bytes], role_models: RoleModels) -> None:
    """Raise ConfigError, with the figures, where a phase of the chain shows all of the software to a model whose window
    it does not fit."""
    phases = company.phases
    for name in dict.fromkeys(name for _, step in walk(company.chain) for name in step.phases_run(phases)):
        phase = phases[name]
        context = role_models(name, phase.assistant).profile.context
        if "software" not in phase.reads or context is None or not _ALL_OF_IT.search(phase.opening):
            continue
        if sum(map(len, software.values())) <= context:
            return  # no token is shorter than a byte
        shown = listing(software)
        model = role_models(name, phase.assistant).sampling.model
        tokens = len(shown) // _FEWEST if len(shown) > context * _FEWEST else count_tokens(shown, model)
        if tokens > context:
            raise ConfigError(
                f"the software that was handed in has {len(software)} files and more than {tokens:,} tokens; the phase "
                f"{name!r} of company {company.company!r} shows all of it, and {model} takes {context:,}. Take "
                "--company maintain, which shows a map and lets the model read, or give a part: --path FOLDER")
