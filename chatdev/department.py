"""The face of a department: what a package hands to chatdev in one value, found through the entry-point group
`chatdev.departments`. Our own departments come through the same door (chatdev/departments/README.md)."""

from __future__ import annotations

import functools
import re
import sys
from collections.abc import Container, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from chatdev.errors import ConfigError, MissingProgram
from chatdev.paths import bundled_folder

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

ENTRY_POINTS = "chatdev.departments"
"""Entry-point group of departments, `NAME = "module:department"`; also the package that ours are in."""
COMPANY_FILE = "company.yaml"
"""What makes a folder a company."""

Table = Literal["companies", "data_sets", "commands", "mcp"]
"""The fields of a department whose names all departments share; names of tools begin with the department's own."""
_ROWS: Mapping[Table, str] = {"companies": "company", "data_sets": "data set", "commands": "command",
                               "mcp": "tool for coding agents"}
_OURS = Path(__file__).with_name("departments")
_TOOL = re.compile(r"[a-z][a-z0-9_]*")
_WORD = re.compile(r"[a-z][a-z0-9_-]*")
_IMPORT_PATH = re.compile(r"\w+(\.\w+)*:\w+")


@dataclass(frozen=True, slots=True)
class Command:
    """A click command or group of a department; it is imported (`module:command`) when it is called, and until then
    `about` is what the help says of it: one sentence."""

    path: str
    about: str


@dataclass(frozen=True, slots=True)
class Department:
    """What a department brings. Raises ConfigError for a table that is written wrongly.

    `companies` is a folder with one folder a company; `tools` are import paths by name (`NAME.verb`); `data_sets` are
    the commands `chatdev eval ROW`, and `commands` the commands `chatdev ROW`; `mcp` are import paths of the tools that
    `chatdev mcp` offers to coding agents (`NAME_verb`). Five more import paths:
    `columns` of the `ColumnSet` of rows that say `measures: NAME`, `checks` of a function that returns the `Probe`s of
    `chatdev doctor`, `tasks` of one that opens the `DataSet` of a name for other departments (`open_tasks`), `views`
    and `boards` of those that return the `RunView`s which `chatdev view` shows of a run, and of what all runs taught.
    """

    name: str
    companies: Path | None = None
    tools: Mapping[str, str] = field(default_factory=dict)
    data_sets: Mapping[str, Command] = field(default_factory=dict)
    commands: Mapping[str, Command] = field(default_factory=dict)
    mcp: Mapping[str, str] = field(default_factory=dict)
    columns: str = ""
    checks: str = ""
    tasks: str = ""
    views: str = ""
    boards: str = ""

    def __post_init__(self) -> None:
        wrong = {
            "name: write a word of a-z, 0-9, _ and -": not _is_word(self.name),
            f"companies: {self.companies!r} is no folder; write a Path, e.g. Path(__file__).parent / 'companies'":
                self.companies is not None and not (isinstance(self.companies, Path) and self.companies.is_dir()),
            f"tools: write {{'{self.name}.verb': 'package.module:tool', …}}":
                not all(name.startswith(f"{self.name}.") and _is_path(path) for name, path in self.tools.items()),
            "data_sets: write {'name': Command('package.module:command', 'What it does.'), …}":
                not all(map(_is_command, self.data_sets, self.data_sets.values())),
            "commands: write {'name': Command('package.module:command', 'What it does.'), …}":
                not all(map(_is_command, self.commands, self.commands.values())),
            f"mcp: write {{'{self.name}_verb': 'package.module:tool', …}}":
                not all(_TOOL.fullmatch(name) and name.startswith(self.name.replace("-", "_") + "_") and _is_path(path)
                        for name, path in self.mcp.items()),
            "columns: write 'package.module:COLUMNS'": not (self.columns == "" or _is_path(self.columns)),
            **{f"{name}: write 'package.module:function'": not (path == "" or _is_path(path))
               for name, path in (("checks", self.checks), ("tasks", self.tasks), ("views", self.views),
                                  ("boards", self.boards))},
        }
        if problems := [problem for problem, is_so in wrong.items() if is_so]:
            raise ConfigError(f"Department({self.name!r}, …): {'; '.join(problems)}")

    def rows(self, table: Table) -> Mapping[str, Any]:
        """What stands in a table, by name: of companies their folders, of tools import paths, else `Command`s."""
        if table != "companies":
            return {"data_sets": self.data_sets, "commands": self.commands, "mcp": self.mcp}[table]
        return _company_folders(self.companies) if self.companies else {}


@dataclass(frozen=True, slots=True)
class InstalledDepartment:
    """A department as it is found here; None with the `problem` where it cannot be used. `owner` says whose it is;
    `registered`, that its package names it as an entry point."""

    name: str
    package: str
    department: Department | None
    problem: str = ""
    registered: bool = True

    @property
    def owner(self) -> str:
        """Which department of which package."""
        return f"the department {self.name!r} of {self.package}"


@dataclass(frozen=True, slots=True)
class Offer:
    """A row of a table, and the `problem` why its name means nothing: another package has it too."""

    value: Any
    problem: str = ""


def departments() -> dict[str, Department]:
    """The departments that can be used, by name."""
    return {one.name: one.department for one in installed_departments() if one.department}


def installed_departments() -> tuple[InstalledDepartment, ...]:
    """All departments, those that cannot be used among them. One that fails breaks nothing but itself."""
    return _find_departments(tuple(sys.path))


