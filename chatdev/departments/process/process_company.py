"""A company that runs proposed processes: which phases one may have, why one could not run, what its models are shown
of the pool, and its tools."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from chatdev.config.load import is_installed, load_company
from chatdev.config.phases import bare_name
from chatdev.config.schema import CompanyConfig, ProcessStep, names_written
from chatdev.departments.process.chart import draw_flow, draw_picture
from chatdev.departments.process.inductive_miner import mine
from chatdev.departments.process.pool import (
    LEAST_SUCCESS,
    MOST_PHASES,
    Hallucination,
    InstanceOutcome,
    PoolEntry,
    check_instance,
    choose_best,
    count_instances,
    count_outcomes,
    format_instance,
    read_export,
    read_instance,
)
from chatdev.departments.process.process_tree import Instance, ProcessTree, describe
from chatdev.errors import ConfigError, ToolError, WorkspaceError
from chatdev.paths import bundled_folder
from chatdev.safe_text import load_json
from chatdev.tools.base import PlaceInput, ToolContext, Verdict, tool

if TYPE_CHECKING:
    from chatdev.web.views import RunView

STARTER = "starter.json"
"""In a company's folder: the pool that it comes with."""
PROPOSED = "proposed"
"""The name in long-term memory under which a proposal stands."""


@dataclass(frozen=True, slots=True)
class ProcessCompany:
    """A company with a `process` step that says which phases a process may have."""

    config: CompanyConfig
    step: ProcessStep

    @classmethod
    def of(cls, config: CompanyConfig) -> ProcessCompany:
        """The company with this configuration. Raises ConfigError where it has no such step."""
        for step in config.chain:
            if isinstance(step, ProcessStep) and step.phases:
                return cls(config, step)
        raise ConfigError(f"the company {config.company!r} runs no proposed processes; its chain needs a step "
                          "`process: instance` with `phases: […]`, as that of the company top has")

    @property
    def default(self) -> Instance:
        """All phases that a process may have, in their default order."""
        return tuple(self.step.phases)

    @property
    def proposing(self) -> str:
        """The phase in which processes are proposed: the one that writes what `process.check` reads. Raises
        ConfigError."""
        for name, phase in self.config.phases.items():
            if phase.writes == PROPOSED:
                return name
        raise ConfigError(f"no phase of the company {self.config.company!r} writes {PROPOSED!r}, which process.check "
                          "reads; so it proposes no processes")

    @property
    def temperature(self) -> float | None:
        """The temperature of proposals; None where the company does not say it."""
        return self.config.phases[self.proposing].model.temperature

    def read(self, reply: str) -> Instance:
        """The instance in a text."""
        return read_instance(reply, self.step.phases)

    def check(self, instance: Instance) -> tuple[Hallucination, ...]:
        """Why an instance could not run; nothing where it can."""
        company = self.config
        before = company.chain[:company.chain.index(self.step)]
        given = {*company.inputs, *names_written([*before, *self.step.supplies], company.phases)}
        return check_instance(instance, {name: company.phases[name] for name in self.step.phases}, given)

    def list_replayable(self, outcomes: Sequence[InstanceOutcome]) -> list[PoolEntry]:
        """The entries whose instance was run and still can be: to run another again would tell nothing. Raises
        ConfigError where there is none, and says what there is instead."""
        ran = {outcome.instance for outcome in outcomes if outcome.was_run}
        entries = [entry for entry in count_outcomes(outcomes) if entry.instance in ran]
        if found := [entry for entry in entries if not self.check(entry.instance)]:
            return found
        why = self._tell_unreplayable(outcomes) if outcomes else "the pool is empty"
        raise ConfigError(f"{why}, so there is nothing to replay; begin with `chatdev process develop`")

    def _tell_unreplayable(self, outcomes: Sequence[InstanceOutcome]) -> str:
        """How many outcomes there are of each kind that cannot be replayed."""
        faults = {instance: self.check(instance) for instance in {outcome.instance for outcome in outcomes}}
        kinds = Counter(found[0].kind if (found := faults[one.instance]) else "never run" for one in outcomes)
        told = ", ".join(f"{kind} {count}" for kind, count in kinds.most_common())
        return f"none of the {len(outcomes)} outcomes of the pool is of a process that was run and can be run ({told})"

    def list_needs(self, name: str) -> list[str]:
        """What other phases must have written before this one."""
        phases = self.config.phases
        written = {phases[other].writes for other in self.step.phases}
        return [read for read in phases[name].reads if read == bare_name(read) and read in written]

    def first_experience(self, chance: Random) -> Experience:
        """What there is where nothing is known: examples by the company's author, in an order by `chance`; the default
        process where it gives none."""
        given = self.config.inputs.get("first_processes")
        lines = (given.default or "").splitlines() if given else []
        instances = [instance for line in lines if (instance := self.read(line))] or [self.default]
        return Experience("", tuple(chance.sample(instances, min(EXAMPLES, len(instances)))), "the company's examples")

    def starter_outcomes(self) -> list[InstanceOutcome]:
        """The pool that the company comes with; empty where it has none. Raises ConfigError."""
        file = bundled_folder("company_config") / self.config.company / STARTER
        if not (is_installed(self.config.company) and file.is_file()):  # a name may be a path elsewhere
            return []
        try:
            return read_export(file.read_text(encoding="utf-8"), self.default, str(file))
        except (OSError, UnicodeError) as error:
            raise ConfigError(f"{file} cannot be read: {error}") from error

    def starter_experience(self, chance: Random) -> Experience | None:
        """What that pool teaches; None where it has none. Raises ConfigError."""
        return gather_experience(count_outcomes(self.starter_outcomes()), self.default,
                                 "the pool that the company comes with", chance=chance)


