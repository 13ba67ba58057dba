"""The OpenAI-compatible client over a real socket: requests, replies, retries, refusals and adaptation."""

import asyncio
import json
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from chatdev.errors import ContextOverflow, ModelError, ModelRejected, ModelUnavailable, UnusableReply
from chatdev.llm.base import Constraint, Image, Message, Reply, Request, Sampling, ToolCall, ToolSpec
from chatdev.llm.openai_model import Endpoint, OpenAIModel
from tests.support.chat_server import ChatServer, Scripted

KEY = "sk-very-secret-key"
ASK = Request((Message("system", "be brief"), Message("user", "hi")), Sampling("some-model", temperature=0.2))


class Naps:
    """Remembers how long the client wanted to sleep, and does not sleep."""

    def __init__(self) -> None:
        self.taken: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.taken.append(seconds)


def complete(server: ChatServer, request: Request = ASK, naps: Naps | None = None, **endpoint: Any) -> Reply:
    return complete_all(server, [request], naps, **endpoint)[0]


def complete_all(server: ChatServer, requests: list[Request], naps: Naps | None = None, **endpoint: Any) -> list[Reply]:
    async def run() -> list[Reply]:
        model = OpenAIModel(Endpoint(**{"url": server.url, "key": KEY, **endpoint}), naps or Naps())
        try:
            return [await model.complete(request) for request in requests]
        finally:
            await model.close()

    return asyncio.run(run())


def failure(server: ChatServer, request: Request = ASK, naps: Naps | None = None, **endpoint: Any) -> ModelError:
    with pytest.raises(ModelError) as caught:
        complete(server, request, naps, **endpoint)
    assert KEY not in str(caught.value)
    return caught.value


def error(status: int, message: str = "no", **fields: Any) -> Scripted:
    return Scripted(status=status, body={"error": {"message": message, **fields}})


def test_a_request_and_its_reply(chat_server: ChatServer) -> None:
    chat_server.script("hello")
    reply = complete(chat_server, Request(ASK.messages, ASK.sampling, headers={"X-ChatDev-Phase": "coding"}))
    assert (reply.text, reply.finish, reply.usage.prompt_tokens, reply.retries) == ("hello", "stop", 7, 0)
    (sent,) = chat_server.requests
    assert sent.path == "/v1/chat/completions"
    assert sent.headers["authorization"] == f"Bearer {KEY}"
    assert sent.headers["x-chatdev-phase"] == "coding"
    assert sent.body == {"model": "some-model", "temperature": 0.2, "messages": [
        {"role": "system", "content": "be brief"}, {"role": "user", "content": "hi"}]}


def test_connections_are_kept_alive(chat_server: ChatServer) -> None:
    chat_server.script("a", "b", "c")
    complete_all(chat_server, [ASK] * 3)
    assert chat_server.connections_made == 1


def test_images_tools_and_constraints_go_out_as_the_interface_wants_them(chat_server: ChatServer) -> None:
    call = ToolCall("c1", "software.run", '{"x": 1}')
    messages = (Message("user", "look", (Image(b"png"),)), Message("assistant", "", tool_calls=(call,)),
                Message("tool", "seen", tool_call_id="c1"))
    tools = (ToolSpec("software.run", "Run it.", {"type": "object", "properties": {}}),)
    wanted = {"id": "c2", "type": "function", "function": {"name": "software__run", "arguments": "{}"}}
    chat_server.script(Scripted(None, tool_calls=[wanted]))
    reply = complete(chat_server, Request(messages, Sampling("m"), tools, Constraint(schema={"type": "object"})))
    body = chat_server.requests[0].body
    assert body["messages"][0]["content"][1]["image_url"]["url"] == "data:image/png;base64,cG5n"
    assert body["messages"][1]["tool_calls"][0]["function"]["name"] == "software__run"
    assert body["messages"][2] == {"role": "tool", "content": "seen", "tool_call_id": "c1"}
    assert body["tools"][0]["function"]["name"] == "software__run"
    assert body["response_format"]["json_schema"]["schema"] == {"type": "object"}
    assert reply.tool_calls == (ToolCall("c2", "software.run", "{}"),)
    assert reply.finish == "tool_calls"


