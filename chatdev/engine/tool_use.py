"""Tool calls inside a turn (ReAct): what the model wants, and what it observes."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from chatdev.engine.activity import digest
from chatdev.engine.context import RunContext
from chatdev.engine.state import State
from chatdev.engine.stuck import SAME_CALLS, Stuck
from chatdev.errors import MissingProgram, ToolError
from chatdev.events import ToolCalled
from chatdev.llm.base import Message, Reply, ToolCall, ToolSpec
from chatdev.replies.file_names import name_on
from chatdev.replies.values import load_json

_BLOCK_OPENS = re.compile(r"```(?:json|tool)?[ \t]*\n(?=\{)")
_BLOCK_CLOSES = re.compile(r"(?<=\})\s*```")


def wanted_calls(reply: Reply, text: str) -> tuple[ToolCall, ...]:
    """The tool calls of a reply: native ones, else fenced JSON objects `{"tool": …, "arguments": {…}}`; some models
    write `name` for `tool`, or answer so although native calls were offered."""
    if reply.tool_calls:
        return reply.tool_calls
    candidates = list(_json_blocks(text)) or ([text] if text.lstrip().startswith("{") else [])
    found = [call for block in candidates if (call := _block_call(block))]
    return tuple(found[:1])  # one action, then its observation


def asks_for_tool(text: str, tools: Iterable[ToolSpec]) -> bool:
    """Whether a text ends with a call of one of these tools."""
    *_, last = [text, *_json_blocks(text)]
    call = _block_call(last) if text.rstrip("` \t\n").endswith(last.rstrip("` \t\n")) else None
    return call is not None and call.name in {tool.name for tool in tools}


def _json_blocks(text: str) -> Iterator[str]:
    """Fenced JSON objects that are no files of a delivery, in a time that grows with the text only (one pattern for all
    of it would not do)."""
    start = _BLOCK_OPENS.search(text)
    while start and (end := _BLOCK_CLOSES.search(text, start.end())):
        above = text[text.rfind("\n", 0, max(0, start.start() - 1)) + 1:start.start()]
        if not name_on(above):
            yield text[start.end():end.start()]
        start = _BLOCK_OPENS.search(text, end.end())


def _block_call(block: str) -> ToolCall | None:
    try:
        value = load_json(block)
    except ValueError:
        return None
    if not isinstance(value, dict):
        return None
    name, arguments = value.get("tool"), value.get("arguments", {})
    if name is None and "arguments" in value:  # much else has a name
        name = value.get("name")
    if not isinstance(name, str) or not isinstance(arguments, dict):
        return None
    return ToolCall("", name, json.dumps(arguments, ensure_ascii=False))


@dataclass(frozen=True, slots=True)
class ToolUse:
    """Calls tools for the agents of one phase."""

    context: RunContext
    state: State
    limit: int
    stuck: Stuck
    observed: list[str] = field(default_factory=list)
    """What the tools said in this phase."""

    async def observe(self, tools: tuple[ToolSpec, ...], calls: tuple[ToolCall, ...], text: str, place: str, *,
                      native: bool, left: int) -> list[Message]:
        """The messages that follow a reply with tool calls: the calls themselves and what came back."""
        messages = [Message("assistant", text, tool_calls=calls if native else ())]
        for n, call in enumerate(calls):
            result = await self._call(tools, call, f"{place}.{n}" if n else place)
            if left <= 0 and n == len(calls) - 1:
                result += "\n\n" + self.context.say("tool_calls_used_up", limit=self.limit)
            if native:
                messages.append(Message("tool", result, tool_call_id=call.id))
            else:
                messages.append(Message("user", self.context.say("observation", tool=call.name, result=result)))
        return messages

    async def _call(self, tools: tuple[ToolSpec, ...], call: ToolCall, place: str) -> str:
        if self.stuck.calls(call):
            return self.context.say("same_call", tool=call.name, times=SAME_CALLS)
        allowed = [tool.name for tool in tools]
        if call.name not in allowed:
            return f"There is no tool {call.name!r} for you. You may use: {', '.join(allowed)}."
        try:
            arguments = load_json(call.arguments or "{}")
        except ValueError as error:
            return f"The arguments are not a JSON object: {error}."
        if not isinstance(arguments, dict):
            return "The arguments must be a JSON object."
        try:
            result = await call_tool(self.context, self.state, call.name, place, arguments=arguments)
        except ToolError as error:
            return f"The tool failed: {error}"
        said = result if isinstance(result, str) else json.dumps(result, ensure_ascii=False, indent=1)
        self.observed.append(said)
        times = self.stuck.hears(call.name, said)
        if times == 1:
            return said
        return self.context.say("same_result", tool=call.name, times=times, left=not self.stuck.looping)


async def call_tool(context: RunContext, state: State, name: str, place: str, *, reads: tuple[str, ...] | None = None,
                    arguments: Mapping[str, Any] | None = None, judges: bool = True) -> Any:
    """Call a tool as an activity, with the long-term names it declares to read, and return its result. The event shows
    a verdict unless `judges` is false: then there is nothing to judge yet."""
    names = [r.rstrip("?") for r in (context.toolbox.reads(name) if reads is None else reads)]
    values = {n: state.values[n] for n in names if n in state.values}
    software = state.software if "software" in names else {}
    arguments = dict(arguments or {})

    async def call() -> dict[str, Any]:
        started = time.monotonic()
        try:
            result = {"value": await context.toolbox.call(name, software, values, arguments)}
        except ToolError as error:  # a result like another: a resumed run must go the same way
            result = {"error": str(error), "lacking": isinstance(error, MissingProgram)}
        return {**result, "seconds": round(time.monotonic() - started, 3)}

    request = {"tool": name, "arguments": arguments, "values": values, "software": fingerprint(software)}
    performed = await context.activities.perform(place, request, call)
    if "error" in performed.result:
        kind = MissingProgram if performed.result["lacking"] else ToolError
        raise kind(performed.result["error"]).at(place)
    value = performed.result["value"]
    verdict = value if isinstance(value, dict) else {}
    passed = verdict.get("passed") if judges and verdict.get("judged", True) else None
    summary = str(verdict.get("report", "") if isinstance(value, dict) else value)
    context.emit(ToolCalled(place, name, performed.result["seconds"], passed, summary, performed.replayed))
    return value


def fingerprint(software: Mapping[str, bytes]) -> str:
    """A short digest of a software snapshot."""
    return digest({path: data.hex() for path, data in sorted(software.items())}) if software else ""