# What a model is shown before it proposes a process: the mined model in words, and some instances
# (Think-on-Process, §3.3 and figures 5 and 8).

EXAMPLES = 5
"""Instances that are shown beside a text; the paper shows ten where it has no text."""
_LONGEST_TEXT = 20_000  # characters


@dataclass(frozen=True, slots=True)
class Experience:
    """`text` says what the mined model allows (empty: there is none, or it is not to be shown), `instances` are
    examples, `origin` says in words where both come from."""

    text: str
    instances: tuple[Instance, ...]
    origin: str

    def to_json(self) -> str:
        """As a file that `read_experience` reads."""
        plain = {"text": self.text, "instances": [format_instance(one) for one in self.instances],
                 "origin": self.origin}
        return json.dumps(plain, ensure_ascii=False, indent=1) + "\n"


Filter = Callable[[Sequence[PoolEntry]], Sequence[PoolEntry]]


def mine_pool(entries: Sequence[PoolEntry], least: float = LEAST_SUCCESS, noise: float = 0.0) -> ProcessTree | None:
    """The model of the instances to learn from (`choose_best`); None where there are none."""
    best = count_instances(choose_best(entries, least))
    return mine(best, noise) if best else None


def gather_experience(entries: Sequence[PoolEntry], default: Sequence[str], origin: str, *, chance: Random,
                      choose: Filter = choose_best, noise: float = 0.0) -> Experience | None:
    """What a pool teaches: the text of the model of the entries that `choose` takes, its phases in the order of
    `default`, and examples drawn among these entries, the likelier the oftener they succeeded. None where there are
    none."""
    best = choose(entries)
    if not best:
        return None
    return Experience(describe(mine(count_instances(best), noise), default), _draw(best, chance), origin)


def _draw(entries: Sequence[PoolEntry], chance: Random) -> tuple[Instance, ...]:
    """Some instances without repetition, in the order in which they were drawn."""
    left, drawn = list(entries), list[Instance]()
    while left and len(drawn) < EXAMPLES:
        [entry] = chance.choices(left, [max(entry.successes, 1) for entry in left])
        left.remove(entry)
        drawn.append(entry.instance)
    return tuple(drawn)


def read_experience(text: str, known: Collection[str], where: str) -> Experience:
    """The experience that `to_json` wrote; `known` are the phases there are, `where` names the file in errors. Raises
    ConfigError."""
    try:
        found = load_json(text)
        words, origin = _text_of(found, "text"), _text_of(found, "origin")
        instances = tuple(read_instance(str(one), known) for one in found["instances"])
    except (ValueError, KeyError, TypeError) as error:
        raise ConfigError(f"{where} holds no experience ({type(error).__name__}: {str(error)[:120]}); write one with "
                          "`chatdev process describe --json`") from None
    if unknown := sorted({name for one in instances for name in one if name not in known}):
        raise ConfigError(f"{where}: its examples name phases that there are not: {', '.join(unknown)[:200]}; it was "
                          "written for another company")
    if len(words) > _LONGEST_TEXT or any(len(one) > MOST_PHASES for one in instances):
        raise ConfigError(f"{where} is too long to be read by a model (the most are {_LONGEST_TEXT} characters of text "
                          f"and {MOST_PHASES} phases of an example)")
    return Experience(words, instances, origin)


def _text_of(found: Any, name: str) -> str:
    if not isinstance(found[name], str):
        raise TypeError(f"`{name}` is no text")
    return str(found[name])


# The tools `process.recall`, `process.check` and `process.choose`.

DEFAULT_POOL = "studies/ledger.sqlite#top"
"""The place of experience that nobody needs to name: in the working folder, so what is there may be anybody's."""
_LONGEST_SHOWN = 2000  # characters of a proposal that was refused; a part of a longer one would be another proposal


def check_pool(place: str, company: CompanyConfig) -> None:
    """Raise ConfigError where a place that somebody named holds no pool that the company could learn from."""
    _read_pool(place, ProcessCompany.of(company).default)


