"""Hidden acceptance tests: scripts that drive a finished program through the interface its description states."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any, cast

from chatdev.errors import ChatDevError, ConfigError
from chatdev.evaluation.tasks import Task
from chatdev.evaluation.trial import Accept, Check, Program, copied
from chatdev.sandbox.base import Sandbox
from chatdev.tools.software.installing.supply import Supply


def script_of(task: Task, data: Path) -> Path | None:
    """The hidden test of a task, in the folder `acceptance` in or beside that of the data; None when the task has none.
    Raises ConfigError when it names one that is not there."""
    if not task.acceptance:
        return None
    folder = data if data.is_dir() else data.parent
    places = [place / "acceptance" / f"{task.acceptance}.py" for place in (folder, folder.parent)]
    for place in places:
        if place.is_file():
            return place
    raise ConfigError(f"the task {task.id!r} names the hidden test {task.acceptance!r}, and there is none; looked for: "
                      f"{' and '.join(map(str, places))}. Write it, or take `acceptance` out of the task")


def load(script: Path) -> Accept:
    """The function `accept(program)` of a script, whose checks come in the order a user would make them. It runs with
    our rights: use scripts that you trust. Raises ConfigError when it cannot be loaded."""
    spec = importlib.util.spec_from_file_location(f"chatdev_acceptance_{script.stem.replace('-', '_')}", script)
    if spec is None or spec.loader is None:
        raise ConfigError(f"{script} is no acceptance test: it must be a file of Python, NAME.py")
    module: Any = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
        return cast(Accept, module.accept)
    except Exception as error:
        raise ConfigError(f"{script} is no acceptance test: {type(error).__name__}: {error}; it needs a function "
                          "accept(program) that yields `chatdev.evaluation.trial.Check`s") from error


def accepted(accept: Accept, software: Path, sandbox: Sandbox, supply: Supply, run_folder: Path) -> list[Check]:
    """The checks that a script makes of a copy of `software`. Raises what the sandbox raises; where the program makes
    the script itself stumble, that is a failed check and the last one."""
    try:
        with copied(software, sandbox, supply, run_folder) as program:
            return _checked(accept, program)
    except FileNotFoundError as error:
        return [Check("there is a program to start", passed=False, detail=str(error))]


def _checked(accept: Accept, program: Program) -> list[Check]:
    checks: list[Check] = []
    try:
        checks.extend(accept(program))
    except ChatDevError:
        raise
    except Exception as error:  # noqa: BLE001 - what a script raises depends on what a model wrote
        checks.append(Check("the test came to its end", passed=False, detail=f"{type(error).__name__}: {error}"))
    return checks
