"""Reading what models said beside the event loop, so that nothing they say holds up a budget, Ctrl-C or another run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from chatdev.isolation.reading import read_beside
from chatdev.replies import Marked, read_marker
from chatdev.replies.problem import unreadable

T = TypeVar("T")
SECONDS = 60.0
"""For one look at a reply; one that takes longer is unreadable."""
SHORT = 20_000
"""Characters that are looked through at once: a thread would take longer."""


async def read_reply(function: Callable[..., T], *args: Any, **options: Any) -> T:
    """Result of the reader. Raises Unreadable when it takes too long, and the reader's own errors."""
    try:
        return await read_beside(SECONDS, function, *args, **options)
    except TimeoutError:
        raise unreadable("reading_slow", seconds=round(SECONDS)) from None


async def look_through(function: Callable[[str], T], text: str) -> T:
    """Result of a reader without a parser: immediate for short texts."""
    return function(text) if len(text) < SHORT else await read_beside(None, function, text)


async def marker_of(text: str) -> Marked:
    """`read_marker`, beside the event loop where the text is long."""
    return await look_through(read_marker, text)
