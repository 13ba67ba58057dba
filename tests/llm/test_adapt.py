"""What a model does not take is learnt once; what is only wrong is reported."""

import pytest

from chatdev.errors import ContextOverflow, ModelRejected
from chatdev.llm.base import Constraint, Request, Sampling
from chatdev.llm.failures import Adaptations
from tests.llm.asking import ASK, complete_all, error, failure
from tests.support.chat_server import ChatServer

BODY = {"model": "m", "temperature": 1.5, "max_tokens": 50, "seed": 3, "stream_options": {}, "response_format": {},
        "messages": []}


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
