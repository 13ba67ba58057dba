"""From a name to a model: which endpoint, which key, and what to do when there is none."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from chatdev.connection import Endpoint
from chatdev.errors import ConfigError, MissingModel
from chatdev.llm.base import Model, Reply, Request, ScriptedModel, model_name
from chatdev.llm.openai_model import OpenAIModel
from chatdev.llm.registry import DEFAULT_NAME, Models
from chatdev.safe_text import PLACEHOLDER, scrub
from tests.llm.asking import ASK, KEY, error
from tests.support.chat_server import ChatServer, Scripted


def endpoint(model: Model) -> Endpoint:
    assert isinstance(model, OpenAIModel)
    return model.endpoint


def test_any_name_goes_to_the_endpoint_of_the_environment() -> None:
    model, name = Models({"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": "http://localhost:1/v1"}).get("any-model")
    assert name == "any-model"
    assert endpoint(model) == Endpoint("http://localhost:1/v1", KEY)


def test_a_key_alone_means_openai_and_an_address_alone_needs_no_key() -> None:
    assert endpoint(Models({"OPENAI_API_KEY": KEY}).get(None)[0]).url is None
    model, name = Models({}).get(None, "http://localhost:1/v1")
    assert (endpoint(model).key, name) == ("", DEFAULT_NAME)


def test_the_line_end_that_comes_with_copying_a_key_is_left_out() -> None:
    assert endpoint(Models({"OPENAI_API_KEY": f" {KEY}\n"}).get("m")[0]).key == KEY


def test_a_model_may_have_a_key_of_its_own() -> None:
    models = Models({"OPENAI_API_KEY": KEY, "OTHER_KEY": "sk-other"})
    assert endpoint(models.get("m", "http://localhost:1/v1", "OTHER_KEY")[0]).key == "sk-other"
    with pytest.raises(MissingModel, match="ABSENT_KEY"):
        models.get("m", None, "ABSENT_KEY")


def test_azure_is_meant_by_its_address() -> None:
    variables = {"AZURE_OPENAI_ENDPOINT": "https://x.openai.azure.com", "AZURE_OPENAI_API_KEY": KEY}
    found = endpoint(Models({**variables, "OPENAI_API_VERSION": "2025-01-01"}).get("my-deployment")[0])
    assert (found.url, found.key, found.api_version) == ("https://x.openai.azure.com", KEY, "2025-01-01")
    assert endpoint(Models(variables).get("m", "http://localhost:1/v1")[0]).api_version is None
    with pytest.raises(MissingModel, match="AZURE_OPENAI_API_KEY"):
        Models({"AZURE_OPENAI_ENDPOINT": "https://x.openai.azure.com"}).get("m")


@pytest.mark.parametrize("name", [None, "local", "gpt-4o"])
def test_without_key_address_and_local_model_the_ways_to_go_on_are_said(name: str | None) -> None:
    with pytest.raises(MissingModel) as caught:
        Models({}).get(name)
    for way in ("OPENAI_API_KEY", "--base-url", "chatdev model pull"):
        assert way in str(caught.value)


def test_a_model_file_of_the_users_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(MissingModel, match="cannot read"):
        Models({}).get(f"local:{tmp_path}/missing.gguf")


def test_what_is_no_address_is_refused_before_any_call() -> None:
    with pytest.raises(ConfigError, match="no address"):
        Models({"OPENAI_BASE_URL": "localhost:8000"}).get("m")


def test_models_of_one_endpoint_share_a_client_and_are_closed_together(chat_server: ChatServer) -> None:
    chat_server.script("a", "b")

    async def run() -> None:
        models = Models({"OPENAI_BASE_URL": chat_server.url})
        one, two = models.get("one")[0], models.get("two")[0]
        assert one is two
        assert models.get("one", "http://localhost:1/v1")[0] is not one
        await one.complete(ASK)
        await two.complete(ASK)
        await models.close()

    asyncio.run(run())
    assert chat_server.connections_made == 1


def test_waits_between_attempts_can_be_cut_short(chat_server: ChatServer) -> None:
    chat_server.script(error(503), error(503), "fine")

    async def run() -> int:
        models = Models({"OPENAI_BASE_URL": chat_server.url, "CHATDEV_RETRY_SECONDS": "0"})
        try:
            return (await models.get("m")[0].complete(ASK)).retries
        finally:
            await models.close()

    assert asyncio.run(run()) == 2


def test_the_time_for_a_reply_can_be_cut_short(chat_server: ChatServer) -> None:
    chat_server.script(Scripted("late", delay=5), "fine")

    async def run() -> int:
        models = Models({"OPENAI_BASE_URL": chat_server.url, "CHATDEV_REPLY_SECONDS": "1.5",
                         "CHATDEV_RETRY_SECONDS": "0"})
        try:
            return (await models.get("m")[0].complete(ASK)).retries
        finally:
            await models.close()

    assert asyncio.run(run()) == 1


@pytest.mark.parametrize("variable", ["CHATDEV_RETRY_SECONDS", "CHATDEV_REPLY_SECONDS"])
@pytest.mark.parametrize("given", ["soon", "-1", "nan"])
def test_a_time_that_is_no_number_is_refused(variable: str, given: str) -> None:
    with pytest.raises(ConfigError, match=variable):
        Models({"OPENAI_API_KEY": KEY, variable: given}).get("m")


class Backend:
    """Somebody's own model, without a name of its own."""

    def __init__(self) -> None:
        self.closed = False

    async def complete(self, request: Request) -> Reply:
        return Reply(request.messages[0].content.upper())

    async def close(self) -> None:
        self.closed = True


