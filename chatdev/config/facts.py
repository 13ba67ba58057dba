"""What the checks of a company speak of: findings, and what is known of tools."""

from __future__ import annotations

import re
from dataclasses import dataclass

from chatdev.config.source import KeyPath

RESERVED = ("task", "inputs", "software", "feedback")
_WORDS = {"and", "else", "false", "if", "in", "is", "none", "not", "or", "true"}


@dataclass(frozen=True, slots=True)
class ToolFacts:
    """What a company must know of a tool before it runs; `reads` as in YAML (`name` or `name?`)."""

    name: str
    reads: tuple[str, ...] = ()
    writes_files: bool = False


@dataclass(frozen=True, slots=True)
class Finding:
    """Something wrong (or, as a warning, odd) at a key path of the company."""

    path: KeyPath
    text: str
    warning: bool = False


def is_name(text: str) -> bool:
    """Whether templates and expressions can speak of `text`."""
    return re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", text) is not None and text.lower() not in _WORDS


def bare(read: str) -> str:
    """The name behind an entry of `reads`."""
    return read.removesuffix("?")
