"""The shape of the code: who may import whom, how long a file may be, and where there is no Python."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

import pytest

from tests.support.checkout import MODULES, ROOT, SOURCES, imported, named

LAYERS = [
    "departments",
    "cli",
    "web",
    "evaluation",
    "doctor",
    "batch",
    "runner",
    "engine",
    "replies mcp",
    "tools llm config",
    "packages",
    "sandbox workspace",
    "journal department",
    "events connection paths isolation",
    "errors",
    "safe_text version",
]
LEVEL = {part: level for level, line in enumerate(reversed(LAYERS)) for part in line.split()}
SOFTWARE = ["legacy", "evaluation", "play_command", "workbench", "guard", "run", "request", "trial",
            "toolchains", "drivers", "reading", "cases", "knowledge", "data"]
"""The parts of the department of software: each may import those behind it."""
ABOVE_ALL = {"__init__", "__main__"}  # the public face and `python -m chatdev`


def part_of(path: Path) -> str:
    return path.relative_to(ROOT / "chatdev").parts[0].removesuffix(".py")


@cache
def imports_of(path: Path) -> frozenset[str]:
    """The full name of everything that a file imports."""
    return frozenset(imported(ast.parse(path.read_text(encoding="utf-8"))))


def chatdev_parts(names: Iterable[str]) -> set[str]:
    return {name.split(".")[1] for name in names if name.startswith("chatdev.")}


def department_names(names: Iterable[str]) -> set[str]:
    return {name.split(".")[2] for name in names if name.startswith("chatdev.departments.")}


def forbidden(own: str, parts: set[str]) -> set[str]:
    """The parts among `parts` that `own` must not import."""
    return {part for part in parts if part != own and LEVEL.get(part, len(LEVEL)) >= LEVEL[own]}


def test_every_module_belongs_to_a_layer() -> None:
    found = [named(path) for path in MODULES if part_of(path) not in ABOVE_ALL | LEVEL.keys()]
    assert found == [], f"place it in one of: {', '.join(LEVEL)}"


def test_a_module_imports_only_from_layers_below() -> None:
    assert {named(path): parts for path in MODULES if part_of(path) in LEVEL
            if (parts := forbidden(part_of(path), chatdev_parts(imports_of(path))))} == {}


DEPARTMENTS = ROOT / "chatdev" / "departments"
CORE = sorted(path for path in (ROOT / "chatdev").rglob("*")
              if path.is_file() and path.suffix != ".pyc" and not path.is_relative_to(DEPARTMENTS))


def places_in_departments(text: str, names: Sequence[str]) -> list[str]:
    """The lines that say where something of a department lies: `chatdev.departments.NAME`, `departments/NAME`."""
    place = re.compile(rf"departments[./\\](?:{'|'.join(map(re.escape, names))})\b")
    return [line.strip() for line in text.splitlines() if place.search(line)]


def test_the_core_imports_no_department() -> None:
    """Nor says in a text where one lies; a name alone may be an ordinary word, as software and process are."""
    names = [folder.name for folder in DEPARTMENTS.iterdir() if (folder / "__init__.py").exists()]
    assert {"simulink", "software"} <= {*names}
    assert [f"{named(path)}: {line}" for path in CORE
            for line in places_in_departments(path.read_text(encoding="utf-8"), names)] == []
    assert [named(path) for path in CORE if path.suffix == ".py"
            and "departments" in chatdev_parts(imports_of(path))] == []


@pytest.mark.parametrize("line", ['load("chatdev.departments.lake.tools:read", "")', "see departments/lake/README.md",
                                  "from chatdev.departments.lake import tools"])
def test_every_way_to_say_where_a_department_lies_is_seen(line: str) -> None:
    assert places_in_departments(line, ["sea", "lake"]) == [line]
    assert places_in_departments("the lake of departments/lakeside", ["sea", "lake"]) == []


def test_a_department_imports_no_other_one() -> None:
    assert {named(path): others for path in MODULES if path.is_relative_to(DEPARTMENTS)
            if (others := department_names(imports_of(path)) - {path.relative_to(DEPARTMENTS).parts[0]})} == {}


def test_every_department_of_ours_is_an_entry_point() -> None:
    """And has a folder of tests."""
    setup = (ROOT / "setup.py").read_text(encoding="utf-8")
    for folder in (path.parent for path in DEPARTMENTS.glob("*/__init__.py")):
        assert f'"{folder.name} = chatdev.departments.{folder.name}:department"' in setup
        assert (ROOT / "tests" / "departments" / folder.name / "__init__.py").exists()


@pytest.mark.parametrize("line", ["import chatdev.engine.phase", "from chatdev import engine",
                                  "from chatdev.engine import phase", "from chatdev import Company",
                                  "def f():\n    from chatdev.llm.base import Model"])
def test_every_way_to_import_from_above_or_beside_is_seen(line: str) -> None:
    assert forbidden("tools", chatdev_parts(imported(ast.parse(line))))


@pytest.mark.parametrize("own", SOFTWARE)
def test_a_part_of_software_imports_only_from_those_below(own: str) -> None:
    base = DEPARTMENTS / "software"
    paths = [*(base / own).rglob("*.py"), *base.glob(f"{own}.py")]
    names = frozenset[str]().union(*map(imports_of, paths))
    parts = {name.split(".")[3] for name in names if name.startswith("chatdev.departments.software.")}
    assert parts <= set(SOFTWARE[SOFTWARE.index(own):])
    assert paths or own == "data"


def test_a_file_is_one_idea_of_at_most_600_lines() -> None:
    lines = {named(path): len(path.read_text(encoding="utf-8").splitlines()) for path in SOURCES}
    assert {name: count for name, count in lines.items() if count > 600} == {}


def test_companies_are_data_without_python() -> None:
    assert not list((ROOT / "company_config").rglob("*.py"))


def test_every_folder_of_modules_is_a_package() -> None:
    """Setuptools ships no others."""
    assert not [named(p.parent) for p in MODULES if not (p.parent / "__init__.py").exists()]


def test_the_page_on_the_architecture_shows_these_layers() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    drawn = page.split("## Layers")[1].split("```")[1].strip().splitlines()
    assert [set(line.split(" · ")) for line in drawn] == [set(line.split()) for line in LAYERS]
