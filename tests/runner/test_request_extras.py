"""Effort, further fields and headers of requests: where they come from, what is refused, what a record keeps."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from chatdev.config.load import load_company
from chatdev.config.profiles import ModelProfile
from chatdev.errors import ConfigError
from chatdev.llm.base import Message, Request, Sampling
from chatdev.llm.completions import body_of
from chatdev.paths import settings_file
from tests.config.tiny import tiny
from tests.llm.asking import ASK, complete_all, error
from tests.support.chat_server import ChatServer
from tests.support.shop import FIRST, SECOND, Outcome, Shop

SETTINGS = """\
models:
- match: [mine]
  reasoning_effort: low
  extra_body: {top_k: 20, chat_template_kwargs: {enable_thinking: false}}
  headers: {X-Team: of-the-profile, X-Title: a title}
"""


def sampling_of(outcome: Outcome, place: str) -> dict[str, Any]:
    records = [record for record in outcome.records if record["kind"] == "Activity" and record["place"] == place]
    found: dict[str, Any] = records[0]["request"]["sampling"]
    return found


def test_a_request_has_what_a_company_sets(shop: Shop) -> None:
    shop.replies()
    outcome = shop.run("--model", "mine", "--set", "model.reasoning_effort=high", "--set", "model.extra_body.top_k=20",
                       "--set", "phases.change.model.extra_body.min_p=0.1", "--set", "model.headers.X-Team=seven")
    outcome.assert_succeeded()
    first, second = (request for request in shop.server.requests if request.method == "POST")
    assert (first.body["reasoning_effort"], first.body["top_k"]) == ("high", 20)
    assert "top_k" not in second.body, "the phase's own take their place"
    assert second.body["min_p"] == 0.1
    assert first.headers["X-Team"] == second.headers["X-Team"] == "seven"
    assert first.headers["X-ChatDev-Activity"] == FIRST


def test_a_profile_sets_what_no_company_does(shop: Shop) -> None:
    settings_file().parent.mkdir(parents=True)
    settings_file().write_text(SETTINGS, encoding="utf-8")
    shop.replies()
    outcome = shop.run("--model", "openai/mine", "--set", "phases.change.model.reasoning_effort=none",
                       "--set", "model.headers.X-Team=of-the-company")
    outcome.assert_succeeded()
    first, second = shop.server.requests
    assert (first.body["reasoning_effort"], second.body["reasoning_effort"]) == ("low", "none")
    assert first.body["chat_template_kwargs"] == {"enable_thinking": False}
    assert (first.headers["X-Team"], first.headers["X-Title"]) == ("of-the-company", "a title")
    journal = json.dumps(outcome.records)
    assert "of-the-profile" not in journal
    assert "a title" not in journal


def test_they_are_part_of_the_activity_and_a_run_resumes_with_them(shop: Shop) -> None:
    sets = ("--model", "mine", "--set", "model.reasoning_effort=high", "--set", "model.extra_body.top_k=20")
    shop.replies()
    outcome = shop.run(*sets, "--max-calls", "1")
    assert outcome.status == 6
    assert sampling_of(outcome, FIRST)["reasoning_effort"] == "high"
    assert sampling_of(outcome, FIRST)["extra_body"] == {"top_k": 20}
    resumed = shop.command("resume", str(outcome.folder), "--max-calls", "9", "--base-url", shop.server.url)
    assert resumed.status == 0, resumed.err
    assert [request.headers["X-ChatDev-Activity"] for request in shop.server.requests] == [FIRST, SECOND]
    replayed = shop.command("replay", str(outcome.folder))
    assert replayed.status == 0, replayed.err


def test_a_record_without_them_is_as_it_was(shop: Shop) -> None:
    shop.replies()
    outcome = shop.run("--model", "mine")
    assert set(sampling_of(outcome, FIRST)) == {"model", "temperature", "top_p", "max_tokens", "seed"}


OWN = ["messages", "model", "stream", "stream_options", "max_tokens", "max_completion_tokens", "temperature", "top_p",
       "seed", "tools", "tool_choice", "response_format", "n", "reasoning_effort", "functions", "grammar"]


@pytest.mark.parametrize("field", OWN)
def test_no_further_field_overrides_one_of_ours(tmp_path: Path, field: str) -> None:
    with pytest.raises(ConfigError, match=rf"model\.extra_body: '{field}' cannot stand in extra_body; it is decided"):
        load_company(tiny(tmp_path), sets=[f"model.extra_body.{field}=x"])
    sampling = Sampling("m", 0.2, 0.9, 50, 1, "low", {field: "theirs"})
    body = body_of(Request((Message("user", "hi"),), sampling), grammar=False)
    assert body.get(field, "ours") != "theirs" or field not in body_of(
        Request((Message("user", "hi"),), Sampling("m", 0.2, 0.9, 50, 1, "low")), grammar=False)


@pytest.mark.parametrize(("set_", "words"), [
    ("model.reasoning_effort=much", "model.reasoning_effort: 'much' is not possible here; known: none, minimal, low"),
    ("model.extra_body=7", "model.extra_body"),
    ("model.headers.Authorization=Bearer x", "'Authorization' may hold a key"),
    ("model.headers.X-Api-Key=x", "OPENAI_CUSTOM_HEADERS='X-Api-Key: …'"), ("model.headers.Cookie=x", "may hold a key"),
    ("model.headers.cf-aig-authorization=x", "may hold a key"), ("model.headers.Host=x", "is set by chatdev"),
    ("model.headers.X-ChatDev-Role=x", "is set by chatdev"), ("model.headers.a b=x", "is no header"),
    ('model.headers.X-A="a\\nb"', "is no header"),
])
def test_what_cannot_be_sent_is_refused_with_the_fix(tmp_path: Path, set_: str, words: str) -> None:
    with pytest.raises(ConfigError) as refused:
        load_company(tiny(tmp_path), sets=[set_])
    assert words in str(refused.value)


def test_a_key_in_a_companys_file_is_refused_and_not_shown(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="'Authorization' may hold a key") as refused:
        load_company(tiny(tmp_path, "model: {headers: {Authorization: Bearer very-secret}}"))
    assert "very-secret" not in str(refused.value)


@pytest.mark.parametrize("field", [{"extra_body": {"messages": []}}, {"extra_body": {"x": float("inf")}},
                                   {"headers": {"Authorization": "x"}}, {"reasoning_effort": "much"}])
def test_profiles_refuse_the_same(field: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="validation error"):
        ModelProfile.model_validate({"match": ["x"], **field})


def test_an_effort_that_a_model_has_not_is_left_out(chat_server: ChatServer) -> None:
    chat_server.script(error(400, "Unrecognized request argument supplied: reasoning_effort"), "one", "two")
    request = Request(ASK.messages, Sampling("m", reasoning_effort="high"))
    assert [reply.text for reply in complete_all(chat_server, [request, request])] == ["one", "two"]
    assert ["reasoning_effort" in sent.body for sent in chat_server.requests] == [True, False, False]
