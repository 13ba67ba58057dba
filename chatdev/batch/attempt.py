"""Attempts at the jobs of a batch, the same for every engine: what they cost, what they may cost, how they fail."""

from __future__ import annotations

import os
import secrets
import socket
from collections.abc import Awaitable, Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from chatdev.config.phases import Limits
from chatdev.engine.budget import Budget, Spending
from chatdev.errors import ConfigError, ExpressionError, MissingModel, MissingProgram, ModelRejected
from chatdev.safe_text import scrub

Work = Callable[[Mapping[str, Any]], Awaitable[Mapping[str, Any]]]
"""Does a job by its spec; the result is made of plain JSON values. Its numbers `cost` (US dollars, None: unknown) and
`tokens` count for the budget, less `cost_before` and `tokens_before`, which were counted when it was stopped."""

SHARED_BUDGET: ContextVar[Budget | None] = ContextVar("shared_budget", default=None)
"""What all work under way in this process may still spend together; None without a limit. Work that asks models asks
them within it, and raises AttemptStopped when it has no more room."""

_FINAL_ERRORS = (ConfigError, ExpressionError, MissingModel, ModelRejected, MissingProgram)
"""A retry fixes none of these."""


@dataclass(frozen=True, slots=True)
class Expense:
    """US dollars (None: a price is unknown) and tokens in and out."""

    cost: float | None = 0.0
    tokens: int = 0

    @classmethod
    def of(cls, result: Mapping[str, Any]) -> Expense:
        """Expense in `cost` and `tokens` of a result; zero where they are absent."""
        cost, tokens = result.get("cost", 0.0), result.get("tokens", 0)
        whole = cls(float(cost) if _is_number(cost) else None, int(tokens) if _is_number(tokens) else 0)
        return whole - cls(result.get("cost_before", 0.0), result.get("tokens_before", 0))

    def __add__(self, other: Expense) -> Expense:
        cost = None if self.cost is None or other.cost is None else self.cost + other.cost
        return Expense(cost, self.tokens + other.tokens)

    def __sub__(self, other: Expense) -> Expense:
        cost = None if self.cost is None or other.cost is None else self.cost - other.cost
        return Expense(cost, self.tokens - other.tokens)


@dataclass(frozen=True, slots=True)
class Allowance:
    """What a whole batch may spend, over all its workers and sessions; None is without a limit. `workers` is among how
    many what is left is divided when they begin; 1: each may have all of it."""

    cost: float | None = None
    tokens: int | None = None
    workers: int = 1

    def budget(self, spent: Expense, sharers: int) -> Budget | None:
        """Budget of one worker after `spent`, shared by the calls of `sharers` jobs at a time; None without a limit."""
        if self.cost is None and self.tokens is None:
            return None
        tokens, cost, paid = self.tokens, self.cost, spent.cost or 0.0
        if tokens is not None:
            tokens = max(1, spent.tokens + (tokens - spent.tokens) // self.workers)
        if cost is not None:
            cost = paid + max(0.0, cost - paid) / self.workers
        return Budget(Limits(tokens=tokens, cost=cost), Spending(0, spent.tokens, spent.cost), sharers)

    def exceeded_reason(self, spent: Expense) -> str:
        """Reason why a finished batch is no success: overspending; empty if there was none."""
        if self.tokens is not None and spent.tokens > self.tokens:
            return f"the budget of {self.tokens} tokens is exceeded (spent: {spent.tokens})"
        over = self.cost is not None and (spent.cost is None or spent.cost > self.cost)
        return f"the budget of ${self.cost:g} is exceeded (spent: ${spent.cost or 0:.4f})" if over else ""

    def stop_reason(self, spent: Expense) -> str:
        """Reason to begin no further job; empty while one may begin."""
        if self.tokens is not None and spent.tokens >= self.tokens:
            return f"the budget of {self.tokens} tokens is used up (spent: {spent.tokens})"
        if self.cost is None:
            return ""
        if spent.cost is None:
            return (f"the budget is ${self.cost:g}, and the price of a model that was used is unknown; state it under "
                    "`models` in the settings file, or give the budget in tokens")
        return f"the budget of ${self.cost:g} is used up (spent: ${spent.cost:.4f})" if spent.cost >= self.cost else ""


class AttemptFailed(Exception):
    """For work that failed and knows what it has spent all the same. `final`: trying again is of no use."""

    def __init__(self, text: str, spent: Expense | None = None, *, final: bool = False) -> None:
        super().__init__(text)
        self.spent, self.final = spent or Expense(), final


class AttemptStopped(Exception):
    """For work that stopped because the batch may spend no more; it has `spent` so much, and goes on from there when
    the job is begun again."""

    def __init__(self, text: str, spent: Expense) -> None:
        super().__init__(text)
        self.spent = spent


@dataclass(frozen=True, slots=True)
class Failure:
    """Why an attempt failed; or was `stopped`, which is no failure."""

    problem: str
    final: bool = False
    spent: Expense = field(default_factory=Expense)
    stopped: bool = False

    @classmethod
    def of(cls, error: BaseException) -> Failure:
        """What an error says: our own in their words, others by their kind too."""
        if isinstance(error, AttemptFailed):
            return cls(scrub(str(error)), error.final, error.spent)
        if isinstance(error, AttemptStopped):
            return cls(scrub(str(error)), spent=error.spent, stopped=True)
        return cls(scrub(f"{type(error).__name__}: {error}"), isinstance(error, _FINAL_ERRORS))


def worker_name() -> str:
    """A name for a worker that no other has: its machine, its process, and something random."""
    return f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(3)}"


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
