"""Spans of runs on their way out: to an OTLP endpoint while a run is under way, or afterwards, or into a file.

OpenTelemetry is imported only when spans are asked for. Endpoint, headers, time-outs and the like are its own standard
variables (OTEL_…) of the process, never those of a `.env`.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
import socket
import threading
import time
from base64 import b64decode
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from chatdev.config.settings import process_environ
from chatdev.connection import is_loopback, without_user
from chatdev.errors import ConfigError, MissingProgram, TraceError
from chatdev.runner.options import SpanTaker
from chatdev.runner.recorded import RecordedRun
from chatdev.safe_text import keep_address, keep_secret, scrub

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import ReadableSpan


CONTENT_VARIABLE = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
_ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
_HEADERS = ("OTEL_EXPORTER_OTLP_TRACES_HEADERS", "OTEL_EXPORTER_OTLP_HEADERS")
_INSTALL = "pip install 'chatdev-chain[otel]'"
_DEFAULT = "http://localhost:4318"
_BATCH = 512  # spans
_QUEUE = 1 << 14  # spans that wait
_PATIENCE = 2.0  # seconds at the end of a run
_PORTS = {"http": 80, "https": 443}
_SYSTEM = re.compile(r"\[Errno -?\d+\] ([^\"')]+)")
_ANSWER = re.compile(r"code: (\d+, reason: .*)")
_MOMENT = 0.005  # seconds between two looks
_IDS = ("traceId", "spanId", "parentSpanId")  # in base64 by the rules of protobuf, in hexadecimal by those of OTLP


def wants_spans(otel: bool | SpanTaker | None) -> bool:
    """Whether a run's spans are asked for: by the option, else by the standard variables."""
    if otel is not None:
        return otel is not False
    variables = process_environ()
    exporter = variables.get("OTEL_TRACES_EXPORTER", "otlp" if any(map(variables.get, _ENDPOINTS)) else "none")
    return "otlp" in exporter.split(",") and variables.get("OTEL_SDK_DISABLED", "").lower() != "true"


def wants_content() -> bool:
    """Whether the standard variable asks for prompts and replies."""
    return process_environ().get(CONTENT_VARIABLE, "").lower() in ("true", "span_only", "span_and_event")


class LiveSpans:
    """Sends the spans of a run as they end. Nothing that goes wrong here is the run's: `problem` says it, once.

    A thread of the SDK's sends what waits in a bounded queue; what finds no room there is lost. Raises MissingProgram
    and ConfigError where there is no way to send anything.
    """

    def __init__(self, otel: bool | SpanTaker | None) -> None:
        with _setup_errors():
            from opentelemetry.sdk.trace.export import BatchSpanProcessor

            from chatdev.runner.spans import RunSpans

            self._sender = otlp_sender() if otel is None or isinstance(otel, bool) else Sender(otel, "the exporter")
            size = None if "OTEL_BSP_MAX_QUEUE_SIZE" in process_environ() else _QUEUE
            self._queue = BatchSpanProcessor(self._sender, size)  # type: ignore[arg-type]  # it has what is called
        self._spans = RunSpans(self._take, content=wants_content())
        self._silent = self._told = False
        self._ended = 0

    def follow(self, past: Iterable[Mapping[str, Any]]) -> None:
        """Go on behind these records; of their spans only those are sent that had not ended."""
        self._silent = True
        for record in past:
            self.add(record)
        self._silent = False

    def add(self, record: Mapping[str, Any]) -> None:
        """Take the next record of the run's journal."""
        try:
            self._spans.add(record)
        except Exception as error:  # noqa: BLE001 - the run is paid for
            self._sender.fail(f"{type(error).__name__}: {error}")

    def problem(self) -> str:
        """What went wrong with the spans; empty if nothing did, or it was told before."""
        if self._told or not self._sender.problem:
            return ""
        self._told = True
        return f"{self._sender.problem}; the run goes on, and `chatdev trace` sends its spans afterwards"

    async def flush(self) -> None:
        """Have everything sent that has ended, as far as that takes but a moment."""
        await self._finish(self._queue.force_flush)

    async def close(self) -> None:
        """The same, and close."""
        await self._finish(self._queue.shutdown)

    def _take(self, span: ReadableSpan) -> None:
        if not self._silent:
            self._ended += 1
            self._queue.on_end(span)

    async def _finish(self, work: Callable[[], Any]) -> None:
        """Wait for a call that may take long, in a thread that nothing waits for at the end."""
        thread = threading.Thread(target=work, name="chatdev-spans", daemon=True)
        thread.start()
        deadline = time.monotonic() + _PATIENCE
        while thread.is_alive() and not self._sender.problem and time.monotonic() < deadline:
            await asyncio.sleep(_MOMENT)
        if thread.is_alive():
            self._sender.fail(self._sender.complaint or f"no answer in {_PATIENCE:g} s")
        elif lost := self._ended - self._sender.sent:
            self._sender.fail(f"{lost} found no room in the queue (OTEL_BSP_MAX_QUEUE_SIZE)")


