"""The command `chatdev view`."""

from __future__ import annotations

import asyncio
import secrets
from pathlib import Path

import click

from chatdev.cli.outcome import report_outcome
from chatdev.config.settings import user_settings
from chatdev.errors import ConfigError, MissingProgram
from chatdev.paths import working_folder
from chatdev.safe_text import sanitize


@click.command("view")
@click.argument("folder", metavar="[DIR]", required=False, type=click.Path(path_type=Path))
@click.option("--warehouse", type=click.Path(path_type=Path), help="The runs that are shown. [default: warehouse]")
@click.option("--studies", type=click.Path(path_type=Path), default="studies", show_default=True,
              help="The studies of `chatdev eval` that are shown.")
@click.option("--port", type=click.IntRange(0, 65535), default=0, metavar="PORT",
              help="Where the page is, on 127.0.0.1. [default: any free port]")
@report_outcome
def command(folder: Path | None, warehouse: Path | None, studies: Path, port: int) -> int:
    """Show runs in a browser, live and as replays: the run in DIR, or those of a warehouse. Nothing is shown to others:
    the page is on this machine only, and the address that is printed has a token."""
    try:
        import starlette  # noqa: F401 - whether it is there
        import uvicorn  # noqa: F401
    except ImportError as error:
        raise MissingProgram("the web view needs starlette and uvicorn: pip install 'chatdev-chain[web]'") from error
    from chatdev.web.guard import own_key
    from chatdev.web.server import View, address, open_port, serve
    from chatdev.web.studies import Studies
    from chatdev.web.warehouse import Warehouse

    root, run = _what_to_show(folder, warehouse)
    token = secrets.token_urlsafe(24)
    with open_port(port) as listening:
        click.echo(f"{sanitize(str(root))} is shown at\n\n  {address(listening, token, run)}\n\n"
                   "Open it in a browser of this machine. Ctrl-C ends the view, and no run.")
        view = View(Warehouse(root), Studies(studies))
        asyncio.run(serve(view, listening, token=token, key=own_key()))
    return 0


def _what_to_show(folder: Path | None, warehouse: Path | None) -> tuple[Path, str]:
    """The folder of runs, and the run that is shown first. Raises ConfigError."""
    if folder is not None and warehouse is not None:
        raise ConfigError("view takes DIR or --warehouse, not both: leave one out")
    if folder is not None and (folder / "run").is_dir():
        return folder.resolve().parent, folder.resolve().name
    root = folder or warehouse or Path(user_settings().warehouse or working_folder() / "warehouse")
    if not root.is_dir():
        raise ConfigError(f"there is no folder {root}; give the folder of a run, or --warehouse with one of runs")
    return root, ""