def test_a_given_model_is_the_default_and_answers_to_its_name() -> None:
    given = ScriptedModel(["hello"], name="mine")
    models = Models({"OPENAI_API_KEY": KEY}, given=given)
    assert models.get(None) == (given, "mine")
    assert models.get("mine", "http://localhost:1/v1") == (given, "mine")
    assert models.default_name("http://localhost:1/v1") == "mine"
    other, name = models.get("gpt-4o")
    assert (endpoint(other).key, name) == (KEY, "gpt-4o")


def test_a_given_model_needs_no_key_and_stays_open() -> None:
    given = Backend()
    models = Models({}, given=given)
    assert models.get(None) == (given, "Backend")
    asyncio.run(models.close())
    assert not given.closed
    assert asyncio.run(given.complete(ASK)).text


def test_a_model_is_called_by_its_name_else_by_its_class() -> None:
    assert model_name("gpt-4o") == "gpt-4o"
    assert model_name(ScriptedModel([])) == "scripted"
    assert model_name(OpenAIModel(Endpoint("http://localhost:1/v1", ""), name="llama")) == "llama"
    assert model_name(OpenAIModel(Endpoint("http://localhost:1/v1", ""))) == "OpenAIModel"
    assert model_name(Backend()) == "Backend"


@pytest.mark.parametrize("thing", [7, Backend, object()], ids=["number", "class", "object"])
def test_what_is_no_model_is_refused(thing: Any) -> None:
    with pytest.raises(ConfigError, match="neither the name of a model nor a model"):
        Models({}, given=thing)


def test_a_given_key_goes_before_the_environment_but_not_a_models_own() -> None:
    models = Models({"OPENAI_API_KEY": KEY, "OTHER_KEY": "sk-other"}, api_key=" sk-explicit-0123\n")
    assert endpoint(models.get("m")[0]).key == "sk-explicit-0123"
    assert endpoint(models.get("m", None, "OTHER_KEY")[0]).key == "sk-other"
    assert Models({}, api_key="sk-explicit-0123").get(None)[1] == DEFAULT_NAME
    azure = Models({"AZURE_OPENAI_ENDPOINT": "https://x.openai.azure.com"}, api_key="sk-explicit-0123")
    assert endpoint(azure.get("my-deployment")[0]).key == "sk-explicit-0123"


def test_an_explicit_key_is_a_secret_at_once() -> None:
    models = Models({}, api_key="sk-said-by-the-caller-41")
    assert scrub("it is sk-said-by-the-caller-41!") == f"it is {PLACEHOLDER}!"
    assert "sk-said" not in repr(models) + repr(models.get("m")[0])
