"""OpenTelemetry traces: a span for each request, and below it one for each stage of its searches and answers.

Only a server that was started with `--otel` has any; the exporter, its address and its headers are OpenTelemetry's own
settings (`OTEL_EXPORTER_OTLP_ENDPOINT`, `OTEL_SERVICE_NAME`, …). Attributes hold the method, the route's template and
the status, never a path, a question or a text.
"""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from twofold.domain.errors import MissingExtraError
from twofold.server.middleware import NOT_ANSWERED

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.trace import Span

NAME = "twofold"
SERVER_ERROR = 500
TOTAL = "total"


class Traces:
    """Writes spans of requests and of stages. Safe to use from several threads.

    They go to `provider`, or to the exporter that the environment names; without OpenTelemetry that raises
    MissingExtraError.
    """

    def __init__(self, provider: "TracerProvider | None" = None) -> None:
        self._provider = provider or _provider()
        self._tracer = self._provider.get_tracer(NAME)

    @contextmanager
    def request(self, method: str, headers: Mapping[str, str]) -> Iterator["Span"]:
        """Open the span of a request, as part of the caller's trace where its `traceparent` names one."""
        from opentelemetry.trace import SpanKind
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

        caller = TraceContextTextMapPropagator().extract(headers)
        with self._tracer.start_as_current_span(
            method, caller, SpanKind.SERVER, record_exception=False, set_status_on_exception=False
        ) as span:
            yield span

    def end(self, span: "Span", method: str, route: str, status: int) -> None:
        """Note how a request ended."""
        from opentelemetry.trace import StatusCode

        span.update_name(f"{method} {route}")
        span.set_attributes({"http.request.method": method, "http.route": route, "http.response.status_code": status})
        if status >= SERVER_ERROR:
            span.set_status(StatusCode.ERROR)

    def stages(self, timings_ms: Mapping[str, float]) -> None:
        """Write the stages of a search that has just ended, one after the other, below the request's span."""
        took = {name: ms for name, ms in timings_ms.items() if name != TOTAL}
        began = time.time_ns() - round(sum(took.values()) * 1e6)
        for name, ms in took.items():
            ended = began + round(ms * 1e6)
            self._tracer.start_span(f"search {name}", start_time=began).end(ended)
            began = ended

    def close(self) -> None:
        """Send what is left."""
        self._provider.shutdown()


def _provider() -> "TracerProvider":
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import SERVICE_NAME, OTELResourceDetector, Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ModuleNotFoundError as error:
        raise MissingExtraError(f"`--otel` needs {error.name}.", "pip install 'twofold[otel]'") from error
    resource = Resource({SERVICE_NAME: NAME}).merge(OTELResourceDetector().detect())
    made = TracerProvider(resource=resource)
    made.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return made


class TracingMiddleware:
    """Opens a span around everything that is done for a request."""

    def __init__(self, app: ASGIApp, traces: Traces) -> None:
        self._app = app
        self._traces = traces

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request within its span."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        status = NOT_ANSWERED

        async def noted(message: Message) -> None:
            nonlocal status
            status = message.get("status", status)
            await send(message)

        method = scope["method"][:8]
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        with self._traces.request(method, headers) as span:
            try:
                await self._app(scope, receive, noted)
            finally:
                route = getattr(scope.get("route"), "path_format", "") or "none"
                self._traces.end(span, method, route, status)
