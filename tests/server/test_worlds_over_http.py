"""Two servers, one of a world and one of it without what a caller may not read: every route answers the same bytes."""

import re
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from support.api_client import Visit, visiting
from support.documents import Words, pdf_of
from support.generated_worlds import World, worlds
from support.worlds import MONDAY, Share, Written, fill_world, without_hidden
from twofold import Index
from twofold.server.auth import TokenStore, parse_scope
from twofold.server.tracing import Traces

FAST = (Phase.explicit, Phase.reuse, Phase.generate)
NOTES = "/v1/indexes/notes"
CLOCK = re.compile(
    r'"(timings|timings_ms|latency_ms|milliseconds|created|created_at|age_s|started|finished|updated|at|\w+_ms|ms|ms_per_query)"'
    r': ?(\{[^}]*\}|"[^"]*"|[-\d.e]+)|(chatcmpl-|resp_|msg_|fs_)[0-9a-f]+'
)
"""What a clock says, and names that are drawn by lot."""
LEFT_OUT = frozenset({"date", "content-length"})
Asked = tuple[str, str, Any]


@dataclass(frozen=True)
class Pair:
    """The two servers, with the same tokens: of the owner, and one for each set of principals."""

    here: Visit
    there: Visit
    tokens: Mapping[str, str]
    spans: Sequence[InMemorySpanExporter]

    def bearer(self, who: Sequence[str]) -> Mapping[str, str]:
        return {"Authorization": f"Bearer {self.tokens[' '.join(who)]}"}


PEOPLE: Sequence[Sequence[str]] = (["user:ann", "group:legal"], ["user:bob"], ["public"])


@contextmanager
def pair() -> Iterator[Pair]:
    """Serve two worlds, neither filled yet."""
    with tempfile.TemporaryDirectory() as folder:
        homes = Path(folder) / "w", Path(folder) / "v"
        for home in homes:
            home.mkdir()
        kept = TokenStore(homes[0])
        tokens = {"owner": kept.create("owner", [parse_scope("admin")])[1]}
        for who in PEOPLE:
            tokens[" ".join(who)] = kept.create("t", [parse_scope("admin")], who)[1]
        shutil.copy2(homes[0] / "tokens.json", homes[1] / "tokens.json")
        spans = [InMemorySpanExporter() for _ in homes]
        traces = [Traces(TracerProvider()) for _ in homes]
        for one, kept_in in zip(traces, spans, strict=True):
            one._provider.add_span_processor(SimpleSpanProcessor(kept_in))
        with visiting(homes[0], traces=traces[0]) as here, visiting(homes[1], traces=traces[1]) as there:
            yield Pair(here, there, tokens, spans)


@pytest.fixture(scope="module")
def served() -> Iterator[Pair]:
    with pair() as one:
        yield one


def fill(pair: Pair, made: World) -> None:
    """Make the index of either server again, as a world has it."""
    written, who, default, _ = made
    readers = [] if default == "nobody" else [default]
    for visit, kept in ((pair.here, written), (pair.there, without_hidden(written, who, readers))):
        visit.client.delete(NOTES, headers=pair.bearer(["owner"]))
        with Index("notes", overrides={"home": str(visit.home), "embedder": "hashing", "offline": True}) as index:
            fill_world(index, kept)
            index.set_settings({"acl": {"default": default}})


def requests(written: Sequence[Written], queries: Sequence[str]) -> Iterator[Asked]:
    """Yield what somebody may ask who knows every name and every word, and then what they may write."""
    then = {"as_of": MONDAY}
    for path in ("", "/documents", "/documents?limit=1&offset=1", "/documents?q=.txt", "/suggest?q=m", "/synonyms"):
        yield "GET", f"{NOTES}{path}", None
    for path in ("/snapshots", "/pins", f"/documents?as_of={MONDAY}", f"/suggest?q=s&as_of={MONDAY}"):
        yield "GET", f"{NOTES}{path}", None
    for path in ("/v1/indexes", "/v1/vector_stores/notes", "/v1/vector_stores/notes/files?limit=100", "/v1/models"):
        yield "GET", path, None
    for number, query in enumerate(queries):
        mode = ("hybrid", "bm25", "vector")[number % 3]
        asked = {"query": query, "mode": mode}
        yield "POST", f"{NOTES}/search", {**asked, "facets": ["source"], "cursor": "start", "k": 1, "highlight": True}
        yield "POST", f"{NOTES}/search", {**asked, "sort": ["source:desc"], "collapse": True, **then}
        yield "POST", f"{NOTES}/search", {"query": f"{query[:4]}* soupp", "mode": "bm25"}
        for route in ("explain", "search"):
            yield "POST", f"{NOTES}/{route}", asked
            yield "POST", f"/v1/{route}", {**asked, "indexes": ["notes"], **(then if route == "search" else {})}
        yield "POST", f"{NOTES}/search:batch", {"queries": [query, "soup"], "mode": mode}
        for more in ({}, {"session": "talk"}, {"session": "talk"}, then):
            yield "POST", f"{NOTES}/ask", {"query": query, **more}
        yield "POST", "/v1/ask", {"query": query, "indexes": ["notes"], "stream": False}
        yield "POST", "/v1/chat/completions", {"model": "notes", "messages": [{"role": "user", "content": query}]}
        yield "POST", "/v1/responses", {"model": "notes", "input": query}
        yield "POST", "/api/search", {"query": query, "index": "notes"}
        yield "POST", "/v1/vector_stores/notes/search", {"query": query}
        yield "POST", f"{NOTES}/diff", {"before": MONDAY, "queries": [query]}
    for one in written:
        yield from _requests_about(one, queries[0])
    yield from _writing(written, queries[0])


