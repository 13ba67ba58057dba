"""The server of `chatdev mcp`: `run` and the tools of departments, over standard input and output or HTTP."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from chatdev.cli.mcp.run_tool import perform, run
from chatdev.cli.mcp.served import Served
from chatdev.cli.output import OutputThread
from chatdev.department import load, offers
from chatdev.errors import ChatDevError, ConfigError, ToolError
from chatdev.isolation.parent import read_beside
from chatdev.plain_values import encodable_values, plain_value
from chatdev.runner.options import RunOptions
from chatdev.safe_text import sanitize, scrub, scrub_values
from chatdev.tools.base import Tool, Verdict
from chatdev.version import __version__

if TYPE_CHECKING:
    from mcp.server import Server
    from mcp.server.context import ServerRequestContext
    from mcp.types import CallToolRequestParams, CallToolResult, ListToolsResult, PaginatedRequestParams

HOST = "127.0.0.1"
LONGEST_RESULT = 400_000
"""Characters of a result; of a longer one the client is told so."""
_RUNS, _CALLS = 4, 8  # at once
_SECONDS = 1800.0  # that a tool may take
_ABOUT = ("Companies of language-model agents that build software, Verilog and PLC programs, and the tools that judge "
          "these. Paths are relative to the folder where the server was started.")


def offered_tools(note: Callable[[str], None]) -> dict[str, Tool]:
    """`run`, and the tools that departments offer; `note` hears of those that cannot be offered."""
    found = {run.name: run}
    for name, offer in offers("mcp", found).items():
        try:
            tool = None if offer.problem else load(offer.value, f"the tool {name!r}")
        except ToolError as error:
            note(str(error))
            continue
        if isinstance(tool, Tool):
            found[name] = tool
        else:
            note(offer.problem or f"the tool {name!r}: {offer.value} is no tool; decorate the function with @tool")
    return found


@dataclass(slots=True)
class Desk:
    """Answers the calls of clients. `options` are the user's, and hold for every run."""

    tools: Mapping[str, Tool]
    served: Served
    options: RunOptions
    _runs: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(_RUNS))
    _calls: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(_CALLS))

    async def list_tools(self, _context: Any, _asked: PaginatedRequestParams | None) -> ListToolsResult:
        """What there is."""
        from mcp.types import ListToolsResult, ToolAnnotations
        from mcp.types import Tool as Offer

        return ListToolsResult(tools=[
            Offer(name=name, description=tool.about, input_schema=tool.parameters,
                  annotations=ToolAnnotations(read_only_hint=tool is not run, open_world_hint=tool is run))
            for name, tool in self.tools.items()])

    async def call_tool(self, context: ServerRequestContext[Any, Any],
                        asked: CallToolRequestParams) -> CallToolResult:
        """The result, or in words why there is none."""
        from mcp.types import CallToolResult, TextContent

        try:
            value = scrub_values(encodable_values(plain_value(await self._result(context, asked))))
            text = json.dumps(value, ensure_ascii=False, indent=1)
            if len(text) > LONGEST_RESULT:
                raise ToolError(f"the result has {len(text)} characters, more than {LONGEST_RESULT}; ask for less")
            return CallToolResult(content=[TextContent(text=text)], structured_content=value)
        except ChatDevError as error:
            said = str(error)
        except TimeoutError:
            said = f"{asked.name} took longer than {_SECONDS:g} s and was stopped"
        except Exception as error:  # noqa: BLE001 - a client gets a sentence, and the server goes on
            said = f"{type(error).__name__}: {error}; this is an error in chatdev"
        return CallToolResult(content=[TextContent(text=sanitize(scrub(said)))], is_error=True)

    async def _result(self, context: ServerRequestContext[Any, Any], asked: CallToolRequestParams) -> Any:
        tool = self.tools.get(asked.name)
        if tool is None:
            raise ConfigError(f"there is no tool {asked.name[:80]!r}; there are: {', '.join(self.tools)}")
        if tool is run:
            order = run.call(self.served, asked.arguments or {})
            async with self._runs, self._progress(context) as report:
                return await perform(order, self.served, self.options, report)
        async with self._calls:
            value = await read_beside(_SECONDS, tool.call, self.served, asked.arguments or {})
        return value.to_dict() if isinstance(value, Verdict) else value

    @asynccontextmanager
    async def _progress(self, context: ServerRequestContext[Any, Any]) -> AsyncIterator[Callable[[str], None]]:
        """Takes clauses, and passes them on to the client in their order."""
        waiting: asyncio.Queue[str] = asyncio.Queue()

        async def pass_on() -> None:
            number = 0
            while True:
                text = await waiting.get()
                number += 1
                await context.session.report_progress(number, None, sanitize(text)[:500])

        passing = asyncio.create_task(pass_on())
        try:
            yield waiting.put_nowait
        finally:
            passing.cancel()
            await asyncio.gather(passing, return_exceptions=True)

    def server(self) -> Server[Any]:
        """The SDK's server."""
        from mcp.server import Server

        return Server("chatdev", version=__version__, instructions=_ABOUT, on_list_tools=self.list_tools,
                      on_call_tool=self.call_tool)


