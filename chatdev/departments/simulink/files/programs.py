"""Programs that build a model: MATLAB scripts are read as text alone; Python programs run in the sandbox, and one that
is written has been run before, and has built the model."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

from chatdev.config.yaml_nodes import read_text
from chatdev.departments.simulink import views
from chatdev.departments.simulink.change import list_differences
from chatdev.departments.simulink.diagram import Diagram
from chatdev.departments.simulink.execute import BuildResult, execute_program
from chatdev.departments.simulink.files.matlab_script import parse_script
from chatdev.departments.simulink.saved_model import DESCRIPTION
from chatdev.errors import ConfigError
from chatdev.sandbox.kinds import find_sandbox

_SHOWN = 5  # differences


def read_program(path: Path) -> tuple[Diagram, tuple[str, ...]]:
    """The model that a Python program builds in the sandbox with our stand-in for MATLAB. Raises ConfigError."""
    result = _run(read_text(path))
    if result.diagram is None:
        raise ConfigError(f"{path}{f':{result.line}' if result.line else ''}: {result.message}; correct the program")
    return result.diagram, tuple(result.output.splitlines())


def write_program(model: Diagram) -> str:
    """The Python program of a model, which has built it in the sandbox. Raises ConfigError where it does not."""
    program = views.write_program(_with_description(model))
    result = _run(program)
    if result.diagram is None:
        raise ConfigError(f"{model.name}: the program does not build the model: {result.message}; `chatdev simulink "
                          "check` says what is wrong with it")
    _compare(model, result.diagram)
    return program


def write_script(model: Diagram) -> str:
    """The MATLAB script of a model, which has been read again. Raises ConfigError where another model comes back."""
    script = views.write_script(_with_description(model))
    _compare(model, parse_script(script, f"the script of {model.name}")[0])
    return script


def _with_description(model: Diagram) -> Diagram:
    """The model with what it is for as one of its parameters."""
    about = {DESCRIPTION: model.about} if model.about else {}
    return replace(model, settings={**model.settings, **about})


def _run(program: str) -> BuildResult:
    with tempfile.TemporaryDirectory(prefix="chatdev-") as folder:
        return execute_program(program, sandbox=find_sandbox(), scratch=Path(folder), backend="builtin")


def _compare(model: Diagram, built: Diagram) -> None:
    """Holds what was built against the model; blocks that had no place have one now."""
    found = list_differences(model, built)
    found += [f"its {what} is {now!r:.80}, not {was!r:.80}" for what, was, now in (
        ("settings", model.settings, built.settings), ("variables", model.variables, built.variables),
        ("description", model.about, built.about)) if was != now]
    if found:
        raise ConfigError(f"{model.name}: MATLAB would build another model: {'; '.join(found[:_SHOWN])}"
                          f"{' …' if len(found) > _SHOWN else ''}; correct the model")
