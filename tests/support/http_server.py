"""Real HTTP servers on this machine alone, for what speaks to a server; a test says in a function what it answers."""

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import msgspec

from twofold.models.embedders.hashing import HashingEmbedder
from twofold.models.rerankers.word_overlap import WordOverlap


@dataclass(frozen=True, slots=True)
class Asked:
    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class Answered:
    """`length` is the Content-Length that is claimed, the body's own unless a test lies."""

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    length: int | None = None


@contextmanager
def serving(answer: Callable[[Asked], Answered]) -> Iterator[str]:
    """Serve on loopback until the block ends, and give the address, without a slash at its end."""

    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            given = answer(Asked(self.command, self.path, dict(self.headers), body))
            self.send_response(given.status)
            for name, value in given.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(given.body) if given.length is None else given.length))
            self.end_headers()
            self.wfile.write(given.body)

        do_GET = do_POST = answer  # noqa: N815 - the library's names

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's name
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


def embeddings_of(texts: list[str], dimensions: int = 64) -> bytes:
    """Answer as an OpenAI-compatible server does, the last text first: the order is in `index` alone."""
    vectors = HashingEmbedder(dimensions).embed_passages(texts)
    items = [{"object": "embedding", "index": at, "embedding": 3.0 * row} for at, row in enumerate(vectors)]
    answer = {"object": "list", "data": items[::-1], "model": "hashing", "usage": {"total_tokens": 1}}
    return msgspec.json.encode(answer, enc_hook=lambda row: row.tolist())


def embeddings(asked: Asked) -> Answered:
    """Be an embeddings server with the hashing embedder behind it."""
    if asked.method != "POST" or asked.path != "/v1/embeddings":
        return Answered(b'{"error":"not here"}', 404)
    wanted = msgspec.json.decode(asked.body)
    if not all(wanted["input"]):
        return Answered(b'{"error":"an input is empty"}', 400)
    return Answered(embeddings_of(wanted["input"]), headers={"Content-Type": "application/json"})


def reranking(asked: Asked) -> Answered:
    """Be a server of the Cohere and Jina protocol with word overlap behind it; the best comes first, as there."""
    if asked.method != "POST" or asked.path != "/v1/rerank":
        return Answered(b'{"error":"not here"}', 404)
    wanted = msgspec.json.decode(asked.body)
    if not all(wanted["documents"]):
        return Answered(b'{"error":"a document is empty"}', 400)
    scores = WordOverlap().score(wanted["query"], wanted["documents"]).tolist()
    results = [{"index": at, "relevance_score": score} for at, score in enumerate(scores)]
    best = sorted(results, key=lambda one: -one["relevance_score"])[: wanted["top_n"]]
    return Answered(msgspec.json.encode({"model": wanted["model"], "results": best}))