def offers(table: Table, core: Container[str] = ()) -> dict[str, Offer]:
    """What all departments bring in a table, by name. A name that two of them bring, or that is also one of `core`, is
    no department's."""
    found: dict[str, list[tuple[str, Any]]] = {}
    for one in installed_departments():
        for name, value in (one.department.rows(table) if one.department else {}).items():
            found.setdefault(name, []).append((one.owner, value))
    return {name: Offer(rows[0][1], _clash(table, name, [*(["chatdev itself"] if name in core else []),
                                                          *(owner for owner, _ in rows)]))
            for name, rows in sorted(found.items())}


def _clash(table: Table, name: str, owners: list[str]) -> str:
    if len(owners) == 1:
        return ""
    return (f"the {_ROWS[table]} {name!r} is there {len(owners)} times: {' and '.join(f'in {one}' for one in owners)}; "
            "uninstall one of the packages, or rename it in one")


def bundled_companies() -> dict[str, Path]:
    """The folders of the companies that come with chatdev, by name."""
    return _company_folders(bundled_folder("company_config"))


def company_offers() -> dict[str, Offer]:
    """The folders of all companies by name: the bundled ones, then those of departments."""
    bundled = bundled_companies()
    others = {name: offer for name, offer in offers("companies").items() if name not in bundled}
    return {name: Offer(folder) for name, folder in bundled.items()} | others


def installed_companies() -> dict[str, Path]:
    """The folders of the companies that their names stand for."""
    return {name: offer.value for name, offer in company_offers().items() if not offer.problem}


def installed_company(name: str) -> Path | None:
    """The folder of the company that a name stands for. Raises ConfigError where the name is ambiguous."""
    offer = company_offers().get(name)
    if offer and offer.problem:
        raise ConfigError(offer.problem)
    return offer.value if offer else None


def _company_folders(folder: Path) -> dict[str, Path]:
    return {file.parent.name: file.parent for file in sorted(folder.glob(f"*/{COMPANY_FILE}"))}


def explain_absence() -> str:
    """What to add to "there is no …": the departments that cannot be used, and why; empty where all can."""
    return "".join(f"; perhaps it is of {one.owner}, which cannot be used: {one.problem}"
                   for one in installed_departments() if one.problem)


def load(path: str, what: str) -> Any:
    """What stands at an import path. Raises MissingProgram, which calls it `what`."""
    module, _, attribute = path.partition(":")
    try:
        return getattr(import_module(module), attribute)
    except (Exception, SystemExit) as error:  # the module may be anybody's
        raise MissingProgram(f"{what} ({path}) cannot be imported: {_describe(error)}; install what is missing, or "
                             "uninstall its package") from error


@functools.cache  # every command asks, and an entry point is found by looking into all packages
def _find_departments(_path: tuple[str, ...]) -> tuple[InstalledDepartment, ...]:
    from importlib.metadata import EntryPoint, entry_points  # not for processes that only read what models write

    points = list(entry_points(group=ENTRY_POINTS))
    registered = {point.value.partition(":")[0] for point in points}
    ours = [EntryPoint(file.parent.name, f"{ENTRY_POINTS}.{file.parent.name}:department", ENTRY_POINTS)
            for file in sorted(_OURS.glob("*/__init__.py"))]
    found = [_load_department(point, is_registered=True) for point in points]
    found += [_load_department(point, is_registered=False) for point in ours if point.module not in registered]
    return tuple(_refuse_namesakes(one, found) for one in sorted(found, key=lambda one: (one.name, one.package)))


def _load_department(point: EntryPoint, *, is_registered: bool) -> InstalledDepartment:
    package = f"{point.dist.name} {point.dist.version}" if point.dist else "chatdev"
    try:
        return InstalledDepartment(point.name, package, _import_department(point), registered=is_registered)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - the module may be anybody's
        problem = f"{point.value}: {_describe(error)}; reinstall, mend or uninstall {package}"
        return InstalledDepartment(point.name, package, None, problem, is_registered)


def _import_department(point: EntryPoint) -> Department:
    found = point.load()
    if not isinstance(found, Department):
        raise ConfigError(f"it is no Department, but {type(found).__name__}")
    if found.name != point.name:
        raise ConfigError(f"it is named {found.name!r}, but its entry point {point.name!r}")
    return found


def _refuse_namesakes(one: InstalledDepartment, found: list[InstalledDepartment]) -> InstalledDepartment:
    """The department; without its value where another package has one of the same name."""
    packages = sorted(other.package for other in found if other.name == one.name)
    if len(packages) == 1:
        return one
    problem = f"it is there {len(packages)} times: in {' and '.join(packages)}; uninstall one of these packages"
    return InstalledDepartment(one.name, one.package, None, problem, one.registered)


def _describe(error: BaseException) -> str:
    return str(error) if isinstance(error, ImportError | ConfigError) else f"{type(error).__name__}: {error}"


def _is_word(name: object) -> bool:
    return isinstance(name, str) and _WORD.fullmatch(name) is not None


def _is_command(name: object, row: object) -> bool:
    return _is_word(name) and isinstance(row, Command) and _is_path(row.path)


def _is_path(path: object) -> bool:
    return isinstance(path, str) and _IMPORT_PATH.fullmatch(path) is not None
