"""Spans on their way out: when they are sent, what of a resumed run, and that no run suffers from it."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from chatdev.runner.telemetry import LiveSpans, otlp_lines, spans_of, wants_spans
from tests.support.chat_server import ChatServer
from tests.support.durable import PAGE, answered, resume, stopped_at, uninterrupted
from tests.support.otlp_receiver import OtlpReceiver, Received, spans_in
from tests.support.shop import KEY, Outcome, Shop

ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"
UNSENT = "does not take the spans"


@pytest.fixture(autouse=True)
def _no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("OTEL_")]:
        monkeypatch.delenv(name)


@pytest.fixture
def receiver() -> Iterator[OtlpReceiver]:
    """A collector."""
    with OtlpReceiver() as receiver:
        yield receiver


@pytest.fixture
def traced(workshop: Shop, receiver: OtlpReceiver) -> Shop:
    """The workshop, whose environment names the collector."""
    workshop.environment[ENDPOINT] = receiver.url
    return workshop


def in_order(spans: Sequence[Received]) -> list[Received]:
    return sorted(spans, key=lambda span: span.span)


def of_journal(outcome: Outcome) -> list[Received]:
    """The spans that the journal of a run gives afterwards."""


    assert outcome.folder is not None
    return in_order([span for line in otlp_lines(spans_of(outcome.folder))
                     for span in spans_in(json.loads(line), hexadecimal=True)])


def notes(outcome: Outcome) -> list[str]:
    return [event["text"] for event in outcome.events("Noted") if UNSENT in event["text"]]


def test_a_run_sends_the_spans_that_its_journal_gives(traced: Shop, receiver: OtlpReceiver) -> None:
    outcome = uninterrupted(traced)
    assert in_order(receiver.spans) == of_journal(outcome)
    assert [span.name for span in receiver.spans if not span.parent] == ["invoke_workflow stage"]
    assert sum(span.name.startswith("chat ") for span in receiver.spans) == 7
    assert KEY not in receiver.text
    assert "print('hello')" not in receiver.text


def test_a_resumed_run_goes_on_in_the_same_trace(traced: Shop, receiver: OtlpReceiver) -> None:
    stopped = stopped_at(traced, PAGE)
    before = [*receiver.spans]
    (root,) = (span for span in before if not span.parent)
    assert (root.failed, root.attributes["error.type"]) == (True, "ModelUnavailable")
    assert {span.name for span in before if span.failed} == {"invoke_workflow stage", "phase page"}
    resumed = resume(traced, stopped.folder)
    assert in_order(receiver.spans) == of_journal(resumed)
    (second,) = (span for span in receiver.spans if span.attributes.get("chatdev.session") == 2)
    assert (second.trace, second.parent, second.failed) == (root.trace, root.span, False)
    calls = [span for span in receiver.spans if span.name.startswith("chat ")]
    replayed = [span for span in calls if span.attributes["chatdev.replayed"]]
    assert (len(calls), len(replayed)) == (13, 6)
    assert all("gen_ai.usage.input_tokens" not in span.attributes for span in replayed)


def test_spans_that_a_killed_run_left_open_are_sent_when_it_goes_on(traced: Shop, receiver: OtlpReceiver) -> None:
    traced.environment["OTEL_SDK_DISABLED"] = "true"
    stopped = stopped_at(traced, PAGE)
    assert stopped.folder is not None
    journal = stopped.folder / "run" / "journal.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(lines[:-1]))  # without its `RunFinished`
    del traced.environment["OTEL_SDK_DISABLED"]
    assert receiver.spans == []
    resumed = resume(traced, stopped.folder)
    missing = {span.name for span in of_journal(resumed)} - {span.name for span in receiver.spans}
    assert missing == set()
    assert sorted(span.name for span in receiver.spans if span.attributes.get("error.type") == "interrupted") == [
        "invoke_workflow stage", "phase page"]


def test_a_fork_has_a_trace_of_its_own_with_what_it_took_over(traced: Shop, receiver: OtlpReceiver) -> None:
    whole = uninterrupted(traced)
    answered(traced)
    fork = resume(traced, whole.folder, "--from", "page#1", "--name", "b-fork")
    spans = [span for span in receiver.spans if span.trace != receiver.spans[0].trace]
    assert in_order(spans) == of_journal(fork)
    assert sum(bool(span.attributes.get("chatdev.replayed")) for span in spans) > 6


def test_a_replay_sends_nothing(traced: Shop, receiver: OtlpReceiver) -> None:
    whole = uninterrupted(traced)
    sent = len(receiver.spans)
    assert traced.command("replay", str(whole.folder)).status == 0
    assert len(receiver.spans) == sent


@pytest.mark.parametrize(("status", "delay", "words"), [
    (401, 0.0, "401"), (404, 0.0, "404"), (200, 60.0, "no answer in"), (503, 0.0, "Service Unavailable")])
def test_a_collector_that_fails_neither_ends_nor_holds_up_a_run(workshop: Shop, status: int, delay: float,
                                                                words: str) -> None:
    with OtlpReceiver(status, delay) as receiver:
        workshop.environment[ENDPOINT] = receiver.url
        outcome = uninterrupted(workshop)
    (note,) = notes(outcome)
    assert words in note
    assert "`chatdev trace` sends its spans afterwards" in note
    assert note in outcome.out
    assert outcome.events("RunFinished")[-1]["status"] == "success"


def test_an_exporter_that_hangs_is_waited_for_but_a_moment() -> None:
    released = threading.Event()

    class Hanging:
        def export(self, spans: Sequence[Any]) -> Any:
            released.wait(60)

        def shutdown(self) -> None:
            """Nothing."""

    spans = LiveSpans(Hanging())
    for kind in ("Order", "RunStarted", "RunFinished"):
        spans.add({"kind": kind, "place": "", "company": "c", "name": "n", "status": "success"})
    began = time.monotonic()
    asyncio.run(spans.flush())
    assert time.monotonic() - began < 30
    assert "no answer in 2 s" in spans.problem()
    released.set()


def test_where_nobody_listens_one_warning_says_so(workshop: Shop) -> None:
    workshop.environment[ENDPOINT] = "http://127.0.0.1:9"
    outcome = uninterrupted(workshop)
    (note,) = notes(outcome)
    assert note.startswith("http://127.0.0.1:9/v1/traces does not take the spans: Connection refused")
    assert "opentelemetry" not in outcome.err


def test_an_exporter_of_ones_own_may_break(here: Path, chat_server: ChatServer) -> None:
    from chatdev import Company

    class Broken:
        def export(self, spans: Sequence[Any]) -> Any:
            raise ZeroDivisionError("no spans today")

        def shutdown(self) -> None:
            raise ZeroDivisionError("nor an end")

    shop = Shop(here, chat_server)
    shop.replies()
    run = Company.load(shop.company).run("TASK", base_url=chat_server.url, api_key=KEY, otel=Broken())
    assert run.status == "success"
    (note,) = (note for note in run.notes if UNSENT in note)
    assert "ZeroDivisionError: no spans today" in note


def test_a_full_queue_loses_spans_and_says_so(traced: Shop, receiver: OtlpReceiver) -> None:
    traced.environment |= {"OTEL_BSP_MAX_QUEUE_SIZE": "3", "OTEL_BSP_MAX_EXPORT_BATCH_SIZE": "3"}
    receiver.delay = 0.5
    (note,) = notes(uninterrupted(traced))
    assert "found no room in the queue" in note or "no answer in" in note


@pytest.mark.parametrize(("given", "variables", "wanted"), [
    (None, {}, False), (True, {}, True), (False, {ENDPOINT: "http://h"}, False), (None, {ENDPOINT: "http://h"}, True),
    (None, {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://h"}, True), (None, {"OTEL_TRACES_EXPORTER": "otlp"}, True),
    (None, {"OTEL_TRACES_EXPORTER": "console,otlp"}, True), (None, {"OTEL_SERVICE_NAME": "x"}, False),
    (None, {ENDPOINT: "http://h", "OTEL_TRACES_EXPORTER": "none"}, False), (None, {ENDPOINT: ""}, False),
    (None, {ENDPOINT: "http://h", "OTEL_SDK_DISABLED": "True"}, False)])
def test_options_and_standard_variables_say_whether_spans_are_sent(
        monkeypatch: pytest.MonkeyPatch, given: bool | None, variables: dict[str, str], wanted: bool) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert wants_spans(given) is wanted


def test_a_dotenv_names_no_collector(workshop: Shop, here: Path, receiver: OtlpReceiver) -> None:
    (here / ".env").write_text(f"{ENDPOINT}={receiver.url}\n")
    uninterrupted(workshop)
    assert receiver.spans == []


def test_resource_and_headers_are_those_of_the_environment(traced: Shop, receiver: OtlpReceiver) -> None:
    traced.environment |= {"OTEL_EXPORTER_OTLP_HEADERS": "x-api-key=abc123def456ghi", "OTEL_SERVICE_NAME": "factory",
                           "OTEL_RESOURCE_ATTRIBUTES": "deployment.environment.name=test"}
    uninterrupted(traced)
    assert receiver.headers[0]["x-api-key"] == "abc123def456ghi"
    for word in ("factory", "deployment.environment.name", "service.version"):
        assert word in receiver.text
    assert "abc123def456ghi" not in receiver.text


WITHOUT = """
import sys
sys.modules["opentelemetry"] = None
from chatdev.cli.app import main
main(sys.argv[1:])
"""


def without_the_extra(shop: Shop, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", WITHOUT, *arguments], capture_output=True, text=True, check=False,
                          timeout=120, env={**os.environ, **shop.environment})


def test_without_the_extra_the_option_names_it_before_anything_is_paid(shop: Shop) -> None:
    done = without_the_extra(shop, *shop.arguments("--otel"))
    assert (done.returncode, shop.server.requests, shop.warehouse.exists()) == (4, [], False), done.stderr
    assert "pip install 'chatdev-chain[otel]'" in done.stderr


def test_without_the_extra_the_environment_alone_stops_no_run(shop: Shop) -> None:
    shop.environment[ENDPOINT] = "http://127.0.0.1:9"
    shop.replies()
    done = without_the_extra(shop, *shop.arguments())
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("pip install 'chatdev-chain[otel]'") == 1


def test_odd_variables_are_refused_where_the_option_asks(shop: Shop) -> None:
    shop.environment |= {ENDPOINT: "collector:4317"}
    outcome = shop.run("--otel")
    assert (outcome.status, shop.server.requests) == (2, [])
    assert "the endpoint of spans is 'collector:4317'; give an address, such as http://localhost:4318" in outcome.err


def test_opentelemetry_is_imported_only_where_spans_are_asked_for(shop: Shop) -> None:
    program = ("import sys, chatdev.cli.run_commands, chatdev.cli.show, chatdev.runner.telemetry\n"
               "print([name for name in sys.modules if name.startswith('opentelemetry')])")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_record_that_breaks_our_own_code_is_told_not_raised() -> None:
    spans = LiveSpans(True)
    spans.add({"kind": "RunStarted"})
    assert "KeyError" in spans.problem()
    assert spans.problem() == ""
