"""A new run: from a company and a task to a folder of the warehouse and an execution in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from chatdev.config.environ import keep_dotenvs
from chatdev.config.phases import Limits
from chatdev.config.schema import CompanyConfig
from chatdev.config.settings import default_model
from chatdev.engine.amounts import Spending
from chatdev.engine.record import Record
from chatdev.errors import ConfigError
from chatdev.journal import Journal
from chatdev.runner.execute import Execution
from chatdev.runner.inputs import gather, restored
from chatdev.runner.options import RunOptions
from chatdev.runner.order import Order, kept
from chatdev.runner.role_models import RoleModels
from chatdev.runner.session import Means
from chatdev.runner.spending import limits_of, refuse_unpriced
from chatdev.runner.supplying import preparing, supply_of, with_policy
from chatdev.runner.toolbox import RunToolbox
from chatdev.sandbox.base import Sandbox
from chatdev.secrets import holds, scrubbed, scrubbed_bytes
from chatdev.tools.software.installing.supply import Supply
from chatdev.workspace.run_folder import RunFolder, slug
from chatdev.workspace.snapshot import Software

if TYPE_CHECKING:
    from chatdev.runner.company import Company


@dataclass(frozen=True, slots=True)
class Staff:
    """Whom and what a company works with."""

    options: RunOptions
    role_models: RoleModels
    sandbox: Sandbox
    limits: Limits
    supply: Supply = field(default_factory=Supply)


async def begin(company: Company, task: str, means: Means) -> Execution:
    """A new run of `company` on `task`. Raises before anything is made."""
    staff = hire(company.config, means.options, means)
    refuse_secrets(company.resolved)  # every key is known now
    inputs = gather(company.config, task, means.options.inputs)
    order = Order(company.resolved, company.source, inputs.everything, inputs.images,
                  _existing(means.options.software))
    warehouse = Path(means.options.warehouse or means.user.warehouse or "warehouse")
    return start(company.config, order, _name(means.options, scrubbed(task)), staff, warehouse, means)


def hire(config: CompanyConfig, options: RunOptions, means: Means) -> Staff:
    """The models, sandbox and limits of a run. Raises ConfigError, MissingModel or SandboxError."""
    sandbox = means.sandbox(options.sandbox)
    options = with_policy(options, means.user, config)
    default = default_model(options.model, options.base_url, user=means.user)
    if not (default.name or config.model.name):
        default = default.model_copy(update={"name": means.models.default_name(default.base_url)})
    role_models = RoleModels(config, default, means.models, means.user.models)
    limits = limits_of(options)
    refuse_unpriced(role_models.check(), limits, config)
    return Staff(replace(options, model=default.name), role_models, sandbox, limits, supply_of(options, means.closing))


def start(config: CompanyConfig, order: Order, name: str, staff: Staff, warehouse: Path, means: Means) -> Execution:
    """A new run by an order, in a new folder of the warehouse."""
    order = replace(order, options=kept(staff.options), profiles=staff.role_models.profiles_in_use)
    folder = RunFolder.create(warehouse, name, datetime.now().astimezone())
    journal = means.journal(folder)
    journal.append("Order", "", order.to_record())
    return execution(config, order, folder, journal, staff)


def execution(config: CompanyConfig, order: Order, folder: RunFolder, journal: Journal, staff: Staff, *,
              record: Record | None = None, spent: Spending | None = None) -> Execution:
    """The execution of an order."""
    options, inputs = staff.options, restored(config, order.inputs, order.images)
    toolbox = RunToolbox(staff.sandbox, folder.run, inputs.everything, staff.supply.options)
    return Execution(config, order.company, inputs, folder, journal, toolbox, staff.role_models,
                     Software(order.software), order.values, options.on_event, options.stream,
                     options.language or "English", staff.limits, spent or Spending(), record,
                     preparing(staff.supply.runtime, staff.sandbox))


def refuse_secrets(resolved: str) -> None:
    """Every model reads the company and every run keeps a copy of it: raise ConfigError for a key in it."""
    if holds(resolved):
        raise ConfigError("the company's YAML holds a key or a password; take it out: `key_env` names the environment "
                          "variable of a model's key, and OPENAI_BASE_URL may be an address with a password")


def _name(options: RunOptions, task: str) -> str:
    """The run's name: as given, else the first words of the task."""
    name = options.name or slug(" ".join(task.split()[:6]))
    return scrubbed(f"{name}_{options.org}" if options.org else name)


def _existing(folder: str | Path | None) -> Mapping[str, bytes]:
    if folder is None:
        return {}
    if not Path(folder).is_dir():
        raise ConfigError(f"there is no folder {folder} with software to start from")
    software = Software.load(Path(folder))
    keep_dotenvs(software)
    return {path: scrubbed_bytes(data) for path, data in software.items()}
