"""One session of a run: what it opens and must close again, and the ways to wait for its end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace

from chatdev.config.environ import environ
from chatdev.config.settings import UserSettings, user_settings
from chatdev.events import Event
from chatdev.journal import Journal
from chatdev.llm.registry import Models
from chatdev.runner.execute import Execution
from chatdev.runner.options import RunOptions
from chatdev.runner.recorded import JOURNAL
from chatdev.runner.result import Run
from chatdev.sandbox.base import Sandbox, find_sandbox
from chatdev.workspace.run_folder import RunFolder


@dataclass(frozen=True, slots=True)
class Means:
    """What a session has to work with; what it opens here is closed at its end."""

    options: RunOptions
    user: UserSettings
    models: Models
    closing: AsyncExitStack

    def sandbox(self, name: str | None) -> Sandbox:
        """The sandbox called `name`, or the user's. Raises SandboxError when it does not work here."""
        sandbox = find_sandbox(name or self.user.sandbox or "bubblewrap")
        self.closing.callback(sandbox.stop_all)
        return sandbox

    def journal(self, folder: RunFolder, *, held: bool = False) -> Journal:
        """The journal of a run, which nobody else may write meanwhile."""
        journal = Journal(folder.run / JOURNAL, held=held)
        self.closing.callback(journal.close)
        return journal


@asynccontextmanager
async def opened(options: RunOptions) -> AsyncIterator[Means]:
    """The means of a session, closed at its end. Raises ConfigError."""
    async with AsyncExitStack() as closing:
        user = user_settings()
        models = Models(environ(), options.rate_limit)
        closing.push_async_callback(models.close)
        yield Means(options, user, models, closing)


@dataclass(slots=True)
class Session:
    """Runs what `prepare` makes of the means."""

    prepare: Callable[[Means], Awaitable[Execution]]
    options: RunOptions
    execution: Execution | None = None

    def run(self) -> Run:
        """Run to the end. Ctrl-C ends the run with status `interrupted`. Raises what `prepare` raises."""
        try:
            return asyncio.run(self.arun())
        except (KeyboardInterrupt, asyncio.CancelledError):
            if self.execution is None:
                raise
            return self.execution.run

    async def arun(self) -> Run:
        """`run` for callers with an event loop; cancelling it ends the run cleanly and raises CancelledError."""
        async with opened(self.options) as means:
            self.execution = await self.prepare(means)
            return await self.execution.execute()

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
