"""The ways to wait for a run: with an event loop or without one, or event by event."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, replace
from typing import Any

from chatdev.events import Event
from chatdev.runner.execute import execute
from chatdev.runner.options import RunOptions
from chatdev.runner.plan import RunPlan
from chatdev.runner.resources import Resources, open_resources
from chatdev.runner.result import Run
from chatdev.tools.function import Tool


@dataclass(slots=True)
class Session:
    """A run that is to be: `plan` makes its plan of the session's resources, `tools` are those beside the installed
    ones."""

    options: RunOptions
    plan: Callable[[Resources], RunPlan]
    tools: Sequence[Tool] = ()
    _resources: Resources | None = None

    def run(self) -> Run:
        """Run to the end, also where an event loop is running already. Ctrl-C ends the run with status `interrupted`.
        Raises what `plan` raises."""
        try:
            return _run_to_end(self.arun())
        except (KeyboardInterrupt, asyncio.CancelledError):
            if self._resources is None or self._resources.run is None:
                raise
            return self._resources.run

    async def arun(self) -> Run:
        """`run` for callers with an event loop; cancelling it ends the run cleanly and raises CancelledError."""
        async with open_resources(self.options, self.tools) as resources:
            self._resources = resources
            return await execute(self.plan(resources), resources)

    async def events(self) -> AsyncIterator[Event]:
        """Run, and yield the events as they happen; the last one is `RunFinished`."""
        queue: asyncio.Queue[Event | None] = asyncio.Queue()
        listener = self.options.on_event

        def forward(event: Event) -> None:
            if listener:
                listener(event)
            queue.put_nowait(event)

        self.options = replace(self.options, on_event=forward)
        running = asyncio.create_task(self.arun())
        running.add_done_callback(lambda _: queue.put_nowait(None))
        try:
            while (event := await queue.get()) is not None:
                yield event
            await running
        finally:
            running.cancel()


def _run_to_end(work: Coroutine[Any, Any, Run]) -> Run:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    return _run_in_a_thread(work)


def _run_in_a_thread(work: Coroutine[Any, Any, Run]) -> Run:
    """Run it with an event loop of its own, because this thread's is running; Ctrl-C here cancels it there."""
    begun: Future[tuple[asyncio.AbstractEventLoop, asyncio.Task[Run] | None]] = Future()

    async def announced() -> Run:
        begun.set_result((asyncio.get_running_loop(), asyncio.current_task()))
        return await work

    with ThreadPoolExecutor(1, "chatdev-run") as pool:
        ended = pool.submit(copy_context().run, asyncio.run, announced())
        try:
            return ended.result()
        except KeyboardInterrupt:
            loop, task = begun.result()
            if task is not None and not ended.done():
                loop.call_soon_threadsafe(task.cancel)
            raise  # when the thread has ended
