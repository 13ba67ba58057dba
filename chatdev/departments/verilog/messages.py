"""What is said to agents, as data beside this module: the `.yaml` files, and the templates in `reports`."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import yaml

from chatdev.tools.base import render_file, template

_HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Message:
    """What a tool says of a line; `file` is "" and `line` 0 where it names none."""

    text: str
    file: str = ""
    line: int = 0
    severity: Literal["error", "warning"] = "error"


def outcomes() -> dict[str, dict[str, Any]]:
    """How a check or simulation may end: name -> passed, judged, score, says, and for the compiler's errors
    `pattern`, the more specific first."""
    return _read_yaml("outcomes.yaml")


def rules() -> dict[str, dict[str, Any]]:
    """What an answer must keep: name -> says, and where a pattern finds it `pattern`."""
    rules: dict[str, dict[str, Any]] = _read_yaml("rules.yaml")["rules"]
    return rules


def word_list(which: str) -> frozenset[str]:
    """One of the lists of `rules.yaml`."""
    return frozenset(_read_yaml("rules.yaml")[which])


def port_messages() -> list[dict[str, str]]:
    """What may be said of the bench's connections: `pattern` and `says` of each."""
    ports: list[dict[str, str]] = _read_yaml("rules.yaml")["ports"]
    return ports


def output_messages() -> dict[str, str]:
    """What may be said of outputs that differ from the reference's where a bench passes."""
    outputs: dict[str, str] = _read_yaml("rules.yaml")["outputs"]
    return outputs


def words_of_verilator() -> list[dict[str, str]]:
    """What it says otherwise than Icarus Verilog: `pattern` and `says` of each."""
    words: list[dict[str, str]] = _read_yaml("verilator.yaml")["words"]
    return words


def render_text(source: str, /, **facts: Any) -> str:
    """The text of a template, without blanks around it."""
    text: str = template(source).render(facts)
    return text.strip()


def render_report(name: str, /, **facts: Any) -> str:
    """The same of the file `reports/NAME.j2`."""
    return render_file(_HERE / "reports" / f"{name}.j2", **facts)


@functools.cache
def _read_yaml(name: str) -> dict[str, Any]:
    data: dict[str, Any] = yaml.safe_load((_HERE / name).read_text(encoding="utf-8"))
    return data
