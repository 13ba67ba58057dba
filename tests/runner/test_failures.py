"""A failing server: a clear text, the right exit code, what was made is kept, and nowhere a false success."""

from __future__ import annotations

import time
from typing import Any

import pytest

from tests.support.chat_server import Scripted
from tests.support.shop import BETTER, FIRST, HELLO, KEY, SECOND, Shop

COMPLAINT = {"error": {"message": f"you sent {KEY}", "code": "nope"}}

STOPPED: dict[str, tuple[Any, tuple[str, ...]]] = {
    "401": (Scripted(status=401, body=COMPLAINT), ("refuses the key", "OPENAI_API_KEY")),
    "404": (Scripted(status=404, body=COMPLAINT), ("knows no model", "--model")),
    "400": (Scripted(status=400, body=COMPLAINT), ("refuses the request",)),
    "429 for ever": (Scripted(status=429, headers={"Retry-After": "30"}), ("in 6 attempts", "429")),
    "429 for want of money": (Scripted(status=429, body={"error": {"code": "insufficient_quota", "message": "pay"}}),
                              ("quota", "billing")),
    "500 for ever": (Scripted(status=500), ("in 6 attempts", "500")),
    "garbage": (Scripted(body=b"<html>\xff\x00</html>"), ("not JSON", "in 3 attempts")),
    "JSON of another kind": (Scripted(body=["what", 7]), ("no choice",)),
    "an empty choice": (Scripted(body={"choices": []}), ("no choice",)),
    "an empty reply": (Scripted(text=""), ("reply is empty",)),
    "a refusal": (Scripted(text=None, message={"refusal": "I will not do this"}), ("I will not do this",)),
    "a closed connection": (Scripted(reset=True), ("no connection", "in 6 attempts")),
    "half a body": (Scripted(BETTER, cut=60), ("broke off",)),
}


@pytest.mark.parametrize("name", STOPPED)
def test_a_failing_server_stops_the_run_and_what_was_made_is_kept(shop: Shop, name: str) -> None:
    reply, words = STOPPED[name]
    shop.route({FIRST: HELLO, SECOND: reply})
    outcome = shop.run()
    outcome.assert_stopped(3, *words)
    assert "✗ Stopped by an error after " in outcome.out
    everything = outcome.out + outcome.err + outcome.report + str(outcome.records)
    assert KEY not in everything


def test_nothing_made_yet_is_said_as_well(shop: Shop) -> None:
    shop.route({FIRST: Scripted(status=401)})
    outcome = shop.run()
    assert outcome.status == 3
    assert "(0 files, 0 lines)" in outcome.out
    assert "start it" not in outcome.out
    assert "No files." in outcome.report


def test_a_rate_limit_is_waited_for_as_long_as_the_server_says(shop: Shop) -> None:
    shop.environment["CHATDEV_RETRY_SECONDS"] = "5"
    shop.route({FIRST: HELLO, SECOND: [Scripted(status=429, headers={"Retry-After": "0.4"}), BETTER]})
    started = time.monotonic()
    outcome = shop.run()
    outcome.assert_succeeded()
    assert time.monotonic() - started >= 0.4
    assert [call["retries"] for call in outcome.events("ModelCalled")] == [0, 1]
    assert "(failed attempts: 1)" in outcome.report


def test_a_stream_that_is_cut_is_asked_for_again(shop: Shop) -> None:
    shop.route({FIRST: HELLO, SECOND: [Scripted(BETTER, cut=500), BETTER]})
    outcome = shop.run("--stream")
    outcome.assert_succeeded()
    assert outcome.software.text("main.py") == "print('better')\n"


def test_a_stream_that_is_always_cut_stops_the_run(shop: Shop) -> None:
    shop.route({FIRST: HELLO, SECOND: Scripted(BETTER, cut=500)})
    shop.run("--stream").assert_stopped(3, "the stream broke off")


def test_a_wish_for_shorter_waits_that_is_no_number_is_refused(shop: Shop) -> None:
    shop.environment["CHATDEV_RETRY_SECONDS"] = "soon"
    outcome = shop.run()
    assert outcome.status == 2
    assert "CHATDEV_RETRY_SECONDS=soon" in outcome.err
    assert outcome.folder is None
