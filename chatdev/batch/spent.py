"""What a batch spends, and what it may."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self


@dataclass(frozen=True, slots=True)
class Spent:
    """US dollars (None: a price is unknown) and tokens in and out."""

    cost: float | None = 0.0
    tokens: int = 0

    @classmethod
    def of(cls, result: Mapping[str, Any]) -> Self:
        """What a result says in `cost` and `tokens`; nothing, where it does not speak of them."""
        cost, tokens = result.get("cost", 0.0), result.get("tokens", 0)
        return cls(float(cost) if _is_number(cost) else None, int(tokens) if _is_number(tokens) else 0)

    def __add__(self, other: Spent) -> Spent:
        cost = None if self.cost is None or other.cost is None else self.cost + other.cost
        return Spent(cost, self.tokens + other.tokens)


@dataclass(frozen=True, slots=True)
class Allowance:
    """What a whole batch may spend, over all its workers and sessions; None is without a limit."""

    cost: float | None = None
    tokens: int | None = None

    def reached(self, spent: Spent) -> str:
        """Why no further job may be begun; empty as long as one may."""
        if self.tokens is not None and spent.tokens >= self.tokens:
            return f"the budget of {self.tokens} tokens is used up (spent: {spent.tokens})"
        if self.cost is None:
            return ""
        if spent.cost is None:
            return (f"the budget is ${self.cost:g}, and the price of a model that was used is unknown; state it under "
                    "`models` in the settings file, or give the budget in tokens")
        return f"the budget of ${self.cost:g} is used up (spent: ${spent.cost:.4f})" if spent.cost >= self.cost else ""


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
