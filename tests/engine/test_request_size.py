"""A request that cannot fit its model's window is refused before anything is paid, with the figures."""

from __future__ import annotations

from pathlib import Path

import pytest

from chatdev import Company
from chatdev.config.profiles import ModelProfile
from chatdev.engine.model_calls import reason_too_large
from chatdev.errors import ConfigError
from chatdev.llm.base import Message, Request, Sampling
from tests.support.chat_server import ChatServer

WORDS = "one two three four five six seven eight nine ten\n"


@pytest.mark.parametrize(("words", "context", "model", "is_refused"), [
    (10, 128_000, "gpt-4o", False), (10_000, 128_000, "gpt-4o", False), (20_000, 128_000, "gpt-4o", True),
    (13_000, 128_000, "gpt-4o", True), (13_000, 128_000, "other", False), (20_000, 128_000, "other", True),
    (20_000, None, "other", False), (1, 100, "gpt-4o", True)])
def test_what_cannot_fit_is_named(words: int, context: int | None, model: str, is_refused: bool) -> None:
    request = Request((Message("user", WORDS * words),), Sampling(model))
    reason = reason_too_large(request, ModelProfile(match=["*"], context=context))
    assert bool(reason) == is_refused
    assert not reason or f"{context:,}" in reason


def test_a_task_that_is_too_long_costs_nothing(chat_server: ChatServer, tmp_path: Path) -> None:
    chat_server.route(lambda _: "<SOLUTION>")
    made = Company.load("single").run(WORDS * 30_000, model="gpt-4o", base_url=chat_server.url, warehouse=tmp_path)
    assert made.status == "error"
    assert "the request has about 3" in made.reason
    assert chat_server.requests == []


def test_software_that_is_too_large_is_refused_at_once(chat_server: ChatServer, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    for number in range(20):
        (tmp_path / "mine" / f"m{number}.py").write_text(f"# {WORDS}" * 1000)
    with pytest.raises(ConfigError, match=r"has 20 files and more than [\d,]+ tokens.*--company maintain"):
        Company.load("chatdev").run("Change it.", model="gpt-4o", base_url=chat_server.url, software=tmp_path / "mine",
                                    warehouse=tmp_path / "runs")
    assert chat_server.requests == []
    assert not (tmp_path / "runs").exists()
