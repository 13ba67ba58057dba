"""Shared parts of a company's checks: mistakes, facts about tools, names that may be written."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from chatdev.config.schema import CompanyConfig
from chatdev.config.steps import walk
from chatdev.config.validation import name_hint
from chatdev.config.yaml_nodes import KeyPath
from chatdev.department import explain_absence

RESERVED = ("task", "inputs", "software", "feedback")
_WORDS = {"and", "else", "false", "if", "in", "is", "none", "not", "or", "true"}


@dataclass(frozen=True, slots=True)
class ToolFacts:
    """What a company must know of a tool before it runs; `reads` as in YAML (`name` or `name?`)."""

    name: str
    reads: tuple[str, ...] = ()
    writes_files: bool = False


Tools = Mapping[str, ToolFacts] | None
"""The tools there are, by name; None leaves tools unchecked."""


@dataclass(frozen=True, slots=True)
class Mistake:
    """Something wrong (or, as a warning, odd) at a key path of the company."""

    path: KeyPath
    text: str
    warning: bool = False


def is_name(text: str) -> bool:
    """Whether templates and expressions can speak of `text`."""
    return re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", text) is not None and text.lower() not in _WORDS


def items_of(company: CompanyConfig) -> set[str]:
    """The names of the items of all `foreach` in the chain."""
    return {step.item for _, step in walk(company.chain) if step.item is not None}


def unknown_tool(name: str | None, tools: Tools, path: KeyPath) -> Iterator[Mistake]:
    """A finding when there is no such tool."""
    if name is not None and tools is not None and name not in tools:
        yield Mistake(path, f"there is no tool {name!r}; {name_hint(name, sorted(tools))}{explain_absence()}")


def write_problem(company: CompanyConfig, name: str, items: set[str]) -> str | None:
    """Reason why a phase or tool cannot write `name`; None if it can."""
    if not is_name(name):
        return f"{name!r} is not a name that templates and expressions can use; use letters, digits and `_`"
    if name in RESERVED and name != "software":
        return f"{name!r} is reserved; write another name"
    if name in items:
        return f"{name!r} is the item of a `foreach`; write another name"
    if name in company.inputs:
        return f"{name!r} is an input; write another name"
    return None
