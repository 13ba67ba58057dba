"""Prices and context windows by name, through gateways' prefixes and date suffixes, and where a model costs nothing."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatdev.config.profiles import LongRate, ModelProfile, Price, find_listed, profile_for, provider_of
from chatdev.connection import spellings
from chatdev.llm.base import counts_exactly

HOME = "http://127.0.0.1:9/v1"
GATEWAY = "https://gateway.example/v1"
OPENROUTER = "https://openrouter.ai/api/v1"


@pytest.mark.parametrize(("name", "price"), [
    ("openai/gpt-4o", (2.5, 10)), ("gpt-4o-2024-08-06", (2.5, 10)), ("openrouter/openai/gpt-4o", (2.5, 10)),
    ("claude-sonnet-4-6", (3, 15)), ("anthropic/claude-sonnet-4.6", (3, 15)), ("GPT-4o-mini", (0.15, 0.6)),
    ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", (3, 15)), ("claude-sonnet-4-5@20250929", (3, 15)),
    ("models/gemini-2.5-flash", (0.3, 2.5)), ("gpt-5.2", (1.75, 14)), ("azure/gpt-4.1-mini", (0.4, 1.6)),
])
@pytest.mark.parametrize("address", [None, GATEWAY])
def test_a_price_is_found_through_prefixes_and_dates(name: str, price: tuple[float, float],
                                                     address: str | None) -> None:
    found = profile_for(name, (), address).price
    assert found is not None
    assert (found.prompt, found.completion) == price


@pytest.mark.parametrize("name", ["gpt-5.9", "gpt-4o-audio", "my-gpt-4o", "mine", "ft:gpt-4o-mini-2024-07-18:org::7",
                                  "gpt-4o:free", "meta-llama/llama-3.3-70b-instruct", "gpt-oss:20b", "openrouter/auto"])
def test_what_is_not_listed_has_no_price(name: str) -> None:
    assert profile_for(name, (), GATEWAY).price is None


def test_a_gateway_that_is_listed_has_prices_of_its_own() -> None:
    groq = profile_for("openai/gpt-oss-20b", (), provider_of("groq").url)
    assert groq.price
    assert 0 < groq.price.prompt < 1
    assert profile_for("meta-llama/llama-3.3-70b-instruct", (), OPENROUTER).price
    assert profile_for("meta-llama/llama-3.3-70b-instruct:free", (), OPENROUTER).price is None
    assert profile_for("claude-sonnet-4-6", (), provider_of("groq").url).price is None, "groq has no such model"


@pytest.mark.parametrize(("name", "provider"), [
    ("gpt-oss:20b", None), ("gpt-oss:20b", "ollama"), ("openai/gpt-oss-20b", None), ("Qwen/Qwen3-8B", None),
    ("llama3.3:70b", None), ("deepseek-r1:8b", None), ("my-own-finetune", "ollama"), ("my-own-finetune", "vllm"),
    ("mistral:7b", None), ("phi4", None), ("weights.gguf", None)])
def test_what_a_server_on_this_machine_runs_costs_nothing(name: str, provider: str | None) -> None:
    known = provider_of(provider) if provider else None
    found = profile_for(name, (), known.url if known else HOME, known)
    assert found.cost(10**6, 10**6) == 0
    assert found.context is None, "how much of its window a server loads is its owner's choice"


@pytest.mark.parametrize(("name", "provider"), [
    ("gpt-oss:120b-cloud", "ollama"), ("gpt-oss:120b-cloud", None), ("fast", None), ("groq/llama-3.3-70b", None),
    ("gpt-oss:20b", "litellm"), ("fast", "litellm")])
def test_what_it_may_pass_on_has_no_known_price(name: str, provider: str | None) -> None:
    assert profile_for(name, (), HOME, provider_of(provider) if provider else None).price is None


def test_a_proxy_on_this_machine_takes_its_vendors_price() -> None:
    assert profile_for("gpt-4o", (), HOME).cost(10**6, 0) == 2.5
    assert profile_for("openai/gpt-4o", (), HOME, provider_of("litellm")).cost(10**6, 0) == 2.5


def test_own_entries_go_before_the_list() -> None:
    own = [ModelProfile(match=["claude-*"], price=Price(prompt=1, completion=2), context=5000),
           ModelProfile(match=["gpt-4o"], price=None)]
    assert profile_for("anthropic/claude-sonnet-4-6", own).cost(10**6, 10**6) == 3
    assert profile_for("claude-sonnet-4-6", own).context == 5000
    assert profile_for("openai/gpt-4o", own).price is None


@pytest.mark.parametrize("name", ["openai/gpt-4o", "litellm/azure/gpt-4o-2024-11-20", "OpenAI/GPT-4o"])
def test_what_is_known_of_a_family_is_known_through_a_gateway(name: str) -> None:
    found = profile_for(name, (), GATEWAY)
    assert (found.native_tools, found.context, found.longest_reply) == (True, 128000, 16384)
    assert counts_exactly(name)


def test_a_model_called_local_at_a_gateway_is_not_the_local_model() -> None:
    assert profile_for("ollama/local").rounds is None
    assert profile_for("local:/models/gpt-4o.gguf").native_tools is False


def test_cached_tokens_have_their_price() -> None:
    price = Price(prompt=2, completion=10, cached=0.5)
    assert price.cost(1_000_000, 0, 400_000) == pytest.approx(0.6 * 2 + 0.4 * 0.5)
    assert Price(prompt=2, completion=10).cost(1_000_000, 0, 400_000) == 2


def test_long_prompts_have_theirs() -> None:
    price = Price(prompt=1, completion=10, long=[LongRate(above=200_000, prompt=2, completion=15, cached=0.2)])
    assert price.cost(200_000, 0) == pytest.approx(0.2)
    assert price.cost(300_000, 100_000, 100_000) == pytest.approx(0.2 * 2 + 0.1 * 0.2 + 0.1 * 15)
    gemini = find_listed("gemini-2.5-pro").price
    assert gemini
    assert gemini.at(300_000).prompt == 2 * gemini.prompt


@given(st.text(max_size=60))
def test_any_name_has_a_profile(name: str) -> None:
    assert all(spelling == spelling.lower() for spelling in spellings(name))
    profile_for(name, (), GATEWAY)


def test_the_list_is_loaded_only_where_it_is_asked() -> None:
    code = ("import sys, chatdev; from chatdev.config.profiles import profile_for; profile_for('local'); "
            "import chatdev.cli.app; assert 'genai_prices' not in sys.modules")
    subprocess.run([sys.executable, "-c", code], check=True)


def test_nothing_is_fetched() -> None:
    code = ("import socket\ndef refuse(*_): raise AssertionError('a connection')\n"
            "socket.socket.connect = socket.create_connection = refuse\n"
            "import threading; from chatdev.config.profiles import find_listed; assert find_listed('gpt-4o').price\n"
            "assert threading.active_count() == 1")
    subprocess.run([sys.executable, "-c", code], check=True)
