"""`software.modality` and `software.language`: what a request says for certain of what is wanted, by rule.

A model that is asked what stands in the request costs a call and may be wrong. What is not certain stays open, and the
company asks. The words are in `request.yaml`.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator

from pydantic import BaseModel, ConfigDict

from chatdev.departments.software import knowledge
from chatdev.departments.software.trial.plan import shows_example
from chatdev.tools.base import ToolContext, tool

_MOST_READ = 20_000  # characters of a request
_NAME = "{}"


class _Kind(BaseModel):
    """What speaks for a kind of product, and what against it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    says: tuple[str, ...]
    unless: tuple[str, ...]
    prints: bool = False
    """Whether an example of what is printed speaks for it, too."""


class _Languages(BaseModel):
    """What `language` of `request.yaml` holds; the fields are explained there."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    starts: dict[str, str]
    names: dict[str, str]
    phrases: tuple[str, ...]
    perhaps: tuple[str, ...]
    refused: str
    otherwise: dict[str, str]


@tool(pure=True)
def modality(ctx: ToolContext) -> str:
    """Say which kind of product the task asks for, such as `Command-line application`; empty when it is not certain."""
    return kind_wanted(_task_of(ctx))


@tool(reads=("modality?",), pure=True)
def language(ctx: ToolContext) -> str:
    """Say which programming language the task names, or which one is usual for this kind of product where it names
    none; empty when that is not certain."""
    return language_wanted(_task_of(ctx), str(ctx.values.get("modality") or ""))


def kind_wanted(request: str) -> str:
    """The kind of product that a request wants for certain; empty when there is none, or more than one."""
    text = request[:_MOST_READ]
    open_ones = {name: kind for name, kind in _kinds().items() if not _has(kind.unless, text)}
    found = [name for name, kind in open_ones.items() if _has(kind.says, text)]
    if not found and shows_example(text):
        found = [name for name, kind in open_ones.items() if kind.prints]
    return found[0] if len(found) == 1 else ""


def language_wanted(request: str, kind: str = "") -> str:
    """The one language that a request names for certain, or what is usual for `kind` where it speaks of none."""
    text, known = request[:_MOST_READ], _languages()
    named = set(_named_languages(text))
    refused = any(_has([known.refused.replace(_NAME, name)], text) for name in known.names.values())
    if named and not refused:
        return named.pop() if len(named) == 1 else ""
    return "" if refused or _has(known.perhaps, text) else known.otherwise.get(kind, "")


def _named_languages(text: str) -> Iterator[str]:
    known = _languages()
    for name, start in known.starts.items():
        if _has([start], text):
            yield name
    for name, spelling in known.names.items():
        if _has((phrase.replace(_NAME, spelling) for phrase in known.phrases), text):
            yield name


def _has(patterns: Iterable[str], text: str) -> bool:
    return any(_pattern(pattern).search(text) for pattern in patterns)


@functools.cache
def _pattern(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


@functools.cache
def _kinds() -> dict[str, _Kind]:
    return {name: _Kind(**kind) for name, kind in knowledge.requests()["modality"].items()}


@functools.cache
def _languages() -> _Languages:
    return _Languages(**knowledge.requests()["language"])


def _task_of(ctx: ToolContext) -> str:
    return str(ctx.inputs.get("task") or "")