@tool(reads=(), pure=True, places={"pool": PlaceInput(DEFAULT_POOL, check_pool)})
def recall(context: ToolContext) -> dict[str, Any]:
    """Gather what is known of processes: the input `experience`, else the user's pool, else the one that the company
    comes with, else its author's examples.

    Returns `phases` (name, what it is about, what it needs), `text` (what worked, in words), `instances` (examples, as
    `A → B`) and `origin`, from where that is; with `notes` where the default pool cannot be read, and so teaches
    nothing.
    """
    company, notes = _company(context), list[str]()
    try:
        found = _find_experience(context, company, notes)
    except (ConfigError, WorkspaceError) as error:
        raise ToolError(str(error)) from error
    phases = [{"name": name, "about": company.config.phases[name].about, "needs": company.list_needs(name)}
              for name in company.default]
    return {"phases": phases, "text": found.text,
            "instances": list(map(format_instance, found.instances)), "origin": found.origin,
            **({"notes": notes} if notes else {})}


@tool(reads=(PROPOSED, "proposal?"))
def check(context: ToolContext) -> Verdict:
    """Check that the process which was proposed can be run: its phases exist, and each finds what it reads.

    Of the verdict, `instance` is the process, and `refused` all proposals so far that could not be run.
    """
    company = _company(context)
    instance = company.read(str(context.values[PROPOSED]))
    faults = company.check(instance)
    before = (context.values.get("proposal") or {}).get("refused", [])
    report = "; ".join(fault.describe() for fault in faults)
    kinds = sorted({fault.kind for fault in faults})
    text = format_instance(instance)
    refused = {"instance": text if len(text) <= _LONGEST_SHOWN else "", "kinds": kinds, "report": report}
    return Verdict(not faults, report or format_instance(instance), float(not faults),
                   {"instance": list(instance), "refused": [*before, refused] if faults else before})


@tool(reads=("proposal?",), pure=True)
def choose(context: ToolContext) -> list[str]:
    """Choose the process that is run: the input `process`, else what was proposed if that can be run, else the default
    one. A given process that cannot be run is an error."""
    company = _company(context)
    if given := str(context.inputs.get("process") or ""):
        instance = company.read(given)
        if faults := company.check(instance):
            raise ToolError(f"the input `process` cannot be run: {'; '.join(fault.describe() for fault in faults)}")
        return list(instance)
    proposal = context.values.get("proposal") or {}
    return list((proposal.get("passed") and proposal.get("instance")) or company.default)


def _company(context: ToolContext) -> ProcessCompany:
    """The company of the run."""
    try:
        return ProcessCompany.of(load_company(context.run_folder / "company.yaml"))
    except ConfigError as error:
        raise ToolError(str(error)) from error


def _find_experience(context: ToolContext, company: ProcessCompany, notes: list[str]) -> Experience:
    if given := context.inputs.get("experience"):
        return read_experience(str(given), company.default, "the input `experience`")
    task, default = str(context.inputs.get("task") or ""), company.default
    chance = Random(task)  # a run that is repeated shows the same examples
    outcomes: list[InstanceOutcome] = []
    if place := str(context.inputs.get("pool") or "").strip():
        try:
            outcomes = _read_pool(place, default)
        except (ConfigError, WorkspaceError) as error:
            if place != DEFAULT_POOL:
                raise
            notes.append(f"nothing is learnt from the pool {place}: {error}")
    url, _, name = place.rpartition("#")
    if found := gather_experience(count_outcomes(outcomes), default, f"the pool {name!r} of {url}", chance=chance):
        return found
    return company.starter_experience(chance) or company.first_experience(chance)


def _read_pool(place: str, phases: Sequence[str]) -> list[InstanceOutcome]:
    """The outcomes of the pool at a place, `FILE#NAME`; none where there is none. Raises as `find_outcomes` does."""
    url, _, name = place.rpartition("#")
    if not (url and name):
        raise ConfigError(f"the input `pool` is {place!r:.200}; write it as FILE#NAME, e.g. {DEFAULT_POOL}")
    from chatdev.departments.process.pool_store import find_outcomes

    return find_outcomes(url, name, phases) or []


def views(_folder: Path, values: Mapping[str, Any]) -> Iterator[RunView]:
    """What the web view shows: the process that was chosen, and what the agents were shown of the pool: instances that
    worked before, and their model in words."""
    from chatdev.web.views import RunView  # brings the runner with it, which programs without a run do without

    if instance := values.get("process.choose"):
        tree = mine({tuple(map(str, instance)): 1})
        yield RunView("The process of this run", picture=draw_picture(draw_flow(tree), "svg"), about=str(tree))
    recalled = values.get("process.recall") or {}
    if shown := recalled.get("instances"):
        yield RunView("Processes that the agents were shown", about=str(recalled.get("origin") or ""),
                      table=[("process",), *((str(one),) for one in shown)])
    if text := recalled.get("text"):
        yield RunView("The process model that the agents were shown", text=str(text))
