"""What is said to agents, as templates beside this module."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

from chatdev.tools.base import template

_HERE = Path(__file__).parent


def render_report(name: str, /, **facts: Any) -> str:
    """The text of the template `NAME.j2`, without blanks around it."""
    text: str = template(_read(name)).render(facts)
    return text.strip()


@functools.cache
def _read(name: str) -> str:
    return (_HERE / f"{name}.j2").read_text(encoding="utf-8")
