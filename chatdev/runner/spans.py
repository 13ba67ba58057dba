"""Spans of a run, made of the records of its journal by OpenTelemetry's conventions for generative AI.

One trace a run: a session's span holds those of steps and phases, these hold the turns of agents, and these the calls
of models and tools. Ids and times follow from the records alone, so that the spans of a run under way are those that
its journal gives afterwards. Names are those of `opentelemetry-semantic-conventions`; what has none there is
`chatdev.…`.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from opentelemetry.context import Context
from opentelemetry.sdk.resources import OTELResourceDetector, Resource
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.id_generator import IdGenerator
from opentelemetry.semconv._incubating.attributes import gen_ai_attributes as gen_ai
from opentelemetry.semconv._incubating.attributes.gen_ai_attributes import GenAiOperationNameValues as Operation
from opentelemetry.semconv.attributes.error_attributes import ERROR_TYPE, ErrorTypeValues
from opentelemetry.trace import Span, SpanKind, Status, StatusCode, set_span_in_context

from chatdev.connection import LOCAL
from chatdev.engine.context import ToolFailed, result_from_json
from chatdev.events import KINDS, Place
from chatdev.safe_text import encodable_text, scrub
from chatdev.version import __version__

_OWN = "chatdev."
_SILENT = ("Uttered", "TextStreamed")  # what is said stands in the messages of the calls
_CONTENT = {"RunStarted": ("inputs",), "RunFinished": ("reason",), "DraftJudged": ("problem",),
            "DeliveryApplied": ("written", "deleted", "gist"), "DeliveryRefused": ("reason",), "Noted": ("text",),
            "ToolCalled": ("summary",), "PersonAsked": ("text", "edits", "problem"), "PersonAnswered": ("text",)}
"""Fields of events that may hold what somebody asked for, or a model or a program wrote."""
_OF_THE_LINE = ("v", "time", "kind", "place")
_USAGE = {"prompt_tokens": gen_ai.GEN_AI_USAGE_INPUT_TOKENS, "completion_tokens": gen_ai.GEN_AI_USAGE_OUTPUT_TOKENS,
          "cached_tokens": gen_ai.GEN_AI_USAGE_CACHE_READ_INPUT_TOKENS,
          "reasoning_tokens": gen_ai.GEN_AI_USAGE_REASONING_OUTPUT_TOKENS}
_OF_THE_CALL = ("role", "model", *_USAGE, "seconds")  # have names of their own
_SAMPLING = {"temperature": gen_ai.GEN_AI_REQUEST_TEMPERATURE, "top_p": gen_ai.GEN_AI_REQUEST_TOP_P,
             "max_tokens": gen_ai.GEN_AI_REQUEST_MAX_TOKENS, "seed": gen_ai.GEN_AI_REQUEST_SEED}
_SECOND = 1_000_000_000  # nanoseconds
_BEGINNING = datetime(1970, 1, 1, tzinfo=UTC)
_MOST_DAYS = 36525  # since then, of the times that OTLP can hold
_LONGEST = 10_000_000  # seconds of a call
_LARGEST = (1 << 63) - 1  # of the numbers that OTLP takes
_UNFINISHED = "interrupted"
_EMPTY: tuple[Any, ...] = (None, "", [], (), {})
_CAPITALS = re.compile(r"(?<!^)(?=[A-Z])")


class RunIds(IdGenerator):
    """The ids that the next span is to have."""

    trace = span = 0

    def generate_trace_id(self) -> int:
        """The run's."""
        return self.trace

    def generate_span_id(self) -> int:
        """The next span's."""
        return self.span


class SpanEnds(SpanProcessor):
    """Hands every span on that has ended."""

    def __init__(self, take: Callable[[ReadableSpan], None]) -> None:
        self._take = take

    def on_end(self, span: ReadableSpan) -> None:
        """Hand it on."""
        self._take(span)


@dataclass(slots=True)
class OpenSpan:
    """A span that has begun, when, and the last that happened in it (nanoseconds since 1970)."""

    span: Span
    start: int
    last: int


