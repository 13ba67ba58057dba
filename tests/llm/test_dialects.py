"""Dialects of servers, gateways and models, as public reports show them (docs/servers.md): each is understood, or named
with what to do, and nothing is paid for three times that a second try cannot mend."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from chatdev.errors import ContextOverflow, ModelRejected, ModelUnavailable, UnusableReply
from chatdev.llm.base import Image, Message, Request, Sampling, ToolCall, ToolSpec, Usage, count_tokens, is_cut
from tests.llm.asking import ASK, STREAMED, call, complete, complete_all, delta, error, failure, stream
from tests.support.chat_server import ChatServer, Scripted

TEXT = {"type": "object", "properties": {"q": {"type": "string"}}}
TOOLS = tuple(ToolSpec(name, "Does it.", TEXT) for name in ("search", "searchall", "look"))
CALLING = replace(STREAMED, tools=TOOLS)
END = delta("tool_calls")
A, B = '{"q":"a"}', '{"q":"b"}'
EVENTS = {"Content-Type": "text/event-stream"}


def named(*calls: tuple[str, str, str]) -> tuple[ToolCall, ...]:
    return tuple(ToolCall(*one) for one in calls)


def pieces(*parts: dict[str, Any]) -> dict[str, Any]:
    """One delta with several parts of calls."""
    return delta(tool_calls=[part["choices"][0]["delta"]["tool_calls"][0] for part in parts])


TWO = named(("1", "search", A), ("2", "search", B))
STREAMS: dict[str, tuple[list[Any], tuple[ToolCall, ...]]] = {
    "all have index 0 (Gemini, Ollama)": ([call("search", A, index=0, id="1"), call("search", B, index=0, id="2")],
                                          TWO),
    "in one delta": ([pieces(call("search", A, index=0, id="1"), call("search", B, index=0, id="2"))], TWO),
    "index 0, in pieces": ([call("search", "", index=0, id="1"), call(None, '{"q":', index=0),
                            call(None, '"a"}', index=0), call("search", '{"q":', index=0, id="2"),
                            call(None, '"b"}', index=0)], TWO),
    "index 0, no ids": ([call("search", A, index=0), call("look", B, index=0)],
                        named(("call-0", "search", A), ("call-1", "look", B))),
    "one id for all": ([call("search", A, index=0, id="x"), call("search", B, index=0, id="x")],
                       named(("x", "search", A), ("x", "search", B))),
    "no arguments": ([call("search", "", index=0, id="1"), call("look", "", index=0, id="2")],
                     named(("1", "search", "{}"), ("2", "look", "{}"))),
    "no arguments, no ids": ([call("search", "", index=0), call("look", "", index=0)],
                             named(("call-0", "search", "{}"), ("call-1", "look", "{}"))),
    "no arguments, in one delta": ([pieces(call("look"), call("look"))],
                                   named(("call-0", "look", "{}"), ("call-1", "look", "{}"))),
    "null as index": ([call("search", A, index=None, id="1"), call("search", B, index=None, id="2")], TWO),
    "id and name in every piece (NIM)": ([call("search", "", index=0, id="1"), call("search", '{"q":', index=0, id="1"),
                                          call("search", '"a"}', index=0, id="1"), call("search", "", index=0, id="1")],
                                         TWO[:1]),
    "the same without an index": ([call("search", '{"q":', id="1"), call("search", '"a"}', id="1")], TWO[:1]),
    "a name in every piece only": ([call("search", '{"q":'), call("search", '"a"}')], named(("call-0", "search", A))),
    "a new id in every piece (old vLLM)": ([call("search", "", index=0, id="1"), call(None, '{"q":', index=0, id="2"),
                                            call(None, '"a"}', index=0, id="3")], TWO[:1]),
    "all of it twice": ([call("search", A, index=0, id="1"), call("search", A, index=0, id="1")], TWO[:1]),
    "a name in pieces": ([call("sear", "", index=0, id="1"), call("ch", "", index=0), call(None, A, index=0)], TWO[:1]),
    "a name that goes on as another": ([call("search", "", index=0, id="1"), call("all", A, index=0)],
                                       named(("1", "searchall", A))),
    "an empty object before the arguments": ([call("search", "{}", index=0, id="1"), call(None, A, index=0)], TWO[:1]),
    "braces and quotes in texts": ([call("search", '{"q":"}\\', index=0, id="1"),
                                    call("search", '"{"}', index=0, id="1"), call("search", B, index=0, id="2")],
                                   named(("1", "search", '{"q":"}\\"{"}'), ("2", "search", B))),
    "name and arguments beside the id": (
        [delta(tool_calls=[{"index": 0, "id": "1", "name": "search", "arguments": A}])], TWO[:1]),
    "a call of nothing at the end": ([call("search", A, index=0, id="1"), call(None, "", index=1)], TWO[:1]),
}


@pytest.mark.parametrize(("chunks", "calls"), STREAMS.values(), ids=STREAMS)
def test_calls_are_told_apart_however_they_are_streamed(chat_server: ChatServer, chunks: list[Any],
                                                        calls: tuple[ToolCall, ...]) -> None:
    chat_server.script(stream(*chunks, END))
    assert complete(chat_server, CALLING).tool_calls == calls


@pytest.mark.parametrize("arguments", [{"q": "ä"}, json.dumps({"q": "ä"}), json.dumps(json.dumps({"q": "ä"}))],
                         ids=["object", "text", "text of a text"])
@pytest.mark.parametrize("streamed", [False, True])
def test_arguments_come_as_an_object_or_a_text(chat_server: ChatServer, arguments: Any, streamed: bool) -> None:
    one = {"id": "1", "index": 0, "type": "function", "function": {"name": "search", "arguments": arguments}}
    chat_server.script(Scripted(None, tool_calls=[one]))
    (made,) = complete(chat_server, replace(CALLING, on_text=CALLING.on_text if streamed else None)).tool_calls
    assert json.loads(made.arguments) == {"q": "ä"}


OWN = ("mine.a__b", "mine.a.b", "a__b", "mine.größe", "mine." + "x" * 90, "mine." + "x" * 91)


@pytest.mark.parametrize("streamed", [False, True])
def test_every_name_of_a_tool_comes_back_as_it_is(chat_server: ChatServer, streamed: bool) -> None:
    def call_all(body: dict[str, Any]) -> Scripted:
        names = [tool["function"]["name"] for tool in body["tools"]]
        assert all(name.replace("_", "").isalnum() and name.isascii() and len(name) <= 64 for name in names), names
        return Scripted(None, tool_calls=[{"id": name, "function": {"name": name, "arguments": "{}"}}
                                          for name in names])

    chat_server.script(call_all, "done")
    tools = tuple(ToolSpec(name, "Does it.", TEXT) for name in OWN)
    asked = replace(ASK, tools=tools, on_text=print if streamed else None)
    calls = complete(chat_server, asked).tool_calls
    assert [made.name for made in calls] == [*OWN]
    again = (*ASK.messages, Message("assistant", "", tool_calls=calls))
    complete(chat_server, replace(asked, messages=again))
    said = chat_server.requests[1].body["messages"][-1]["tool_calls"]
    assert [one["function"]["name"] for one in said] == [one["id"] for one in said]


@pytest.mark.parametrize("said", ["mine__words", "mine.words", "functions.mine__words:0", "functions.mine.words",
                                  "mine__words\n", "mine__words<|channel|>commentary"])
def test_what_parsers_leave_on_a_name_is_no_part_of_it(chat_server: ChatServer, said: str) -> None:
    chat_server.script(Scripted(None, tool_calls=[{"id": "1", "function": {"name": said, "arguments": "{}"}}]))
    (made,) = complete(chat_server, replace(ASK, tools=(ToolSpec("mine.words", "", TEXT),))).tool_calls
    assert made.name == "mine.words"


# Replies without an answer.

THOUGHT = Scripted(None, message={"reasoning": "hm " * 40}, finish_reason="length", usage=(7, 50))
LIMITED = Request(ASK.messages, Sampling("thinker", max_tokens=50))


def limits(server: ChatServer) -> list[int | None]:
    return [request.body.get("max_tokens") for request in server.requests]


@pytest.mark.parametrize("on_text", [None, lambda _: None], ids=["whole", "streamed"])
def test_thoughts_up_to_the_limit_are_asked_again_with_room_once(chat_server: ChatServer, on_text: Any) -> None:
    thought = THOUGHT if on_text is None else stream(delta(reasoning="hm " * 40), delta("length"))
    chat_server.script(thought, "answer", "at once")
    first, second = complete_all(chat_server, [replace(LIMITED, on_text=on_text)] * 2)
    assert (first.text, first.retries, second.text, second.retries) == ("answer", 1, "at once", 0)
    assert limits(chat_server) == [50, 50 + 8192, 50 + 8192], "the room is kept for the calls that follow"


@pytest.mark.parametrize("thoughts", [{"reasoning": "hm " * 40}, {"reasoning_content": "hm " * 40}, {}])
def test_a_model_that_only_thinks_is_paid_for_twice_and_named(chat_server: ChatServer,
                                                              thoughts: dict[str, str]) -> None:
    chat_server.route(lambda request: Scripted("", message=thoughts, finish_reason="length",
                                               usage=(7, request.body["max_tokens"])))
    problem = failure(chat_server, LIMITED)
    assert isinstance(problem, UnusableReply)
    assert "in 2 attempts: it used all 8,242 tokens that it may write" in str(problem)
    assert ("for thinking" in str(problem)) == bool(thoughts)
    assert "raise max_tokens or let it think less" in str(problem)
    assert len(chat_server.requests) == 2
    assert (problem.prompt_tokens, problem.completion_tokens) == (14, 50 + 8242)


def test_a_server_with_its_own_limit_is_told_a_higher_one(chat_server: ChatServer) -> None:
    chat_server.script(replace(THOUGHT, usage=(7, 4096)), "answer")
    assert complete(chat_server).text == "answer"
    assert limits(chat_server) == [None, 4096 + 8192]


@pytest.mark.parametrize("refusal", ["max_tokens is too large: 8242", "maximum context length is 4096 tokens"])
def test_a_server_that_has_no_more_room_is_named_for_the_thinking(chat_server: ChatServer, refusal: str) -> None:
    chat_server.script(THOUGHT, error(400, refusal))
    problem = str(failure(chat_server, LIMITED))
    assert "tokens that it may write for thinking" in problem
    assert refusal in problem
    assert len(chat_server.requests) == 2


def test_room_that_a_longer_prompt_does_not_leave_is_given_up(chat_server: ChatServer) -> None:
    chat_server.script(THOUGHT, "first", error(400, "maximum context length is 8192 tokens"), "second")
    assert [reply.text for reply in complete_all(chat_server, [LIMITED, LIMITED])] == ["first", "second"]
    assert limits(chat_server) == [50, 8242, 8242, 50]


def test_the_budget_bounds_the_room_for_thoughts(chat_server: ChatServer) -> None:
    asked: list[tuple[Usage, int | None]] = []

    def room(wasted: Usage, longest: int | None = None) -> int:
        asked.append((wasted, longest))
        return 50 if len(asked) == 1 else 900

    chat_server.script(THOUGHT, THOUGHT, "answer")
    assert "came to no answer" in str(failure(chat_server, replace(LIMITED, most=50, room=room)))
    assert len(chat_server.requests) == 1, "there is no room for another attempt"
    assert complete(chat_server, replace(LIMITED, most=50, room=room)).text == "answer"
    assert asked == [(Usage(7, 50), 8242)] * 2
    assert limits(chat_server) == [50, 50, 900]


def test_a_limit_that_nobody_names_is_asked_for_again_once(chat_server: ChatServer) -> None:
    chat_server.route(lambda _: Scripted("", usage=None, finish_reason="length"))
    assert "it used all the tokens that it may write, and came to no answer" in str(failure(chat_server))
    assert limits(chat_server) == [None, None]


def test_thoughts_without_an_answer_are_asked_again_once(chat_server: ChatServer) -> None:
    chat_server.route(lambda _: Scripted(None, message={"reasoning_content": "hm"}))
    assert "it only thought, and gave no answer" in str(failure(chat_server, LIMITED))
    assert limits(chat_server) == [50, 50]


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize(("usage", "finish"), [((32_768, 0), "stop"), ((4096, 1), "stop"), ((3911, 1), "length")])
def test_nothing_to_a_prompt_that_fills_the_window_is_an_overflow(chat_server: ChatServer, usage: tuple[int, int],
                                                                  finish: str, streamed: bool) -> None:
    chat_server.script(Scripted("", usage=usage, finish_reason=finish))
    problem = failure(chat_server, STREAMED if streamed else ASK)
    assert isinstance(problem, ContextOverflow)
    assert f"to a prompt of {usage[0]:,} tokens" in str(problem)
    assert "num_ctx" in str(problem)
    assert problem.prompt_tokens == usage[0], "it is paid for"
    assert len(chat_server.requests) == 1


def test_nothing_to_a_short_prompt_is_only_an_empty_reply(chat_server: ChatServer) -> None:
    chat_server.script(Scripted("", usage=(30, 0)), Scripted("", usage=None), "fine")
    assert complete(chat_server).retries == 2
    chat_server.script(Scripted("", usage=(30, 0), finish_reason="length"), "fine")
    assert complete(chat_server).retries == 1


def test_blanks_up_to_the_limit_get_no_room_for_more_of_them(chat_server: ChatServer) -> None:
    chat_server.script(Scripted("\n" * 99, finish_reason="length", usage=(7, 50)), "fine")
    assert complete(chat_server, LIMITED).text == "fine"
    assert limits(chat_server) == [50, 50]


@pytest.mark.parametrize("reply", [
    Scripted(body={"choices": [{"message": {"content": "half"}, "finish_reason": "error", "index": 0,
                                "error": {"code": 502, "message": "upstream broke"}}]}),
    stream(delta(content="half"), {"choices": [{"delta": {}, "finish_reason": "error"}]}),
    stream(delta(content="half"), {"error": {"code": 502, "message": "upstream broke"},
                                   "choices": [{"delta": {"content": ""}, "finish_reason": "error"}]}),
    *(Scripted("half", finish_reason=why) for why in ("error", "abort", "insufficient_system_resource"))])
def test_half_a_text_that_ends_by_an_error_is_no_reply(chat_server: ChatServer, reply: Scripted) -> None:
    asked = STREAMED if reply.headers else ASK
    chat_server.script(reply, "whole")
    whole = complete(chat_server, asked)
    assert (whole.text, whole.retries) == ("whole", 1)
    assert whole.usage.prompt_tokens > 7, "the half is paid for"
    chat_server.route(lambda _: reply)
    before = len(chat_server.requests)
    problem = failure(chat_server, asked)
    assert isinstance(problem, ModelUnavailable)
    assert "upstream broke" in str(problem) or "ended the reply in the middle" in str(problem)
    assert len(chat_server.requests) - before == 3


# Chat templates.

ROLES = "Only user, assistant and tool roles are supported, got system."
COMPLAINTS = [(500, ROLES), (400, ROLES), (400, "System role not supported"), (500, "no user query found in messages"),
              (500, "Conversation roles must alternate user/assistant/user/assistant/..."),
              (400, "Developer instruction is not enabled for models/gemma-3-27b-it"),
              (400, "Unsupported value: 'messages[0].role' does not support 'system' with this model."),
              (400, 'Error rendering prompt with jinja template: "roles"')]
TALK = (Message("system", "S"), Message("user", "one"), Message("user", "two"), Message("assistant", "a"),
        Message("assistant", "b"), Message("user", "three"))


def turns(received: dict[str, Any]) -> list[tuple[str, Any]]:
    return [(message["role"], message["content"]) for message in received["messages"]]


@pytest.mark.parametrize(("status", "complaint"), COMPLAINTS)
@pytest.mark.parametrize("inside", [False, True], ids=["status", "inside a reply"])
def test_a_template_that_takes_no_system_message_gets_none(chat_server: ChatServer, status: int, complaint: str,
                                                           inside: bool) -> None:
    refusal = Scripted(body={"error": {"code": status, "message": complaint}}) if inside else error(status, complaint)
    chat_server.script(refusal, "first", "second")
    first, second = complete_all(chat_server, [Request(TALK, ASK.sampling)] * 2)
    assert (first.text, first.retries, second.text) == ("first", 0, "second")
    assert len(chat_server.requests) == 3, "it is learned for the calls that follow"
    for request in chat_server.requests[1:]:
        assert turns(request.body) == [("user", "S\n\none\n\ntwo"), ("assistant", "a\n\nb"), ("user", "three")]


def test_a_template_that_refuses_those_messages_too_is_named_at_once(chat_server: ChatServer) -> None:
    chat_server.route(lambda _: error(500, ROLES))
    problem = failure(chat_server, Request(TALK, ASK.sampling))
    assert isinstance(problem, ModelRejected)
    assert "chat template" in str(problem)
    assert ROLES in str(problem)
    assert len(chat_server.requests) == 2


def test_pictures_and_calls_stay_where_they_are_without_a_system_message(chat_server: ChatServer) -> None:
    chat_server.script(error(500, ROLES), "done")
    made = ToolCall("1", "look", "{}")
    complete(chat_server, replace(ASK, messages=(
        Message("system", "S"), Message("user", "see", (Image(b"png"),)), Message("assistant", "", tool_calls=(made,)),
        Message("tool", "seen", tool_call_id="1"), Message("assistant", "so"))))
    first, *rest = chat_server.requests[1].body["messages"]
    assert [part.get("text", part["type"]) for part in first["content"]] == ["S", "see", "image_url"]
    assert [message["role"] for message in rest] == ["assistant", "tool", "assistant"]


# Errors.

@pytest.mark.parametrize(("status", "message"), [
    (500, "context shift is disabled"), (400, "Please reduce the length of the messages or completion."),
    (400, "The input token count (40000) exceeds the maximum number of tokens allowed (32768)."),
    (400, "This model's maximum prompt length is 131072 but the request contains 537812 tokens."),
    (400, "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000"),
    (400, "Range of input length should be [1, 30720]"), (500, "Context size has been exceeded."),
    (400, "Trying to keep the first 9000 tokens when context the overflows. However, the model is loaded with context "
          "length of only 4096 tokens")])
def test_an_overflow_is_known_in_the_words_of_all_servers(chat_server: ChatServer, status: int, message: str) -> None:
    chat_server.script(error(status, message))
    assert isinstance(failure(chat_server), ContextOverflow)
    assert len(chat_server.requests) == 1


BODIES: list[tuple[Any, str]] = [
    ({"error": "'response_format.type' must be 'json_schema' or 'text'"}, "must be 'json_schema' or 'text'"),
    ("not so", "not so"), ([{"error": {"code": 400, "message": "in a list"}}], "in a list"),
    ({"detail": "of FastAPI"}, "of FastAPI"),
    ({"detail": [{"loc": ["body"], "msg": "field required"}]}, "field required"),
    ({"object": "error", "message": "of vLLM", "code": 400}, "of vLLM"),
    ({"error": {"message": "Provider returned error", "metadata": {"raw": "the true reason"}}}, "the true reason"),
    (b"<!DOCTYPE html><html><head><title>400 Bad gate</title></head></html>", "an HTML page, '400 Bad gate'"),
    (b"plain words", "plain words")]


@pytest.mark.parametrize(("body", "words"), BODIES, ids=[words for _, words in BODIES])
def test_an_error_says_what_the_server_said(chat_server: ChatServer, body: Any, words: str) -> None:
    chat_server.script(Scripted(status=400, body=body))
    assert words in str(failure(chat_server))


def test_an_html_page_instead_of_a_reply_names_the_address(chat_server: ChatServer) -> None:
    page = Scripted(body=b"<html><title>Open WebUI</title>", headers={"Content-Type": "text/html"})
    chat_server.route(lambda _: page)
    problem = str(failure(chat_server))
    assert "not JSON but an HTML page, 'Open WebUI', and no answer of a model; check the address" in problem


# Streams.

def events(*lines: str) -> Scripted:
    return Scripted(body="\n".join((*lines, "")).encode(), headers=EVENTS)


def said(text: str, finish: str | None = None) -> str:
    return f"data: {json.dumps(delta(finish, content=text))}"


STOP = said("", "stop")
WHOLE = {
    "no finish reason, [DONE]": events(said("one "), "", said("two"), "", "data: [DONE]", ""),
    "an empty finish reason": events(said("one ", ""), "", said("two", ""), "", "data: [DONE]", ""),
    "[DONE] without its blank line": events(said("one "), "", said("two"), "", "data:[DONE]"),
    "a comment as data": events(": OPENROUTER PROCESSING", "", "data: : OPENROUTER PROCESSING", "", said("one "), "",
                                "data: : OPENROUTER PROCESSING", "", said("two"), "", STOP, "", "data: [DONE]", ""),
    "stray lines": events("event: ping", "data: ping", "", "hello", "", said("one "), "", "retry: 3", "id: 7",
                          "data: null", "", "data:", "", said("two"), "", STOP, ""),
    "no blank lines": events(said("one "), said("two"), STOP, "data: [DONE]"),
    "JSON without data": events(said("one ").removeprefix("data: "), said("two").removeprefix("data: "), STOP),
    "an event over several lines": events(said("one "), "", 'data: {"choices": [{"delta":',
                                          'data: {"content": "two"}}]}', "", STOP, ""),
    "carriage returns": Scripted(body="\r\n\r\n".join((said("one "), said("two"), STOP, "")).encode(), headers=EVENTS),
    "a byte order mark": Scripted(body=("\ufeff" + "\n\n".join((said("one "), said("two"), STOP, ""))).encode(),
                                  headers=EVENTS),
    "content in parts": stream(delta(content=[{"type": "text", "text": "one "}, "two"]), delta("stop")),
    "thoughts among the parts": stream(
        delta(content=[{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
                       {"type": "reasoning", "text": "hm"}]), delta(content="one two"), delta("stop")),
    "thoughts beside the text": stream(delta(reasoning="hm", reasoning_content="hm"), delta(content="one two"),
                                       delta("stop")),
}


@pytest.mark.parametrize("reply", WHOLE.values(), ids=WHOLE)
@pytest.mark.parametrize("drip", [0.0, 0.0001], ids=["at once", "in drops"])
def test_a_stream_is_read_however_it_is_framed(chat_server: ChatServer, reply: Scripted, drip: float) -> None:
    chat_server.script(replace(reply, drip=drip))
    heard: list[str] = []
    whole = complete(chat_server, replace(ASK, on_text=heard.append))
    assert (whole.text, whole.retries, "".join(heard)) == ("one two", 0, "one two")


HALF = said("one ")
BROKEN = {
    "no end": (events(HALF, "", said("two"), ""), "broke off"),
    "half an event": (events(HALF, "", 'data: {"choices": [{"del', "", "data: [DONE]", ""), "broke off"),
    "a line of an error": (events(HALF, "", "data: [ERROR] overloaded", "", "data: [DONE]", ""), "overloaded"),
    "a field of an error": (events(HALF, "", 'error: {"error": {"message": "no memory"}}', ""), "no memory"),
    "an error in a list": (events(HALF, "", 'data: [{"error": {"message": "no more"}}]', ""), "no more")}


@pytest.mark.parametrize(("reply", "says"), BROKEN.values(), ids=BROKEN)
def test_a_stream_without_its_end_is_never_taken_for_a_reply(chat_server: ChatServer, reply: Scripted,
                                                            says: str) -> None:
    chat_server.route(lambda _: reply)
    problem = failure(chat_server, STREAMED)
    assert isinstance(problem, ModelUnavailable)
    assert says in str(problem)
    assert len(chat_server.requests) == 3


def test_a_stream_of_nothing_that_is_done_is_an_empty_reply(chat_server: ChatServer) -> None:
    chat_server.route(lambda _: stream("[DONE]"))
    assert isinstance(failure(chat_server, STREAMED), UnusableReply)
    assert len(chat_server.requests) == 3


@pytest.mark.parametrize(("drip", "more"), [(0.01, b": still here\n\n"), (0.0, b"x" * 65536)])
def test_a_server_that_stays_after_the_end_is_not_waited_for(chat_server: ChatServer, drip: float,
                                                             more: bytes) -> None:
    done = events(said("one"), "", "data: [DONE]", "")
    chat_server.script(replace(done, drip=drip, endless=more), "next")
    assert [reply.text for reply in complete_all(chat_server, [STREAMED, ASK])] == ["one", "next"]


# Prompts that are cut.

PROSE = "The quick brown fox jumps over the lazy dog and then it goes home. " * 600
CODE = "def total(items, tax):\n    return sum(item.price * (1 + tax) for item in items)\n" * 450
CHINESE = "软件公司的人工智能代理开发软件并且测试它。" * 700


@pytest.mark.parametrize(("text", "share", "cut"), [
    (PROSE, 1.0, False), (CODE, 1.0, False), (CHINESE, 1.0, False), (CODE, 0.8, False), (CHINESE, 0.6, False),
    (PROSE, 0.85, False), (PROSE, 0.5, True), (PROSE, 0.02, False)])
def test_another_vocabulary_is_never_taken_for_a_cut_prompt(text: str, share: float, cut: bool) -> None:
    request = Request((Message("system", "be brief"), Message("user", text)))
    assert is_cut(round(count_tokens(text) * share) | 5, request) == cut


@pytest.mark.parametrize("text", [PROSE, CODE])
@pytest.mark.parametrize("window", [4096, 4095, 2048])
def test_a_prompt_cut_to_a_window_is_known_in_any_language(text: str, window: int) -> None:
    assert is_cut(window, Request((Message("user", text * 2),)))


def test_pictures_are_no_reason_to_think_that_a_prompt_was_cut() -> None:
    pictures = (Image(b"png"),) * 20
    assert not is_cut(2048, Request((Message("user", "what is this?", pictures),)))


