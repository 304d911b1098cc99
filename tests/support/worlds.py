"""Two worlds: W, and W' which is W without what somebody may not read. They must not be able to tell them apart."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from twofold import Document, Index
from twofold.domain.access import Readers, viewer_of
from twofold.domain.errors import TwofoldError
from twofold.ingest.document import document_of_text
from twofold.mcp import reading
from twofold.mcp.links import Links
from twofold.models.embedders.hashing import HashingEmbedder
from twofold.search.engine import SearchOptions
from twofold.search.explain import explained

TIMES = frozenset({"timings_ms", "milliseconds", "age_s", "created", "started", "finished", "updated"})
"""What is measured or read off a clock, and no answer."""

MODES = ("hybrid", "bm25", "vector")
SETTINGS: Sequence[Mapping[str, object]] = (
    {},
    {"fusion.method": "rrf", "search.context_window": 1},
    {"prf": {"terms": 3}, "search.k": 3},
    {"search.bm25": {"scorer": "tfidf"}, "search.candidates": 2},
    {"diversity": {"per_source": 1}, "rerank.model": "word-overlap"},
)


@dataclass(frozen=True)
class Written:
    """A document of a world: its name, its text and who may read it."""

    source: str
    text: str
    readers: Readers | None = None

    def document(self) -> Document:
        made = document_of_text(self.text, self.source, "", {"kind": "memo"}, None)
        return Document(**{**{one.name: getattr(made, one.name) for one in fields(made)}, "readers": self.readers})


def world(
    written: Sequence[Written], where: str | Path = ":memory:", said: Mapping[str, object] | None = None
) -> Index:
    """Make an index of documents, one at a time, as they come."""
    index = Index(where, overrides={"profile": "balanced", **(said or {})}, embedder=HashingEmbedder(16))
    index.delete(index.add("made once", source="first.txt").id)  # both worlds are of indexes that were filled before
    for one in written:
        index.add_many([one.document()])
    return index


def without_hidden(
    written: Sequence[Written], principals: Sequence[str], default: Sequence[str] = ("public",)
) -> list[Written]:
    """Return what somebody may read."""
    viewer = viewer_of(principals, default)
    return [one for one in written if viewer.may_read(one.readers)]


def plain(value: Any) -> Any:  # noqa: ANN401  # whatever an interface gives
    """Return a value as JSON could say it, without what is measured."""
    if isinstance(value, Mapping):
        return {str(name): plain(one) for name, one in value.items() if name not in TIMES}
    if is_dataclass(value) and not isinstance(value, type):
        named = {one.name: getattr(value, one.name) for one in fields(value) if one.name not in TIMES}
        return {name: plain(one) for name, one in named.items()}
    if isinstance(value, str | int | float | bool | type(None)):
        return value
    if hasattr(value, "tolist"):
        return value.tolist()
    return [plain(one) for one in value]


def said(call: Callable[[], Any]) -> bytes:
    """Return what a call gives, or how it fails, byte for byte."""
    try:
        made = plain(call())
    except TwofoldError as error:
        made = [type(error).__name__, error.message, error.hint, error.exit_code, error.http_status]
    return msgspec.json.encode(json.loads(json.dumps(made, sort_keys=True)))


def answers(index: Index, everything: Sequence[Written], queries: Sequence[str]) -> Iterator[tuple[str, bytes]]:
    """Yield all that an index says to somebody who knows every name and every word there ever was."""
    ids = [one.document().id for one in everything]
    names = [one.source for one in everything] + ids + [f"{name}_chunk_0" for name in ids]
    yield "info", said(lambda: replace(index.info(), name="", folder=""))
    yield "len", said(lambda: len(index))
    yield "documents", said(index.documents)
    yield "filtered", said(lambda: index.documents(filter="kind == memo"))
    yield "page", said(lambda: index.documents_page(0, 2))
    yield "page containing", said(lambda: index.documents_page(0, 9, containing=".txt"))
    for name in names:
        yield f"document {name}", said(partial(index.document, name))
        yield f"chunks {name}", said(partial(index.chunks, name))
    for number, query in enumerate(queries):
        options = SETTINGS[number % len(SETTINGS)]
        mode = MODES[number % len(MODES)]
        yield from _searched(index, query, mode, options, names)
    for typed in ("m", "me", "the ", "soup b", "0", "canteen has"):
        yield f"suggest {typed}", said(partial(index.suggest, typed))
    for query in ("mer*", "*o?p OR hot", "kind:memo merger", "mergr souup", '"the soup" +bread', "nothing:here soup"):
        yield f"query language {query}", said(partial(index.search, query, mode="bm25"))
    yield "many", said(lambda: index.search_many(list(queries)))
    yield "metrics", said(lambda: index.metrics().pending)
    yield from _tools(index, names, queries[0])


def _searched(
    index: Index, query: str, mode: str, options: Mapping[str, object], names: Sequence[str]
) -> Iterator[tuple[str, bytes]]:
    def search(**more: Any) -> Any:  # noqa: ANN401  # as `Index.search` has it
        return explained(index.search(query, mode=mode, settings=options, **more), "english")

    yield f"search {query} {mode} {options}", said(search)
    yield f"filtered search {query}", said(lambda: search(filter="kind == memo", k=2))
    yield f"offset {query}", said(lambda: search(k=1, offset=1))
    for attempt in ("first", "again"):  # the second one from memory
        yield (
            f"{attempt} cached {query}",
            said(lambda: index.search(query, settings={**options, "cache": {"ttl_seconds": 60, "size": 9}})),
        )
    shaped = {"facets": ["kind", "source", "word_count:0,3,9"], "sort": "source:desc", "collapse": True}
    yield f"shaped {query}", said(lambda: search(k=2, **shaped))
    page = index.search(query, mode=mode, settings=options, k=1, cursor="start")
    yield f"cursor {query}", said(lambda: page)
    yield f"next page {query}", said(lambda: search(k=1, cursor=page.next_cursor or "start"))
    yield f"ask {query}", said(lambda: index.ask(query, mode=mode))
    yield f"session {query}", said(lambda: index.ask(query, session="talk"))
    yield f"conversation {query}", said(lambda: index.conversation("talk"))
    for name in names[: len(names) // 3 * 2]:
        yield (
            f"why not {name} {query}",
            said(partial(index.why_not, query, name, SearchOptions(mode=mode, settings=options))),
        )


def _tools(index: Index, names: Sequence[str], query: str) -> Iterator[tuple[str, bytes]]:
    """Ask as the tools of a language model do."""
    held = reading.Held(index, Links("notes", "http://127.0.0.1"), 4_000)
    yield "tool search", said(lambda: reading.search(held, query))
    yield "tool passages", said(lambda: reading.search_passages(held, query, reading.Wanted(k=2)))
    yield "tool ask", said(lambda: reading.ask(held, query))
    yield "tool list", said(lambda: reading.list_documents(held, "", ""))
    for name in names[1::3]:
        yield f"tool fetch {name}", said(partial(reading.fetch, held, name))
        yield f"tool read {name}", said(partial(reading.read, held, name, 1, 500, ""))
        yield f"tool outline {name}", said(partial(reading.outline, held, name, ""))
        yield f"tool explain {name}", said(partial(reading.explain, held, query, name))
        yield f"tool why not {name}", said(partial(reading.why_not, held, query, name))


def changes(index: Index, everything: Sequence[Written]) -> Iterator[tuple[str, bytes]]:
    """Yield what an index says to somebody who writes: over documents of others, beside them, with their texts."""
    own = ["user:ann"]
    for one in everything:
        yield f"add {one.source}", said(partial(index.add, "the budget of ann", source=one.source, readers=own))
        yield f"copy {one.source}", said(partial(index.add, one.text, source=f"{one.source}.copy", readers=own))
        yield f"readers {one.source}", said(partial(index.set_readers, one.document().id, own))
        yield f"delete {one.source}", said(partial(index.delete, one.document().id))
    owners: Sequence[tuple[str, Callable[[], object]]] = (
        ("verify", index.verify),
        ("compact", index.compact),
        ("drop", index.drop),
        ("reindex", index.reindex),
        ("settings", lambda: index.set_settings({"search.k": 3})),
        ("sync", lambda: index.sync("/nowhere")),
        ("embed", index.embed_pending),
        ("add for others", lambda: index.add("x", source="x.txt", readers=["user:bob"])),
    )
    for name, call in owners:
        yield name, said(call)
