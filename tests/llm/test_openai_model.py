"""The OpenAI-compatible client over a real socket: what goes out, what comes back, and over how many connections."""

import asyncio

from chatdev.connection import Endpoint
from chatdev.llm.base import Constraint, Image, Message, Request, Sampling, ToolCall, ToolSpec
from chatdev.llm.openai_model import OpenAIModel
from tests.llm.asking import ASK, KEY, complete, complete_all
from tests.support.chat_server import ChatServer, Scripted


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


def test_azure_has_the_model_in_the_path_and_the_version_in_the_query(chat_server: ChatServer) -> None:
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


def test_half_characters_in_a_request_do_not_stop_it(chat_server: ChatServer) -> None:
    chat_server.script("fine")
    complete(chat_server, Request((Message("user", "name\udc80.txt"),), Sampling("m")))
    assert chat_server.requests[0].body["messages"][0]["content"] == "name?.txt"


def test_arguments_that_come_as_an_object_are_taken_as_json(chat_server: ChatServer) -> None:
    chat_server.script(Scripted(None, tool_calls=[{"function": {"name": "look", "arguments": {"at": "a"}}}]))
    assert complete(chat_server).tool_calls == (ToolCall("call-0", "look", '{"at": "a"}'),)


def test_every_other_word_for_the_end_of_a_reply_means_stop(chat_server: ChatServer) -> None:
    chat_server.script(Scripted("x", finish_reason="eos"), Scripted("x", finish_reason="max_tokens"))
    assert [reply.finish for reply in complete_all(chat_server, [ASK, ASK])] == ["stop", "length"]


def test_counts_that_are_none_are_estimated(chat_server: ChatServer) -> None:
    chat_server.script(Scripted(body={"choices": [{"message": {"content": "hello world"}}],
                                      "usage": {"prompt_tokens": True, "completion_tokens": -1}}))
    usage = complete(chat_server).usage
    assert (usage.estimated, usage.completion_tokens) == (True, 2)


def test_a_closed_model_opens_again(chat_server: ChatServer) -> None:
    chat_server.script("a", "b")

    async def run() -> list[str]:
        model = OpenAIModel(Endpoint(chat_server.url, KEY))
        texts = []
        for _ in range(2):
            texts.append((await model.complete(ASK)).text)
            await model.close()
        return texts

    assert asyncio.run(run()) == ["a", "b"]
