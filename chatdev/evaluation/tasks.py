"""Tasks that companies are measured on (our data set, files of one's own, the published SRDD), and their selection."""

from __future__ import annotations

import csv
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

from pydantic import Field

from chatdev.config.yaml_nodes import StrictModel, name_hint, read, validate_node
from chatdev.errors import ConfigError
from chatdev.paths import bundled_folder, read_named

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


class _Entry(StrictModel):
    name: str = Field(min_length=1, max_length=_LARGEST_CELL)
    description: str = Field(min_length=1, max_length=_LARGEST_CELL)
    acceptance: str = ""


class _Category(StrictModel):
    """A file of `srdd/tasks/`."""

    area: str = Field(min_length=1)
    category: str = Field(min_length=1)
    tasks: list[_Entry] = Field(min_length=1)


def load_tasks(path: Path | None = None) -> list[Task]:
    """The tasks in `path`: a folder of YAML files or one of them, or a CSV file in the form of the published SRDD
    (columns Name, Description, Category); None: our own data set. Raises ConfigError, which names file and line and
    says how to fix it."""
    path = path or bundled_folder("srdd") / "tasks"
    if path.suffix.lower() == ".csv":
        tasks = list(_read_csv(path))
    elif path.is_file() and path.suffix.lower() not in (".yaml", ".yml"):
        raise ConfigError(f"{path} is no data set: it ends in {path.suffix!r}; give a folder of YAML files, one of "
                          "them, or a CSV file with commas that ends in .csv")
    else:
        files = sorted(path.rglob("*.yaml")) if path.is_dir() else [path]
        tasks = [task for file in files for task in _read_yaml(file)]
    if not tasks:
        raise ConfigError(f"there are no tasks in {path}; give a folder of YAML files as in srdd/tasks, or a CSV file "
                          f"with the columns {', '.join(_NEEDED)}")
    return _refuse_duplicates(tasks, path)


def _read_yaml(file: Path) -> Iterator[Task]:
    found = validate_node(_Category, read(file))
    for entry in found.tasks:
        yield Task(entry.name, found.area, found.category, " ".join(entry.description.split()), entry.acceptance)


def _read_csv(file: Path) -> Iterator[Task]:
    csv.field_size_limit(_LARGEST_READ)  # of the whole process; the default is less than a cell may have here
    line = 1
    try:
        with StringIO(read_named(file).decode("utf-8-sig"), newline="") as lines:
            reader = csv.DictReader(lines, strict=True)
            _check_columns(reader.fieldnames or (), file)
            line = reader.line_num + 1
            for row in reader:
                line = reader.line_num + 1
                yield _read_row(row, f"{file}:{reader.line_num}")
    except csv.Error as error:
        raise ConfigError(f"{file}: the row that begins in line {line} cannot be read: {error}; fix it (is a "
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


def _read_row(row: Mapping[str | None, str | None], place: str) -> Task:
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


def _refuse_duplicates(tasks: list[Task], path: Path) -> list[Task]:
    seen: set[str] = set()
    for task in tasks:
        if task.id in seen:
            raise ConfigError(f"{path}: the task {task.name!r} stands twice in the category {task.category!r}; rename "
                              "one of them")
        seen.add(task.id)
    return tasks


@dataclass(frozen=True, slots=True)
class Selection:
    """Filters, and how many of what passes them, after the first `skip`. Empty filters pass everything."""

    areas: Sequence[str] = ()
    categories: Sequence[str] = ()
    only_with_acceptance: bool = False
    limit: int | None = None
    seed: int = 0
    skip: int = 0

    def select(self, tasks: Sequence[Task]) -> list[Task]:
        """The tasks taken, in an order that `spread_tasks` makes; a greater `limit` takes the same and more. Raises
        ConfigError for an area or category that there is not, and when nothing is left."""
        _refuse_unknown("area", self.areas, {task.area for task in tasks})
        _refuse_unknown("category", self.categories, {task.category for task in tasks})
        found = [task for task in tasks if self._passes(task)]
        if not found:
            raise ConfigError("no task passes the filters; leave out --areas, --categories or --only-with-acceptance")
        if self.skip >= len(found):
            raise ConfigError(f"--skip {self.skip} leaves none of {len(found)} tasks; give a smaller number")
        return spread_tasks(found, self.seed)[self.skip:][:self.limit]

    def _passes(self, task: Task) -> bool:
        in_area = not self.areas or task.area in self.areas
        in_category = not self.categories or task.category in self.categories
        return in_area and in_category and bool(task.acceptance or not self.only_with_acceptance)


def spread_tasks(tasks: Sequence[Task], seed: int) -> list[Task]:
    """The tasks in an order whose every beginning is a stratified sample.

    In each round every category gives one task, drawn without replacement; within a round the categories of an area
    stand at equal distances, so that a part of a round has of each area as its categories are many.
    """
    by_area: dict[str, dict[str, list[Task]]] = {}
    for task in sorted(tasks, key=lambda task: task.id):
        by_area.setdefault(task.area, {}).setdefault(task.category, []).append(task)
    placed: list[tuple[int, float, float, Task]] = []
    for area in sorted(by_area):
        draw, categories = random.Random(f"{seed}/{area}"), list(by_area[area].values())
        draw.shuffle(categories)
        for number, category in enumerate(categories):
            draw.shuffle(category)
            tie = draw.random()
            placed += [(turn, (number + 0.5) / len(categories), tie, task) for turn, task in enumerate(category)]
    return [task for *_, task in sorted(placed, key=lambda place: place[:3])]


def _refuse_unknown(kind: str, wanted: Sequence[str], known: set[str]) -> None:
    for name in wanted:
        if name not in known:
            raise ConfigError(f"the data set has no {kind} {name!r}; {name_hint(name, sorted(known))}")
