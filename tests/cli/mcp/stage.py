"""`chatdev mcp` as coding agents meet it: started as a program, and asked by the SDK's own client."""

from __future__ import annotations

import asyncio
import os
import subprocess
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from mcp import Client, StdioServerParameters
from mcp.types import CallToolResult

from tests.support.copies import start_module

T = TypeVar("T")
_LINE = 'cat "$1" & exec cat > "$0"'
"""What the client starts: it leads to the server, whose start (`support/copies.py`) the client knows nothing of."""


def ask(folder: Path, work: Callable[[Client], Awaitable[T]], *options: str, env: Mapping[str, str] | None = None) -> T:
    """What `work` gives with a client of a server that is started in the folder."""
    with start_module("chatdev", "mcp", *options, cwd=folder, env={**os.environ, **(env or {})},
                      stdin=subprocess.PIPE, stdout=subprocess.PIPE) as program:
        assert program.stdin
        assert program.stdout
        streams = (program.stdin, program.stdout)
        ends = [f"/proc/{os.getpid()}/fd/{stream.fileno()}" for stream in streams]
        line = StdioServerParameters(command="sh", args=["-c", _LINE, *ends])

        async def run() -> T:
            try:
                async with Client(line) as client:
                    for stream in streams:
                        stream.close()  # now only the client's line holds them
                    return await work(client)
            except BaseException:
                program.kill()
                raise

        found = asyncio.run(run())
        assert program.wait(60) == 0
        return found


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
