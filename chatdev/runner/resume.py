"""Going on with a run (design §5): from where it stopped, from an earlier activity, or with a further request."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from chatdev.config.load import dump
from chatdev.config.prompts import render
from chatdev.config.schema import CompanyConfig
from chatdev.engine.amounts import Spending
from chatdev.engine.record import Finished, Record
from chatdev.errors import ConfigError, JournalError
from chatdev.journal import Journal
from chatdev.runner.begin import execution, hire, refuse_secrets, start
from chatdev.runner.execute import Execution
from chatdev.runner.options import RunOptions
from chatdev.runner.order import kept
from chatdev.runner.recorded import JOURNAL, Recorded
from chatdev.runner.replay import values_of
from chatdev.runner.session import Means
from chatdev.runner.source import current_company, recorded_company
from chatdev.runner.spending import spent_before
from chatdev.secrets import scrubbed
from chatdev.workspace.run_folder import RunFolder
from chatdev.workspace.snapshot import Software

_TIME = re.compile(r"-\d{14}(-\d+)?$")


@dataclass(frozen=True, slots=True)
class Changes:
    """What to do where the run would not do now what it did. By default it is refused.

    `from_here`: go on live from there. `as_it_was`: take the company as it was when the run began.
    """

    from_here: bool = False
    as_it_was: bool = False

    def __post_init__(self) -> None:
        if self.from_here and self.as_it_was:
            raise ConfigError("--from-here takes the company as it is now, and --as-it-was as it was; leave one out")


async def resume(path: Path, changes: Changes, means: Means) -> Execution:
    """Go on with the run in the folder `path` where it stopped. Raises JournalError, ConfigError and the like before
    anything is made; the execution raises RunChanged."""
    folder = RunFolder.open(path)
    if not (folder.run / JOURNAL).is_file():
        raise JournalError(f"{path} has no journal: the run was stopped before it began; start it anew")
    journal = means.journal(folder, held=True)  # locked before it is read
    recorded = Recorded.read(folder.path)
    journal.know(recorded.messages)
    spent = spent_before(recorded.records, means.user.models)
    return _gone_on(recorded, recorded.settled, folder, journal, changes, means, spent)


async def fork(path: Path, place: str, changes: Changes, means: Means) -> Execution:
    """Do the run in the folder `path` again in a new folder: up to the activity `place` as recorded, then live.
    Raises ConfigError when there is no such activity."""
    recorded = Recorded.read(RunFolder.open(path).path)
    finished = recorded.before(place)
    folder = RunFolder.create(_warehouse(path, means.options), _name(path, means.options), datetime.now().astimezone())
    means.closing.callback(_remove_unused, folder)
    journal = means.journal(folder, held=True)
    recorded.copy(journal, finished)
    return _gone_on(recorded, finished, folder, journal, changes, means, Spending())


async def follow_up(path: Path, request: str, changes: Changes, means: Means) -> Execution:
    """A new run for a further request to a finished one: its software is the software to start from, its solutions are
    the long-term memory. Raises ConfigError when the run is not over or the request is empty."""
    if not request.strip():
        raise ConfigError("the further task is empty: say what to add")
    folder = RunFolder.open(path)
    recorded = Recorded.read(folder.path)
    if not recorded.is_over:
        raise ConfigError(f"{path} is not finished ({recorded.status}), so nothing can be added to it; finish it "
                          f"first: chatdev resume {shlex.quote(str(path))}")
    before = recorded.order
    config = recorded_company(before) if changes.as_it_was else current_company(before)
    if "task" not in config.inputs:
        raise ConfigError(f"company {config.company!r} takes no `task`, so nothing can be added to one")
    staff = hire(config, before.filled(means.options), means)
    task = render(config.protocol.follow_up, {"task": before.inputs["task"], "request": scrubbed(request)},
                  "protocol.follow_up")
    order = replace(before, company=_resolved(config), inputs={**before.inputs, "task": task},
                    software=Software.load(folder.software), values=await values_of(recorded))
    return start(config, order, _name(path, means.options), staff, _warehouse(path, means.options), means)


def _gone_on(recorded: Recorded, finished: Mapping[str, Finished], folder: RunFolder, journal: Journal,
             changes: Changes, means: Means, spent: Spending) -> Execution:
    """The execution that goes through `finished` and then on."""
    before = recorded.order
    config = recorded_company(before) if changes.as_it_was else current_company(before)
    staff = hire(config, before.filled(means.options), means)
    order = replace(before, company=_resolved(config), options=kept(staff.options),
                    profiles=staff.role_models.profiles_in_use)
    if order.to_record() != before.to_record():
        journal.append("Order", "", order.to_record())
    record = Record(finished, "perform" if changes.from_here else "refuse", changed=order.company != before.company,
                    any_model=bool(means.options.model or means.options.base_url) or recorded.models_vary)
    return execution(config, order, folder, journal, staff, record=record, spent=spent)


def _resolved(config: CompanyConfig) -> str:
    resolved = dump(config)
    refuse_secrets(resolved)
    return resolved


def _warehouse(path: Path, options: RunOptions) -> Path:
    """Beside the run that it comes from, unless the user says where."""
    return Path(options.warehouse or path.resolve().parent)


def _name(path: Path, options: RunOptions) -> str:
    return options.name or _TIME.sub("", path.resolve().name)


def _remove_unused(folder: RunFolder) -> None:
    """A fork that was refused has written nothing."""
    if (folder.run / JOURNAL).stat().st_size == 0:
        shutil.rmtree(folder.path)
