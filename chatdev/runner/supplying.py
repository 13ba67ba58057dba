"""What a run's programs get of packages: by the user's options, the settings file and the company."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from concurrent.futures import CancelledError, Future
from contextlib import AsyncExitStack
from dataclasses import replace

from chatdev.config.schema import CompanyConfig
from chatdev.config.settings import UserSettings
from chatdev.errors import ConfigError, SandboxError
from chatdev.runner.options import Ask, RunOptions
from chatdev.sandbox.base import Sandbox
from chatdev.tools.software.installing.supply import POLICIES, Supply, strictest_policy
from chatdev.tools.software.modules import runtime

_PAUSE = 0.5  # seconds between two looks at a runtime that another process makes


def with_policy(options: RunOptions, user: UserSettings, company: CompanyConfig) -> RunOptions:
    """The options with the strictest of what the user and the company say of installing. Raises ConfigError for a
    policy or a runtime that there is not."""
    if options.install not in (None, *POLICIES):
        raise ConfigError(f"install: {options.install!r} is not possible; known: {', '.join(POLICIES)}")
    if options.runtime:
        runtime(options.runtime)
    return replace(options, install=strictest_policy(options.install or user.install, company.install))


def supply_of(options: RunOptions, closing: AsyncExitStack) -> Supply:
    """What the tools are told; a question that waits for its answer ends with the session."""
    if options.ask is None or options.install != "ask":
        return Supply(options.install or "auto", None, options.runtime)
    asking = Asking(options.ask, asyncio.get_running_loop())
    closing.callback(asking.stop)
    return Supply(options.install, asking, options.runtime)


class Asking:
    """Lets a tool, which works in a thread, ask on the event loop."""

    def __init__(self, ask: Ask, loop: asyncio.AbstractEventLoop) -> None:
        self._ask, self._loop = ask, loop
        self._waiting: set[Future[bool]] = set()

    def __call__(self, distribution: str) -> bool:
        """The answer; raises SandboxError when the session ends before it comes."""
        answer = asyncio.run_coroutine_threadsafe(self._answer(distribution), self._loop)
        self._waiting.add(answer)
        try:
            return answer.result()
        except CancelledError:
            raise SandboxError(f"stopped before it was said whether {distribution} may be installed") from None
        finally:
            self._waiting.discard(answer)

    def stop(self) -> None:
        """Wait for no answer any more."""
        for answer in tuple(self._waiting):
            answer.cancel()

    async def _answer(self, distribution: str) -> bool:
        answer = self._ask(distribution)
        return await answer if inspect.isawaitable(answer) else answer


def preparing(name: str | None, sandbox: Sandbox) -> Callable[[Callable[[str], None]], Awaitable[None]] | None:
    """What makes the runtime `name` ready and says so; None without one."""
    if name is None:
        return None
    wanted = runtime(name)

    async def prepare(note: Callable[[str], None]) -> None:
        if wanted.ready:
            return
        note(f"preparing the runtime {name} ({', '.join(wanted.modules)}), once for all runs, in {wanted.folder}; this "
             "takes a minute or more")
        while not wanted.ready and not await asyncio.to_thread(wanted.make, sandbox):
            await asyncio.sleep(_PAUSE)
        note(f"the runtime {name} is ready")

    return prepare
