"""Whole runs on servers that speak a dialect (docs/servers.md): the tools are called, the run ends as it should, and
its user is told what to change."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import chatdev
from chatdev import Company
from chatdev.tools.base import ToolContext, Verdict, tool
from tests.llm.asking import call, delta, error, stream
from tests.support.chat_server import ChatServer, Scripted

COMPANY = """
company: words
about: Counts words.
inputs: {task: {about: What to do., required: true}}
roles: {writer: {title: Writer, tools: [mine.words, mine.a__b]}}
phases:
  say: {about: Say it., assistant: writer, reads: [task], writes: said, opening: "The task: {{ task }}"}
chain: [{phase: say}, {tool: house.told, writes: test}]
success: test.passed
"""
DONE = "<SOLUTION> three"


def words(ctx: ToolContext, *, text: str) -> int:
    """How many words are in a text?"""
    return len(text.split())


@tool(reads=("said",), name="house.told")
def told(ctx: ToolContext) -> Verdict:
    """Is it said?"""
    return Verdict(ctx.values["said"] == "three", "three is right")


def a__b(ctx: ToolContext, *, text: str) -> str:
    """Turns a text around."""
    return text[::-1]


@pytest.fixture
def ask(chat_server: ChatServer, tmp_path: Path) -> Callable[..., chatdev.Run]:
    """Runs the company on the scripted server."""
    (tmp_path / "words").mkdir()
    (tmp_path / "words" / "company.yaml").write_text(COMPANY)

    def run(*replies: Any, model: str = "gpt-4o", task: str = "count", **options: Any) -> chatdev.Run:
        chat_server.script(*replies)
        company = Company.load(tmp_path / "words", tools=[words, a__b, told], sets=options.pop("sets", ()))
        return company.run(task, model=model, base_url=chat_server.url, sandbox="none", warehouse=tmp_path / "runs",
                           **options)
    return run


Ask = Callable[..., chatdev.Run]


def observed(server: ChatServer) -> list[str]:
    """What the tools said in the last request."""
    return [message["content"] for message in server.requests[-1].body["messages"] if message["role"] == "tool"]


def test_two_calls_of_one_index_are_both_made(chat_server: ChatServer, ask: Ask) -> None:
    run = ask(stream(call("mine__words", '{"text":"a b"}', index=0, id="call_1"),
                     call("mine__words", '{"text":"a b c"}', index=0, id="call_2"), delta("tool_calls")),
              DONE, stream=True)
    assert run.success, run.reason
    assert observed(chat_server) == ["2", "3"]


def test_a_name_that_is_repeated_in_every_piece_is_called(chat_server: ChatServer, ask: Ask) -> None:
    run = ask(stream(call("mine__words", '{"text":', index=0, id="call_1"),
                     call("mine__words", '"a b c"}', index=0, id="call_1"), delta("tool_calls")), DONE, stream=True)
    assert run.success, run.reason
    assert observed(chat_server) == ["3"]


def test_a_tool_with_bars_in_its_name_is_called(chat_server: ChatServer, ask: Ask) -> None:
    made = {"id": "1", "function": {"name": "mine__a__b", "arguments": '{"text": "abc"}'}}
    assert ask(Scripted(None, tool_calls=[made]), DONE).success
    assert observed(chat_server) == ["cba"]


@pytest.mark.parametrize("text", [
    '<tool_call>\n{"name": "mine__words", "arguments": {"text": "a b c"}}\n</tool_call>',
    '```json\n{"name": "mine__words", "arguments": {"text": "a b c"}}\n```',
    '<think>Which tool?</think>\n<tool_call>{"name": "mine.words", "arguments": {"text": "a b c"}}',
    "<|channel|>analysis<|message|>Which tool?<|end|><|start|>assistant<|channel|>commentary to=functions.mine__words "
    '<|constrain|>json<|message|>{"text": "a b c"}<|call|>'], ids=["Hermes", "JSON", "Qwen", "gpt-oss"])
@pytest.mark.parametrize("model", ["gpt-4o", "some-small-model"], ids=["native", "by text"])
def test_a_call_in_the_text_is_made(chat_server: ChatServer, ask: Ask, text: str, model: str) -> None:
    run = ask(text, DONE, model=model)
    assert run.success, run.reason
    assert chat_server.requests[-1].body["messages"][-1]["content"] == "Result of mine.words:\n3"
    assert chatdev.replay(run.folder, tools=[words, a__b, told]).success


THOUGHT = Scripted(None, message={"reasoning": "hm " * 99}, finish_reason="length", usage=(200, 100))


def limits(server: ChatServer) -> list[Any]:
    return [request.body.get("max_tokens") for request in server.requests]


def test_a_thinking_model_gets_room_and_the_run_goes_on(chat_server: ChatServer, ask: Ask) -> None:
    run = ask(THOUGHT, DONE, sets=["phases.say.model.max_tokens=100"])
    assert run.success, run.reason
    assert limits(chat_server) == [100, 100 + 8192]


def test_a_budget_bounds_the_room_for_thoughts(chat_server: ChatServer, ask: Ask) -> None:
    run = ask(THOUGHT, DONE, sets=["phases.say.model.max_tokens=100"], max_tokens=5000)
    assert run.success, run.reason
    first, second = limits(chat_server)
    assert first == 100
    assert 100 < second < 5000


def test_a_model_that_only_thinks_ends_the_run_with_what_to_do(chat_server: ChatServer, ask: Ask) -> None:
    run = ask(THOUGHT, THOUGHT, sets=["phases.say.model.max_tokens=100"])
    assert run.status == "error"
    assert "for thinking, and came to no answer; raise max_tokens or let it think less" in run.reason
    assert len(chat_server.requests) == 2
    assert (run.usage.prompt_tokens, run.usage.completion_tokens) == (400, 200)


def test_a_template_without_a_system_message_is_met_once_in_a_run(chat_server: ChatServer, ask: Ask) -> None:
    made = {"id": "1", "function": {"name": "mine__words", "arguments": '{"text": "abc"}'}}
    run = ask(error(500, "Only user, assistant and tool roles are supported, got system."),
              Scripted(None, tool_calls=[made]), DONE)
    assert run.success, run.reason
    roles = [[message["role"] for message in request.body["messages"]] for request in chat_server.requests]
    assert roles == [["system", "user"], ["user"], ["user", "assistant", "tool"]]
    assert "The task: count" in chat_server.requests[-1].body["messages"][0]["content"]


@pytest.mark.parametrize("reply", [Scripted("", usage=(32_768, 0)), error(500, "context shift is disabled")])
def test_an_overflow_that_is_no_error_ends_the_run_at_once(chat_server: ChatServer, ask: Ask, reply: Scripted) -> None:
    run = ask(reply)
    assert run.status == "error"
    assert "context" in run.reason
    assert len(chat_server.requests) == 1


LONG = "Please count all the words of this long text, and be quick about it. " * 600


@pytest.mark.parametrize(("read", "warned"), [(4096, True), (9000, False), (None, False), (7, False)])
def test_a_prompt_that_the_server_cuts_is_told_once(chat_server: ChatServer, ask: Ask, read: int | None,
                                                    warned: bool) -> None:
    usage = None if read is None else (read, 5)
    made = {"id": "1", "function": {"name": "mine__words", "arguments": '{"text": "abc"}'}}
    run = ask(Scripted(None, tool_calls=[made], usage=usage), Scripted(DONE, usage=usage), task=LONG)
    assert run.success, run.reason
    notes = [note for note in run.notes if "num_ctx" in note]
    assert len(notes) == warned
    if warned:
        assert "the server of gpt-4o counts 4,096 tokens of a prompt of about" in notes[0]
        assert notes[0] in (run.folder / "run" / "report.md").read_text()


def test_a_stream_without_a_finish_reason_is_a_reply(chat_server: ChatServer, ask: Ask) -> None:
    run = ask(stream(delta(content="<SOLUTION> "), ": OPENROUTER PROCESSING", delta(content="three"), "[DONE]"),
              stream=True)
    assert run.success, run.reason
    assert run.values["said"] == "three"
    assert len(chat_server.requests) == 1


def test_half_a_text_with_an_error_is_no_utterance(chat_server: ChatServer, ask: Ask) -> None:
    half = {"choices": [{"message": {"content": "<SOLUTION> thr"}, "finish_reason": "error",
                         "error": {"code": 502, "message": "upstream"}}]}
    run = ask(Scripted(body=half), DONE)
    assert run.success, run.reason
    assert run.values["said"] == "three"
