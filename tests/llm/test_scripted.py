"""The scripted model of the test kit."""

import asyncio
from typing import Any

import pytest

from chatdev.errors import ModelRejected
from chatdev.llm.base import Message, Reply, Request, ScriptedModel, ToolCall


def ask(model: ScriptedModel, text: str = "hi", **place: str) -> Reply:
    headers = {f"X-ChatDev-{name.title()}": value for name, value in place.items()}
    return asyncio.run(model.complete(Request((Message("user", text),), headers=headers)))


def test_it_answers_in_order_and_remembers_what_it_was_asked() -> None:
    model = ScriptedModel(["one", Reply("", (ToolCall("1", "look", "{}"),), finish="tool_calls")])
    assert ask(model, "a").text == "one"
    assert ask(model, "b").tool_calls[0].name == "look"
    assert [request.messages[0].content for request in model.requests] == ["a", "b"]
    model.assert_done()


def test_a_function_answers_what_it_likes() -> None:
    assert ask(ScriptedModel(lambda request: request.messages[0].content.upper()), "hi").text == "HI"


def test_a_script_by_place_is_independent_of_the_order() -> None:
    model = ScriptedModel({"tester": ["by role"], "coding": ["by phase", "again"], "coding/round-2": ["by activity"]})
    place: dict[str, Any] = {"phase": "coding", "role": "tester"}
    assert ask(model, **place, activity="coding/round-2").text == "by activity"
    assert ask(model, **place, activity="coding/round-1").text == "by phase"
    assert ask(model, role="tester").text == "by role"
    with pytest.raises(AssertionError, match="again"):
        model.assert_done()


@pytest.mark.parametrize("script", [[], {"coding": []}, {"testing": ["unasked"]}])
def test_a_script_that_ran_dry_names_the_place(script: Any) -> None:
    with pytest.raises(ModelRejected, match="call 1, at coding/round-1"):
        ask(ScriptedModel(script), phase="coding", activity="coding/round-1")


def test_text_is_streamed_to_who_listens() -> None:
    heard: list[str] = []
    asyncio.run(ScriptedModel(["hello"]).complete(Request((Message("user", "hi"),), on_text=heard.append)))
    assert heard == ["hello"]


def test_a_stream_begins_anew_with_every_answer() -> None:
    heard: list[str] = []
    request = Request((Message("user", "hi"),), on_text=heard.append, on_begin=heard.clear)
    model = ScriptedModel(["hello", "again"])
    for _ in range(2):
        asyncio.run(model.complete(request))
    assert heard == ["again"]


def test_a_reply_names_the_scripted_model() -> None:
    assert ask(ScriptedModel(["hi"])).model == "scripted"
    assert ask(ScriptedModel(["hi"], name="mine")).model == "mine"
    assert ask(ScriptedModel([Reply("hi", model="theirs")], name="mine")).model == "theirs"
