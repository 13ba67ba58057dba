"""The files of `data/`, read once."""

from __future__ import annotations

import functools
from collections.abc import Collection
from pathlib import Path
from typing import Any

import yaml

_DATA = Path(__file__).with_name("data")


@functools.cache
def _data(name: str) -> dict[str, Any]:
    data: dict[str, Any] = yaml.safe_load((_DATA / name).read_text(encoding="utf-8"))
    return data


def distributions() -> dict[str, str]:
    """Import name -> distribution, of the modules that may always be installed."""
    names: dict[str, str] = _data("modules.yaml")["distributions"]
    return names


def refusal(why: str) -> str:
    """Why a module is not installed, in words for agents."""
    words: str = _data("modules.yaml")["refusals"][why]
    return words


def runtimes() -> dict[str, dict[str, Any]]:
    """The prepared sets of modules: name -> about, modules."""
    return _data("runtimes.yaml")


def needs_display(modules: set[str]) -> bool:
    """Whether a program that imports `modules` opens X windows."""
    return not modules.isdisjoint(_data("modules.yaml")["display"])


def draws_by_tkinter(modules: Collection[str]) -> bool:
    """Whether the windows of a program that imports `modules` are those of tkinter."""
    return not set(modules).isdisjoint(_data("modules.yaml")["tkinter"])


def opens_windows(modules: set[str]) -> bool:
    """Whether a program that imports `modules` is one with windows, drawn to a display or to memory."""
    return needs_display(modules) or not modules.isdisjoint(_data("modules.yaml")["windows"])


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


def languages() -> dict[str, Any]:
    """The languages besides Python: `languages` (name -> row), and `others` that are not judged (name -> suffixes)."""
    return _data("languages.yaml")


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
