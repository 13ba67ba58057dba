"""The ledger for asynchronous workers: a thread of its own, and patience while the database is away."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, stop_after_delay, wait_exponential

from chatdev.batch.database import may_pass

T = TypeVar("T")

PATIENCE = 600.0  # seconds; a finished job is worth waiting for a database that is being restarted
_GRACE = 10.0  # seconds that a result gets to be written when everything is to stop


class Books:
    """Carries out what is to be done with the ledger, one thing after another, without blocking the event loop.

    `on_trouble` hears what is wrong while a database that is away, busy or full is tried again, and an empty text
    when it is of use again.
    """

    def __init__(self, on_trouble: Callable[[str], None], patience: float = PATIENCE) -> None:
        self._on_trouble = on_trouble
        self._patience = patience
        self._thread = ThreadPoolExecutor(1, "ledger")

    async def do(self, act: Callable[[], T]) -> T:
        """The value of `act`. Raises WorkspaceError when the database cannot be used, for `patience` seconds on end if
        that may pass."""
        loop = asyncio.get_running_loop()
        async for attempt in AsyncRetrying(
                retry=retry_if_exception(may_pass), wait=wait_exponential(multiplier=0.25, max=15),
                stop=stop_after_delay(self._patience), before_sleep=self._tell, reraise=True):
            with attempt:
                value = await loop.run_in_executor(self._thread, act)
        if attempt.retry_state.attempt_number > 1:
            self._on_trouble("")
        return value

    async def surely(self, act: Callable[[], T], undo: Callable[[T], object] | None = None) -> T:
        """`do`, also when the task is cancelled meanwhile: then it gets some seconds more, and `undo` gets the value
        that nobody will see."""
        doing = asyncio.ensure_future(self.do(act))
        try:
            return await asyncio.shield(doing)
        except asyncio.CancelledError:
            done, _ = await asyncio.wait({doing}, timeout=_GRACE)
            if undo and done and not doing.cancelled() and not doing.exception():
                value = doing.result()
                await self.surely(lambda: undo(value))
            doing.cancel()
            raise

    def close(self) -> None:
        """Let go of the thread."""
        self._thread.shutdown(wait=False)

    def _tell(self, state: RetryCallState) -> None:
        self._on_trouble(str(state.outcome.exception()) if state.outcome else "")
