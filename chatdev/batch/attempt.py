"""What the attempts of a batch's jobs are, and what their failures mean; the same for every engine."""

from __future__ import annotations

import os
import secrets
import socket
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from chatdev.batch.spent import Spent
from chatdev.errors import ConfigError, ExpressionError, MissingModel, MissingProgram, ModelRejected
from chatdev.secrets import scrubbed

Work = Callable[[Mapping[str, Any]], Awaitable[Mapping[str, Any]]]
"""Does a job by its spec; the result is made of plain JSON values. Its numbers `cost` (US dollars, None: unknown) and
`tokens` count for the budget."""

_NO_RETRY_MENDS = (ConfigError, ExpressionError, MissingModel, ModelRejected, MissingProgram)


class AttemptFailed(Exception):
    """For work that failed and knows what it has spent all the same. `final`: trying again is of no use."""

    def __init__(self, text: str, spent: Spent | None = None, *, final: bool = False) -> None:
        super().__init__(text)
        self.spent, self.final = spent or Spent(), final


@dataclass(frozen=True, slots=True)
class Failure:
    """Why an attempt failed."""

    problem: str
    final: bool = False
    spent: Spent = field(default_factory=Spent)

    @classmethod
    def of(cls, error: BaseException) -> Failure:
        """What an error says: our own in their words, others by their kind too."""
        if isinstance(error, AttemptFailed):
            return cls(scrubbed(str(error)), error.final, error.spent)
        return cls(scrubbed(f"{type(error).__name__}: {error}"), isinstance(error, _NO_RETRY_MENDS))


def new_worker() -> str:
    """A name for a worker that no other has: its machine, its process, and something random."""
    return f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(3)}"
