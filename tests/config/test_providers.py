"""Which provider a model is asked at: by its name, a flag, settings or a company; where an address goes before it."""

from __future__ import annotations

from pathlib import Path

import pytest

from chatdev.config.load import load_company
from chatdev.config.profiles import find_provider, known_providers, provider_of, refuse_unknown_profile
from chatdev.config.settings import (
    Authorship,
    ModelChoice,
    UserSettings,
    choose_default,
    choose_model,
    find_default_model,
    outward_settings,
)
from chatdev.connection import Origin
from chatdev.errors import ConfigError
from tests.config.tiny import tiny

GATEWAY = "https://gateway.example/v1"
NOTHING: dict[str, str] = {}


def default(model: str | None = None, base_url: str | None = None, provider: str | None = None, *,
            user: UserSettings | None = None, process: dict[str, str] | None = None) -> ModelChoice:
    return choose_default(find_default_model(model, base_url, provider, user=user or UserSettings(),
                                             process=process or NOTHING, file=NOTHING))


def shown(choice: ModelChoice) -> tuple[str | None, str | None, str | None]:
    """Name, address and provider."""
    return (choice.name.value if choice.name else None, choice.address.value if choice.address else None,
            choice.provider.provider.name if choice.provider else None)


@pytest.mark.parametrize(("given", "found"), [
    (("anthropic/claude-sonnet-4-6",), ("claude-sonnet-4-6", None, "anthropic")),
    (("Google/gemini-2.5-pro",), ("gemini-2.5-pro", None, "gemini")),
    (("openrouter/openai/gpt-4o",), ("openai/gpt-4o", None, "openrouter")),
    (("vllm/Qwen/Qwen3-8B",), ("Qwen/Qwen3-8B", None, "vllm")),
    (("openai/gpt-4o", GATEWAY), ("openai/gpt-4o", GATEWAY, None)),
    (("openai/gpt-4o", None, "openrouter"), ("openai/gpt-4o", None, "openrouter")),
    (("openrouter/auto", None, "openrouter"), ("openrouter/auto", None, "openrouter")),
    (("openai/gpt-oss-20b", None, "groq"), ("openai/gpt-oss-20b", None, "groq")),
    (("anthropic/claude-sonnet-4-6", None, "anthropic"), ("claude-sonnet-4-6", None, "anthropic")),
    (("claude-sonnet-4-6", GATEWAY, "anthropic"), ("claude-sonnet-4-6", GATEWAY, "anthropic")),
    (("openai/gpt-4o", GATEWAY, "litellm"), ("openai/gpt-4o", GATEWAY, "litellm")),
    ((None, None, "Claude"), (None, None, "anthropic")),
    (("meta-llama/llama-3",), ("meta-llama/llama-3", None, None)), (("gpt-4o",), ("gpt-4o", None, None)),
    (("ollama/",), ("ollama/", None, None)), (("local:models/x.gguf",), ("local:models/x.gguf", None, None)),
])
def test_names_flags_and_addresses_say_who_is_asked(given: tuple[str | None, ...],
                                                    found: tuple[str | None, ...]) -> None:
    assert shown(default(*given)) == found


def test_a_flag_goes_before_an_address_of_the_environment() -> None:
    process = {"OPENAI_BASE_URL": GATEWAY}
    assert shown(default("m", provider="ollama", process=process)) == ("m", None, "ollama")
    assert shown(default("openai/gpt-4o", process=process)) == ("openai/gpt-4o", GATEWAY, None)
    user = UserSettings(provider="groq")
    assert shown(default("m", user=user)) == ("m", None, "groq")
    assert shown(default("m", user=user, process=process)) == ("m", GATEWAY, None)
    assert shown(default("m", GATEWAY, user=user)) == ("m", GATEWAY, None)


def test_who_names_a_provider_is_known() -> None:
    assert (found := default("gemini/x", process={"CHATDEV_MODEL": "anthropic/y"}).provider)
    assert (found.provider.name, found.origin) == ("gemini", Origin.FLAG)
    assert (found := default(process={"CHATDEV_MODEL": "anthropic/y"}).provider)
    assert (found.provider.name, found.origin) == ("anthropic", Origin.ENVIRONMENT)


