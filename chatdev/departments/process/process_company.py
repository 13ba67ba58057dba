"""A company that runs proposed processes: which phases one may have, why one could not run, and what the company comes
with."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from chatdev.config.load import is_installed
from chatdev.config.phases import bare_name
from chatdev.config.schema import CompanyConfig, ProcessStep, names_written
from chatdev.departments.process.experience import EXAMPLES, Experience, gather_experience
from chatdev.departments.process.instances import Hallucination, check_instance, read_instance
from chatdev.departments.process.pool import InstanceOutcome, count_outcomes, read_export
from chatdev.departments.process.pool_statistics import PoolEntry
from chatdev.departments.process.process_tree import Instance
from chatdev.errors import ConfigError
from chatdev.paths import bundled_folder

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
