"""Servers that fail: what is tried again and when, what is learned from it, and what a failure for good says."""

import asyncio
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatdev.connection import Endpoint
from chatdev.errors import ContextOverflow, ModelRejected, ModelUnavailable, UnusableReply
from chatdev.llm.base import Constraint, Image, Message, Reply, Request, Sampling, ToolSpec
from chatdev.llm.failures import retry_after_seconds
from chatdev.llm.openai_model import Adaptations, OpenAIModel
from tests.llm.asking import ASK, KEY, Naps, complete, complete_all, error, failure
from tests.support.chat_server import ChatServer, Scripted

BODY = {"model": "m", "temperature": 1.5, "max_tokens": 50, "seed": 3, "stream_options": {}, "response_format": {},
        "messages": []}


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


@pytest.mark.parametrize(("reply", "requests"), [
    (Scripted(""), 3), (Scripted(None, message={"refusal": "I must not"}), 2),
    *((Scripted("x", finish_reason=why), 2) for why in ("content_filter", "SAFETY", "sensitive"))])
def test_replies_that_stay_unusable_are_reported(chat_server: ChatServer, reply: Scripted, requests: int) -> None:
    chat_server.route(lambda _: reply)
    assert isinstance(failure(chat_server), UnusableReply)
    assert len(chat_server.requests) == requests


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


def test_an_error_of_any_length_is_understood_at_once(chat_server: ChatServer) -> None:
    chat_server.script(error(400, "no tool " * 200_000))
    start = time.process_time()
    asked = replace(ASK, tools=(ToolSpec("look", "Looks.", {"type": "object"}),))
    assert isinstance(failure(chat_server, asked), ModelRejected)
    assert time.process_time() - start < 2


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


@pytest.mark.parametrize(("header", "seconds"), [
    (None, None), ("", None), ("soon", None), ("3", 3), ("0.5", 0.5), ("-4", 0), ("nan", 0),
    ("Sun, 6 Nov 1994 8:49:3000000000", None),
    (format_datetime(datetime(2001, 1, 1, tzinfo=UTC), usegmt=True), 0)])
def test_a_wait_is_read_or_ignored(header: str | None, seconds: float | None) -> None:
    assert retry_after_seconds(header) == seconds


@given(st.floats(0, 1e6))
def test_a_date_is_as_far_away_as_it_is(ahead: float) -> None:
    when = datetime.now(UTC) + timedelta(seconds=ahead)
    wait = retry_after_seconds(format_datetime(when))
    assert wait is not None
    assert ahead - 2 < wait <= ahead + 1


@given(st.text() | st.from_regex(r"[A-Z][a-z]{2}, \d+ [A-Z][a-z]{2} \d+ \d+:\d+:\d+ \S*", fullmatch=True))
def test_no_header_however_odd_breaks_the_reading(header: str) -> None:
    wait = retry_after_seconds(header)
    assert wait is None or wait >= 0


def test_a_parameter_the_model_refuses_is_adapted_once_and_remembered(chat_server: ChatServer) -> None:
    tokens = "Unsupported parameter: 'max_tokens' is not supported here. Use 'max_completion_tokens' instead."
    chat_server.script(error(400, tokens, param="max_tokens", code="unsupported_parameter"),
                       error(400, "Unsupported value: 'temperature' must not be 0.2", param="temperature"), "a", "b")
    request = Request(ASK.messages, Sampling("o9", temperature=0.2, max_tokens=50))
    replies = complete_all(chat_server, [request, request])
    assert [r.text for r in replies] == ["a", "b"]
    assert [r.retries for r in replies] == [0, 0]
    for sent in chat_server.requests[2:]:
        assert sent.body["max_completion_tokens"] == 50
        assert "temperature" not in sent.body
        assert "max_tokens" not in sent.body


@pytest.mark.parametrize(("complaint", "parameter"), [
    ("Unrecognized request argument supplied: seed", "seed"),
    ({"detail": [{"loc": ["body", "seed"], "msg": "Extra inputs are not permitted"}]}, "seed"),
    ({"error": {"message": "not here", "param": "response_format.type"}}, "response_format"),
    ({"error": {"message": "JSON schema conversion failed: Unrecognized schema"}}, "response_format"),
    ({"message": "stream_options is not supported"}, "stream_options"),
    ({"error": {"message": "invalid temperature: only 0.6 is allowed for this model"}}, "temperature"),
    ({"error": {"message": "`temperature` is deprecated"}}, "temperature")])
def test_the_parameter_is_found_however_the_server_says_it(complaint: object, parameter: str) -> None:
    adaptations = Adaptations()
    assert adaptations.learn(BODY, complaint)
    assert adaptations.apply(BODY).keys() == BODY.keys() - {parameter}
    assert adaptations.apply({**BODY, "model": "other"}) == {**BODY, "model": "other"}