@pytest.mark.parametrize(("given", "words"), [
    (("m", None, "opnai"), ("there is no provider 'opnai'; did you mean 'openai'?", "--base-url")),
    (("m", None, "quite-else"), ("there is no provider 'quite-else'; known: openai, azure",)),
    (("openai/gpt-4o", None, "anthropic"), ("'openai/gpt-4o' is one of the provider openai", "anthropic is named")),
])
def test_a_wrong_provider_is_refused_with_the_nearest(given: tuple[str | None, ...], words: tuple[str, ...]) -> None:
    with pytest.raises(ConfigError) as refused:
        default(*given)
    for word in words:
        assert word in str(refused.value)


def coder(folder: Path, *sets: str, model: str | None = None, base_url: str | None = None) -> ModelChoice:
    company = load_company(tiny(folder), sets=sets)
    found = find_default_model(model, base_url, user=UserSettings(), process=NOTHING, file=NOTHING)
    return choose_model(company, "coding", "coder", found, Authorship(sets[1:]))


def test_a_company_may_name_providers_of_its_roles(tmp_path: Path) -> None:
    found = coder(tmp_path, "roles.coder.model.provider=anthropic", "roles.coder.model.name=x", model="m")
    assert shown(found) == ("x", None, "anthropic")
    assert found.provider
    assert found.provider.origin is Origin.COMPANY
    assert shown(coder(tmp_path, "roles.coder.model.name=gemini/x", model="m")) == ("x", None, "gemini")


def test_a_role_at_a_provider_is_not_asked_at_the_default_address(tmp_path: Path) -> None:
    found = coder(tmp_path, "roles.coder.model.provider=ollama", model="m", base_url=GATEWAY)
    assert shown(found) == ("m", None, "ollama")
    assert shown(coder(tmp_path, "roles.coder.model.name=openai/x", base_url=GATEWAY)) == ("openai/x", GATEWAY, None)


def test_a_key_beside_a_provider_goes_to_no_other_one(tmp_path: Path) -> None:
    sets = ("model.provider=groq", "model.key_env=GROQ_OF_MINE")
    assert coder(tmp_path, *sets).key_env
    assert coder(tmp_path, *sets, base_url=GATEWAY).key_env is None
    assert coder(tmp_path, *sets, "roles.coder.model.provider=xai").key_env is None


def test_what_leaves_this_machine_is_listed_for_consent(tmp_path: Path) -> None:
    for words in ("model.provider=groq", "model.name=groq/x"):
        assert [path for path, _ in outward_settings(load_company(tiny(tmp_path), sets=[words]))] == ["model"]
    for words in ("model.provider=ollama", "model.name=ollama/x", "model.name=meta-llama/x"):
        assert not list(outward_settings(load_company(tiny(tmp_path), sets=[words])))


def test_a_company_with_a_wrong_provider_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"model\.provider: there is no provider 'antropic'; did you mean 'anthropi"):
        load_company(tiny(tmp_path), sets=["model.provider=antropic"])


def test_a_wrong_profile_is_refused_with_the_nearest() -> None:
    refuse_unknown_profile("gpt-4o")
    refuse_unknown_profile("openai/gpt-4o-2024-08-06")
    with pytest.raises(ConfigError, match="nothing is known of a model 'claude-sonet-4-6'.*mean 'claude-sonnet-4"):
        refuse_unknown_profile("claude-sonet-4-6")


def test_every_provider_can_be_asked() -> None:
    assert {"openai", "anthropic", "gemini", "openrouter", "ollama", "lmstudio", "vllm", "azure", "deepseek", "groq",
            "mistral", "together", "xai"} <= {provider.name for provider in known_providers()}
    for provider in known_providers():
        assert provider.dialect == "azure" or provider.url.startswith("http://localhost:" if provider.local else "http")
        assert provider.keys or not provider.needs_key
        for alias in provider.aliases:
            assert provider_of(alias) is find_provider(provider.name)
