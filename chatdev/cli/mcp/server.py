"""`chatdev mcp`: the command and its server, which offers the tools of departments and `run`, by which a company works
on a task and whoever asked hears how it goes on, over standard input and output or HTTP."""

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
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import click
from pydantic import Field

from chatdev.cli.mcp.served import Served
from chatdev.cli.outcome import OutputThread, report_outcome
from chatdev.cli.shared_options import budget_options, package_options
from chatdev.config.schema import Input
from chatdev.department import load, offers
from chatdev.engine.budget import count_noun
from chatdev.errors import ChatDevError, ConfigError, ToolError
from chatdev.events import DeliveryApplied, Event, Noted, PhaseFinished, PhaseStarted, RunStarted, ToolCalled
from chatdev.isolation.parent import read_beside
from chatdev.runner.api import Company
from chatdev.runner.consent import place_inputs
from chatdev.runner.options import InputValue, RunOptions
from chatdev.runner.report import Run, describe_usage
from chatdev.safe_text import encodable_values, plain_value, sanitize, scrub, scrub_values
from chatdev.sandbox.kinds import SANDBOXES
from chatdev.tools.base import Tool, Verdict, tool
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


# The command `chatdev mcp`.


@click.command("mcp")
@click.option("--http", "port", type=click.IntRange(0, 65535), metavar="PORT",
              help="Serve over HTTP on 127.0.0.1 instead; 0 takes any port.")
@click.option("--folder", "folders", multiple=True, type=click.Path(path_type=Path), metavar="FOLDER",
              help="What clients may read; may be given several times. [default: the working folder]")
@click.option("--model", help="Model of every role that has none of its own.")
@click.option("--base-url", help="An OpenAI-compatible endpoint.")
@click.option("--warehouse", type=click.Path(path_type=Path), help="Where runs are written. [default: warehouse]")
@click.option("--sandbox", type=click.Choice(SANDBOXES), help="Where programs run. [default: bubblewrap]")
@package_options
@budget_options
@report_outcome
def command(port: int | None, folders: tuple[Path, ...], **given: Any) -> int:
    """Offer companies (`run`) and the tools of departments to coding agents, as an MCP server on standard input and
    output. Options of a run hold for each; clients may lower its limits. What companies name needs your consent before
    (`chatdev trust`)."""
    from chatdev.mcp.servers import require_sdk

    require_sdk()
    from chatdev.cli.mcp.served import Served

    served = Served.of(folders or [Path.cwd()], given["sandbox"])
    tools = offered_tools(_note)

    async def serve() -> None:
        desk = Desk(tools, served, RunOptions(**given))
        if port is None:
            await serve_stdio(desk)
        else:
            with open_port(port) as listening:
                _note(f"serving at http://{HOST}:{listening.getsockname()[1]}/mcp")
                await serve_http(desk, listening)

    asyncio.run(serve())
    return 0


def _note(text: str) -> None:
    """Say something on standard error, which is not the client's."""
    click.echo(sanitize(text), err=True)


# The tool `run` of `chatdev mcp`: a company works on a task, and whoever asked hears how it goes on.

_MOST_FILES = 200  # whose names are in a result
_OF_THE_USER = ("model", "base_url", "warehouse", "sandbox", "install", "runtime")
_LIMITS = ("max_cost", "max_tokens", "max_calls", "max_minutes")


@dataclass(frozen=True, slots=True)
class RunOrder:
    """What a client wants to be run."""

    task: str
    company: str
    name: str | None
    path: str | None
    inputs: Mapping[str, str | list[str]]
    limits: Mapping[str, float | int | None]


