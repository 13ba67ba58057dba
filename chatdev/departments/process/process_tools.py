"""The tools of a company that runs proposed processes: `process.recall`, `process.check`, `process.choose`."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

from chatdev.config.load import load_company
from chatdev.config.schema import CompanyConfig
from chatdev.departments.process.experience import Experience, gather_experience, read_experience
from chatdev.departments.process.instances import format_instance
from chatdev.departments.process.pool import InstanceOutcome, count_outcomes, find_outcomes
from chatdev.departments.process.process_company import PROPOSED, ProcessCompany
from chatdev.errors import ConfigError, ToolError, WorkspaceError
from chatdev.tools.base import PlaceInput, ToolContext, Verdict
from chatdev.tools.function import tool

DEFAULT_POOL = "studies/ledger.sqlite#top"
"""The place of experience that nobody needs to name: in the working folder, so what is there may be anybody's."""
_LONGEST_SHOWN = 2000  # characters of a proposal that was refused; a part of a longer one would be another proposal


def check_pool(place: str, company: CompanyConfig) -> None:
    """Raise ConfigError where a place that somebody named holds no pool that the company could learn from."""
    _read_pool(place, ProcessCompany.of(company).default)


@tool(reads=(), places={"pool": PlaceInput(DEFAULT_POOL, check_pool)})
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


@tool(reads=("proposal?",))
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
    return list(proposal["instance"] if proposal.get("passed") else company.default)


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
    return find_outcomes(url, name, phases) or []
