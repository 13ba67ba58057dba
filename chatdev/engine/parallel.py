"""Parallel branches: each works on a fork of the state, and the writes meet at the join (design §3)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from chatdev.engine.activity import HALTS, Halt, Halted
from chatdev.engine.context import RunContext
from chatdev.engine.state import Draft, State, join
from chatdev.errors import PhaseFailed, ToolError
from chatdev.events import Noted
from chatdev.place import Place

_BEARABLE = (PhaseFailed, ToolError)
"""What an optional branch may fail of; a model that cannot be reached is never passed over (design §3, success)."""


async def run_branches(context: RunContext, state: State, place: Place, optional: Sequence[bool],
                       branch: Callable[[int, State], Awaitable[None]]) -> None:
    """Run one branch per entry of `optional`, then join them in order.

    A branch that fails lets its siblings finish the activity they are in (it is paid for) and stops them before the
    next; then the first error in declared order is raised. A failing optional branch is only reported.
    """
    halt = Halt()
    forks = [state.fork() for _ in optional]

    async def run(number: int) -> None:
        HALTS.set((*HALTS.get(), halt))
        try:
            await branch(number, forks[number][0])
        except Halted:
            raise
        except BaseException as failure:
            halt.raised = halt.raised or not (optional[number] and isinstance(failure, _BEARABLE))
            raise

    results = await asyncio.gather(*(asyncio.create_task(run(n)) for n in range(len(optional))),
                                   return_exceptions=True)
    finished: list[tuple[str, State, Draft]] = []
    for number, result in enumerate(results):
        label = place.at("branch", number + 1)
        if isinstance(result, _BEARABLE) and optional[number]:
            context.emit(Noted(label, f"optional branch failed: {result}", "warning"))
        elif result is None:
            finished.append((label, *forks[number]))
    _raise_first([r for r, may_fail in zip(results, optional, strict=True)
                  if r is not None and not (may_fail and isinstance(r, _BEARABLE))])
    await join(state, finished)


def _raise_first(failures: Sequence[BaseException]) -> None:
    """The first real failure in declared order; a branch that was only halted comes last."""
    for failure in sorted(failures, key=lambda f: isinstance(f, Halted)):
        raise failure