class RunSpans:
    """Takes the records of one journal in their order, and hands each span to `take` when it ends.

    `content`: prompts, replies, arguments, results and reasons are attributes, too.
    """

    def __init__(self, take: Callable[[ReadableSpan], None], *, content: bool = False) -> None:
        self.ids = RunIds()
        provider = TracerProvider(resource=_resource(), id_generator=self.ids, shutdown_on_exit=False)
        provider.add_span_processor(SpanEnds(take))
        self._tracer = provider.get_tracer("chatdev", __version__)
        self._content = content
        self._now = 0
        self._sessions = 0
        self._root: Span | None = None
        self._open: dict[str, OpenSpan] = {}  # by place, the outermost first
        self._made = Counter[tuple[str, str]]()  # spans of this session by name and place
        self._activities: dict[str, tuple[int, Mapping[str, Any]]] = {}  # whose events are still to come
        self._messages: dict[str, Mapping[str, Any]] = {}

    def add(self, record: Mapping[str, Any]) -> None:
        """Take the next record."""
        if not self.ids.trace:
            self.ids.trace = _number(json.dumps(record, sort_keys=True, default=str), 16)
        self._now, kind = self._time(record), record["kind"]
        if kind == "Message" and self._content:
            self._messages[record["hash"]] = record["message"]
        elif kind == "Activity" and not record.get("copied"):
            self._note_activity(record)
        elif kind == "RunStarted":
            self._begin_session(record)
        elif kind in KINDS and self._open:
            self._add_happening(record, kind)

    def _add_happening(self, record: Mapping[str, Any], kind: str) -> None:
        """Take an event of a session."""
        take = {"StepStarted": self._begin, "PhaseStarted": self._begin, "StepFinished": self._finish,
                "PhaseFinished": self._finish, "RunFinished": self._finish_session,
                "ModelCalled": self._add_model_call, "ToolCalled": self._add_tool_call}.get(kind, self._add_event)
        take(record) if record["place"] or kind == "RunFinished" else self._add_event(record)

    def end(self) -> None:
        """There are no more records: what is unfinished was interrupted."""
        self._end_all("", _UNFINISHED)

    def _time(self, record: Mapping[str, Any]) -> int:
        """When it was written; where the journal does not say, what the calls so far have taken."""
        stamp = str(record.get("name")).rpartition("-")[2]
        for text in (str(record.get("time")), f"{stamp[:8]}T{stamp[8:]}"):
            with suppress(ValueError):
                since = datetime.fromisoformat(text).replace(tzinfo=UTC) - _BEGINNING
                if 0 <= since.days < _MOST_DAYS:
                    return (since.days * 86400 + since.seconds) * _SECOND + since.microseconds * 1000
        result = record["result"] if record["kind"] == "Activity" else {}
        return self._now + _nanoseconds(result.get("seconds", 0))

    # Sessions, steps and phases.

    def _begin_session(self, record: Mapping[str, Any]) -> None:
        self.end()
        self._sessions += 1
        self._made.clear()
        self._activities.clear()
        name = f"{Operation.INVOKE_WORKFLOW.value} {record['company']}"
        values = {gen_ai.GEN_AI_OPERATION_NAME: Operation.INVOKE_WORKFLOW.value,
                  gen_ai.GEN_AI_WORKFLOW_NAME: record["company"], gen_ai.GEN_AI_CONVERSATION_ID: record["name"],
                  f"{_OWN}session": self._sessions, **self._fields(record, "company", "name", "folder")}
        self._open[""] = self._start(name, "", values, self._root, self._now)
        self._root = self._root or self._open[""].span

    def _finish_session(self, record: Mapping[str, Any]) -> None:
        span = self._open[""].span
        self._set(span, self._fields(record, "seconds", "error"))
        if record["place"]:
            self._set(span, {f"{_OWN}ended_at": record["place"]})
        error = record.get("error") or {"error": ErrorTypeValues.OTHER.value, _UNFINISHED: _UNFINISHED}.get(
            record["status"])
        self._end_all("", error)

    def _begin(self, record: Mapping[str, Any]) -> None:
        place = record["place"]
        if place in self._open:
            self._end_all(place, _UNFINISHED)
        name = f"phase {record['phase']}" if record["kind"] == "PhaseStarted" else f"step {Place(place).step_name}"
        parent = self._innermost(place.rpartition("/")[0])
        self._open[place] = self._start(name, place, self._fields(record), parent.span, self._now)

    def _finish(self, record: Mapping[str, Any]) -> None:
        place = record["place"]
        if place in self._open:
            self._set(self._open[place].span, self._fields(record))
            failed = record.get("ending") == "failed"
            self._end_all(place, "PhaseFailed" if failed else None, unfinished=failed)

    def _end_all(self, place: str, error: str | None, *, unfinished: bool = True) -> None:
        """End the span at `place` and those in it; a turn lasts as long as its calls. `unfinished`: the error is that
        of all of them."""
        for inner in reversed([*self._open]):
            if not place or Place(place).holds(inner):
                one = self._open.pop(inner)
                is_turn = "#" not in inner.rpartition("/")[2] and inner != ""
                if error and (unfinished or inner == place):
                    _fail(one.span, error)
                one.span.end(one.last if is_turn else max(one.last, self._now))
        if not place:
            self._activities.clear()

    # Turns and calls.

    def _note_activity(self, record: Mapping[str, Any]) -> None:
        """Keep it for its event; where none will come, because it failed, it is a call of its own."""
        place, result = Place(record["place"]), record["result"]
        self._activities[place] = (self._now, record)
        if not self._open:
            return
        if "overflow" in result:
            self._add_call(place, self._model_values(record, {}), error="ContextOverflow", kind=SpanKind.CLIENT)
        elif "error" in result and isinstance(failed := result_from_json(result), ToolFailed):
            values = self._tool_values(str(record["request"].get("tool")), record)
            self._add_call(place, values, failed.seconds, error=type(failed.error).__name__)

    def _add_model_call(self, record: Mapping[str, Any]) -> None:
        place, replayed = Place(record["place"]), bool(record.get("replayed"))
        _, activity = self._activities.get(place, (0, {}))
        values = self._model_values(activity, record)
        left_out: tuple[str, ...] = _OF_THE_CALL
        if replayed:
            left_out += ("cost", "retries", "estimated")  # they were paid for once
        else:
            values |= {name: record[field] for field, name in _USAGE.items() if record.get(field) is not None}
        in_vain = ErrorTypeValues.OTHER.value if not (activity or replayed) else None
        self._add_call(place, values | self._fields(record, *left_out), 0 if replayed else record["seconds"],
                       agent=record["role"], error=in_vain, kind=SpanKind.CLIENT)

    def _add_tool_call(self, record: Mapping[str, Any]) -> None:
        place, replayed = Place(record["place"]), bool(record.get("replayed"))
        _, activity = self._activities.get(place, (0, {}))
        values = self._tool_values(record["tool"], activity) | self._fields(record, "tool", "seconds", "summary")
        self._add_call(place, values, 0 if replayed else record["seconds"])

    def _add_call(self, place: Place, values: Mapping[str, Any], seconds: float = 0, *, agent: str = "",
                  error: str | None = None, kind: SpanKind = SpanKind.INTERNAL) -> None:
        """Add the span of a call that has just ended; one of `agent` is in the agent's turn, as the tools that it
        calls are."""
        last, _ = self._activities.pop(place, (self._now, {}))
        start, turn = last - _nanoseconds(seconds), place.turn
        if agent:
            parent = self._turn(turn, agent, start)
        else:
            parent = self._innermost(turn if turn != place else place.nearest_step)
        names = (gen_ai.GEN_AI_OPERATION_NAME, gen_ai.GEN_AI_REQUEST_MODEL, gen_ai.GEN_AI_TOOL_NAME)
        name = " ".join(str(values[key]) for key in names if key in values)
        call = self._start(name, place, values, parent.span, min(max(start, parent.start), last), kind)
        if error:
            _fail(call.span, error)
        call.span.end(last)
        parent.last = max(parent.last, last)

    def _turn(self, place: Place, agent: str, start: int) -> OpenSpan:
        """The turn of an agent, which begins with its first call."""
        if place not in self._open:
            phase = self._innermost(place.nearest_step)
            values = {gen_ai.GEN_AI_OPERATION_NAME: Operation.INVOKE_AGENT.value, gen_ai.GEN_AI_AGENT_NAME: agent}
            self._open[place] = self._start(f"{Operation.INVOKE_AGENT.value} {agent}", place, values, phase.span,
                                            max(start, phase.start))
        return self._open[place]

    def _model_values(self, activity: Mapping[str, Any], called: Mapping[str, Any]) -> dict[str, Any]:
        sampling = activity.get("request", {}).get("sampling", {})
        model = sampling.get("model") or called.get("model", "")
        local = model == LOCAL or str(model).startswith(f"{LOCAL}:")
        values = {gen_ai.GEN_AI_OPERATION_NAME: Operation.CHAT.value,
                  gen_ai.GEN_AI_PROVIDER_NAME: LOCAL if local else gen_ai.GenAiProviderNameValues.OPENAI.value,
                  gen_ai.GEN_AI_REQUEST_MODEL: model, gen_ai.GEN_AI_RESPONSE_MODEL: called.get("model"),
                  **{name: sampling.get(field) for field, name in _SAMPLING.items()}}
        if "finish" in activity.get("result", {}):
            values[gen_ai.GEN_AI_RESPONSE_FINISH_REASONS] = [activity["result"]["finish"]]
        return values | (self._content_of(activity) if self._content and activity else {})

    def _content_of(self, activity: Mapping[str, Any]) -> dict[str, Any]:
        """What a model was asked and said."""
        said = [self._messages[one] for one in activity["request"].get("messages", ()) if one in self._messages]
        values = {gen_ai.GEN_AI_INPUT_MESSAGES: [*map(_message, said)]}
        reply = activity["result"]
        if "text" in reply:
            answer = {"role": "assistant", "content": reply["text"], "tool_calls": reply["tool_calls"]}
            values[gen_ai.GEN_AI_OUTPUT_MESSAGES] = [{**_message(answer), "finish_reason": reply["finish"]}]
        return values

    def _tool_values(self, tool: str, activity: Mapping[str, Any]) -> dict[str, Any]:
        values: dict[str, Any] = {gen_ai.GEN_AI_OPERATION_NAME: Operation.EXECUTE_TOOL.value,
                                  gen_ai.GEN_AI_TOOL_NAME: tool, gen_ai.GEN_AI_TOOL_TYPE: "function"}
        if self._content and activity:
            result = activity["result"]
            values[gen_ai.GEN_AI_TOOL_CALL_ARGUMENTS] = activity["request"].get("arguments")
            values[gen_ai.GEN_AI_TOOL_CALL_RESULT] = result.get("value", result.get("error"))
        return values

    # What all spans share.

    def _add_event(self, record: Mapping[str, Any]) -> None:
        """Any other event is one of the innermost span that is open where it happened."""
        if record["kind"] not in _SILENT:
            span = self._innermost(record["place"]).span
            name = _OWN + _CAPITALS.sub("_", record["kind"]).lower()
            span.add_event(name, _attributes(self._fields(record)), self._now)

    def _innermost(self, place: str) -> OpenSpan:
        """The innermost open span that holds `place`."""
        while place and place not in self._open:
            place = place.rpartition("/")[0]
        return self._open[place]

    def _start(self, name: str, place: str, values: Mapping[str, Any], parent: Span | None, start: int,
               kind: SpanKind = SpanKind.INTERNAL) -> OpenSpan:
        self._made[name, place] += 1
        self.ids.span = _number(f"{self.ids.trace}/{self._sessions}/{name}/{place}/{self._made[name, place]}", 8)
        context = set_span_in_context(parent, Context()) if parent else Context()
        where = {f"{_OWN}place": place} if place else {}
        span = self._tracer.start_span(_text(name), context, kind, _attributes({**where, **values}), start_time=start)
        return OpenSpan(span, start, start)

    def _set(self, span: Span, values: Mapping[str, Any]) -> None:
        span.set_attributes(_attributes(values))

    def _fields(self, record: Mapping[str, Any], *left_out: str) -> dict[str, Any]:
        """The fields of an event under names of our own."""
        private = () if self._content else _CONTENT.get(record["kind"], ())
        return {f"{_OWN}{name}": value for name, value in record.items()
                if name not in _OF_THE_LINE and name not in left_out and name not in private}


