"""A server as somebody operates it: HTTPS, a limit for each token, and log lines for programs."""

import json
import os
import signal
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

import httpx2
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from support.api_client import fill, visiting
from support.certificates import write_certificate
from support.http_server import Answered, Asked, serving
from twofold.server.auth import TokenStore, parse_scope
from twofold.server.limits import ServerLimits
from twofold.server.rate_limit import RateLimit


def command(*more: str) -> list[str]:
    return [sys.executable, "-m", "twofold", "serve", "--port", "0", *more]


def surroundings(home: Path) -> dict[str, str]:
    return {**os.environ, "TWOFOLD_HOME": str(home), "TWOFOLD_EMBEDDER": "hashing", "TWOFOLD_OFFLINE": "1"}


@contextmanager
def served(home: Path, *more: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """Serve in a process of its own until the block ends; give its address and the process."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command(*more), env=surroundings(home), text=True, **pipes) as process:  # type: ignore[call-overload]
        try:
            yield process.stdout.readline().split()[-1], process
        finally:
            process.send_signal(signal.SIGTERM)


def test_https_with_a_certificate_of_ones_own(tmp_path: Path) -> None:
    fill(tmp_path)
    certificate, key = write_certificate(tmp_path)
    with served(tmp_path, "--tls-cert", str(certificate), "--tls-key", str(key)) as (address, _):
        url = address.replace("127.0.0.1", "localhost")
        trusting = ssl.create_default_context(cafile=str(certificate))
        with httpx2.Client(base_url=url, verify=trusting) as client:
            found = client.post("/v1/indexes/notes/search", json={"query": "tower"}).json()
            page = client.post("/v1/indexes/notes/search", json={"query": "tower"}, headers={"Origin": url})
        with httpx2.Client(base_url=url) as wary, pytest.raises(httpx2.ConnectError):
            wary.get("/healthz")

    assert address.startswith("https://")
    assert found["hits"][0]["source"] == "tower.txt"
    assert page.status_code == 200  # the page's own requests come from https, which is this server


@pytest.mark.parametrize("wrong", ["alone", "missing", "not each other's", "no certificate"])
def test_a_certificate_that_cannot_serve_is_refused_in_two_lines(tmp_path: Path, wrong: str) -> None:
    certificate, key = write_certificate(tmp_path)
    other = write_certificate(tmp_path, "other")[1]
    said = {
        "alone": ["--tls-cert", str(certificate)],
        "missing": ["--tls-cert", str(tmp_path / "none.pem"), "--tls-key", str(key)],
        "not each other's": ["--tls-cert", str(certificate), "--tls-key", str(other)],
        "no certificate": ["--tls-cert", __file__, "--tls-key", str(key)],
    }[wrong]
    ended = subprocess.run(command(*said), env=surroundings(tmp_path), capture_output=True, text=True, check=False)

    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.startswith("twofold: ")
    assert len(ended.stderr.strip().splitlines()) == 2
    assert "PRIVATE" not in ended.stderr


def test_log_lines_for_programs_name_the_route_and_nothing_of_the_question(tmp_path: Path) -> None:
    fill(tmp_path)
    record, token = TokenStore(tmp_path).create("robot", [parse_scope("read")])
    with served(tmp_path, "--verbose", "--log-format", "json") as (address, process):
        with httpx2.Client(base_url=address, headers={"Authorization": f"Bearer {token}"}) as client:
            client.post("/v1/indexes/notes/search", json={"query": "wombat secrets"})
            client.get("/v1/indexes/no-such-thing")
        process.send_signal(signal.SIGTERM)
        written = process.stderr.read()  # type: ignore[union-attr]
    lines = [json.loads(line) for line in written.splitlines()]
    asked = [line for line in lines if "route" in line]

    assert [(line["method"], line["route"], line["status"]) for line in asked] == [
        ("POST", "/v1/indexes/{index}/search", 200),
        ("GET", "/v1/indexes/{index}", 404),
    ]
    assert all(line["token"] == record.id and line["milliseconds"] > 0 for line in asked)
    assert {line["level"] for line in lines} == {"info"}
    assert all(datetime.fromisoformat(line["time"]).tzinfo for line in lines)
    assert not any(word in written for word in ("wombat", "no-such-thing", token))


def test_a_request_and_the_stages_of_its_search_are_one_trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(tmp_path)
    received: list[bytes] = []

    def collect(asked: Asked) -> Answered:
        received.append(asked.body)
        return Answered()

    caller = "0af7651916cd43dd8448eb211c80319c"
    with serving(collect) as collector:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector)
        with served(tmp_path, "--otel") as (address, process):
            headers = {"traceparent": f"00-{caller}-b7ad6b7169203331-01"}
            with httpx2.Client(base_url=address, headers=headers) as client:
                client.post("/v1/indexes/notes/search", json={"query": "wombat"})
            process.send_signal(signal.SIGTERM)
            process.wait()
    spans = [
        span
        for body in received
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans
        for scope in resource.scope_spans
        for span in scope.spans
    ]
    request = next(one for one in spans if one.name == "POST /v1/indexes/{index}/search")
    stages = [one for one in spans if one is not request]

    assert {one.trace_id.hex() for one in spans} == {caller}
    assert {"search retrieve", "search fuse"} & {one.name for one in stages}
    assert all(one.parent_span_id == request.span_id for one in stages)
    assert all(one.start_time_unix_nano <= one.end_time_unix_nano <= request.end_time_unix_nano for one in stages)
    assert b"wombat" not in b"".join(received)


def test_each_token_has_its_own_requests_a_minute(tmp_path: Path) -> None:
    fill(tmp_path)
    with visiting(tmp_path, ServerLimits(requests_per_minute=3)) as visit:
        busy, calm = visit.as_bearer("read"), visit.as_bearer("read")
        began, said = time.monotonic(), [visit.client.get("/v1/indexes", headers=busy)]
        while said[-1].status_code == 200:
            said.append(visit.client.get("/v1/indexes", headers=busy))
        taken = time.monotonic() - began
        other = visit.client.get("/v1/indexes", headers=calm)
        healthy = visit.client.get("/healthz", headers=busy)

    refused = said.pop()
    assert refused.status_code == 429
    assert 3 <= len(said) <= 3 + taken / 20  # a third of a minute for one of three
    assert 1 <= int(refused.headers["Retry-After"]) <= 20
    assert refused.json()["type"] == "too-many-requests"
    assert "3 requests a minute" in refused.json()["detail"]
    assert (other.status_code, healthy.status_code) == (200, 200)


def test_a_long_job_keeps_no_other_index_waiting(tmp_path: Path) -> None:
    folder = tmp_path / "many"
    folder.mkdir()
    for number in range(400):
        (folder / f"{number}.txt").write_text(f"Note {number} is about ferries.")
    home = tmp_path / "home"
    fill(home)
    with visiting(home, roots=(folder,)) as visit:
        visit.client.post("/v1/indexes", json={"name": "other"})
        long = visit.client.post("/v1/indexes/notes/sync", json={"paths": [str(folder)]}).json()["id"]
        text = {"documents": [{"text": "One note.", "source": "one.txt"}]}
        behind = visit.client.post("/v1/indexes/notes/documents", json=text).json()["id"]
        short = visit.client.post("/v1/indexes/other/documents", json=text).json()["id"]
        ended = {name: visit.finished(job) for name, job in (("long", long), ("behind", behind), ("short", short))}

    assert {one["state"] for one in ended.values()} == {"done"}
    assert ended["short"]["finished"] < ended["long"]["finished"] <= ended["behind"]["started"]


def test_the_bucket_fills_steadily() -> None:
    """Two a minute: two at once, the third 30 s after the first, and never more than two saved up."""
    now = [0.0]
    limit = RateLimit(2, lambda: now[0])

    assert [limit.wait_seconds("a") for _ in range(3)] == [0, 0, 30]
    now[0] = 29.0
    assert limit.wait_seconds("a") == 1
    now[0] = 30.0
    assert [limit.wait_seconds("a"), limit.wait_seconds("a")] == [0, 30]
    now[0] = 3_600.0
    assert [limit.wait_seconds("a") for _ in range(3)] == [0, 0, 30]
    assert RateLimit(0).wait_seconds("a") == 0
