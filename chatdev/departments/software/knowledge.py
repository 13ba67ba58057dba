"""The files of `data/`, read once."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

from chatdev.paths import bundled_table

_DATA = Path(__file__).with_name("data")


@functools.cache
def _data(name: str) -> dict[str, Any]:
    data: dict[str, Any] = bundled_table(_DATA / name)
    return data


@functools.cache
def importable() -> dict[str, list[str]]:
    """What a program may have forgotten to import -> the modules that have it, "" for a module itself."""
    found = {module: [""] for module in _data("imports.yaml")["modules"]}
    for module, names in _data("imports.yaml")["members"].items():
        for name in names:
            found.setdefault(name, []).append(module)
    return found


def rules() -> dict[str, dict[str, Any]]:
    """The rules of judgement: name -> passed, score, says."""
    return _data("rules.yaml")


def package_files() -> dict[str, list[dict[str, Any]]]:
    """The files that name packages: file -> rows of `packages.yaml`."""
    files: dict[str, list[dict[str, Any]]] = _data("packages.yaml")["packages"]
    return files


def requests() -> dict[str, Any]:
    """How a request says what is wanted: `modality` and `language` of `request.yaml`."""
    return _data("request.yaml")


def report_template(name: str = "report") -> str:
    """The template of a tool's report."""
    return (_DATA / f"{name}.j2").read_text(encoding="utf-8")
