"""A run played again from its journal, without model, tool or network: same events, same software (design §5)."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from contextlib import AsyncExitStack
from datetime import datetime
from pathlib import Path
from typing import Any

from chatdev.config.phases import Limits
from chatdev.config.profiles import ModelSettings
from chatdev.engine.record import Record
from chatdev.errors import JournalError, RecordEnds
from chatdev.journal import Journal
from chatdev.llm.base import Model, Reply, Request
from chatdev.llm.registry import DEFAULT_NAME, LOCAL, Models
from chatdev.runner.begin import Staff, execution
from chatdev.runner.execute import Execution
from chatdev.runner.options import RunOptions
from chatdev.runner.recorded import JOURNAL, Recorded
from chatdev.runner.role_models import RoleModels
from chatdev.runner.session import Means
from chatdev.runner.source import recorded_company
from chatdev.sandbox import base
from chatdev.workspace.run_folder import RunFolder


class _Nobody:
    """Stands where models and sandbox stand in a run."""

    name = "replay"

    async def complete(self, request: Request) -> Reply:
        """Never called: every activity is on record, or the replay ends before it."""
        raise RecordEnds("a replay asks no model")

    async def close(self) -> None:
        """Nothing is open."""

    def run(self, job: base.Job) -> base.Execution:
        """Never called, as `complete`."""
        raise RecordEnds("a replay runs nothing")

    def stop_all(self) -> None:
        """Nothing runs."""


class _NoModels(Models):
    """Names without models behind them."""

    def __init__(self) -> None:
        super().__init__({})

    def get(self, name: str | None, base_url: str | None = None, key_env: str | None = None) -> tuple[Model, str]:
        """Nobody, by the name that the model went by."""
        name = name or DEFAULT_NAME
        return _Nobody(), LOCAL if name.startswith(f"{LOCAL}:") else name


async def replay(path: Path, speed: float | None, means: Means) -> Execution:
    """Play the journal at `path`, or of the run folder `path`, again; `speed` times as fast as it was, or at once. The
    new run folder is a temporary one unless a warehouse is given. Raises JournalError."""
    recorded = Recorded.read(path)
    warehouse = means.options.warehouse or means.closing.enter_context(tempfile.TemporaryDirectory(prefix="replay-"))
    return _replayed(recorded, Path(warehouse), speed, means.options, means.closing)


async def values_of(recorded: Recorded) -> Mapping[str, Any]:
    """The long-term memory at the end of a finished run. Raises JournalError when its journal does not lead there."""
    async with AsyncExitStack() as closing:
        folder = closing.enter_context(tempfile.TemporaryDirectory(prefix="replay-"))
        run = await _replayed(recorded, Path(folder), None, RunOptions(), closing).execute()
    if run.status != recorded.status:
        raise JournalError(f"{recorded.path}: played again the run ends differently ({run.status}: {run.reason}); it "
                           "was made by another version of chatdev, or its journal is damaged")
    return run.values


def _replayed(recorded: Recorded, warehouse: Path, speed: float | None, options: RunOptions,
              closing: AsyncExitStack) -> Execution:
    order = recorded.order
    folder = RunFolder.create(warehouse, options.name or "replay", datetime.now().astimezone())
    journal = Journal(folder.run / JOURNAL, held=True)
    closing.callback(journal.close)
    recorded.copy(journal, recorded.finished)
    config = recorded_company(order)
    model = ModelSettings(name=order.options.get("model"), base_url=order.options.get("base_url"))
    staff = Staff(order.filled(options), RoleModels(config, model, _NoModels(), order.profiles), _Nobody(), Limits())
    return execution(config, order, folder, journal, staff,
                     record=Record(recorded.finished, "ignore", complete=True, speed=speed))
