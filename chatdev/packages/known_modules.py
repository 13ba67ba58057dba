"""What is known of third-party modules (`modules.yaml`) and of the prepared sets of them (`runtimes.yaml`)."""

from __future__ import annotations

import functools
from collections.abc import Collection
from pathlib import Path
from typing import Any

from chatdev.paths import bundled_table


@functools.cache
def _data(name: str) -> dict[str, Any]:
    data: dict[str, Any] = bundled_table(Path(__file__).with_name(name))
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
