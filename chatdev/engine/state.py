"""Long-term memory: the solutions of earlier steps by name, and the software (ChatDev equation 5)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from chatdev.errors import PhaseFailed

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

    def fork(self) -> tuple[State, Draft]:
        """A copy for one branch of `parallel`, and the versions it will make."""
        draft = Draft(self.software)
        return State(dict(self.values), self.software, draft), draft


@dataclass(slots=True)
class Draft:
    """The versions one branch made; they enter the real history at the join, in declared order."""

    base: Files
    versions: list[tuple[Files, str]] = field(default_factory=list)

    async def commit(self, software: Files, message: str) -> None:
        """Keep the version until the join."""
        self.versions.append((software, message))


def changes(before: Files, after: Files) -> dict[str, bytes | None]:
    """Path by path what differs; None marks a deletion."""
    written = {path: data for path, data in after.items() if before.get(path) != data}
    return {**written, **{path: None for path in before if path not in after}}


def patched(software: Files, difference: Mapping[str, bytes | None]) -> dict[str, bytes]:
    """The software with a difference applied."""
    merged = {**software, **difference}
    return {path: data for path, data in merged.items() if data is not None}


async def join(state: State, branches: list[tuple[str, State, Draft]]) -> None:
    """Merge finished branches into `state` in the given order. Raises PhaseFailed when two of them wrote one name or
    one file."""
    owners: dict[str, str] = {}
    for label, branch, draft in branches:
        written = {n: v for n, v in branch.values.items() if n not in state.values or state.values[n] is not v}
        differing = changes(draft.base, branch.software)
        for what in [*(f"`{n}`" for n in written), *differing]:
            other = owners.setdefault(what, label)
            if other != label:
                raise PhaseFailed(f"the parallel branches {other} and {label} both wrote {what}; let only one of "
                                  "them write it, or run them one after the other")
    for _, branch, draft in branches:
        state.values.update({n: v for n, v in branch.values.items() if state.values.get(n) is not v})
        previous = draft.base
        for version, message in draft.versions:
            await state.deliver(patched(state.software, changes(previous, version)), message)
            previous = version
