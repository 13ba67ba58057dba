"""Targets of a phase: a name of long-term memory, or the software (design §3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from chatdev.config.phases import Phase
from chatdev.engine.activity import digest
from chatdev.engine.context import Files, State
from chatdev.engine.given_files import unasked_losses
from chatdev.engine.tool_use import fingerprint
from chatdev.place import Place
from chatdev.replies import FilesDelivery, ReplyProblem, example_part, objections


@dataclass(frozen=True, slots=True)
class Acceptance:
    """Change made by an accepted delivery."""

    written: tuple[str, ...]
    deleted: tuple[str, ...] = ()
    unchanged: bool = False


class Target(Protocol):
    """Destination of a phase's deliveries."""

    keeps_versions: bool
    """Whether a delivery is judged before it is accepted, each version once, and the best one stands at the end."""

    @property
    def is_present(self) -> bool:
        """Whether there is a value from before the phase."""
        ...

    @property
    def base(self) -> Files:
        """The files that a delivery changes."""
        ...

    @property
    def fingerprint(self) -> str:
        """A short digest of the value as it stands."""
        ...

    @property
    def example(self) -> str:
        """A part of the value as a delivery brings it, for prompts; empty where that shows nothing."""
        ...

    def objections(self, delivery: Any, asked: Sequence[str]) -> list[ReplyProblem]:
        """Reasons to refuse the delivery before any tool judges it; `asked`: the texts the deliverer was given."""
        ...

    def preview(self, delivery: Any) -> State:
        """The state as it would be with the delivery, for tools that judge it."""
        ...

    async def accept(self, delivery: Any, place: Place) -> Acceptance:
        """Let the delivery stand."""
        ...

    def substitute(self, value: Any) -> None:
        """Set the value of long-term memory without a delivery."""
        ...

    async def close(self, ending: str, place: Place) -> None:
        """The phase ends."""
        ...


@dataclass(slots=True)
class ValueTarget:
    """A name of long-term memory. It is written at the end of the phase, or at each delivery where that is `seen`: by
    tools that judge it, or by an opening of the next round."""

    state: State
    name: str
    seen: bool = False
    value: Any = field(init=False)
    accepted: int = field(init=False, default=0)
    keeps_versions: bool = field(init=False, default=False)

    def __post_init__(self) -> None:
        self.value = self.state.values.get(self.name)

    @property
    def is_present(self) -> bool:
        """Whether the name has a value from before the phase."""
        return self.name in self.state.values

    @property
    def base(self) -> Files:
        """The software, which a value does not change."""
        return self.state.software

    @property
    def fingerprint(self) -> str:
        """A short digest of the value as it stands."""
        return digest(self.value)

    @property
    def example(self) -> str:
        """A value is not delivered in parts."""
        return ""

    def objections(self, delivery: Any, asked: Sequence[str]) -> list[ReplyProblem]:
        """A value that has the form of the phase may always stand."""
        return []

    def preview(self, delivery: Any) -> State:
        """The state with the value under its name."""
        return replace(self.state, values={**self.state.values, self.name: delivery})

    async def accept(self, delivery: Any, place: Place) -> Acceptance:
        """Take the value; where it is seen, it is in long-term memory at once."""
        unchanged = self.accepted > 0 and delivery == self.value
        self.value, self.accepted = delivery, self.accepted + 1
        if self.seen:
            self.state.values[self.name] = delivery
        return Acceptance((self.name,), (), unchanged)

    def substitute(self, value: Any) -> None:
        """Set the value without a delivery."""
        self.value, self.accepted = value, 1

    async def close(self, ending: str, place: Place) -> None:
        """Write what stands into long-term memory."""
        if self.accepted:
            self.state.values[self.name] = self.value


@dataclass(slots=True)
class SoftwareTarget:
    """The software: each delivery is a version, and so is the end of a phase that changed something. `anew`: the first
    delivery is read as if there were no files yet."""

    state: State
    anew: bool = False
    entry: Files = field(init=False)
    keeps_versions: bool = field(init=False, default=True)

    def __post_init__(self) -> None:
        self.entry = self.state.software

    @property
    def is_present(self) -> bool:
        """Whether there are files."""
        return bool(self.state.software)

    @property
    def base(self) -> Files:
        """The software; nothing, while it is written anew."""
        return {} if self.anew and self.state.software == self.entry else self.state.software

    @property
    def fingerprint(self) -> str:
        """A short digest of the files as they are."""
        return fingerprint(self.state.software)

    @property
    def example(self) -> str:
        """A part of the files as a delivery of changed parts brings it."""
        return example_part(self.base)

    def objections(self, delivery: FilesDelivery, asked: Sequence[str]) -> list[ReplyProblem]:
        """Files that would be cut to a fragment or stop parsing, and given ones removed without a request."""
        return [*objections(self.base, delivery.software, whole=delivery.whole),
                *unasked_losses(self.state.given, self.state.software, delivery.software, asked)]

    def preview(self, delivery: FilesDelivery) -> State:
        """The state with the delivered files."""
        return replace(self.state, software=delivery.software)

    async def accept(self, delivery: FilesDelivery, place: Place) -> Acceptance:
        """Write the files and keep the version."""
        if not delivery.is_unchanged:
            files = ", ".join([*delivery.written, *(f"-{path}" for path in delivery.deleted)])
            await self.state.set_software(delivery.software, f"{place}: {files[:200]}")
        return Acceptance(delivery.written, delivery.deleted, delivery.is_unchanged)

    def substitute(self, value: Any) -> None:
        """Files are never made up: the software stays as it is."""

    async def close(self, ending: str, place: Place) -> None:
        """Mark the end of the phase in the history when it changed something."""
        if self.state.software != self.entry:
            await self.state.history.commit(self.state.software, f"{place}: {ending}")


def target_of(phase: Phase, state: State, *, anew: bool = False) -> ValueTarget | SoftwareTarget:
    """The target that a phase names in `writes`."""
    if phase.writes == "software":
        return SoftwareTarget(state, anew)
    return ValueTarget(state, phase.writes, seen=phase.feedback is not None or phase.memory.fresh)
