"""The servers of a session: each is started when it is first needed, and ended with the session; and what comes from
one, made fit for agents: the tools that it lists, and the results of calls."""

from __future__ import annotations

import asyncio
import json
import logging
import os
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass, field
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from chatdev.config.schema import McpServer
from chatdev.errors import MissingProgram, RecordEnds, ToolError
from chatdev.isolation.parent import read_beside
from chatdev.llm.base import ToolSpec
from chatdev.mcp.schemas import LARGEST_SCHEMA, UnusableSchema, misfit, schema_fault
from chatdev.mcp.stdio import Traffic, serve_by_command
from chatdev.safe_text import encodable_text, plain_value, sanitize
from chatdev.tools.base import ToolArgumentsError, render_file
from chatdev.version import __version__

if TYPE_CHECKING:
    from mcp import ClientSession
    from mcp.types import CallToolResult, ContentBlock
    from mcp.types import Tool as Offer


T = TypeVar("T")
START = 30.0
"""Seconds that a server may take to start, and again to list its tools."""
MOST_STARTS = 5
"""Times that a server is started in a session."""
_INHERITED = ("PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "LC_CTYPE", "TERM", "TMPDIR", "TZ")
"""Variables that every program gets: where it finds what it needs, and in which language it speaks."""
_MOST_PAGES, _MOST_TOOLS = 50, 2000  # of a list
_SHOWN = 300  # characters of what a server says of itself
_PATIENCE = 15.0  # seconds for a server's end; its own limits come before
for _logger in ("mcp", "client"):  # the SDK's: what it would print on the terminal is a server's word
    logging.getLogger(_logger).addHandler(logging.NullHandler())


def require_sdk() -> None:
    """Raise MissingProgram without the SDK."""
    if find_spec("mcp") is None:
        raise MissingProgram("servers of tools need the package mcp: pip install 'chatdev-chain[mcp]'")


@dataclass(frozen=True, slots=True)
class ServerPlace:
    """A server as it is declared, and the values of the variables that it gets."""

    name: str
    declared: McpServer
    variables: Mapping[str, str] = field(default_factory=dict, repr=False)

    def open(self, traffic: Traffic) -> AbstractAsyncContextManager[Any]:
        """The streams of the server."""
        declared = self.declared
        if declared.url:
            from chatdev.mcp.http import serve_by_address

            return serve_by_address(declared.url, self.variables.get(declared.key_env or ""), declared.seconds, traffic)
        inherited = {name: os.environ[name] for name in _INHERITED if name in os.environ}
        return serve_by_command(declared.command, {**inherited, **self.variables}, traffic)


class ToolServers:
    """The tools of all servers by `server.tool`. `known` are those that a record has; others are asked for with
    `list_tools`. Without `places`, as in a replay, nothing is started. To be closed."""

    def __init__(self, places: Mapping[str, ServerPlace] | None = None,
                 known: Mapping[str, ServerTool] | None = None) -> None:
        self.tools = dict(known or {})
        self._links = {name: ServerLink(place) for name, place in (places or {}).items()}

    def __contains__(self, name: object) -> bool:
        return name in self.tools

    @property
    def lacking(self) -> list[str]:
        """The declared tools that nothing is known of yet."""
        return [tool for link in self._links.values() for tool in link.tools if tool not in self.tools]

    def spec(self, name: str) -> ToolSpec:
        """Description of the tool for agents."""
        found = self.tools[name]
        return ToolSpec(name, found.about, found.parameters)

    async def list_tools(self) -> None:
        """Learn what is lacking from the servers. Raises ToolError, which names the server and the fix."""
        lacking = self.lacking
        for name in lacking:
            server = name.partition(".")[0]
            offers = await self._links[server].list_tools()
            if name not in offers:
                known = ", ".join(offer.removeprefix(f"{server}.") for offer in sorted(offers)) or "none"
                raise ToolError(f"the server {server} has no tool {name.removeprefix(f'{server}.')!r}; it has: "
                                f"{sanitize(known)[:_SHOWN]}; write one of these in mcp.{server}.tools")
            self.tools[name] = await read_offer(name, offers[name])

    async def call(self, name: str, arguments: Mapping[str, Any]) -> str:
        """What an agent reads of the result. Raises ToolError, ToolArgumentsError among them."""
        server, _, tool = name.partition(".")
        link, known = self._links.get(server), self.tools[name]
        if link is None:
            raise RecordEnds(f"a replay starts no server ({server})")
        await known.check(name, arguments)
        now = await link.list_tools()
        if name not in now:
            raise ToolError(f"the server {server} has no tool {tool!r} any more; it had one when the run began")
        if await read_offer(name, now[name]) != known:
            raise ToolError(f"{name} is not what it was when the run began: its server describes it otherwise now, "
                            "or wants other arguments; it is not called")
        return read_result(server, await link.call(tool, dict(arguments)))

    async def close(self) -> None:
        """End all servers."""
        await asyncio.gather(*(link.close() for link in self._links.values()))


class ServerLink:
    """The connection to one server, opened when it is first needed and again when it broke. A task of its own holds it,
    as the SDK wants it closed where it was opened."""

    def __init__(self, place: ServerPlace) -> None:
        self._place = place
        self._opening = asyncio.Lock()
        self._starts = 0
        self._traffic = Traffic(ended=True)
        self._session: ClientSession | None = None
        self._stop = asyncio.Event()
        self._is_ready = False
        self._holding: asyncio.Task[None] | None = None

    @property
    def tools(self) -> list[str]:
        """The tools that its declaration allows."""
        return [f"{self._place.name}.{tool}" for tool in self._place.declared.tools]

    async def list_tools(self) -> dict[str, Offer]:
        """What the server offers now, by `server.tool`. Raises ToolError."""
        return {f"{self._place.name}.{offer.name}": offer
                for offer in await self._ask(_list_tools, min(START, self._place.declared.seconds))}

    async def call(self, tool: str, arguments: dict[str, Any]) -> CallToolResult:
        """The result of a call. Raises ToolError."""
        return await self._ask(partial(_call_tool, tool=tool, arguments=arguments), self._place.declared.seconds)

    async def close(self) -> None:
        """End the server, if it is there."""
        self._session = None
        self._stop.set()
        if (holding := self._holding) and not holding.done():
            patience = _PATIENCE if self._is_ready else 0  # one that does not even begin hears nothing of an end
            done, _ = await asyncio.wait([holding], timeout=patience)
            if not done:
                holding.cancel()
                await asyncio.wait([holding], timeout=_PATIENCE)

    async def _ask(self, what: Callable[[ClientSession], Awaitable[T]], seconds: float) -> T:
        session = await self._open()
        self._traffic.received = 0
        try:
            async with asyncio.timeout(seconds):
                return await what(session)
        except TimeoutError:
            await self.close()
            raise ToolError(f"the server {self._place.name} gave no answer within {seconds:g} s and was stopped; it is "
                            "started again at the next call") from None
        except ToolError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever a server makes the SDK raise is the server's failure
            if self._place.declared.url or self._traffic.ended:  # else it refused this one call
                await self.close()
            raise ToolError(self._explain(error)) from None

    async def _open(self) -> ClientSession:
        async with self._opening:
            if self._session and not self._traffic.ended:
                return self._session
            await self.close()
            if self._starts >= MOST_STARTS:
                raise ToolError(f"the server {self._place.name} broke off {self._starts} times; it is not started "
                                "again in this session")
            self._starts += 1
            self._traffic, self._stop, self._is_ready = Traffic(), asyncio.Event(), False
            ready: asyncio.Future[ClientSession] = asyncio.get_running_loop().create_future()
            self._holding = asyncio.create_task(self._hold(ready))
            try:
                async with asyncio.timeout(START):
                    self._session = await asyncio.shield(ready)
            except TimeoutError:
                await self.close()
                raise ToolError(f"the server {self._place.name} ({self._shown_place()}) did not start within {START:g} "
                                "s; check the command, or the address") from None
            return self._session

    async def _hold(self, ready: asyncio.Future[ClientSession]) -> None:
        from mcp import Client
        from mcp.types import Implementation

        try:
            async with Client(self._place.open(self._traffic), cache=None,
                              client_info=Implementation(name="chatdev", version=__version__)) as client:
                self._is_ready = True
                ready.set_result(client.session)
                await self._stop.wait()
        except BaseException as error:
            self._traffic.ended = True
            if not ready.done():
                ready.set_exception(ToolError(self._explain(error, started=False)))
                ready.exception()  # somebody may have stopped waiting
            if isinstance(error, asyncio.CancelledError):
                raise

    def _explain(self, error: BaseException, *, started: bool = True) -> str:
        """What a server did, in words."""
        name, traffic = self._place.name, self._traffic
        if traffic.problem:
            return f"the server {name} {traffic.problem}, and was cut off"
        inner = _first_of(error)
        if started and not traffic.ended:
            return f"the server {name} refuses, or answers with something else: {_message(inner)}"
        if isinstance(inner, FileNotFoundError):
            return (f"the server {name} cannot be started: there is no program {self._place.declared.command[0]!r}; "
                    f"install it, or mend mcp.{name}.command")
        said = sanitize(traffic.said.decode("utf-8", "replace")).strip()[-_SHOWN:]
        how = f" with exit status {traffic.status}" if traffic.status else ""
        last = f"; its last words: {' '.join(said.split())}" if said else ""
        if started:
            return f"the server {name} ended{how} before it answered{last}"
        return f"the server {name} ({self._shown_place()}) cannot be used: {_message(inner)}{how}{last}"

    def _shown_place(self) -> str:
        return sanitize(self._place.declared.place)[:_SHOWN]


async def _list_tools(session: ClientSession) -> list[Offer]:
    """All pages of the list; raises ToolError where it has no end or names a tool twice."""
    from mcp.types import PaginatedRequestParams

    found: dict[str, Offer] = {}
    cursor: str | None = None
    for _ in range(_MOST_PAGES):
        page = await session.list_tools(params=PaginatedRequestParams(cursor=cursor))
        for offer in page.tools:
            if offer.name in found:
                raise ToolError(f"a server lists the tool {sanitize(offer.name)[:60]!r} twice; which one is meant "
                                "cannot be known: mend the server")
            found[offer.name] = offer
        cursor = page.next_cursor
        if not cursor:
            return list(found.values())
        if len(found) > _MOST_TOOLS:
            break
    raise ToolError(f"a server's list of tools has no end (more than {_MOST_PAGES} pages or {_MOST_TOOLS} tools)")


async def _call_tool(session: ClientSession, *, tool: str, arguments: dict[str, Any]) -> CallToolResult:
    """Call a tool. (The SDK's own call also holds the result against a schema of the server's, in this process, and a
    server could have that take for ever.)"""
    from mcp.types import CallToolRequest, CallToolRequestParams, CallToolResult

    request = CallToolRequest(params=CallToolRequestParams(name=tool, arguments=arguments))
    return await session.send_request(request, CallToolResult)


def _first_of(error: BaseException) -> BaseException:
    """The first error of a group."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _message(error: BaseException) -> str:
    text = ""
    with suppress(Exception):
        text = " ".join(sanitize(str(error)).split())[:_SHOWN]
    return text or type(error).__name__


# What comes from a server, made fit for agents: the tools that it lists, and the results of calls.

LONGEST_ANSWER = 30_000
"""Characters of a result that an agent reads; of a longer one the middle is left out."""
_LONGEST_ABOUT = 2000  # characters of a description
_LONGEST_REFUSAL = 1000
_SECONDS = 15.0  # for a look at a schema
_ANSWER = Path(__file__).parent / "answer.j2"


@dataclass(frozen=True, slots=True)
class ServerTool:
    """A tool as its server describes it; `parameters` is the JSON schema of its arguments."""

    about: str
    parameters: Mapping[str, Any]

    def to_record(self) -> dict[str, Any]:
        """As plain JSON values."""
        return {"about": self.about, "parameters": dict(self.parameters)}

    async def check(self, name: str, arguments: Mapping[str, Any]) -> None:
        """Raise ToolArgumentsError where arguments do not fit."""
        try:
            problem = await read_beside(_SECONDS, misfit, json.dumps(self.parameters), json.dumps(arguments))
        except (UnusableSchema, TimeoutError) as error:
            raise ToolError(f"whether these arguments fit {name} cannot be found out: {error or 'it takes too long'}; "
                            "its server gives a schema that cannot be used") from None
        if problem:
            allowed = ", ".join(map(str, self.parameters.get("properties", {}))) or "none"
            raise ToolArgumentsError(f"the arguments of {name} do not fit: {sanitize(problem)}. Its arguments: "
                                     f"{sanitize(allowed)}.")


async def read_offer(name: str, offer: Offer) -> ServerTool:
    """A tool that a server lists. Raises ToolError, which calls it `name`, where its schema is none."""
    try:
        parameters = plain_value(offer.input_schema)
        text = json.dumps(parameters)
        fault = (f"it has more than {LARGEST_SCHEMA} characters" if len(text) > LARGEST_SCHEMA
                 else await read_beside(_SECONDS, schema_fault, text))
    except (UnusableSchema, ValueError, TimeoutError) as error:
        fault = str(error) or "it takes too long to read"
    if fault:
        raise ToolError(f"the server says that the arguments of {name} have this schema, which is none: "
                        f"{sanitize(fault)}; mend the server, or leave the tool out")
    about = sanitize(encodable_text(offer.description or offer.title or offer.name)).strip()
    return ServerTool(about[:_LONGEST_ABOUT], parameters)


def read_result(server: str, result: CallToolResult) -> str:
    """What an agent reads of a result. Raises ToolError with the text of one that says that the call failed."""
    texts = [text for block in result.content if (text := _text(block)) is not None]
    if not texts and result.structured_content is not None:
        texts = [json.dumps(plain_value(result.structured_content), ensure_ascii=False, indent=1)]
    text = sanitize(encodable_text("\n".join(texts)))
    if result.is_error:
        raise ToolError(f"the server {server} says that the call failed: {text[:_LONGEST_REFUSAL] or 'without a word'}")
    half, left_out = LONGEST_ANSWER // 2, max(0, len(text) - LONGEST_ANSWER)
    shown = f"{text[:half]}\n…\n{text[-half:]}" if left_out else text
    return render_file(_ANSWER, server=server, text=shown, left_out=left_out, others=list(_others(result)))


def _text(block: ContentBlock) -> str | None:
    if block.type == "text":
        return block.text
    return getattr(block.resource, "text", None) if block.type == "resource" else None


def _others(result: CallToolResult) -> Iterator[str]:
    """What is no text, in words."""
    for block in result.content:
        if block.type in ("image", "audio"):
            yield sanitize(f"{block.type}, {block.mime_type:.60}, {len(block.data) * 3 // 4} bytes, not shown")
        elif block.type == "resource_link":
            yield sanitize(f"link to {block.uri!s:.300}")
        elif block.type == "resource" and _text(block) is None:
            yield sanitize(f"data of {block.resource.uri!s:.300}, not shown")
