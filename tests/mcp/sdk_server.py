"""A server made with the SDK: `python sdk_server.py`, or `python sdk_server.py http`, which prints its address."""

from __future__ import annotations

import socket
import sys

import uvicorn
from mcp.server.mcpserver import MCPServer

server = MCPServer("sums")


@server.tool()
def add(first: int, second: int = 1) -> int:
    """Add two whole numbers."""
    return first + second


@server.tool()
def divide(first: int, second: int) -> float:
    """Divide one number by another."""
    return first / second


if __name__ == "__main__":
    if sys.argv[1:]:
        listening = socket.create_server(("127.0.0.1", 0))
        print(f"http://127.0.0.1:{listening.getsockname()[1]}/mcp", flush=True)
        app = server.streamable_http_app(host="127.0.0.1")
        uvicorn.Server(uvicorn.Config(app, log_config=None)).run(sockets=[listening])
    else:
        server.run("stdio")
