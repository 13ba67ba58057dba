"""`chatdev trace`: a run's spans, sent or written from its journal."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.checkout import ROOT
from tests.support.otlp_receiver import OtlpReceiver, spans_in
from tests.support.shop import Outcome, Shop

EXAMPLE = ROOT / "company_config" / "chatdev" / "examples" / "primes.jsonl"


@pytest.fixture(autouse=True)
def _one_try(shop: Shop) -> None:
    shop.environment["OTEL_EXPORTER_OTLP_TIMEOUT"] = "2"


def trace(shop: Shop, *more: str, path: Path = EXAMPLE) -> Outcome:
    return shop.command("trace", str(path), *more)


@pytest.mark.parametrize("ending", ["", "/", "/v1/traces"])
def test_it_sends_the_spans_of_a_run(shop: Shop, ending: str) -> None:
    with OtlpReceiver() as receiver:
        outcome = trace(shop, "--endpoint", receiver.url + ending)
        assert outcome.status == 0, outcome.err
        assert outcome.out == (f"{len(receiver.spans)} spans of trace {receiver.spans[0].trace} sent to "
                               f"{receiver.url}/v1/traces\n")


def test_the_standard_variables_name_the_endpoint(shop: Shop) -> None:
    with OtlpReceiver() as receiver:
        shop.environment["OTEL_EXPORTER_OTLP_ENDPOINT"] = receiver.url
        assert trace(shop).status == 0
        assert trace(shop).status == 0
        assert len({span.span for span in receiver.spans}) == len(receiver.spans) // 2  # the same ones again


def test_it_writes_lines_that_collectors_read(shop: Shop) -> None:
    file = shop.folder / "spans.jsonl"
    outcome = trace(shop, "--output", str(file))
    assert outcome.status == 0, outcome.err
    assert trace(shop, "--output", "-").out == file.read_text()
    with OtlpReceiver() as receiver:
        trace(shop, "--endpoint", receiver.url)
        lines = [json.loads(line) for line in file.read_text().splitlines()]
        assert [span for line in lines for span in spans_in(line, hexadecimal=True)] == receiver.spans
    (resource,) = lines[0]["resourceSpans"]
    span = resource["scopeSpans"][0]["spans"][0]
    assert isinstance(span["kind"], int)
    assert (len(span["traceId"]), len(span["spanId"])) == (32, 16)
    assert span["startTimeUnixNano"].isdecimal()


def test_content_is_an_option(shop: Shop) -> None:
    words = "prints prime numbers"
    assert words not in trace(shop, "--output", "-").out
    assert words in trace(shop, "--output", "-", "--content").out


@pytest.mark.parametrize(("path", "status", "words"), [
    (Path("nowhere"), 2, "there is no run and no journal at nowhere"), (ROOT / "README.md", 5, "not a JSON record")])
def test_what_is_no_run_is_refused(shop: Shop, path: Path, status: int, words: str) -> None:
    outcome = trace(shop, path=path)
    assert outcome.status == status
    assert words in outcome.err


@pytest.mark.parametrize(("status", "delay", "words"), [
    (401, 0.0, "401, reason: Unauthorized"), (200, 30.0, "timeout"), (503, 0.0, "Service Unavailable")])
def test_an_endpoint_that_refuses_is_named_with_its_reason(shop: Shop, status: int, delay: float, words: str) -> None:
    with OtlpReceiver(status, delay) as receiver:
        outcome = trace(shop, "--endpoint", receiver.url)
    assert (outcome.status, outcome.out) == (5, "")
    assert f"{receiver.url}/v1/traces does not take the spans: " in outcome.err
    assert words in outcome.err
    assert "--output FILE" in outcome.err


def test_where_nobody_listens_it_says_so_at_once(shop: Shop) -> None:
    outcome = trace(shop, "--endpoint", "http://127.0.0.1:9")
    assert outcome.status == 5
    assert "http://127.0.0.1:9/v1/traces does not take the spans: Connection refused; give the address" in outcome.err


@pytest.mark.parametrize(("more", "status", "words"), [
    (("--endpoint", "http://h", "--output", "f"), 2, "leave one out"),
    (("--endpoint", "localhost:4318"), 2, "the endpoint of spans is 'localhost:4318'"),
    (("--endpoint", "http://h:99999999"), 2, "cannot be set up"), (("--endpoint", "http://[::"), 2, "cannot be set up"),
    (("--output", "no/such/folder/f"), 5, "cannot write")])
def test_odd_options_are_refused(shop: Shop, more: tuple[str, ...], status: int, words: str) -> None:
    outcome = trace(shop, *more)
    assert (outcome.status, "Traceback" in outcome.err) == (status, False)
    assert words in outcome.err
