"""Every setting that README and docs/cli.md name, tried where they say it may stand."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from chatdev.llm.local.weights import QWEN
from chatdev.paths import settings_file
from tests.support.checkout import README
from tests.support.help_docs import PAGE
from tests.support.shop import Shop


def write_settings(text: str) -> None:
    settings_file().parent.mkdir(parents=True, exist_ok=True)
    settings_file().write_text(text, encoding="utf-8")


def bearer(shop: Shop) -> str:
    return str(shop.server.requests[0].headers["Authorization"])


@pytest.fixture
def bare(shop: Shop, here: Path) -> Shop:
    """A shop whose environment says nothing, in an empty folder."""
    shop.environment = {"CHATDEV_RETRY_SECONDS": "0"}
    shop.replies()
    return shop


def test_the_settings_file_of_the_readme_is_taken_as_it_stands(bare: Shop, tmp_path: Path,
                                                               monkeypatch: pytest.MonkeyPatch) -> None:
    (block,) = re.findall(r"```yaml\n(.*?)```", README, re.DOTALL)
    write_settings(re.sub("^  ", "", block, flags=re.MULTILINE).replace("gpt-4o", "my-model-7"))
    monkeypatch.setenv("HOME", str(tmp_path))
    outcome = bare.command("run", "TASK", "--company", str(bare.company), "--base-url", bare.server.url)
    assert outcome.status == 0, outcome.err
    assert {request.body["model"] for request in bare.server.requests} == {"my-model-7"}
    assert {request.body["max_tokens"] for request in bare.server.requests} == {4096}
    (run,) = (tmp_path / "warehouse").iterdir()
    assert "<$0.0001" in outcome.out, "14 and 10 tokens at the price of the file"
    assert (run / "run" / "report.md").is_file()


def test_model_and_address_may_stand_in_the_settings_file(bare: Shop) -> None:
    write_settings(f"model: mine\nbase_url: {bare.server.url}\nsandbox: none\n")
    bare.run().assert_succeeded()
    assert bare.server.requests[0].body["model"] == "mine"


def test_key_address_model_and_waits_may_stand_in_dotenv(bare: Shop, here: Path) -> None:
    bare.environment = {}
    (here / ".env").write_text(f"OPENAI_API_KEY=sk-of-the-file-1234\nOPENAI_BASE_URL={bare.server.url}\n"
                               "CHATDEV_MODEL=mine\nCHATDEV_RETRY_SECONDS=0\nCHATDEV_REPLY_SECONDS=9\n")
    bare.run().assert_succeeded()
    assert bare.server.requests[0].body["model"] == "mine"
    assert bearer(bare) == "Bearer sk-of-the-file-1234"


@pytest.mark.parametrize("name", ["CHATDEV_RETRY_SECONDS", "CHATDEV_REPLY_SECONDS"])
def test_the_waits_of_dotenv_are_read_too(bare: Shop, here: Path, name: str) -> None:
    bare.environment = {"OPENAI_BASE_URL": bare.server.url}
    (here / ".env").write_text(f"{name}=soon\n")
    outcome = bare.run()
    assert outcome.status == 2
    assert f"{name}=soon" in outcome.err


def test_azure_may_stand_in_dotenv(bare: Shop, here: Path) -> None:
    (here / ".env").write_text(f"AZURE_OPENAI_ENDPOINT={bare.server.url.removesuffix('/v1')}\n"
                               "AZURE_OPENAI_API_KEY=azure-key-of-the-file\nOPENAI_API_VERSION=2099-01-01\n")
    bare.run("--model", "mine").assert_succeeded()
    request = bare.server.requests[0]
    assert request.headers["api-key"] == "azure-key-of-the-file"
    assert "mine" in request.path
    assert "api-version=2099-01-01" in request.path


def test_the_environment_wins_over_the_settings_file_and_that_over_dotenv(bare: Shop, here: Path) -> None:
    (here / ".env").write_text(f"CHATDEV_MODEL=of-dotenv\nOPENAI_BASE_URL={bare.server.url}\n")
    bare.run().assert_succeeded()
    write_settings("model: of-settings\n")
    bare.run().assert_succeeded()
    bare.environment["CHATDEV_MODEL"] = "of-environment"
    bare.run().assert_succeeded()
    bare.run("--model", "of-flag").assert_succeeded()
    models = list(dict.fromkeys(request.body["model"] for request in bare.server.requests))
    assert models == ["of-dotenv", "of-settings", "of-environment", "of-flag"]


def test_the_cache_is_where_the_variable_says(shop: Shop, tmp_path: Path) -> None:
    shop.environment["CHATDEV_CACHE"] = str(tmp_path / "elsewhere")
    outcome = shop.command("model", "path")
    assert outcome.status == 1
    assert outcome.out == f"{tmp_path / 'elsewhere' / 'models' / QWEN.file}\n"
    assert "chatdev model pull" in outcome.err


def test_the_cache_cannot_be_moved_by_dotenv_and_both_pages_say_so(shop: Shop, here: Path) -> None:
    (here / ".env").write_text(f"CHATDEV_CACHE={here}\n")
    assert str(here) not in shop.command("model", "path").out
    assert "except `CHATDEV_CACHE`" in README
    assert PAGE.read_text(encoding="utf-8").count("except the last two") == 1


def test_the_path_of_a_model_that_is_there_exits_with_zero(shop: Shop, tmp_path: Path) -> None:
    shop.environment["CHATDEV_CACHE"] = str(tmp_path)
    (tmp_path / "models").mkdir()
    with (tmp_path / "models" / QWEN.file).open("wb") as file:
        file.truncate(QWEN.size)
    outcome = shop.command("model", "path")
    assert (outcome.status, outcome.err) == (0, "")


def test_play_works_in_the_sandbox_of_the_settings_file(bare: Shop, tmp_path: Path) -> None:
    software, outside = tmp_path / "somewhere", tmp_path / "outside"
    software.mkdir()
    (software / "main.py").write_text(f"open({str(outside)!r}, 'w').close()\n")
    write_settings("sandbox: none\n")
    assert bare.command("play", str(software)).status == 0
    assert outside.exists()
