"""Parallel branches: each works on a fork of the state, and the writes meet at the join (design §3)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from chatdev.engine.activity import HALTS, Halt, Halted
from chatdev.engine.context import Files, RunContext, State
from chatdev.errors import PhaseFailed, ToolError
from chatdev.events import Noted
from chatdev.place import Place

_TOLERATED = (PhaseFailed, ToolError)
"""Errors that an optional branch may fail with; an unreachable model is not among them (design §3, success)."""


@dataclass(slots=True)
class BranchHistory:
    """The versions one branch made; they enter the real history at the join, in declared order."""

    base: Files
    versions: list[tuple[Files, str]] = field(default_factory=list)

    async def commit(self, software: Files, message: str) -> None:
        """Keep the version until the join."""
        self.versions.append((software, message))


@dataclass(slots=True)
class BranchRun:
    """One branch at work on a fork of the state."""

    place: Place
    optional: bool
    state: State
    history: BranchHistory
    failure: BaseException | None = None

    @classmethod
    def fork(cls, state: State, place: Place, *, optional: bool) -> BranchRun:
        """A branch that begins with a copy of the state."""
        history = BranchHistory(state.software)
        return cls(place, optional, State(dict(state.values), state.software, history, state.given), history)

    async def run(self, work: Awaitable[None], halt: Halt) -> None:
        """Do the work; a failure that cannot be borne raises the flag for the siblings."""
        HALTS.set((*HALTS.get(), halt))
        try:
            await work
        except BaseException as failure:
            self.failure = failure
            if not isinstance(failure, Halted):
                halt.raised = halt.raised or not self.is_excused
            raise

    @property
    def is_excused(self) -> bool:
        """Whether the branch has failed, and that is only reported."""
        return self.optional and isinstance(self.failure, _TOLERATED)

    def changed_values(self, state: State) -> dict[str, Any]:
        """The long-term names that the branch wrote, with their values, beside `state`, where it began."""
        return {name: value for name, value in self.state.values.items()
                if name not in state.values or state.values[name] is not value}

    def unset_names(self, state: State) -> set[str]:
        """The long-term names that a loop of the branch has unset, and nothing in it has written again."""
        return state.values.keys() - self.state.values.keys()


async def run_branches(context: RunContext, state: State, place: Place, optional: Sequence[bool],
                       work: Callable[[int, State], Awaitable[None]]) -> None:
    """Run one branch per entry of `optional`, then join them in order.

    A branch that fails lets its siblings finish the activity they are in (it is paid for) and stops them before the
    next; then the first error in declared order is raised. A failing optional branch is only reported.
    """
    halt = Halt(branches=len(optional))
    branches = [BranchRun.fork(state, place.at("branch", n), optional=may_fail)
                for n, may_fail in enumerate(optional, start=1)]
    tasks = [asyncio.create_task(branch.run(work(n, branch.state), halt)) for n, branch in enumerate(branches)]
    await asyncio.gather(*tasks, return_exceptions=True)
    for branch in branches:
        if branch.is_excused:
            context.emit(Noted(branch.place, f"optional branch failed: {branch.failure}", "warning"))
    raise_first([branch.failure for branch in branches if branch.failure and not branch.is_excused])
    await join_branches(state, [branch for branch in branches if not branch.failure],
                        unsets=context.settings.semantics > 3)


def raise_first(failures: Sequence[BaseException]) -> None:
    """The first real failure in declared order; a branch that was only halted comes last."""
    for failure in sorted(failures, key=lambda f: isinstance(f, Halted)):
        raise failure


async def join_branches(state: State, branches: Sequence[BranchRun], *, unsets: bool = True) -> None:
    """Merge finished branches into `state` in the given order; `unsets`: what one of them has unset, too. Raises
    PhaseFailed when two of them wrote one name or one file."""
    _refuse_collisions(state, branches)
    written = {name: value for branch in branches for name, value in branch.changed_values(state).items()}
    for name in {name for branch in branches for name in branch.unset_names(state)} if unsets else ():
        del state.values[name]
    state.values.update(written)
    for branch in branches:
        previous = branch.history.base
        for version, message in branch.history.versions:
            await state.set_software(apply_changes(state.software, changes(previous, version)), message)
            previous = version


def _refuse_collisions(state: State, branches: Sequence[BranchRun]) -> None:
    owners: dict[str, Place] = {}
    for branch in branches:
        names = [f"`{name}`" for name in branch.changed_values(state)]
        for what in [*names, *changes(branch.history.base, branch.state.software)]:
            other = owners.setdefault(what, branch.place)
            if other != branch.place:
                raise PhaseFailed(f"the parallel branches {other} and {branch.place} both wrote {what}; let only one "
                                  "of them write it, or run them one after the other")


def changes(before: Files, after: Files) -> dict[str, bytes | None]:
    """Path by path what differs; None marks a deletion."""
    written = {path: data for path, data in after.items() if before.get(path) != data}
    return {**written, **{path: None for path in before if path not in after}}


def apply_changes(software: Files, difference: Mapping[str, bytes | None]) -> dict[str, bytes]:
    """The software with a difference applied."""
    merged = {**software, **difference}
    return {path: data for path, data in merged.items() if data is not None}