def _requests_about(one: Written, query: str) -> Iterator[Asked]:
    document = one.document().id
    for part in ("", "/content", "/chunks", "/original", "/pages/1"):
        yield "GET", f"{NOTES}/documents/{document}{part}", None
        yield "GET", f"{NOTES}/documents/{document}{part}?as_of={MONDAY}", None
    yield "GET", f"/v1/vector_stores/notes/files/{document}", None
    for name in (document, one.source, f"{document}_chunk_0"):
        yield "POST", f"{NOTES}/why-not", {"query": query, "document": name}
        yield "POST", f"{NOTES}/why-not", {"query": query, "document": name, "as_of": MONDAY}


def _writing(written: Sequence[Written], query: str) -> Iterator[Asked]:
    own = {"readers": ["public"]}
    for one in written:
        document = one.document().id
        yield "PUT", f"{NOTES}/judgements", {"query": query, "source": one.source, "grade": 3}
        yield "POST", f"{NOTES}/feedback", {"query": query, "rating": 1, "document": document}
        yield "POST", f"{NOTES}/documents", {"documents": [{"text": "of ann", "source": one.source, **own}]}
        yield "PUT", f"{NOTES}/documents/{document}/metadata", {"metadata": {"color": "red"}}
        yield "PUT", f"{NOTES}/documents/{document}/readers", own
        yield "DELETE", f"/v1/vector_stores/notes/files/{document}", None
        yield "DELETE", f"{NOTES}/documents/{document}", None
    yield "GET", f"{NOTES}/judgements", None
    yield "POST", f"{NOTES}/evaluations", {"variants": [{"name": "a", "mode": "bm25"}, {"name": "b"}]}
    yield "POST", f"{NOTES}/questions:made", {"count": 3}
    for path in ("/metrics", "/v1/jobs", f"{NOTES}/documents", "/v1/conversations", f"{NOTES}/log", "/v1/checkup"):
        yield "GET", path, None
    for path in ("verify", "questions:logged", "tune"):
        yield "POST", f"{NOTES}/{path}", {}
    yield "POST", f"{NOTES}/settings", {"settings": {"search.k": 3}}
    yield "POST", f"{NOTES}/branches", {"name": "mine"}
    yield "DELETE", f"{NOTES}/snapshots/{MONDAY}", None
    yield "DELETE", NOTES, None


def told(answer: httpx2.Response) -> tuple[int, Mapping[str, str], str]:
    """Return an answer without what a clock says."""
    headers = {name: value for name, value in answer.headers.items() if name not in LEFT_OUT}
    return answer.status_code, headers, CLOCK.sub("", answer.text)


def ask(visit: Visit, asked: Asked, headers: Mapping[str, str]) -> tuple[int, Mapping[str, str], str]:
    """Ask one server; of a job wait for the end, and return that."""
    method, path, sent = asked
    answer = visit.client.request(method, path, json=sent, headers=headers)
    status, said, text = told(answer)
    if answer.status_code == 202:
        job = answer.json()["id"]
        visit.finished(job, headers)
        text = told(visit.client.get(f"/v1/jobs/{job}", headers=headers))[2].replace(job, "JOB")
    if path == "/v1/jobs":
        text = re.sub(r'"id":"[0-9a-f]{16}"', "", text)
    return status, said, text


