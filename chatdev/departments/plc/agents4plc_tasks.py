"""Tasks of the Agents4PLC benchmark, and folders of one's own: what is asked for, and the properties that it must have.

A file of the benchmark holds JSON objects one after another, with `id`, `instruction` and `properties_to_be_validated`.
A task of one's own is a folder with `requirement.md` and `properties.json`; `interface.st` (a source without
statements) is shown with the requirement, and `solution.st` only tells what the interface is.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from chatdev.departments.plc.proof.outcome import Property
from chatdev.departments.plc.proof.properties import PropertyError, read_properties
from chatdev.departments.plc.simulation.test_cases import read_tasks
from chatdev.errors import ConfigError
from chatdev.evaluation.tasks import Task
from chatdev.plain_file import read_named
from chatdev.workspace.file_tree import explain_os_errors

OWN = "own"
"""The kind of tasks in folders of their own."""
_PROPERTIES, _REQUIREMENT, _INTERFACE, _SOLUTION = "properties.json", "requirement.md", "interface.st", "solution.st"
_VALIDATED = "properties_to_be_validated"
_LARGEST = 16 << 20  # bytes of a file
_SKELETON = re.compile(r"^[ \t]*(?:FUNCTION_BLOCK|PROGRAM|FUNCTION|TYPE|VAR_GLOBAL)\b.*"
                       r"^[ \t]*END_(?:FUNCTION_BLOCK|PROGRAM|FUNCTION)\b", re.IGNORECASE | re.DOTALL | re.MULTILINE)


@dataclass(frozen=True, slots=True)
class PlcTask:
    """A requirement and the hidden properties that a program must have, as the benchmark writes them (`given`) and as
    they are checked. `interface` is a source whose inputs and outputs the program must have, or empty; `entry` is what
    is called in every scan, if the properties say so. Those of its inputs that the text wants changed are `changing`.
    """

    name: str
    kind: str
    requirement: str
    given: str
    properties: tuple[Property, ...]
    interface: str = ""
    entry: str = ""
    changing: tuple[str, ...] = ()

    @property
    def task(self) -> Task:
        """As a task of a data set; its area and category are its kind."""
        return Task(self.name, self.kind, self.kind, self.requirement)


@functools.cache
def read_plc_tasks(paths: tuple[Path, ...]) -> Mapping[str, PlcTask]:
    """The tasks in files of the benchmark, and in folders with such files or with tasks, by their names; one without
    properties is left out, since nothing could judge it. Raises ConfigError, which names file, task and field."""
    found: dict[str, PlcTask] = {}
    for path in paths:
        before = len(found)
        for task in _tasks_in(path):
            if task.name in found:
                raise ConfigError(f"{path}: there are two tasks {task.name!r}; rename one of them")
            found[task.name] = task
        if len(found) == before:
            raise ConfigError(f"{path} holds no tasks; give a file of the Agents4PLC benchmark (.jsonl), a folder of "
                              f"them, or a folder of tasks, each with {_REQUIREMENT} and {_PROPERTIES}")
    return found


def _tasks_in(path: Path) -> Iterator[PlcTask]:
    if path.is_file():
        yield from _benchmark_tasks(path)
        return
    for file in sorted(path.rglob("*")):
        if file.name == _REQUIREMENT:
            yield _own_task(file.parent)
        elif file.suffix == ".jsonl" and file.is_file():
            yield from _benchmark_tasks(file)


def _own_task(folder: Path) -> PlcTask:
    requirement, given = _read_text(folder / _REQUIREMENT).strip(), _read_text(folder / _PROPERTIES)
    if not requirement:
        raise ConfigError(f"{folder / _REQUIREMENT} is empty; write down what the program must do")
    properties = _read_properties(given, str(folder / _PROPERTIES))
    if not properties:
        raise ConfigError(f"{folder / _PROPERTIES} holds no properties; write down what a program must keep to")
    shown, solution = (_read_text(folder / name).strip() if (folder / name).exists() else ""
                       for name in (_INTERFACE, _SOLUTION))
    return PlcTask(folder.name, OWN, f"{requirement}\n\n{shown}".strip(), given, properties, shown or solution,
                   _entry_point(json.loads(given)))


def _benchmark_tasks(file: Path) -> Iterator[PlcTask]:
    """The tasks of a file, whose name says their kind."""
    for number, entry in enumerate(_entries(file), start=1):
        where = f"{file}: task {_name_of(entry, number, file)}"
        given = entry.get(_VALIDATED) or []
        properties = _read_properties(given, f"{where}, {_VALIDATED}")
        if properties:
            yield _benchmark_task(entry, file.stem, properties, where)


def _benchmark_task(entry: Mapping[str, Any], kind: str, properties: tuple[Property, ...], where: str) -> PlcTask:
    instruction = entry.get("instruction")
    if not isinstance(instruction, str) or not instruction.strip():
        raise ConfigError(f"{where}: `instruction` is missing or no text; write down what the program must do")
    if any("\ud800" <= character <= "\udfff" for character in instruction):
        raise ConfigError(f"{where}: `instruction` has half of a character (a lone \\uD800 to \\uDFFF); take it out")
    skeleton = _SKELETON.search(instruction)
    name = str(entry["id"])
    return PlcTask(name, kind, instruction.strip(), json.dumps(entry[_VALIDATED], indent=2, ensure_ascii=False),
                   properties, skeleton.group() if skeleton else "", _entry_point(entry[_VALIDATED]),
                   tuple(_changing_inputs().get(name, ())))


def _entries(file: Path) -> list[Mapping[str, Any]]:
    """The tasks of a file, as they stand there."""
    try:
        found: list[Any] = read_tasks(_read_text(file))
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{file}: {error}; a file of the benchmark holds JSON objects one after another") from None
    for entry in found:
        if not isinstance(entry, dict):
            raise ConfigError(f"{file}: {entry!r:.60} stands where a task is expected: an object with id, instruction "
                              f"and {_VALIDATED}")
    return found


def _name_of(entry: Mapping[str, Any], number: int, file: Path) -> str:
    name = entry.get("id")
    if not isinstance(name, str) or not name.strip():
        raise ConfigError(f"{file}: `id` of the task number {number} is missing or no text; name each task")
    return name


def _read_properties(given: Any, where: str) -> tuple[Property, ...]:
    try:
        return tuple(read_properties(given))
    except PropertyError as error:
        raise ConfigError(f"{where}: {error}") from error


def _entry_point(given: Sequence[Any]) -> str:
    """What the properties are about, where they name it."""
    inner = (one.get("property", one) for one in given)
    return next((str(one["entry_point"]) for one in inner if one.get("entry_point")), "")


@functools.cache
def _changing_inputs() -> Mapping[str, Sequence[str]]:
    """Name of a task -> those of its inputs that its text wants changed."""
    found: Mapping[str, Sequence[str]] = yaml.safe_load(
        Path(__file__).with_name("agents4plc.yaml").read_text(encoding="utf-8"))["changing"]
    return found


def _read_text(file: Path) -> str:
    with explain_os_errors("read", file):
        size = file.stat().st_size
        if size > _LARGEST:
            raise ConfigError(f"{file} has {size:,} bytes; a file of tasks has at most {_LARGEST:,}")
        try:
            return read_named(file).decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise ConfigError(f"{file} is not UTF-8 text (its byte {error.start}); convert it to UTF-8") from None
