"""The page on the architecture shows the house as it is."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")


def parts_of_the_package() -> Iterator[str]:
    """Folders and modules directly below chatdev/, as the page writes them."""
    for path in sorted((ROOT / "chatdev").iterdir()):
        if path.is_dir() and (path / "__init__.py").exists():
            yield f"{path.name}/"
        elif path.suffix == ".py" and not path.stem.startswith("__"):
            yield path.name


@pytest.mark.parametrize("part", list(parts_of_the_package()))
def test_every_part_of_the_package_is_on_the_page(part: str) -> None:
    assert part in PAGE.split("## Layers")[0]


def named_modules() -> list[str]:
    return sorted(set(re.findall(r"`((?:\w+/)+\w+\.py)(?::[\w.]+)?[`(]?", PAGE)))


@pytest.mark.parametrize("name", named_modules())
def test_every_module_that_the_page_names_is_there(name: str) -> None:
    assert (ROOT / name).exists() or (ROOT / "chatdev" / name).exists()


@pytest.mark.parametrize(("module", "name"), sorted(set(re.findall(r"`((?:\w+/)+\w+\.py):([\w.]+)", PAGE))))
def test_every_function_that_the_page_names_is_there(module: str, name: str) -> None:
    found = import_module(f"chatdev.{module.removesuffix('.py').replace('/', '.')}")
    for part in name.split("."):
        found = getattr(found, part)


def test_every_name_of_the_glossary_is_in_the_code() -> None:
    glossary = PAGE.split("## Words")[1].split("## ")[0]
    column = [row.split("|")[3] for row in glossary.splitlines() if row.count("|") == 4]
    names = set(re.findall(r"`(?:[a-z.]+\.)?([A-Z]\w+)", " ".join(column)))
    classes = {node.name for path in (ROOT / "chatdev").rglob("*.py") for node in ast.walk(ast.parse(path.read_text()))
               if isinstance(node, ast.ClassDef)}
    assert len(names) > 20
    assert names <= classes


@pytest.mark.parametrize("page", sorted([*(ROOT / "docs").glob("*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md",
                                         *(ROOT / "chatdev").rglob("README.md")]),
                         ids=lambda path: path.relative_to(ROOT).as_posix())
def test_every_link_to_a_file_leads_to_one(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    targets = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text)
    assert [target for target in targets if "://" not in target and not (page.parent / target).exists()] == []
