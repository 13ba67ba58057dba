"""Numbers in words, as errors, console and report tell them."""

from __future__ import annotations


def counted(number: int, what: str) -> str:
    """`1 round`, `2 rounds`."""
    return f"{number} {what}{'s' * (number != 1)}"


def money(cost: float | None) -> str:
    """US dollars; unknown is not zero."""
    return "cost unknown" if cost is None else f"${cost:.4f}"