def _resource() -> Resource:
    """What makes the spans; the user's OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES win."""
    own = Resource({"service.name": "chatdev", "service.version": __version__})
    return own.merge(OTELResourceDetector().detect())


def _fail(span: Span, error: str) -> None:
    span.set_attribute(ERROR_TYPE, _text(error))
    span.set_status(Status(StatusCode.ERROR))


def _message(message: Mapping[str, Any]) -> dict[str, Any]:
    """A message in the form of the conventions: a role and its parts."""
    role, content = message.get("role"), message.get("content")  # a journal may be damaged
    if role == "tool":
        parts = [{"type": "tool_call_response", "id": message.get("tool_call_id"), "response": content}]
    else:
        parts = [{"type": "text", "content": content}] if content else []
        parts += [{"type": "tool_call", **call} for call in message.get("tool_calls", ())]
    return {"role": role, "parts": parts}


def _attributes(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values as OTLP takes them; what is unset or empty is left out."""
    return {name: _attribute(value) for name, value in values.items() if value not in _EMPTY}


def _attribute(value: Any) -> Any:
    if isinstance(value, bool | float) or (isinstance(value, int) and abs(value) <= _LARGEST):
        return value
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, list | tuple) and all(isinstance(one, str) for one in value):
        return tuple(map(_text, value))
    return _text(json.dumps(value, ensure_ascii=False, default=str))


def _text(text: str) -> str:
    return scrub(encodable_text(str(text)))


def _nanoseconds(seconds: float) -> int:
    return int(min(seconds, _LONGEST) * _SECOND)


def _number(text: str, size: int) -> int:
    """An id of `size` bytes that follows from a text."""
    return int.from_bytes(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:size]) or 1
