"""Spans made of a run's records: what is in which, what they say, and what they keep to themselves."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.semconv._incubating.attributes import gen_ai_attributes

from chatdev import Company, Run, ScriptedModel
from chatdev.runner.spans import RunSpans
from chatdev.runner.telemetry import otlp_lines, spans_of
from chatdev.tools.base import ToolContext, Verdict, tool
from tests.support.checkout import ROOT

COMPANY = """
company: pages
about: Writes a short page.
inputs: {task: {about: The product., required: true}}
roles: {writer: {title: Writer, tools: [mine.count]}}
phases:
  page:
    {about: Write a page., assistant: writer, reads: [task], writes: software,
     solution: {form: files, as_file: page.md}, opening: "The product: {{ task }}"}
  slogan: {about: Write a slogan., assistant: writer, reads: [task], writes: slogan, opening: "The product: {{ task }}"}
chain: [{phase: page}, {phase: slogan}, {tool: mine.short, writes: test}]
success: test.passed
"""
ASKS = '```json\n{"tool": "mine.count", "arguments": {"text": "one two three"}}\n```'
REPLIES = {"page": ["<SOLUTION>\nA list."], "slogan": [ASKS, "<SOLUTION> Get it done"]}
JOURNALS = [*sorted((ROOT / "company_config").glob("*/examples/*.jsonl")),
            *sorted((ROOT / "tests" / "companies" / "journals").glob("*.jsonl"))]
WORDS = {value for name, value in vars(gen_ai_attributes).items() if name.startswith("GEN_AI_")} | {"error.type"}
START = [{"v": 1, "kind": "Order", "place": "", "time": "2026-01-02T03:04:05.000Z", "company": "c"},
         {"v": 1, "kind": "RunStarted", "place": "", "time": "2026-01-02T03:04:05.100Z", "company": "c", "name": "n",
          "folder": "f", "inputs": {"task": "the wish"}}]


def count(ctx: ToolContext, *, text: str) -> int:
    """How many words are in a text?"""
    return len(text.split())


@tool(reads=("software",), name="mine.short")
def short(ctx: ToolContext) -> Verdict:
    """Is the software short enough?"""
    return Verdict(len(ctx.software) < 3, "these are few files")


@pytest.fixture
def pages(here: Path) -> Path:
    """A company whose writer calls a tool."""
    (here / "pages").mkdir()
    (here / "pages" / "company.yaml").write_text(COMPANY)
    return here / "pages"


def trace_run(pages: Path, **options: Any) -> tuple[Run, Sequence[ReadableSpan]]:
    """A run, and what an exporter in memory has of it."""
    exporter = InMemorySpanExporter()
    company = Company.load(pages, tools=[count, short])
    run = company.run("a to-do list", model=ScriptedModel(REPLIES), sandbox="none", otel=exporter, **options)
    return run, exporter.get_finished_spans()


def plain(spans: Sequence[ReadableSpan]) -> list[dict[str, Any]]:
    """All that is known of the spans, in one order."""
    return sorted((json.loads(span.to_json()) for span in spans), key=lambda one: str(one["context"]))


def path(span: ReadableSpan, spans: Sequence[ReadableSpan]) -> str:
    """The names from the root to the span."""
    by_id = {one.context.span_id: one for one in spans}
    names = [span.name]
    while span.parent:
        span = by_id[span.parent.span_id]
        names.insert(0, span.name)
    return " > ".join(names)


def span_list(records: Sequence[Mapping[str, Any]], **options: Any) -> list[ReadableSpan]:
    found: list[ReadableSpan] = []
    spans = RunSpans(found.append, **options)
    for record in records:
        spans.add(record)
    spans.end()
    return found


def test_a_run_is_a_tree_of_steps_turns_and_calls(pages: Path) -> None:
    _, spans = trace_run(pages)
    root, page, slogan = "invoke_workflow pages", "phase page", "phase slogan"
    assert sorted(path(span, spans) for span in spans) == sorted([
        root, f"{root} > {page}", f"{root} > {page} > invoke_agent writer",
        f"{root} > {page} > invoke_agent writer > chat scripted",
        f"{root} > {slogan}", f"{root} > {slogan} > invoke_agent writer",
        *[f"{root} > {slogan} > invoke_agent writer > chat scripted"] * 2,
        f"{root} > {slogan} > invoke_agent writer > execute_tool mine.count",
        f"{root} > step mine.short", f"{root} > step mine.short > execute_tool mine.short"])


def test_spans_of_a_run_under_way_are_those_of_its_journal(pages: Path) -> None:
    run, spans = trace_run(pages)
    assert plain(spans) == plain(spans_of(run.folder)) == plain(spans_of(run.folder / "run" / "journal.jsonl"))


def test_calls_say_model_tokens_cost_and_verdict(pages: Path) -> None:
    _, spans = trace_run(pages)
    chat = next(span for span in spans if span.name == "chat scripted")
    assert chat.attributes is not None
    assert chat.attributes["gen_ai.operation.name"] == "chat"
    assert chat.attributes["gen_ai.request.model"] == chat.attributes["gen_ai.response.model"] == "scripted"
    assert chat.attributes["gen_ai.response.finish_reasons"] == ("stop",)
    for name in ("gen_ai.provider.name", "gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens", "chatdev.retries"):
        assert name in chat.attributes
    tool = next(span for span in spans if span.name == "execute_tool mine.short")
    assert dict(tool.attributes or {}) == {
        "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "mine.short", "gen_ai.tool.type": "function",
        "chatdev.place": "mine.short#1", "chatdev.passed": True, "chatdev.replayed": False}


@pytest.mark.parametrize("journal", JOURNALS, ids=lambda journal: journal.stem)
def test_every_committed_journal_gives_a_whole_trace(journal: Path) -> None:
    spans = spans_of(journal)
    assert plain(spans) == plain(spans_of(journal))
    ids = {span.context.span_id: span for span in spans}
    assert len(ids) == len(spans)
    assert len({span.context.trace_id for span in spans}) == 1
    assert [span.name for span in spans if span.parent is None] == ["invoke_workflow chatdev"]
    for span in spans:
        assert span.start_time is not None
        assert span.end_time is not None
        assert 1.7e18 < span.start_time <= span.end_time
        if span.parent:
            parent = ids[span.parent.span_id]
            assert (parent.start_time or 0) <= span.start_time
            assert span.end_time <= (parent.end_time or 0)
        assert {name for name in span.attributes or {} if not name.startswith("chatdev.")} <= WORDS
    calls = [json.loads(line)["kind"] for line in journal.read_text().splitlines()].count("ModelCalled")
    assert sum(span.name.startswith("chat ") for span in spans) == calls


def test_content_is_there_only_where_it_is_asked_for(pages: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run, spans = trace_run(pages)
    told = json.dumps(plain(spans))
    for private in ("a to-do list", "A list.", "Get it done", "one two three", "The product"):
        assert private not in told
    whole = plain(spans_of(run.folder, content=True))
    chat = [one["attributes"] for one in whole if one["attributes"].get("chatdev.place") == "page#1/round-1/assistant"]
    (messages,) = (json.loads(one["gen_ai.input.messages"]) for one in chat if "gen_ai.input.messages" in one)
    assert [message["role"] for message in messages] == ["system", "user"]
    assert messages[1]["parts"][0]["content"].startswith("The product: a to-do list")
    for private in ("one two three", "Get it done", "these are few files"):
        assert private in json.dumps(whole)
    monkeypatch.setenv("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "true")
    assert plain(spans_of(run.folder)) == whole


def test_a_tool_that_fails_is_a_span_with_its_error() -> None:
    record = {"v": 1, "kind": "Activity", "place": "read#1", "time": "2026-01-02T03:04:08Z", "digest": "",
              "request": {"tool": "data.read"}, "result": {"error": "no such file", "lacking": True, "seconds": 2.0}}
    (tool, _) = span_list([*START, record])
    assert (tool.name, tool.status.is_ok) == ("execute_tool data.read", False)
    assert (tool.attributes or {})["error.type"] == "MissingProgram"
    assert (tool.end_time or 0) - (tool.start_time or 0) == 2_000_000_000


def test_what_has_no_end_on_record_was_interrupted() -> None:
    phase = {"v": 1, "kind": "PhaseStarted", "place": "a#1", "time": "2026-01-02T03:04:07Z", "phase": "a"}
    spans = span_list([*START, phase, START[1]])
    assert [(span.name, span.status.is_ok) for span in spans[:2]] == [("phase a", False), ("invoke_workflow c", False)]
    assert {(span.attributes or {})["error.type"] for span in spans} == {"interrupted"}
    second, first = spans[2], spans[1]
    assert second.parent is not None
    assert second.parent.span_id == first.context.span_id


def test_a_step_without_a_place_ends_no_session() -> None:
    steps = [{"v": 1, "kind": kind, "place": "", "time": "2026-01-02T03:04:07Z", "phase": "a"}
             for kind in ("PhaseStarted", "PhaseFinished")]
    (session,) = span_list([*START, *steps])
    assert [event.name for event in session.events] == ["chatdev.phase_started", "chatdev.phase_finished"]


@pytest.mark.parametrize("change", [
    lambda record: record.update(time="never"), lambda record: record.update(time="9999-12-31T23:59:59Z"),
    lambda record: record.pop("time", None), lambda record: record.update(seconds=1e300),
    lambda record: record.update(prompt_tokens=10**30), lambda record: record.update(model="\ud800 half"),
    lambda record: record.update(place="#/#//a#1"), lambda record: record.update(role="\x1b[2J")])
def test_odd_values_of_strangers_become_spans_too(change: Callable[[dict[str, Any]], object]) -> None:
    called = {"v": 1, "kind": "ModelCalled", "place": "a#1/round-1/assistant", "time": "2026-01-02T03:04:09Z",
              "role": "r", "model": "m", "prompt_tokens": 1, "completion_tokens": 1, "seconds": 1.0}
    records = [{**one} for one in (*START, called)]
    for record in records:
        change(record)
    spans = span_list(records, content=True)
    assert [span.name.split()[0] for span in spans] == ["chat", "invoke_agent", "invoke_workflow"]
    assert len([*otlp_lines(spans)]) == 1