@tool(name="run")
def run(  # noqa: PLR0913 - what a client may say
    served: Served, *,
    task: Annotated[str, Field(description="What to build or to do, with examples of what it shall print or write")],
    company: Annotated[str, Field(description="Name of an installed company (chatdev, maintain, verilogcoder, "
                                              "agents4plc, …) or path of one")] = "chatdev",
    name: Annotated[str | None, Field(description="Name of the run's folder")] = None,
    path: Annotated[str | None, Field(description="Folder of existing software to start from")] = None,
    inputs: Annotated[dict[str, str | list[str]] | None, Field(
        description="Further inputs of the company; of an input of files its path or paths")] = None,
    max_cost: Annotated[float | None, Field(ge=0, description="US dollars at most")] = None,
    max_calls: Annotated[int | None, Field(ge=1, description="Model calls at most")] = None,
    max_minutes: Annotated[float | None, Field(gt=0, description="Minutes at most")] = None,
) -> RunOrder:
    """Let a company of language-model agents build software, Verilog or a PLC program, and have it judged. Takes
    minutes and costs model calls; cancelling it keeps what was made. Result: status, verdict, folder and summary."""
    return RunOrder(task, company, name, path, inputs or {},
                    {"max_cost": max_cost, "max_calls": max_calls, "max_minutes": max_minutes})


async def perform(order: RunOrder, served: Served, options: RunOptions, on_progress: Callable[[str], None]) -> Any:
    """The result of the run. Raises ConfigError, ConsentMissing and the like before anything is made."""
    company = Company.load(_find_company(order.company, served))
    software = str(served.find(order.path)) if order.path else None

    def follow(event: Event) -> None:
        if text := describe_event(event):
            on_progress(text)

    limits: Any = {name: _lower(order.limits.get(name), getattr(options, name)) for name in _LIMITS}
    own: Any = {name: getattr(options, name) for name in _OF_THE_USER}
    done = await company.arun(order.task, inputs=_inputs(company, order.inputs, served), name=order.name,
                              software=software, on_event=follow, **own, **limits)
    return result_of(done, company)


def _find_company(given: str, served: Served) -> str:
    """The company's name, or its path where one is given, which has to be served."""
    if os.sep in given or given.endswith((".yaml", ".yml")):
        return str(served.find(given))
    return given


def _inputs(company: Company, given: Mapping[str, str | list[str]], served: Served) -> dict[str, InputValue]:
    """The inputs, with paths that are served. Raises ConfigError for one that names a place which a tool opens by
    itself: only the user says that."""
    places = place_inputs(company.config, company.word.tools)
    found: dict[str, InputValue] = {}
    for name, value in given.items():
        if name in places:
            raise ConfigError(f"input {name!r} names a place that a tool opens; only the user may, with `chatdev run "
                              f"--input {name}=…`")
        kind = company.config.inputs.get(name, Input()).kind
        if kind == "text":
            found[name] = value
        else:
            paths: list[str | Path] = [served.find(one) for one in ([value] if isinstance(value, str) else value)]
            found[name] = paths[0] if len(paths) == 1 else paths
    return found


def _lower(given: Any, user: Any) -> Any:
    """The lower one of two limits, of which the client may only lower the user's."""
    limits = [limit for limit in (given, user) if limit is not None]
    return min(limits) if limits else None


def result_of(run: Run, company: Company) -> dict[str, Any]:
    """What a client gets of a run, as JSON values."""
    (verdict_name,) = company.config.chain[-1].names_written(company.config.phases)
    verdict = run.values.get(verdict_name)
    told = {key: verdict[key] for key in ("passed", "judged", "report", "score") if key in verdict} \
        if isinstance(verdict, Mapping) else None
    files, lines = count_noun(len(run.software), "file"), count_noun(run.software.lines, "line")
    return {"status": run.status, "verdict": told, "folder": str(run.folder.resolve()),
            "software_folder": str(run.software_folder.resolve()), "files": sorted(run.software)[:_MOST_FILES],
            "summary": f"{run.status}: {run.reason}. {files}, {lines}; {describe_usage(run.usage)}",
            "notes": run.notes, "change": run.change}


def describe_event(event: Event) -> str:
    """An event in a clause; empty for one that tells nothing of how far a run is."""
    match event:
        case RunStarted():
            return f"{event.company} begins in {event.folder}"
        case PhaseStarted():
            return f"{event.phase}: {event.about}"
        case PhaseFinished():
            return f"{event.phase} ended: {event.ending} ({count_noun(event.calls, 'call')})"
        case ToolCalled():
            word = "" if event.passed is None else " passed" if event.passed else " failed"
            return f"{event.tool}{word}"
        case DeliveryApplied(written=written) if written:
            return f"written: {', '.join(written)}"
        case Noted():
            return event.text
    return ""
