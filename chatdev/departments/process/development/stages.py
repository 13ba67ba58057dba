"""The stages of a development: each is planned once, written down, run as a batch, and counted in the pool once."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from chatdev.departments.process.development.planned_tasks import PlannedTask, read_planned, write_planned
from chatdev.departments.process.instances import MOST_PHASES
from chatdev.departments.process.pool import NOT_DEVELOPED, InstanceOutcome, InstancePool
from chatdev.departments.process.process_tree import Instance
from chatdev.errors import ConfigError
from chatdev.evaluation.study import DataSet
from chatdev.evaluation.variants import MODEL_SIGN, Variant
from chatdev.plain_values import load_json
from chatdev.workspace.file_tree import explain_os_errors, write_file

_NAME = re.compile(r"[a-z]+(-[a-z0-9]+)*")
_REFUSED = "#refused-"
_AT = " at "  # between the name of a variant and the temperature of its proposals


@dataclass(frozen=True, slots=True)
class Stage:
    """`name` is that of its folder; `command` is what it was begun with."""

    name: str
    command: Mapping[str, Any]
    planned: tuple[PlannedTask, ...]
    is_done: bool = False


@dataclass(frozen=True, slots=True)
class Stages:
    """The stages in `folder`, over one data set."""

    folder: Path
    base: DataSet

    def find(self, name: str) -> Stage | None:
        """The stage of that name as it was planned. Raises ConfigError for a plan that cannot be read."""
        file = self._file(name)
        if not file.is_file():
            return None
        try:
            data = load_json(file.read_text(encoding="utf-8"))
            return Stage(name, data["command"], read_planned(data, self.base, file), data["done"])
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise ConfigError(f"{file} is no plan of a stage ({type(error).__name__}: {str(error)[:120]}); remove it "
                              "to plan the stage anew") from None

    def names(self) -> list[str]:
        """The stages that were planned."""
        return sorted(file.stem for file in self.folder.glob("*.json") if _NAME.fullmatch(file.stem))

    def keep(self, stage: Stage) -> Stage:
        """Write the plan down, before anything of it is run. Raises WorkspaceError."""
        data = {"command": dict(stage.command), "done": stage.is_done, "planned": write_planned(stage.planned)}
        file = self._file(stage.name)
        with explain_os_errors("write", file):
            file.parent.mkdir(parents=True, exist_ok=True)
            write_file(file.parent, file.name, json.dumps(data, ensure_ascii=False, indent=1).encode("utf-8"))
        return stage

    def open_stage(self, kind: str, command: Mapping[str, Any]) -> tuple[str, Stage | None]:
        """The name of the next stage of this kind, and the stage, if it was begun and is not done. Raises ConfigError
        where that was begun by another command."""
        number = 1
        while (found := self.find(f"{kind}-{number}")) and found.is_done:
            number += 1
        if found:
            self.refuse_other_command(found, command)
        return f"{kind}-{number}", found

    def refuse_other_command(self, stage: Stage, command: Mapping[str, Any]) -> None:
        """Raise ConfigError where the stage was begun by another command."""
        if changed := sorted(key for key in {**stage.command, **command} if stage.command.get(key) != command.get(key)):
            were = ", ".join(f"{key} {stage.command.get(key)}" for key in changed)
            raise ConfigError(f"{stage.name} was begun with other options ({were}); give its command again, take "
                              f"another --pool, or remove {self._file(stage.name)}")

    def _file(self, name: str) -> Path:
        if not _NAME.fullmatch(name):
            raise ConfigError(f"a stage cannot be called {name!r}")
        return self.folder / f"{name}.json"


def count_rows(pool: InstancePool, stage: str, rows: Iterable[Mapping[str, Any]], temperature: float | None) -> int:
    """Count what became of a stage's runs in the pool, each once however often this is called; how many outcomes were
    new. `temperature` is that of proposals, where the row does not say another."""
    known = {outcome.run for outcome in pool.outcomes()}
    found = [outcome for row in rows for outcome in read_outcomes(stage, row, temperature) if outcome.run not in known]
    pool.add(found)
    return len(found)


def read_outcomes(stage: str, row: Mapping[str, Any], temperature: float | None) -> Iterator[InstanceOutcome]:
    """What a row says: a failure for each proposal that could not be run, and how its development ended, if it had any.
    """
    group = f": {row['group']}" if row["group"] else ""
    run = f"{stage}{group}/{row['folder']}"
    given: dict[str, Any] = {"task": row["base_task"], "area": row["area"], "model": row["model"],
                             "temperature": read_temperature(row, temperature) if row["proposed"] else None}
    for number, refused in enumerate(row["refused"], 1):
        yield InstanceOutcome(_refused_instance(refused["instance"]), False, None,
                              failure=", ".join(refused["kinds"]), run=f"{run}{_REFUSED}{number}", **given)
    if "executability" not in row and row["fits"]:
        yield InstanceOutcome(tuple(row["instance"]), False, None, failure=NOT_DEVELOPED, run=run, **given)
    elif "executability" in row and row["instance"]:
        success = bool(row["succeeded"])
        yield InstanceOutcome(tuple(row["instance"]), success, bool(row["executability"]), run=run,
                              failure="" if success else row["status"], **given)


def _refused_instance(text: str) -> Instance:
    """What was refused; nothing for what is too long, of which a part may be fine."""
    instance = tuple(text.split(" → ")) if text else ()
    return instance if len(instance) <= MOST_PHASES else ()


def read_temperature(row: Mapping[str, Any], otherwise: float | None = None) -> float | None:
    """The temperature at which a row's process was proposed, where the name of its variant says it."""
    _, said, temperature = str(row["variant"]).partition(MODEL_SIGN)[0].rpartition(_AT)
    return float(temperature) if said else otherwise


def name_temperature(variant: Variant, temperature: float | None) -> Variant:
    """The variant under a name that says the temperature of its proposals, if one is given."""
    if temperature is None:
        return variant
    end = variant.name.removeprefix(variant.short_name)
    return replace(variant, name=f"{variant.short_name}{_AT}{temperature}{end}")


def latest_tasks(outcomes: Sequence[InstanceOutcome]) -> Mapping[tuple[str, ...], str]:
    """For each instance the task that it was last run for."""
    return {outcome.instance: outcome.task for outcome in outcomes if outcome.was_run}
