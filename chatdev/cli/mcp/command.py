"""The command `chatdev mcp`."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import click

from chatdev.cli.outcome import report_outcome
from chatdev.cli.shared_options import budget_options, package_options
from chatdev.runner.options import RunOptions
from chatdev.safe_text import sanitize
from chatdev.sandbox.kinds import SANDBOXES


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
    from chatdev.cli.mcp.server import HOST, Desk, offered_tools, open_port, serve_http, serve_stdio

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
