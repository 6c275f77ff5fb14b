"""A stand-in for a collector of OTLP over HTTP: it reads protobuf on a real socket, may hang, and keeps what it got."""

from __future__ import annotations

import contextlib
import gzip
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.trace.v1.trace_pb2 import Span


@dataclass(slots=True)
class Collector:
    """What came: spans, the paths and headers of the requests, the names of the services. `answers` lets requests be answered."""

    url: str = ""
    spans: list[Span] = field(default_factory=list)
    services: set[str] = field(default_factory=set)
    paths: set[str] = field(default_factory=set)
    headers: list[dict[str, str]] = field(default_factory=list)
    came: threading.Event = field(default_factory=threading.Event)
    answers: threading.Event = field(default_factory=threading.Event)
    _changed: threading.Condition = field(default_factory=threading.Condition)

    def take(self, path: str, headers: dict[str, str], body: bytes) -> None:
        """Keep a request."""
        request = ExportTraceServiceRequest.FromString(body)
        with self._changed:
            self.paths.add(path)
            self.headers.append(headers)
            for resource in request.resource_spans:
                self.services |= {
                    one.value.string_value for one in resource.resource.attributes if one.key == "service.name"
                }
                for scope in resource.scope_spans:
                    self.spans += scope.spans
            self._changed.notify_all()
        self.came.set()

    def wait_for(self, name: str, number: int = 1, *, seconds: float = 20.0) -> None:
        """Return when so many spans of a name have come; fails after a while."""
        with self._changed:
            enough = self._changed.wait_for(lambda: sum(span.name == name for span in self.spans) >= number, seconds)
        assert enough, sorted(span.name for span in self.spans)

    def of_trace(self, trace: bytes) -> list[Span]:
        """The spans of a trace, in the order of their beginnings."""
        return sorted((s for s in self.spans if s.trace_id == trace), key=lambda span: span.start_time_unix_nano)


def told(span: Span) -> dict[str, Any]:
    """The attributes of a span, lists as tuples."""
    return {one.key: _value(one.value) for one in span.attributes}


def _value(value: Any) -> Any:
    kind = value.WhichOneof("value")
    if kind == "array_value":
        return tuple(_value(each) for each in value.array_value.values)
    return getattr(value, kind)


def tree(spans: list[Span]) -> list[tuple[str, str]]:
    """Each span as (name of its parent, its name)."""
    names = {span.span_id: span.name for span in spans}
    return [(names.get(span.parent_span_id, "outside" if span.parent_span_id else ""), span.name) for span in spans]


@contextlib.contextmanager
def collecting() -> Iterator[Collector]:
    """A collector on a free port until the block ends; it answers at once unless `answers` is cleared."""
    collector = Collector()
    collector.answers.set()

    class Door(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            unpacked = gzip.decompress(body) if self.headers.get("Content-Encoding") == "gzip" else body
            collector.take(self.path, {name.lower(): value for name, value in self.headers.items()}, unpacked)
            collector.answers.wait(60)
            said = ExportTraceServiceResponse().SerializeToString()
            with contextlib.suppress(OSError):  # whoever asked has gone
                self.send_response(200)
                self.send_header("Content-Type", "application/x-protobuf")
                self.send_header("Content-Length", str(len(said)))
                self.end_headers()
                self.wfile.write(said)

        def log_message(self, *_: Any) -> None:
            """Nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Door)
    server.daemon_threads = True
    collector.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield collector
    finally:
        collector.answers.set()
        server.shutdown()
        server.server_close()
        thread.join(10)
