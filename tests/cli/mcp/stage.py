"""`chatdev mcp` as coding agents meet it: started as a program, and asked by the SDK's own client."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from mcp import Client, StdioServerParameters
from mcp.types import CallToolResult

T = TypeVar("T")
SERVER = [sys.executable, "-m", "chatdev", "mcp"]


def ask(folder: Path, work: Callable[[Client], Awaitable[T]], *options: str, env: Mapping[str, str] | None = None) -> T:
    """What `work` gives with a client of a server that is started in the folder."""
    server = StdioServerParameters(command=SERVER[0], args=[*SERVER[1:], *options], cwd=folder,
                                   env={**os.environ, **(env or {})})

    async def run() -> T:
        async with Client(server) as client:
            return await work(client)

    return asyncio.run(run())


def call_all(folder: Path, *calls: tuple[str, dict[str, Any]]) -> list[CallToolResult]:
    """The results of calls of one server, in their order."""
    async def work(client: Client) -> list[CallToolResult]:
        return [await client.call_tool(name, arguments) for name, arguments in calls]

    return ask(folder, work)


def said(result: CallToolResult) -> str:
    """The text of a result."""
    (block,) = result.content
    assert block.type == "text"
    return block.text