class Sender:
    """An exporter that counts what it has sent, and remembers the first reason why something was not."""

    def __init__(self, taker: SpanTaker, address: str) -> None:
        self._taker = taker
        self.address = address
        self._said: list[str] = []
        self.sent = 0
        self.problem = ""

    def export(self, spans: Sequence[Any]) -> Any:
        """Send the spans."""
        from opentelemetry.sdk.trace.export import SpanExportResult

        result = SpanExportResult.FAILURE
        with _complaints(self._said):
            try:
                result = self._taker.export(spans)
            except Exception as error:  # noqa: BLE001 - an exporter may be the caller's own
                self._said.append(f"{type(error).__name__}: {error}")
        if result is SpanExportResult.SUCCESS:
            self.sent += len(spans)
            self._said.clear()
        else:
            self.fail(self.complaint or "the exporter does not say why")
        return result

    @property
    def complaint(self) -> str:
        """What the exporter said first of what it cannot send: the system's reason, or the server's answer."""
        said = next(iter(self._said), "")
        found = _SYSTEM.search(said) or _ANSWER.search(said)
        return found[1] if found else said

    def fail(self, problem: str) -> None:
        """Remember a problem, if it is the first."""
        self.problem = self.problem or scrub(f"{self.address} does not take the spans: {problem}")

    def shutdown(self) -> None:
        """Close the exporter."""
        try:
            self._taker.shutdown()
        except Exception as error:  # noqa: BLE001 - as above
            self.fail(f"{type(error).__name__}: {error}")


def otlp_sender(endpoint: str | None = None) -> Sender:
    """A sender to an endpoint, or to that of the standard variables. Raises MissingProgram, ConfigError."""
    with _setup_errors():
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.util.re import parse_env_headers

        for name in _HEADERS:
            for value in parse_env_headers(process_environ().get(name, ""), liberal=True).values():
                keep_secret(value)
        address = _address(endpoint)
        return Sender(OTLPSpanExporter(address), without_user(address))


def _address(endpoint: str | None) -> str:
    """The whole address that takes spans. Raises ConfigError and ValueError for what is none."""
    variables = process_environ()
    whole = variables.get(_ENDPOINTS[0])
    address = endpoint or whole or variables.get(_ENDPOINTS[1], _DEFAULT)
    keep_address(address)
    parts = urlsplit(address)
    if parts.scheme not in _PORTS or not parts.hostname or parts.port == 0:
        raise ConfigError(f"the endpoint of spans is {address!r}; give an address, such as {_DEFAULT}")
    is_whole = parts.path.strip("/") if endpoint else whole  # the variable for all signals holds the beginning
    return address if is_whole else f"{address.rstrip('/')}/v1/traces"


@contextmanager
def _setup_errors() -> Iterator[None]:
    try:
        yield
    except ImportError as error:
        raise MissingProgram(f"spans need OpenTelemetry: {_INSTALL}") from error
    except (OSError, RuntimeError, ValueError) as error:
        raise ConfigError(f"OpenTelemetry cannot be set up: {error}; check the variables OTEL_…") from error


class ExporterLog(logging.Handler):
    """Keeps what exporters say, for the thread in which they say it; without it the terminal would have it."""

    said = threading.local()

    def emit(self, record: logging.LogRecord) -> None:
        """Keep it."""
        getattr(self.said, "lines", []).append(record.getMessage())


_exporter_log = ExporterLog()


@contextmanager
def _complaints(lines: list[str]) -> Iterator[None]:
    """Add to `lines` what an exporter says meanwhile in this thread."""
    logging.getLogger("opentelemetry").addHandler(_exporter_log)
    _exporter_log.said.lines = lines
    yield
    _exporter_log.said.lines = []


# Afterwards, from a journal.


def spans_of(path: Path, *, content: bool = False) -> list[ReadableSpan]:
    """The spans of the run in a folder, or of a journal, in the order of their ends. Raises JournalError,
    MissingProgram."""
    with _setup_errors():
        from chatdev.runner.spans import RunSpans
    found: list[ReadableSpan] = []
    spans = RunSpans(found.append, content=content or wants_content())
    for record in RecordedRun.read(path).records:
        spans.add(record)
    spans.end()
    return found


def send_spans(spans: Sequence[ReadableSpan], endpoint: str | None = None) -> str:
    """Send the spans to an endpoint, as `otlp_sender` has it; the address. Raises TraceError where they are not
    taken."""
    sender = otlp_sender(endpoint)
    parts = urlsplit(sender.address)
    if is_loopback(sender.address):  # the exporter would try again for some seconds
        try:
            socket.create_connection((parts.hostname or "", parts.port or _PORTS[parts.scheme]), _PATIENCE).close()
        except OSError as error:
            sender.fail(error.strerror or str(error))
    for batch in _batches(spans):
        if not sender.problem:
            sender.export(batch)
    if sender.problem:
        raise TraceError(f"{sender.problem}; give the address of a collector ({_ENDPOINTS[1]}={_DEFAULT}, or "
                         "--endpoint), or write a file: --output FILE")
    sender.shutdown()
    return sender.address


def otlp_lines(spans: Sequence[ReadableSpan]) -> Iterator[str]:
    """The spans as lines of OTLP's JSON, as collectors read them from files."""
    from google.protobuf.json_format import MessageToDict
    from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans

    for batch in _batches(spans):
        data = MessageToDict(encode_spans(batch), use_integers_for_enums=True)
        for span in (span for resource in data["resourceSpans"] for scope in resource["scopeSpans"]
                     for span in scope["spans"]):
            span.update({name: b64decode(span[name]).hex() for name in _IDS if name in span})
        yield json.dumps(data, separators=(",", ":")) + "\n"


def _batches(spans: Sequence[ReadableSpan]) -> Iterator[Sequence[ReadableSpan]]:
    for begin in range(0, len(spans), _BATCH):
        yield spans[begin:begin + _BATCH]
