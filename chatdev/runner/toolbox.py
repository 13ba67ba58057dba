"""The tools of one run: called in a thread, each with a context of its own."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from chatdev.config.facts import ToolFacts
from chatdev.config.inception import Described
from chatdev.config.schema import CompanyConfig
from chatdev.engine.state import Files
from chatdev.llm.base import ToolSpec
from chatdev.sandbox.base import Sandbox
from chatdev.tools.base import ToolContext, Verdict
from chatdev.tools.registry import Registry, registry
from chatdev.workspace.file_tree import explain_os_errors


class Facts(Mapping[str, ToolFacts]):
    """What a company's check must know of the tools; a tool is imported only when a company names it."""

    def __init__(self) -> None:
        self._tools = registry()

    def __getitem__(self, name: str) -> ToolFacts:
        tool = self._tools[name]
        return ToolFacts(name, tool.reads, tool.writes_files)

    def __iter__(self) -> Iterator[str]:
        return iter(self._tools)

    def __len__(self) -> int:
        return len(self._tools)

    def __contains__(self, name: object) -> bool:
        return name in self._tools


@dataclass(frozen=True, slots=True)
class RunToolbox:
    """Implements the engine's `Toolbox` over the registry; hidden inputs reach tools here and nowhere else."""

    sandbox: Sandbox
    run_folder: Path
    inputs: Mapping[str, Any]
    options: Mapping[str, Any] = field(default_factory=dict)
    tools: Registry = field(default_factory=registry)

    def spec(self, name: str) -> ToolSpec:
        """What agents are told of the tool."""
        tool = self.tools[name]
        return ToolSpec(tool.name, tool.about, tool.parameters)

    def reads(self, name: str) -> tuple[str, ...]:
        """Long-term names that the tool declares to read."""
        return self.tools[name].reads

    async def call(self, name: str, software: Files, values: Mapping[str, Any], arguments: Mapping[str, Any]) -> Any:
        """The tool's result as plain JSON values."""
        return await asyncio.to_thread(self._call, name, software, values, arguments)

    def _call(self, name: str, software: Files, values: Mapping[str, Any], arguments: Mapping[str, Any]) -> Any:
        with explain_os_errors("make a working folder in", tempfile.gettempdir()):
            scratch_folder = tempfile.TemporaryDirectory(prefix="chatdev-", ignore_cleanup_errors=True)
        with scratch_folder as scratch:
            context = ToolContext(software, values, self.inputs, self.sandbox, self.run_folder, Path(scratch),
                                  self.options)
            result = self.tools[name].call(context, arguments)
        return result.to_dict() if isinstance(result, Verdict) else result


def described_tools(company: CompanyConfig) -> dict[str, Described]:
    """The tools that the company's agents may use, by name, as inception prompts describe them."""
    tools = registry()
    names = {name for role in company.roles.values() for name in role.tools}
    names |= {name for phase in company.phases.values() for name in phase.tools or ()}
    return {name: (name, tools[name].about, tools[name].parameters) for name in sorted(names)}
