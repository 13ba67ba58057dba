"""An OTLP receiver on 127.0.0.1: takes spans over HTTP as a collector does, and keeps them."""

from __future__ import annotations

import json
import threading
from base64 import b64decode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from google.protobuf.json_format import MessageToDict
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


@dataclass(frozen=True)
class Received:
    """A span as it came over the wire."""

    name: str
    trace: str
    span: str
    parent: str
    start: int
    end: int
    attributes: Mapping[str, Any]
    events: Sequence[tuple[str, str]]
    failed: bool


@dataclass
class OtlpReceiver:
    """Answers every request with `status`, after `delay` seconds."""

    status: int = 200
    delay: float = 0.0
    spans: list[Received] = field(default_factory=list)
    headers: list[Mapping[str, str]] = field(default_factory=list)
    text: str = ""
    """All that came, as text."""

    @property
    def url(self) -> str:
        """What OTEL_EXPORTER_OTLP_ENDPOINT is to be."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        receiver, self._closing = self, threading.Event()

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                data = self.rfile.read(int(self.headers["Content-Length"]))
                receiver._closing.wait(receiver.delay)
                if receiver.status == 200 and self.path == "/v1/traces":
                    receiver.take(data, dict(self.headers))
                self.send_response(receiver.status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                """Nothing is printed."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=[0.02], daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.set()
        self._server.shutdown()
        self._server.server_close()

    def take(self, data: bytes, headers: Mapping[str, str]) -> None:
        """Keep the spans of a request."""
        plain = MessageToDict(ExportTraceServiceRequest.FromString(data))
        self.headers.append(headers)
        self.text += json.dumps(plain, ensure_ascii=False)
        self.spans += spans_in(plain)


def spans_in(request: Mapping[str, Any], *, hexadecimal: bool = False) -> list[Received]:
    """The spans of a request as protobuf's JSON has it; `hexadecimal`: as OTLP's has it."""
    return [_span(span, hexadecimal) for resource in request["resourceSpans"] for scope in resource["scopeSpans"]
            for span in scope["spans"]]


def _span(span: Mapping[str, Any], hexadecimal: bool) -> Received:
    trace, own, parent = (name if hexadecimal else b64decode(name).hex()
                          for name in (span["traceId"], span["spanId"], span.get("parentSpanId", "")))
    events = [(one["name"], json.dumps(_values(one), sort_keys=True)) for one in span.get("events", ())]
    return Received(span["name"], trace, own, parent, int(span["startTimeUnixNano"]), int(span["endTimeUnixNano"]),
                    _values(span), events, span.get("status", {}).get("code") in (2, "STATUS_CODE_ERROR"))


def _values(one: Mapping[str, Any]) -> dict[str, Any]:
    return {entry["key"]: _value(entry["value"]) for entry in one.get("attributes", ())}


def _value(value: Mapping[str, Any]) -> Any:
    (kind, found), = value.items()
    if kind == "arrayValue":
        return [_value(child) for child in found["values"]]
    return int(found) if kind == "intValue" else found
