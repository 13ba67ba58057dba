"""What `chatdev mcp` offers of this department: `simulink_check`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from chatdev.cli.mcp.served import Served
from chatdev.tools.base import tool

File = Annotated[str, Field(
    description="Path of a model in the text form (YAML), or of a list of blocks and connections")]


@tool(name="simulink_check")
def check(served: Served, *, file: File) -> dict[str, Any]:
    """Check a block diagram in its text form, without MATLAB: unknown blocks and parameters, ports that are not
    connected, widths that do not fit, algebraic loops. Every finding has its line and the way out."""
    from chatdev.departments.simulink.commands import check_file

    found = check_file(Path(served.find(file)))
    return {**replace(found, name=file).to_dict(), "about": found.about}
