"""The tools of one run: called in a thread, each with a context of its own."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from chatdev.engine.state import Files
from chatdev.llm.base import ToolSpec
from chatdev.sandbox.base import Sandbox
from chatdev.tools.base import ToolContext, Verdict
from chatdev.tools.registry import load_tool


@dataclass(frozen=True, slots=True)
class RunToolbox:
    """Implements the engine's `Toolbox` over the registry; hidden inputs reach tools here and nowhere else."""

    sandbox: Sandbox
    run_folder: Path
    inputs: Mapping[str, Any]
    options: Mapping[str, Any] = field(default_factory=dict)

    def spec(self, name: str) -> ToolSpec:
        """What agents are told of the tool."""
        tool = load_tool(name)
        return ToolSpec(tool.name, tool.description, tool.parameters)

    def reads(self, name: str) -> tuple[str, ...]:
        """Long-term names that the tool declares to read."""
        return load_tool(name).reads

    async def call(self, name: str, software: Files, values: Mapping[str, Any], arguments: Mapping[str, Any]) -> Any:
        """The tool's result as plain JSON values."""
        return await asyncio.to_thread(self._call, name, software, values, arguments)

    def _call(self, name: str, software: Files, values: Mapping[str, Any], arguments: Mapping[str, Any]) -> Any:
        with tempfile.TemporaryDirectory(prefix="chatdev-", ignore_cleanup_errors=True) as scratch:
            context = ToolContext(software, values, self.inputs, self.sandbox, self.run_folder, Path(scratch),
                                  self.options)
            result = load_tool(name).call(context, arguments)
        return result.to_dict() if isinstance(result, Verdict) else result
