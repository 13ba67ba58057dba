"""A company that runs proposed processes: which phases one may have, why one could not run, and what the company comes
with."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from chatdev.config.phases import bare_name
from chatdev.config.schema import CompanyConfig
from chatdev.config.step_kinds import ProcessStep
from chatdev.config.steps import names_written
from chatdev.errors import ConfigError
from chatdev.paths import bundled_folder
from chatdev.process.experience import Experience, gather_experience
from chatdev.process.instances import Hallucination, check_instance, read_instance
from chatdev.process.pool import count_outcomes, read_export
from chatdev.process.process_tree import Instance

STARTER = "starter.json"
"""In a company's folder: the pool that it comes with."""


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

    def read(self, reply: str) -> Instance:
        """The instance in a text."""
        return read_instance(reply, self.step.phases)

    def check(self, instance: Instance) -> tuple[Hallucination, ...]:
        """Why an instance could not run; nothing where it can."""
        company = self.config
        before = company.chain[:company.chain.index(self.step)]
        given = {*company.inputs, *names_written([*before, *self.step.supplies], company.phases)}
        return check_instance(instance, {name: company.phases[name] for name in self.step.phases}, given)

    def list_needs(self, name: str) -> list[str]:
        """What other phases must have written before this one."""
        phases = self.config.phases
        written = {phases[other].writes for other in self.step.phases}
        return [read for read in phases[name].reads if read == bare_name(read) and read in written]

    def starter_experience(self, chance: Random) -> Experience | None:
        """What the pool that the company comes with teaches; None where it has none. Raises ConfigError."""
        file = bundled_folder("company_config") / self.config.company / STARTER
        if not file.is_file():
            return None
        try:
            outcomes = read_export(file.read_text(encoding="utf-8"), self.default, str(file))
        except (OSError, UnicodeError) as error:
            raise ConfigError(f"{file} cannot be read: {error}") from error
        return gather_experience(count_outcomes(outcomes), self.default, "the pool that the company comes with",
                                 chance=chance)
