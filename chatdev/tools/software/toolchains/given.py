"""What is known of software that was there before the run: what was so then is no fault of it now."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from chatdev.tools.base import ToolContext


def is_given(context: ToolContext) -> bool:
    """Whether the software was there before the run."""
    return "given" in context.values


def given_of(context: ToolContext) -> Mapping[str, Any]:
    """What `software.given` has said of it: the names of tests that `failed`, and of modules that were `missing`."""
    given = context.values.get("given")
    return given if isinstance(given, Mapping) else {}
