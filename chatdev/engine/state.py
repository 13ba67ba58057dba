"""Long-term memory: the solutions of earlier steps by name, and the software (ChatDev equation 5)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

Files = Mapping[str, bytes]


class History(Protocol):
    """Keeps every version of the software."""

    async def commit(self, software: Files, message: str) -> None:
        """Make `software` the newest version."""
        ...


@dataclass(slots=True)
class State:
    """What the steps hand to one another."""

    values: dict[str, Any]
    software: Files
    history: History

    def names(self) -> dict[str, Any]:
        """Everything an expression may name."""
        return {**self.values, "software": self.software}

    async def deliver(self, software: Files, message: str) -> None:
        """Replace the software and keep the version."""
        self.software = software
        await self.history.commit(software, message)
