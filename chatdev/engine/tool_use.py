"""Tools at work: in a turn (ReAct), as feedback and guard of a phase, and as steps of the chain."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from chatdev.engine.activity import ActivityResult, ToolFailed, ToolReturned, digest
from chatdev.engine.context import TOOL_LOG, Files, RunContext, State
from chatdev.engine.stop import SAME_CALLS, LoopDetector
from chatdev.errors import JournalError, MissingProgram, ToolCrashed, ToolError, UnsafePath
from chatdev.events import Noted, ToolCalled
from chatdev.llm.base import Message, ToolCall, ToolSpec
from chatdev.place import Place
from chatdev.plain_values import encodable_text, load_json
from chatdev.tools.base import Verdict
from chatdev.workspace.snapshot import safe_path

_NOT_JUDGED = -1e9  # the score of a version at which a tool failed: below all that tools give


@dataclass(frozen=True, slots=True)
class AgentTools:
    """Calls tools for the agents of one phase."""

    context: RunContext
    state: State
    limit: int
    """Most calls in one turn."""
    loops: LoopDetector
    observed: list[str] = field(default_factory=list)
    """Reports of the tools in this phase."""

    async def call_all(self, tools: tuple[ToolSpec, ...], calls: tuple[ToolCall, ...], text: str, place: Place, *,
                       native: bool, left: int) -> list[Message]:
        """The messages that follow a reply with tool calls: the calls themselves and what came back. `left`: how many
        are left after these; what a single reply asks for beyond the limit is not performed."""
        messages = [Message("assistant", text, tool_calls=calls if native else ())]
        possible = len(calls) + min(left, 0) * (self.context.settings.semantics > 3)
        for n, call in enumerate(calls):
            parts = [await self._result(tools, call, Place(f"{place}.{n}") if n else place)] if n < possible else []
            if left <= 0 and n >= possible - 1:
                parts.append(self.context.say("tool_calls_used_up", limit=self.limit))
            result = "\n\n".join(parts)
            if native:
                messages.append(Message("tool", result, tool_call_id=call.id))
            else:
                messages.append(Message("user", self.context.say("observation", tool=call.name, result=result)))
        return messages

    async def _result(self, tools: tuple[ToolSpec, ...], call: ToolCall, place: Place) -> str:
        """What the agent reads of one call."""
        if self.loops.see_call(call):
            return self.context.say("same_call", tool=call.name, times=SAME_CALLS)
        allowed = [tool.name for tool in tools]
        if call.name not in allowed:
            return self.context.say_problem("unknown_tool", tool=repr(call.name), tools=allowed)
        try:
            arguments = load_json(call.arguments or "{}")
        except ValueError as error:
            return self.context.say_problem("arguments_not_json", why=str(error))
        if not isinstance(arguments, dict):
            return self.context.say_problem("arguments_no_object")
        try:
            result = await call_tool(self.context, self.state, place, ToolRequest(call.name, arguments))
        except ToolError as error:
            return self.context.say_problem("tool_failed", why=str(error))
        said = result if isinstance(result, str) else json.dumps(result, ensure_ascii=False, indent=1)
        self.observed.append(said)
        times = self.loops.see_result(call.name, said)
        if times == 1:
            return said
        return self.context.say("same_result", tool=call.name, times=times, left=not self.loops.looping)


@dataclass(frozen=True, slots=True)
class ToolRequest:
    """A tool, what an agent gives it, and the long-term names it reads (None: those that it declares).

    `judges` is false where there is nothing to judge yet: then a verdict is not shown as one.
    """

    tool: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    reads: tuple[str, ...] | None = None
    judges: bool = True


async def call_tool(context: RunContext, state: State, place: Place, request: ToolRequest) -> Any:
    """Call a tool as an activity and return its result as plain JSON values. Raises ToolError."""
    name, arguments = request.tool, dict(request.arguments)
    names = [read.rstrip("?") for read in (context.toolbox.reads(name) if request.reads is None else request.reads)]
    values = {n: state.values[n] for n in names if n in state.values}
    software = state.software if "software" in names else {}

    async def call() -> ActivityResult:
        started = time.monotonic()
        try:
            value = await context.toolbox.call(name, software, values, arguments)
        except ToolError as error:  # a result like another: a resumed run must go the same way
            lacking, crashed = isinstance(error, MissingProgram), isinstance(error, ToolCrashed)
            return ToolFailed(encodable_text(str(error)), lacking, _seconds_since(started), crashed)
        return ToolReturned(value, _seconds_since(started))

    asked = {"tool": name, "arguments": arguments, "values": values, "software": fingerprint(software)}
    performed = await context.activities.perform(place, asked, call)
    match performed.result:
        case ToolFailed() as failed:
            _note_failure(context, name, place, failed)
            raise failed.error.at(place)
        case ToolReturned(value, seconds):
            passed, summary = _summarise(value)
            context.emit(ToolCalled(place, name, seconds, passed if request.judges else None, summary,
                                    performed.replayed))
            context.note_once(_notes(value))
            return value
    raise JournalError(f"{place} is a call of {name}, and the journal holds another result for it; it is damaged")


def _note_failure(context: RunContext, name: str, place: Place, failed: ToolFailed) -> None:
    """Pass a failure that the agents do not see as one to the user of the run."""
    if failed.repeated:
        context.emit(Noted(place, f"{name} failed as it did when that ended the run, so this is its result: "
                                  f"{failed.problem} (to try it again: --from {place})", "warning"))
    elif failed.crashed:
        where = f"a mistake in the tool: its traceback is in {TOOL_LOG} beside the journal"
        context.emit(Noted(place, f"{failed.problem} ({where})", "warning"))


def failed_verdict(context: RunContext, error: ToolError) -> Verdict:
    """Verdict of a tool that failed; no verdict ranks lower."""
    return Verdict(False, context.say_problem("tool_failed", why=str(error)), _NOT_JUDGED)


def apply_files(tool: str, result: Any, software: Files) -> Files:
    """The software with what a tool that writes files has made of it: `files` of its result, texts under their paths.
    Raises ToolError for a result of another form, and for a path that leaves the software."""
    files = result.get("files") if isinstance(result, dict) else None
    if not isinstance(files, dict) or not all(isinstance(text, str) for text in files.values()):
        raise ToolError(f"{tool} gives no files; a tool that writes the software returns {{\"files\": {{path: text}}}}")
    try:
        return {**software, **{safe_path(path): text.encode() for path, text in files.items()}}
    except UnsafePath as error:
        raise ToolError(f"{tool} writes outside of the software: {error}") from None


def fingerprint(software: Mapping[str, bytes]) -> str:
    """A short digest of a software snapshot."""
    return digest({path: data.hex() for path, data in sorted(software.items())}) if software else ""


def _notes(value: Any) -> list[str]:
    """Notes of a verdict for the user of the run."""
    notes = value.get("notes") if isinstance(value, dict) else None
    return [note for note in notes if isinstance(note, str)] if isinstance(notes, list) else []


def _summarise(value: Any) -> tuple[bool | None, str]:
    """Whether a result passes (None: it does not judge) and what it says."""
    if not isinstance(value, dict):
        return None, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    passed = value.get("passed") if value.get("judged", True) else None
    return passed if isinstance(passed, bool) else None, str(value.get("report", ""))


def _seconds_since(started: float) -> float:
    return round(time.monotonic() - started, 3)