def test_a_grammar_goes_only_to_a_server_that_knows_it(chat_server: ChatServer) -> None:
    chat_server.script("Yes", "Yes")
    request = Request(ASK.messages, ASK.sampling, constraint=Constraint(grammar='root ::= "Yes"'))
    complete(chat_server, request)
    complete(chat_server, request, grammar=True)
    assert [r.body.get("grammar") for r in chat_server.requests] == [None, 'root ::= "Yes"']


def test_streaming_passes_text_on_and_returns_the_same_reply(chat_server: ChatServer) -> None:
    wanted = {"id": "c2", "type": "function", "function": {"name": "look", "arguments": '{"a": 1}'}}
    chat_server.script("a somewhat longer text", Scripted("", tool_calls=[wanted]))
    pieces: list[str] = []
    asked = Request(ASK.messages, ASK.sampling, on_text=pieces.append)
    reply, calling = complete_all(chat_server, [asked, asked])
    assert "".join(pieces) == reply.text == "a somewhat longer text"
    assert len(pieces) > 1
    assert (reply.usage.completion_tokens, reply.usage.estimated) == (5, False)
    assert calling.tool_calls == (ToolCall("c2", "look", '{"a": 1}'),)


def test_a_stream_that_breaks_off_is_asked_for_again(chat_server: ChatServer) -> None:
    chat_server.script(Scripted("a somewhat longer text", cut=400), "whole")
    reply = complete(chat_server, Request(ASK.messages, ASK.sampling, on_text=lambda _: None))
    assert (reply.text, reply.retries) == ("whole", 1)


@pytest.mark.parametrize("trouble", [
    error(429), error(500), error(502), error(503), error(408), Scripted(reset=True), Scripted("cut", cut=30),
    Scripted(body=b"<html>garbage"), Scripted(body={"choices": []}), Scripted(body={"unrelated": 1}), Scripted(body=[]),
    Scripted(""), Scripted(None), Scripted(None, message={"refusal": "I must not"})])
def test_trouble_that_may_pass_is_retried_and_counted(chat_server: ChatServer, trouble: Scripted) -> None:
    chat_server.script(trouble, "fine")
    reply = complete(chat_server)
    assert (reply.text, reply.retries) == ("fine", 1)


def test_retry_after_is_honoured_in_seconds_and_as_a_date(chat_server: ChatServer) -> None:
    soon = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    chat_server.script(*(Scripted(status=503, headers={"Retry-After": wait}) for wait in ("3", soon, "9999")), "fine")
    naps = Naps()
    complete(chat_server, naps=naps)
    assert naps.taken[0] == 3
    assert 25 < naps.taken[1] <= 30
    assert naps.taken[2] == 60


def test_an_outage_that_lasts_ends_in_a_clear_error_after_bounded_attempts(chat_server: ChatServer) -> None:
    chat_server.route(lambda _: error(500, f"boom {KEY}"))
    naps = Naps()
    problem = failure(chat_server, naps=naps)
    assert isinstance(problem, ModelUnavailable)
    assert "6 attempts" in str(problem)
    assert "500" in str(problem)
    assert len(chat_server.requests) == 6
    assert sum(naps.taken) < 60


def test_a_server_that_is_not_there(chat_server: ChatServer) -> None:
    problem = failure(chat_server, url="http://127.0.0.1:9/v1")
    assert isinstance(problem, ModelUnavailable)
    assert "127.0.0.1:9" in str(problem)


def test_a_server_that_never_answers_times_out(chat_server: ChatServer) -> None:
    chat_server.route(lambda _: Scripted("late", delay=2))
    assert isinstance(failure(chat_server, timeout=0.05), ModelUnavailable)


@pytest.mark.parametrize("reply", [Scripted(""), Scripted(None, message={"refusal": "I must not"}),
                                   Scripted("x", finish_reason="content_filter")])
def test_replies_that_stay_unusable_are_reported(chat_server: ChatServer, reply: Scripted) -> None:
    chat_server.route(lambda _: reply)
    assert isinstance(failure(chat_server), UnusableReply)
    assert len(chat_server.requests) == 3


