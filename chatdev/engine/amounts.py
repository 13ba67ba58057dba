"""What calls take, and amounts in words, as errors, console and report tell them."""

from __future__ import annotations

from dataclasses import dataclass

from chatdev.config.phases import Limits


@dataclass(frozen=True, slots=True)
class Spending:
    """Model calls, tokens in and out, US dollars (None: a price is unknown) and seconds."""

    calls: int = 0
    tokens: int = 0
    cost: float | None = 0.0
    seconds: float = 0.0

    def __add__(self, other: Spending) -> Spending:
        cost = None if self.cost is None or other.cost is None else self.cost + other.cost
        return Spending(self.calls + other.calls, self.tokens + other.tokens, cost, self.seconds + other.seconds)


def describe_spending(limits: Limits, spending: Spending) -> str:
    """What was spent of each limit; empty without limits."""
    parts = []
    if limits.calls is not None:
        parts.append(f"{spending.calls} of {limits.calls} calls")
    if limits.tokens is not None:
        parts.append(f"{spending.tokens} of {limits.tokens} tokens")
    if limits.cost is not None:
        parts.append(f"{money(spending.cost)} of {money(limits.cost)}")
    if limits.minutes is not None:
        parts.append(f"{spending.seconds / 60:.1f} of {limits.minutes:g} minutes")
    return ", ".join(parts)


def count_noun(number: int, noun: str) -> str:
    """`1 round`, `2 rounds`."""
    return f"{number} {noun}{'s' * (number != 1)}"


def money(cost: float | None) -> str:
    """US dollars; unknown is not zero."""
    return "cost unknown" if cost is None else f"${cost:.4f}"
