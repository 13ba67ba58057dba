"""The data files of this folder, read once."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import yaml

_HERE = Path(__file__).parent


@functools.cache
def _data(name: str) -> dict[str, Any]:
    data: dict[str, Any] = yaml.safe_load((_HERE / name).read_text(encoding="utf-8"))
    return data


def outcomes() -> dict[str, dict[str, Any]]:
    """How a check or simulation may end: name -> passed, judged, score, says, and for the compiler's errors
    `pattern`, the more telling first."""
    return _data("outcomes.yaml")


def rules() -> dict[str, dict[str, Any]]:
    """What an answer must keep: name -> says, and where a pattern finds it `pattern`."""
    rules: dict[str, dict[str, Any]] = _data("rules.yaml")["rules"]
    return rules


def names(which: str) -> frozenset[str]:
    """One of the lists of `rules.yaml`."""
    return frozenset(_data("rules.yaml")[which])


def port_messages() -> list[dict[str, str]]:
    """What may be told of the bench's connections: `pattern` and `says` of each."""
    ports: list[dict[str, str]] = _data("rules.yaml")["ports"]
    return ports


def report_template() -> str:
    """The template of the report of a verdict."""
    return (_HERE / "report.j2").read_text(encoding="utf-8")
