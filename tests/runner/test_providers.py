"""Providers end to end, with real servers: whose key goes where, what a server has, how a record is gone on with."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import pytest

from chatdev.llm.registry import DEFAULT_NAME
from chatdev.paths import settings_file
from tests.support.chat_server import ChatServer, Scripted
from tests.support.shop import BETTER, FIRST, HELLO, KEY, SECOND, Shop

OF_PROVIDER = "sk-of-a-provider-0123456789"
PORT_OF_OLLAMA = 11434


def models_asked(shop: Shop) -> set[str]:
    return {request.body["model"] for request in shop.server.requests}


def test_the_key_of_a_provider_goes_to_the_address_that_is_given(shop: Shop) -> None:
    shop.environment |= {"OPENAI_BASE_URL": "", "ANTHROPIC_API_KEY": OF_PROVIDER}
    shop.replies()
    outcome = shop.run("--provider", "anthropic", "--base-url", shop.server.url, "--model", "claude-sonnet-4-6",
                       "--max-cost", "1")
    outcome.assert_succeeded()
    assert {request.headers["Authorization"] for request in shop.server.requests} == {f"Bearer {OF_PROVIDER}"}
    assert "key ANTHROPIC_API_KEY of the environment" in outcome.out
    text = outcome.out + outcome.err + json.dumps(outcome.records) + outcome.report
    assert OF_PROVIDER not in text
    assert KEY not in text


def test_a_prefix_says_the_provider_where_no_address_is_given(shop: Shop) -> None:
    with socket.socket() as there:
        if there.connect_ex(("127.0.0.1", PORT_OF_OLLAMA)) == 0:
            pytest.skip("something else listens where Ollama does")
    with ChatServer(port=PORT_OF_OLLAMA) as server:
        shop.server = server
        shop.environment |= {"OPENAI_BASE_URL": ""}
        shop.replies()
        outcome = shop.run("--model", "ollama/gpt-oss:20b", "--max-cost", "1")
        outcome.assert_succeeded()
        assert models_asked(shop) == {"gpt-oss:20b"}
        assert "authorization" not in {name for request in server.requests for name in request.headers} or \
            KEY not in str([request.headers for request in server.requests])
        assert "$0.0000 of $1.0000" in outcome.out
        again = shop.command("resume", str(outcome.folder))
        assert again.status == 2
        assert "--model ollama/gpt-oss:20b" in again.err


def test_a_gateways_own_name_stays_at_its_address(shop: Shop) -> None:
    shop.replies()
    outcome = shop.run("--model", "openai/gpt-4o", "--max-cost", "1")
    outcome.assert_succeeded()
    assert models_asked(shop) == {"openai/gpt-4o"}
    assert "of $1.0000" in outcome.out


@pytest.mark.parametrize(("arguments", "words"), [
    (("--provider", "anthropic", "--model", "x"), "ANTHROPIC_API_KEY is not set"),
    (("--model", "gemini/gemini-2.5-pro"), "GEMINI_API_KEY or GOOGLE_API_KEY is not set"),
    (("--provider", "azure", "--model", "x"), "AZURE_OPENAI_ENDPOINT is not set, which the provider azure needs"),
    (("--provider", "opnai", "--model", "x"), "there is no provider 'opnai'; did you mean 'openai'?"),
    (("--set", "model.profile=gtp-4o"), "nothing is known of a model 'gtp-4o'"),
])
def test_what_lacks_is_named_before_anything_is_made(shop: Shop, arguments: tuple[str, ...], words: str) -> None:
    shop.environment |= {"OPENAI_BASE_URL": ""}
    outcome = shop.run(*arguments)
    assert outcome.status == 2
    assert words in outcome.err
    assert outcome.folder is None


def test_a_server_that_refuses_a_providers_key_names_its_variable(shop: Shop) -> None:
    shop.environment |= {"GROQ_API_KEY": OF_PROVIDER}
    shop.route({FIRST: Scripted(status=401, body={"error": {"message": "bad key"}})})
    outcome = shop.run("--provider", "groq", "--base-url", shop.server.url, "--model", "x")
    assert "check GROQ_API_KEY" in outcome.err


@pytest.mark.parametrize(("lists", "asked"), [
    (("only-one",), "only-one"), (("text-embedding-nomic", "only-one"), "only-one"),
    (("one", DEFAULT_NAME, "two"), DEFAULT_NAME), ((), DEFAULT_NAME)])
def test_a_server_that_lacks_the_default_model_is_asked_for_its_own(shop: Shop, lists: tuple[str, ...],
                                                                   asked: str) -> None:
    shop.server.lists = lists
    shop.replies()
    outcome = shop.run()
    outcome.assert_succeeded()
    assert models_asked(shop) == {asked}
    assert f"model {DEFAULT_NAME}, or what it has, at {shop.server.url}" in outcome.out
    order = next(record for record in outcome.records if record["kind"] == "Order")
    assert order["options"]["model"] == asked, "a resumed run goes on with it"


def test_several_models_are_listed_with_the_flag(shop: Shop) -> None:
    shop.server.lists = ("qwen3:8b", "gpt-oss:20b", "nomic-embed-text")
    outcome = shop.run()
    assert outcome.status == 2
    assert "the server has 2: qwen3:8b, gpt-oss:20b; choose one, e.g. --model qwen3:8b" in outcome.err
    assert shop.server.requests == []
    listed = shop.command("model", "list")
    assert listed.status == 0
    assert "gpt-oss:20b" in listed.out
    assert "$0 in, $0 out" in listed.out


def test_a_named_model_is_not_looked_for(shop: Shop) -> None:
    shop.server.lists = None
    shop.replies()
    shop.run("--model", "mine").assert_succeeded()
    assert {request.method for request in shop.server.requests} == {"POST"}


def test_a_record_names_no_provider(shop: Shop) -> None:
    shop.environment |= {"OPENAI_BASE_URL": ""}
    shop.replies()
    here = ("--provider", "vllm", "--base-url", shop.server.url)
    outcome = shop.run(*here, "--model", "mine", "--max-calls", "1")
    assert outcome.status == 6
    again = shop.command("resume", str(outcome.folder), "--max-calls", "9")
    assert again.status == 2
    assert "give --provider vllm" in again.err
    assert shop.command("resume", str(outcome.folder), "--max-calls", "9", *here).status == 0
    assert [request.headers["X-ChatDev-Activity"] for request in shop.server.requests] == [FIRST, SECOND]


def test_a_company_that_names_a_provider_needs_consent(shop: Shop) -> None:
    file = shop.company / "company.yaml"
    file.write_text(file.read_text(encoding="utf-8") + "\nmodel: {provider: groq, name: x}\n", encoding="utf-8")
    shop.environment |= {"GROQ_API_KEY": OF_PROVIDER, "OPENAI_BASE_URL": ""}
    outcome = shop.run()
    assert outcome.status == 2
    assert "model x of the provider groq with the key in your variable GROQ_API_KEY (model)" in outcome.err
    assert "chatdev trust" in outcome.err


def test_an_unknown_price_is_said_once_with_the_line_to_add(shop: Shop) -> None:
    shop.replies()
    outcome = shop.run("--model", "mine")
    assert outcome.out.count("price: {prompt") == 1
    line = outcome.out.partition("tokens: ")[2].splitlines()[0].strip()
    settings_file().parent.mkdir(parents=True)
    settings_file().write_text(f"models: [{line}]\n", encoding="utf-8")
    shop.replies()
    priced = shop.run("--model", "mine", "--max-cost", "1")
    assert priced.status == 0
    assert "price: {" not in priced.out


def test_a_profile_gives_an_alias_what_is_known_of_its_model(shop: Shop) -> None:
    shop.replies(second=Scripted(BETTER, usage=(1_000_000, 0)))
    outcome = shop.run("--model", "my-deployment", "--set", "model.profile=gpt-4o", "--max-cost", "9")
    outcome.assert_succeeded()
    assert "$2.5" in outcome.out
    assert models_asked(shop) == {"my-deployment"}


def test_cached_tokens_and_thoughts_are_counted_and_shown(shop: Shop) -> None:
    usage = {"prompt_tokens": 1_000_000, "completion_tokens": 100_000, "total_tokens": 1_100_000,
             "prompt_tokens_details": {"cached_tokens": 800_000},
             "completion_tokens_details": {"reasoning_tokens": 60_000}}
    choice = {"message": {"content": BETTER}, "finish_reason": "stop"}
    shop.route({FIRST: HELLO, SECOND: Scripted(body={"choices": [choice], "usage": usage})})
    outcome = shop.run("--model", "gpt-4o", "--max-cost", "5")
    outcome.assert_succeeded()
    event = outcome.events("ModelCalled")[-1]
    assert (event["cached_tokens"], event["reasoning_tokens"]) == (800_000, 60_000)
    assert event["cost"] == pytest.approx(0.2 * 2.5 + 0.8 * 1.25 + 0.1 * 10)
    assert "tokens in (800000 of them cached), 100005 out (60000 of them thoughts)" in outcome.report
    assert "2 calls · 1.1M tokens · $2.50\n" in outcome.out
    assert "2 calls · 1.1M tokens · $2.50\n" in shop.command("replay", str(outcome.folder)).out


def test_providers_are_listed(shop: Shop, tmp_path: Path) -> None:
    shop.environment["MISTRAL_API_KEY"] = OF_PROVIDER
    outcome = shop.command("model", "providers")
    assert outcome.status == 0
    assert "MISTRAL_API_KEY is set" in outcome.out
    assert "http://localhost:11434/v1" in outcome.out
    assert OF_PROVIDER not in outcome.out
