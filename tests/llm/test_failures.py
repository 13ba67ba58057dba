"""Servers that fail: what is tried again, how long it waits, and what a failure for good says."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from chatdev.errors import ContextOverflow, ModelRejected, ModelUnavailable, UnusableReply
from chatdev.llm.base import Request, ToolSpec
from tests.llm.asking import ASK, KEY, Naps, complete, error, failure
from tests.support.chat_server import ChatServer, Scripted


@pytest.mark.parametrize("trouble", [
    error(429), error(500), error(502), error(503), error(408), Scripted(reset=True), Scripted("cut", cut=30),
    Scripted(body=b"<html>garbage"), Scripted(body={"choices": []}), Scripted(body={"unrelated": 1}), Scripted(body=[]),
    Scripted(""), Scripted(None), Scripted(None, message={"refusal": "I must not"})])
def test_trouble_that_may_pass_is_retried_and_counted(chat_server: ChatServer, trouble: Scripted) -> None:
    chat_server.script(trouble, "fine")
    reply = complete(chat_server)
    assert (reply.text, reply.retries) == ("fine", 1)


def test_retry_after_is_honoured_in_seconds_and_as_a_date(chat_server: ChatServer) -> None:
    soon = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    chat_server.script(*(Scripted(status=503, headers={"Retry-After": wait}) for wait in ("3", soon, "9999")), "fine")
    naps = Naps()
    complete(chat_server, naps=naps)
    assert naps.taken[0] == 3
    assert 25 < naps.taken[1] <= 30
    assert naps.taken[2] == 60


def test_an_outage_that_lasts_ends_in_a_clear_error_after_six_attempts(chat_server: ChatServer) -> None:
    chat_server.route(lambda _: error(500, f"boom {KEY}"))
    naps = Naps()
    problem = failure(chat_server, naps=naps)
    assert isinstance(problem, ModelUnavailable)
    assert "6 attempts" in str(problem)
    assert "500" in str(problem)
    assert len(chat_server.requests) == 6
    assert sum(naps.taken) < 60


def test_a_server_that_is_not_there(chat_server: ChatServer) -> None:
    problem = failure(chat_server, url="http://127.0.0.1:9/v1")
    assert isinstance(problem, ModelUnavailable)
    assert "127.0.0.1:9" in str(problem)


def test_a_server_that_never_answers_times_out(chat_server: ChatServer) -> None:
    chat_server.route(lambda _: Scripted("late", delay=2))
    assert isinstance(failure(chat_server, timeout=0.05), ModelUnavailable)


@pytest.mark.parametrize("streamed", [False, True])
def test_a_reply_that_trickles_in_for_ever_is_asked_for_again(chat_server: ChatServer, streamed: bool) -> None:
    chat_server.script(Scripted("drop by drop " * 20, drip=0.05), "whole")
    asked = replace(ASK, on_text=(lambda _: None) if streamed else None)
    reply = complete(chat_server, asked, timeout=5, longest=0.5)
    assert (reply.text, reply.retries) == ("whole", 1)


def test_an_outage_does_not_use_up_the_attempts_of_an_unusable_reply(chat_server: ChatServer) -> None:
    chat_server.script(error(503), error(503), Scripted(body=b"garbage"), error(503), Scripted(""), "fine")
    assert complete(chat_server).retries == 5


@pytest.mark.parametrize("reply", [Scripted(""), Scripted(None, message={"refusal": "I must not"}),
                                   Scripted("x", finish_reason="content_filter")])
def test_replies_that_stay_unusable_are_reported(chat_server: ChatServer, reply: Scripted) -> None:
    chat_server.route(lambda _: reply)
    assert isinstance(failure(chat_server), UnusableReply)
    assert len(chat_server.requests) == 3


@pytest.mark.parametrize(("reply", "says"), [
    (error(401, f"bad key {KEY}"), "check OPENAI_API_KEY"), (error(403), "check OPENAI_API_KEY"),
    (error(404, "no such model"), "knows no model 'some-model'"),
    (error(429, "pay", code="insufficient_quota"), "quota"), (error(400, "odd"), "odd")])
def test_refusals_are_not_retried_and_say_what_to_do(chat_server: ChatServer, reply: Scripted, says: str) -> None:
    chat_server.script(reply)
    problem = failure(chat_server)
    assert isinstance(problem, ModelRejected)
    assert says in str(problem)
    assert len(chat_server.requests) == 1


@pytest.mark.parametrize("reply", [
    error(400, "This model's maximum context length is 8192 tokens", code="context_length_exceeded"),
    error(400, "the request exceeds the available context size", type="exceed_context_size_error"), error(413)])
def test_a_request_that_does_not_fit_is_told_apart(chat_server: ChatServer, reply: Scripted) -> None:
    chat_server.script(reply)
    assert isinstance(failure(chat_server), ContextOverflow)


def test_a_refusal_of_any_length_is_shown_short(chat_server: ChatServer) -> None:
    chat_server.route(lambda _: Scripted(None, message={"refusal": "never " * 100_000}))
    assert len(str(failure(chat_server))) < 500


def test_no_part_of_the_key_is_left_where_a_long_text_is_cut(chat_server: ChatServer) -> None:
    for before in range(280, 300):
        chat_server.script(error(400, "x" * before + " " + KEY))
        assert KEY[:4] not in str(failure(chat_server))


def test_an_error_inside_a_reply_counts_like_its_status(chat_server: ChatServer) -> None:
    chat_server.script(Scripted(body={"error": {"message": "provider down", "code": 502}}),
                       Scripted(body={"error": "busy"}), "fine")
    assert complete(chat_server).retries == 2
    chat_server.script(Scripted(body={"error": {"message": "no credit", "code": 402}}))
    problem = failure(chat_server)
    assert isinstance(problem, ModelRejected)
    assert "no credit" in str(problem)


def test_json_that_is_nested_too_deep_is_no_reply(chat_server: ChatServer) -> None:
    chat_server.script(Scripted(body=b"[" * 100_000), "fine")
    assert complete(chat_server).retries == 1


def test_too_many_tokens_a_minute_is_waited_for_and_not_trimmed(chat_server: ChatServer) -> None:
    chat_server.script(error(429, "Too many tokens, please wait"), "fine")
    assert complete(chat_server).retries == 1


def test_a_model_without_native_tools_is_told_apart_with_what_to_do(chat_server: ChatServer) -> None:
    request = Request(ASK.messages, ASK.sampling, tools=(ToolSpec("look", "Look.", {"type": "object"}),))
    for status, text in ((400, "some-model does not support tools"), (404, "No endpoints support tool use"),
                         (400, '"auto" tool choice requires --enable-auto-tool-choice')):
        chat_server.script(error(status, text))
        assert "native_tools: false" in str(failure(chat_server, request))


def test_secrets_in_an_address_are_not_shown(chat_server: ChatServer) -> None:
    problem = failure(chat_server, url="http://joe:sesame@127.0.0.1:9/v1?key=sesame")
    assert "sesame" not in str(problem)
    assert "http://127.0.0.1:9/v1" in str(problem)