def check(pair: Pair, made: World, share: Share) -> None:
    """Hold each answer of two worlds against the other."""
    fill(pair, made)
    for one in pair.spans:
        one.clear()
    written, who, _, queries = made
    headers = pair.bearer(who or ["public"])
    for number, asked in enumerate(requests(written, queries)):
        if number % share.of == share.part or asked[0] in {"DELETE", "PUT"}:
            here, there = (ask(visit, asked, headers) for visit in (pair.here, pair.there))
            assert here == there, asked
            assert here[0] < 500, (asked, here)
    check_spans(pair)


def check_spans(pair: Pair) -> None:
    """Hold everything that was traced against the other world's, but for times and numbers drawn by lot.

    A request's span ends when its answer is with the client already: both are asked again until it has.
    """
    deadline = time.monotonic() + 60.0
    while True:
        here, there = (traced(one) for one in pair.spans)
        if here == there or time.monotonic() > deadline:
            break
        for visit in (pair.here, pair.there):
            visit.client.get("/readyz")
    assert here == there
    assert here


def traced(spans: InMemorySpanExporter) -> Counter[tuple[object, ...]]:
    """Count the spans by all that they say; those of waiting for a job are as many as it takes."""
    said = Counter(
        (
            one.name,
            one.kind,
            one.status.status_code,
            one.status.description,
            tuple(sorted((one.attributes or {}).items())),
            tuple((event.name, str(event.attributes)) for event in one.events),
            len(one.links),
        )
        for one in spans.get_finished_spans()
    )
    return Counter({key: often for key, often in said.items() if "readyz" not in str(key) and "/jobs/" not in str(key)})


@settings(max_examples=2, phases=FAST)
@given(made=worlds, part=st.integers(0, 7))
def test_no_route_tells_of_what_is_hidden(served: Pair, made: World, part: int) -> None:
    check(served, made, Share(8, part))


@pytest.mark.soak
@settings(max_examples=100, phases=FAST)
@given(made=worlds, part=st.integers(0, 7))
def test_worlds_over_http(served: Pair, made: World, part: int) -> None:
    check(served, made, Share(8, part))


PAGE = pdf_of([[Words(72, 700, "The merger is planned for May.")]])
OTHER = pdf_of([[Words(72, 700, "The canteen has soup.")]])


def send(visit: Visit, headers: Mapping[str, str], name: str, data: bytes, readers: str) -> str:
    """Send a PDF; return its document's id."""
    files = [("file", (name, data, "application/pdf"))]
    job = visit.client.post(f"{NOTES}/documents", files=files, data={"readers": readers}, headers=headers).json()
    done = visit.finished(job["id"], headers)
    assert done["state"] == "done", done
    return str(done["files"][0]["document"])


def test_pages_and_originals_are_the_same_bytes_in_both_worlds(served: Pair) -> None:
    """Ann and Bob send the same file: neither hears of the other's, also when one is deleted or shared."""
    fill(served, ([Written("0.txt", "soup", None)], ["user:ann", "group:legal"], "public", []))
    ann, bob = served.bearer(["user:ann", "group:legal"]), served.bearer(["user:bob"])
    theirs = [send(served.here, bob, name, PAGE, '["user:bob"]') for name in ("deal.pdf", "bob.pdf")]
    own = [send(visit, ann, "deal.pdf", PAGE, '["user:ann"]') for visit in (served.here, served.there)]
    assert own[0] == own[1]

    def shown(name: str, method: str = "GET") -> bytes:
        """Return Ann's page or original of a document, the same in both worlds."""
        found = [
            visit.client.request(method, f"{NOTES}/documents/{name}", headers=ann)
            for visit in (served.here, served.there)
        ]
        assert told(found[0])[:2] == told(found[1])[:2]
        assert found[0].content == found[1].content
        return found[0].content

    before = [shown(f"{own[0]}/original"), shown(f"{own[0]}/pages/1"), shown(f"{own[0]}/pages/1?start=0&end=10")]
    assert before[0] == PAGE
    assert before[1].startswith(b"\x89PNG")
    assert before[2] != before[1]
    for name in theirs:
        for part in ("original", "pages/1", "pages/2", "original?as_of=monday"):
            assert b"There is no document" in shown(f"{name}/{part}")
    served.here.client.delete(f"{NOTES}/documents/{theirs[0]}", headers=bob)
    assert [shown(f"{own[0]}/original"), shown(f"{own[0]}/pages/1")] == before[:2]
    shown(own[0], "DELETE")
    assert b"There is no document" in shown(f"{own[0]}/original")
    kept = served.here.client.get(f"{NOTES}/documents/{theirs[1]}/original", headers=bob)
    assert kept.content == PAGE  # Bob's other document was read from the same bytes
    assert send(served.here, ann, "new.pdf", OTHER, '["user:ann"]') == send(
        served.there, ann, "new.pdf", OTHER, '["user:ann"]'
    )
