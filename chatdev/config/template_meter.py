"""Meter of a template's rendering: counts its output and steps, and refuses what exceeds the limits."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from jinja2 import TemplateRuntimeError, Undefined

MOST_CHARACTERS = 20_000_000  # of a value, and of all that a rendering puts out: a software is 16 MB at most
MOST_STEPS = 200_000  # rounds of loops, calls, filters and comparisons of one rendering
_MOST_SECONDS = 5  # of a processor; one step is over soon, however much it is given
_MOST_MADE = 10 * MOST_CHARACTERS  # by all steps of a rendering, which may keep all of it
_ENTRY = 64  # characters that take about the memory of one entry of a list


class TemplateTooLarge(TemplateRuntimeError):
    """A template or an expression takes more than it may."""


@dataclass(slots=True)
class _Meter:
    """What one rendering has taken so far."""

    steps: int = 0
    characters: int = 0
    made: int = 0
    began: float = field(default_factory=time.thread_time)

    def step(self) -> None:
        self.steps += 1
        if self.steps > MOST_STEPS:
            raise TemplateTooLarge(f"it takes more than {MOST_STEPS} steps")
        if time.thread_time() - self.began > _MOST_SECONDS:
            raise TemplateTooLarge(f"it takes more than {_MOST_SECONDS} seconds")

    def make(self, size: int) -> None:
        self.made += size
        if self.made > _MOST_MADE:
            raise TemplateTooLarge(f"texts of more than {_MOST_MADE // 1_000_000} million characters would be made")

    def add(self, characters: int) -> None:
        self.characters += characters
        refuse_size(self.characters)


_meter: ContextVar[_Meter] = ContextVar("template meter")


@contextmanager
def measure_rendering() -> Iterator[None]:
    """Count anew what is rendered in the block."""
    token = _meter.set(_Meter())
    try:
        yield
    finally:
        _meter.reset(token)


def count_output(value: Any) -> Any:
    """Count output and operands of `~`; the value is returned unchanged."""
    size = size_of(value)
    refuse_size(size)
    if meter := _meter.get(None):
        meter.add(size)
    return value


def count_step(value: Any) -> Any:
    """What something is done with, as it is; that is counted."""
    if meter := _meter.get(None):
        meter.step()
    return value


def count_made(value: Any) -> Any:
    """What a step has made, as it is; counted."""
    if meter := _meter.get(None):
        meter.step()
        meter.make(len(value) if isinstance(value, str | bytes) else
                   _ENTRY * len(value) if isinstance(value, list | tuple | dict) else 0)
    return value


def count_rounds(iterable: Any, weight: int) -> Any:
    """The values of a loop, counted as they are taken; `weight` characters of text stand in its body."""
    if isinstance(iterable, Undefined):
        return iterable
    return _rounds(iterable, weight)


def _rounds(iterable: Iterable[Any], weight: int) -> Iterator[Any]:
    meter = _meter.get(None)
    for value in iterable:
        if meter:
            meter.step()
            meter.add(weight)
        yield value


def refuse_size(characters: int) -> None:
    """Raise TemplateTooLarge for a text of too many characters."""
    if characters > MOST_CHARACTERS:
        raise TemplateTooLarge(f"a text of more than {MOST_CHARACTERS // 1_000_000} million characters would be made")


def size_of(value: Any) -> int:
    """About how many characters the value is when it is written out; it stops counting beyond the limit."""
    if isinstance(value, str | bytes):
        return len(value)
    found, waiting = 0, [value]
    while waiting and found <= MOST_CHARACTERS:
        one = waiting.pop()
        if isinstance(one, str | bytes):
            found += len(one)
        elif isinstance(one, Mapping):
            waiting += [*one.keys(), *one.values()]
            found += len(one)
        elif isinstance(one, list | tuple):
            waiting += one
            found += len(one)
        else:
            found += 1
    return found
