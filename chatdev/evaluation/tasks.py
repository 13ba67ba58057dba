"""Tasks that companies are measured on: our data set, files of one's own, and the published SRDD."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import Field

from chatdev.config.source import read
from chatdev.config.strict import Strict
from chatdev.config.validation import validated
from chatdev.errors import ConfigError
from chatdev.paths import bundled

_LARGEST_CELL = 100_000  # characters; a description has some hundreds
_LARGEST_READ = 20_000_000  # characters of a cell that are read, in order to say whose it is
_NEEDED = ("Name", "Description", "Category")


@dataclass(frozen=True, slots=True)
class Task:
    """One requirement. `acceptance` names its hidden test; empty when it has none."""

    name: str
    area: str
    category: str
    description: str
    acceptance: str = ""

    @property
    def id(self) -> str:
        """Unique in a data set, whose names may occur once in each category."""
        return f"{self.category}/{self.name}"


class _Entry(Strict):
    name: str = Field(min_length=1, max_length=_LARGEST_CELL)
    description: str = Field(min_length=1, max_length=_LARGEST_CELL)
    acceptance: str = ""


class _Category(Strict):
    """A file of `srdd/tasks/`."""

    area: str = Field(min_length=1)
    category: str = Field(min_length=1)
    tasks: list[_Entry] = Field(min_length=1)


def load_tasks(path: Path | None = None) -> list[Task]:
    """The tasks in `path`: a folder of YAML files or one of them, or a CSV file in the form of the published SRDD
    (columns Name, Description, Category); None: our own data set. Raises ConfigError naming file, line and mend."""
    path = path or bundled("srdd") / "tasks"
    if path.suffix.lower() == ".csv":
        tasks = list(_of_csv(path))
    elif path.is_file() and path.suffix.lower() not in (".yaml", ".yml"):
        raise ConfigError(f"{path} is no data set: it ends in {path.suffix!r}; give a folder of YAML files, one of "
                          "them, or a CSV file with commas that ends in .csv")
    else:
        files = sorted(path.rglob("*.yaml")) if path.is_dir() else [path]
        tasks = [task for file in files for task in _of_yaml(file)]
    if not tasks:
        raise ConfigError(f"there are no tasks in {path}; give a folder of YAML files as in srdd/tasks, or a CSV file "
                          f"with the columns {', '.join(_NEEDED)}")
    return _unique(tasks, path)


def _of_yaml(file: Path) -> Iterator[Task]:
    found = validated(_Category, read(file))
    for entry in found.tasks:
        yield Task(entry.name, found.area, found.category, " ".join(entry.description.split()), entry.acceptance)


def _of_csv(file: Path) -> Iterator[Task]:
    csv.field_size_limit(_LARGEST_READ)  # of the whole process; the default is less than a cell may have here
    line = 1
    try:
        with file.open(encoding="utf-8-sig", newline="") as lines:
            reader = csv.DictReader(lines, strict=True)
            _check_columns(reader.fieldnames or (), file)
            line = reader.line_num + 1
            for row in reader:
                line = reader.line_num + 1
                yield _of_row(row, f"{file}:{reader.line_num}")
    except csv.Error as error:
        raise ConfigError(f"{file}: the row that begins in line {line} cannot be read: {error}; mend it (is a "
                          "quotation mark left open?) or take it out") from error
    except OSError as error:
        raise ConfigError(f"cannot read {file}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{file} is not UTF-8 text (its byte {error.start}); convert it to UTF-8") from None


def _check_columns(columns: Sequence[str], file: Path) -> None:
    for name in _NEEDED:
        if columns.count(name) != 1:
            what = "stands twice" if name in columns else "is missing"
            raise ConfigError(f"{file}: the column {name!r} {what}; the first line must name the columns "
                              f"{', '.join(_NEEDED)} (it names: {', '.join(columns) or 'nothing'})")


def _of_row(row: Mapping[str | None, str | None], place: str) -> Task:
    cells = {name: " ".join((row.get(name) or "").split()) for name in _NEEDED}
    for name, cell in cells.items():
        if not cell:
            raise ConfigError(f"{place}: the cell of {name!r} is empty; fill it in or take the row out")
        if len(cell) > _LARGEST_CELL:
            raise ConfigError(f"{place}: the cell of {name!r} has {len(cell)} characters; shorten it to "
                              f"{_LARGEST_CELL}")
        if "\0" in cell:
            raise ConfigError(f"{place}: the cell of {name!r} holds a NUL character, which no text has; take it out")
    return Task(cells["Name"].replace("_", " "), "", cells["Category"].replace("_", " "), cells["Description"])


def _unique(tasks: list[Task], path: Path) -> list[Task]:
    seen: set[str] = set()
    for task in tasks:
        if task.id in seen:
            raise ConfigError(f"{path}: the task {task.name!r} stands twice in the category {task.category!r}; rename "
                              "one of them")
        seen.add(task.id)
    return tasks