def test_a_model_that_takes_neither_name_of_a_limit_gets_none() -> None:
    adaptations = Adaptations()
    for name in ("max_tokens", "max_completion_tokens"):
        assert adaptations.learn(adaptations.apply(BODY), {"message": f"unsupported: {name}", "param": name})
    assert not {"max_tokens", "max_completion_tokens"} & adaptations.apply(BODY).keys()


@pytest.mark.parametrize("text", ["Invalid 'temperature': above the maximum of 1", "max_tokens is too large: 50",
                                  "something else is not supported"])
def test_a_wrong_value_is_reported_and_never_dropped(chat_server: ChatServer, text: str) -> None:
    chat_server.script(error(400, text, type="invalid_request_error", param=text.split()[0]))
    request = Request(ASK.messages, Sampling("m", temperature=1.5, max_tokens=50))
    problem = failure(chat_server, request)
    assert isinstance(problem, ModelRejected)
    assert text in str(problem)


def test_an_overflow_that_names_a_limit_teaches_nothing(chat_server: ChatServer) -> None:
    text = "'max_tokens' is not supported so large: this model's maximum context length is 4096 tokens"
    chat_server.script(error(400, text, param="max_tokens"))
    assert isinstance(failure(chat_server, Request(ASK.messages, Sampling("m", max_tokens=50))), ContextOverflow)
    assert len(chat_server.requests) == 1


def test_a_constraint_that_is_refused_is_only_a_hint(chat_server: ChatServer) -> None:
    chat_server.script(error(400, "Invalid schema for response_format 'solution'"), "fine")
    request = Request(ASK.messages, ASK.sampling, constraint=Constraint(schema={"type": "array"}))
    assert complete_all(chat_server, [request])[0].text == "fine"
    assert "response_format" not in chat_server.requests[1].body


def test_a_server_that_repeats_its_complaint_is_not_asked_for_ever(chat_server: ChatServer) -> None:
    chat_server.route(lambda _: error(400, "unsupported temperature", param="temperature"))
    assert isinstance(failure(chat_server), ModelRejected)
    assert len(chat_server.requests) == 2


def test_requests_under_way_at_once_all_learn_from_the_same_refusal(chat_server: ChatServer) -> None:
    refusal = replace(error(400, "unsupported temperature", param="temperature"), delay=0.2)
    chat_server.route(lambda request: refusal if "temperature" in request.body else "fine")

    async def ask_at_once() -> list[Reply]:
        model = OpenAIModel(Endpoint(chat_server.url, KEY))
        try:
            return await asyncio.gather(*(model.complete(ASK) for _ in range(4)))
        finally:
            await model.close()

    assert [reply.text for reply in asyncio.run(ask_at_once())] == ["fine"] * 4
    assert len(chat_server.requests) == 8


@pytest.mark.parametrize("refusal", [
    error(400, "Invalid content type. image_url is only supported by certain models."),
    error(400, "At most 0 image(s) may be provided in one prompt."),
    error(404, "No endpoints found that support image input"),
    error(422, "messages[0]: unknown variant `image_url`, expected `text`"),
    error(400, "'messages.1.content' : value must be a string"),
    error(500, "image input is not supported - hint: you may need to provide the mmproj")])
def test_a_model_without_eyes_is_told_apart_with_what_to_do(chat_server: ChatServer, refusal: Scripted) -> None:
    chat_server.script(refusal)
    look = replace(ASK, messages=(Message("user", "look", (Image(b"png"),)),), headers={"X-ChatDev-Role": "watcher"})
    problem = failure(chat_server, look)
    assert isinstance(problem, ModelRejected)
    assert "the model 'some-model' takes no such picture" in str(problem)
    assert "--set roles.watcher.model.name=MODEL; or leave the picture out and describe it in words" in str(problem)
    assert len(chat_server.requests) == 1


@pytest.mark.parametrize(("refusal", "says"), [
    (error(404, "the model 'some-vision-model' does not exist"), "knows no model"),
    (error(400, "temperature is too high"), "refuses the request (400: temperature")])
def test_other_refusals_are_not_blamed_on_a_picture(chat_server: ChatServer, refusal: Scripted, says: str) -> None:
    chat_server.script(refusal)
    look = replace(ASK, messages=(Message("user", "look", (Image(b"png"),)),), sampling=Sampling("some-vision-model"))
    assert says in str(failure(chat_server, look))


def test_a_short_name_of_a_model_hides_no_word(chat_server: ChatServer) -> None:
    chat_server.script(error(400, "image_url is only supported by certain models"))
    look = replace(ASK, messages=(Message("user", "look", (Image(b"png"),)),), sampling=Sampling("m"))
    assert "takes no such picture" in str(failure(chat_server, look))


def test_words_about_images_are_no_matter_where_none_was_shown(chat_server: ChatServer) -> None:
    chat_server.script(error(400, "Invalid content type. image_url is only supported by certain models."))
    assert "refuses the request" in str(failure(chat_server))