async def serve_stdio(desk: Desk) -> None:
    """Serve one client on standard input and output, until it closes them."""
    from mcp.server.stdio import stdio_server

    server = desk.server()
    with _wire() as (stdin, stdout):
        lines, written = _Lines(stdin), _Written(stdout)
        async with stdio_server(lines, written) as (reading, writing):  # type: ignore[arg-type]  # of them it takes this
            await server.run(reading, writing, server.create_initialization_options())
        written.thread.drain()


@contextmanager
def _wire() -> Iterator[tuple[int, int]]:
    """Standard input and output for the protocol alone: whatever else is printed meanwhile goes to standard error."""
    sys.stdout.flush()
    stdin, stdout, nothing = os.dup(0), os.dup(1), os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    os.close(nothing)
    try:
        yield stdin, stdout
    finally:
        os.dup2(stdout, 1)


class _Lines:
    """The lines of a descriptor, read in a thread that the end of the process does not wait for."""

    def __init__(self, descriptor: int) -> None:
        self._waiting: asyncio.Queue[str | None] = asyncio.Queue()
        threading.Thread(target=self._read, args=[descriptor, asyncio.get_running_loop()], name="chatdev-mcp",
                         daemon=True).start()

    def _read(self, descriptor: int, loop: asyncio.AbstractEventLoop) -> None:
        pending = b""
        with suppress(RuntimeError, OSError):  # the loop may be at its end by now
            while data := os.read(descriptor, 1 << 16):
                *lines, pending = (pending + data).split(b"\n")
                for line in lines:
                    loop.call_soon_threadsafe(self._waiting.put_nowait, line.decode("utf-8", "replace"))
            loop.call_soon_threadsafe(self._waiting.put_nowait, None)

    def __aiter__(self) -> _Lines:
        return self

    async def __anext__(self) -> str:
        line = await self._waiting.get()
        if line is None:
            raise StopAsyncIteration
        return line


class _Written:
    """Takes texts for a descriptor, which a thread writes."""

    def __init__(self, descriptor: int) -> None:
        self.thread, self._descriptor = OutputThread(), descriptor

    async def write(self, text: str) -> None:
        """Have it written."""
        self.thread.add(self._descriptor, text.encode("utf-8", "replace"))

    async def flush(self) -> None:
        """Nothing waits here."""


async def serve_http(desk: Desk, listening: socket.socket) -> None:
    """Serve clients of this machine over HTTP, until it is cancelled."""
    import uvicorn

    class Quiet(uvicorn.Server):
        """Leaves signals to the command line."""

        @contextmanager
        def capture_signals(self) -> Iterator[None]:
            yield

    app = desk.server().streamable_http_app(host=HOST)
    server = Quiet(uvicorn.Config(app, log_config=None, lifespan="on", timeout_graceful_shutdown=1))
    serving = asyncio.create_task(server.serve(sockets=[listening]))
    try:
        await asyncio.shield(serving)
    except asyncio.CancelledError:
        server.should_exit = True
        await serving
        raise


def open_port(port: int) -> socket.socket:
    """A socket that listens on this machine alone. Raises ConfigError."""
    try:
        return socket.create_server((HOST, port))
    except OSError as error:
        raise ConfigError(f"--http {port}: nothing can listen there ({error.strerror}); give another port, or 0 for "
                          "any") from None