@pytest.mark.parametrize(("reply", "says"), [
    (error(401, f"bad key {KEY}"), "check OPENAI_API_KEY"), (error(403), "check OPENAI_API_KEY"),
    (error(404, "no such model"), "knows no model 'some-model'"),
    (error(429, "pay", code="insufficient_quota"), "quota"), (error(400, "odd"), "odd")])
def test_refusals_are_not_retried_and_say_what_to_do(chat_server: ChatServer, reply: Scripted, says: str) -> None:
    chat_server.script(reply)
    problem = failure(chat_server)
    assert isinstance(problem, ModelRejected)
    assert says in str(problem)
    assert len(chat_server.requests) == 1


@pytest.mark.parametrize("reply", [
    error(400, "This model's maximum context length is 8192 tokens", code="context_length_exceeded"),
    error(400, "the request exceeds the available context size", type="exceed_context_size_error"), error(413)])
def test_a_request_that_does_not_fit_is_told_apart(chat_server: ChatServer, reply: Scripted) -> None:
    chat_server.script(reply)
    assert isinstance(failure(chat_server), ContextOverflow)


def test_a_parameter_the_model_refuses_is_adapted_once_and_remembered(chat_server: ChatServer) -> None:
    tokens = "Unsupported parameter: 'max_tokens' is not supported here. Use 'max_completion_tokens' instead."
    chat_server.script(error(400, tokens, param="max_tokens", code="unsupported_parameter"),
                       error(400, "Unsupported value: 'temperature' must not be 0.2", param="temperature"), "a", "b")
    request = Request(ASK.messages, Sampling("o9", temperature=0.2, max_tokens=50))
    replies = complete_all(chat_server, [request, request])
    assert [r.text for r in replies] == ["a", "b"]
    assert [r.retries for r in replies] == [0, 0]
    for sent in chat_server.requests[2:]:
        assert sent.body["max_completion_tokens"] == 50
        assert "temperature" not in sent.body
        assert "max_tokens" not in sent.body


def test_without_usage_tokens_are_estimated_and_marked(chat_server: ChatServer) -> None:
    chat_server.script(Scripted("hello world", usage=None))
    usage = complete(chat_server).usage
    assert usage.estimated
    assert usage.completion_tokens == 2
    assert usage.prompt_tokens > 3


def test_unknown_fields_and_lists_of_parts_are_read(chat_server: ChatServer) -> None:
    message = {"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], "reasoning_content": "hm",
               "annotations": [], "audio": None}
    chat_server.script(Scripted(message=message, finish_reason="max_tokens"))
    reply = complete(chat_server)
    assert (reply.text, reply.finish) == ("ab", "length")


def test_two_megabytes_of_text_come_through(chat_server: ChatServer) -> None:
    chat_server.script("x" * 2_000_000)
    assert len(complete(chat_server).text) == 2_000_000


def test_azure_puts_the_model_into_the_path_and_the_version_into_the_query(chat_server: ChatServer) -> None:
    chat_server.script("fine")
    complete(chat_server, url=chat_server.url.removesuffix("/v1"), api_version="2024-10-21")
    (sent,) = chat_server.requests
    assert sent.path == "/openai/deployments/some-model/chat/completions?api-version=2024-10-21"
    assert sent.headers["api-key"] == KEY


def test_no_more_requests_are_under_way_than_the_endpoint_allows(chat_server: ChatServer) -> None:
    chat_server.route(lambda _: Scripted("ok", delay=0.05))

    async def run() -> None:
        model = OpenAIModel(Endpoint(chat_server.url, KEY, concurrency=3))
        await asyncio.gather(*(model.complete(ASK) for _ in range(9)))
        await model.close()

    asyncio.run(run())
    assert chat_server.most_in_flight == 3


def test_the_key_is_in_no_repr() -> None:
    assert KEY not in repr(Endpoint("http://x/v1", KEY))
    assert KEY not in json.dumps(str(vars(OpenAIModel(Endpoint("http://x/v1", KEY)))))
