"""A tool of a plug-in: it fetches what lies on a shelf, a hidden input, and fails as long as nothing does."""

from __future__ import annotations

from pathlib import Path

from chatdev.errors import MissingProgram
from chatdev.tools.base import ToolContext, tool

EMPTY = "the shelf is empty; put something there"


@tool(name="shelf.fetch")
def fetch(ctx: ToolContext) -> str:
    """Fetch what lies on the shelf."""
    try:
        return Path(ctx.inputs["shelf"]).read_text(encoding="utf-8")
    except FileNotFoundError:
        raise MissingProgram(EMPTY) from None


def plug_in(folder: Path) -> str:
    """Make `folder` the package that brings the tool, and return what to put on the path."""
    metadata = folder / "shelf-1.0.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: shelf\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(f"[chatdev.tools]\nshelf.fetch = {__name__}:fetch\n")
    return str(folder)
