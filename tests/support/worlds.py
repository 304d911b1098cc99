"""Two worlds: W, and W' which is W without what somebody may not read. They must not be able to tell them apart."""

import json
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from twofold import Document, Index, MultiIndex
from twofold.domain.access import Readers, viewer_of
from twofold.domain.errors import InvalidInputError, TwofoldError
from twofold.ingest.document import document_of_text
from twofold.mcp import reading
from twofold.mcp.links import Links
from twofold.models.embedders.hashing import HashingEmbedder
from twofold.search.engine import ResultOptions, SearchOptions
from twofold.search.explain import explained
from twofold.search.result import SearchResult

TIMES = frozenset({"timings_ms", "milliseconds", "age_s", "created", "started", "finished", "updated"})
"""What is measured or read off a clock, and no answer."""

MONDAY = "monday"
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
    """A document of a world: its name, its text and who may read it.

    When a snapshot was made it had the text `once`, if that is another one, and the readers `before`. One that is
    `gone` was deleted later, with the readers that it has.
    """

    source: str
    text: str
    readers: Readers | None = None
    before: Readers | None = ("public",)
    once: str = ""
    gone: bool = False

    def document(self) -> Document:
        return self._with(self.text, self.readers)

    def document_then(self) -> Document:
        """Return what it was when the snapshot was made."""
        return self._with(self.once or self.text, self.before)

    def _with(self, text: str, readers: Readers | None) -> Document:
        made = document_of_text(text, self.source, "", {"kind": "memo"}, None)
        return Document(**{**{one.name: getattr(made, one.name) for one in fields(made)}, "readers": readers})


def world(
    written: Sequence[Written], where: str | Path = ":memory:", said: Mapping[str, object] | None = None
) -> Index:
    """Make an index of documents, one at a time, as they come. What a snapshot holds had other readers and texts."""
    index = Index(where, overrides={"profile": "balanced", **(said or {})}, embedder=HashingEmbedder(16))
    fill_world(index, written)
    return index


def fill_world(index: Index, written: Sequence[Written]) -> None:
    """Write a world into an index that is empty."""
    index.delete(index.add("made once", source="first.txt").id)  # both worlds are of indexes that were filled before
    for one in written:
        index.add_many([one.document_then()])
    with suppress(InvalidInputError):  # a store that keeps none
        index.snapshot(MONDAY)
    for one in written:
        index.set_readers(one.document().id, one.readers)
        if one.once:
            index.add_many([one.document()])
        if one.gone:
            index.delete(one.document().id)


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


Question = tuple[str, Callable[[], Any]]
"""What is asked, and how."""


@dataclass(frozen=True)
class Share:
    """Every `of`-th question, from the number `part` on: of many worlds each is asked some, and each question often."""

    of: int = 1
    part: int = 0

    def heard(self, questions: Iterable[Question]) -> list[tuple[str, bytes]]:
        """Ask, one after the other; return each answer, and at the end what was logged meanwhile."""
        lines: list[str] = []
        with _logged(lines):
            found = [
                (name, said(call)) for number, (name, call) in enumerate(questions) if number % self.of == self.part
            ]
        return [*found, ("logs", "\n".join(lines).encode())]


@contextmanager
def _logged(lines: list[str]) -> Iterator[None]:
    """Keep all that is logged, however unimportant."""

    class Keeper(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            lines.append(record.getMessage())

    logger, keeper = logging.getLogger("twofold"), Keeper()
    before = logger.level
    logger.addHandler(keeper)
    logger.setLevel(logging.DEBUG)
    try:
        yield
    finally:
        logger.removeHandler(keeper)
        logger.setLevel(before)


def said(call: Callable[[], Any]) -> bytes:
    """Return what a call gives, or how it fails, byte for byte."""
    try:
        made = plain(call())
    except TwofoldError as error:
        made = [type(error).__name__, error.message, error.hint, error.exit_code, error.http_status]
    return msgspec.json.encode(json.loads(json.dumps(made, sort_keys=True)))


def answers(index: Index, everything: Sequence[Written], queries: Sequence[str]) -> Iterator[Question]:
    """Yield all that an index says to somebody who knows every name and every word there ever was."""
    ids = [one.document().id for one in everything]
    names = [one.source for one in everything] + ids + [f"{name}_chunk_0" for name in ids]
    yield "info", lambda: replace(index.info(), name="", folder="")
    yield "len", lambda: len(index)
    yield "documents", index.documents
    yield "filtered", lambda: index.documents(filter="kind == memo")
    yield "page", lambda: index.documents_page(0, 2)
    yield "page containing", lambda: index.documents_page(0, 9, containing=".txt")
    for name in names:
        yield f"document {name}", partial(index.document, name)
        yield f"chunks {name}", partial(index.chunks, name)
    for number, query in enumerate(queries):
        options = SETTINGS[number % len(SETTINGS)]
        mode = MODES[number % len(MODES)]
        yield from _searched(index, query, mode, options, names)
    for typed in ("m", "me", "the ", "soup b", "0", "canteen has"):
        yield f"suggest {typed}", partial(index.suggest, typed)
    for query in ("mer*", "*o?p OR hot", "kind:memo merger", "mergr souup", '"the soup" +bread', "nothing:here soup"):
        yield f"query language {query}", partial(index.search, query, mode="bm25")
    yield "many", lambda: index.search_many(list(queries))
    yield "metrics", index.metrics
    yield from _tools(index, names, queries[0])
    yield from _then(index, names, queries)
    with MultiIndex({"one": index, "two": index}) as several:
        for number, query in enumerate(queries):
            mode = MODES[number % len(MODES)]
            asked = SearchOptions(mode=mode, results=ResultOptions(facets=["source"]))
            for across in ("global", "rrf"):
                yield f"several {across} {query}", partial(several.search, query, asked, across)
            yield f"several ask {query}", partial(several.ask, query, mode=mode)


def _then(index: Index, names: Sequence[str], queries: Sequence[str]) -> Iterator[Question]:
    """Ask the index as it was: who may read is what it is today."""
    yield "snapshots", index.snapshots
    yield "diff", lambda: index.diff(MONDAY, "now", queries)
    yield "no snapshot", lambda: index.at("absent")
    yield "monday", lambda: index.at(MONDAY).get_synonyms()
    try:
        past = index.at(MONDAY)
    except InvalidInputError:  # a store that keeps none
        return
    with past:
        yield "info then", lambda: replace(past.info(), name="", folder="")
        yield "documents then", past.documents
        yield "suggest then", lambda: past.suggest("m")
        for name in names:
            yield f"document then {name}", partial(past.document, name)
            yield f"chunks then {name}", partial(past.chunks, name)
            yield f"why not then {name}", partial(past.why_not, queries[0], name)
        for query, mode in zip(queries, MODES, strict=False):
            search = partial(past.search, query, mode=mode, facets=["source"], collapse=True)
            yield f"search then {query}", partial(_explained, search)
            yield f"ask then {query}", partial(past.ask, query, mode=mode)


def _explained(search: Callable[[], SearchResult]) -> SearchResult:
    return explained(search(), "english")


def _searched(
    index: Index, query: str, mode: str, options: Mapping[str, object], names: Sequence[str]
) -> Iterator[Question]:
    def search(**more: Any) -> Any:  # noqa: ANN401  # as `Index.search` has it
        return explained(index.search(query, mode=mode, settings=options, **more), "english")

    yield f"search {query} {mode} {options}", search
    yield f"filtered search {query}", lambda: search(filter="kind == memo", k=2)
    yield f"offset {query}", lambda: search(k=1, offset=1)
    for attempt in ("first", "again"):  # the second one from memory
        yield (
            f"{attempt} cached {query}",
            lambda: index.search(query, settings={**options, "cache": {"ttl_seconds": 60, "size": 9}}),
        )
    shaped = {"facets": ["kind", "source", "word_count:0,3,9"], "sort": "source:desc", "collapse": True}
    yield f"shaped {query}", lambda: search(k=2, **shaped)
    page = index.search(query, mode=mode, settings=options, k=1, cursor="start")
    yield f"cursor {query}", lambda: page
    yield f"next page {query}", lambda: search(k=1, cursor=page.next_cursor or "start")
    yield f"ask {query}", lambda: index.ask(query, mode=mode)
    yield f"session {query}", lambda: index.ask(query, session="talk")
    yield f"conversation {query}", lambda: index.conversation("talk")
    for name in names[: len(names) // 3 * 2]:
        yield (
            f"why not {name} {query}",
            partial(index.why_not, query, name, SearchOptions(mode=mode, settings=options)),
        )


def _tools(index: Index, names: Sequence[str], query: str) -> Iterator[Question]:
    """Ask as the tools of a language model do."""
    held = reading.ToolContext(index, Links("notes", "http://127.0.0.1"), 4_000)
    yield "tool search", lambda: reading.search(held, query)
    yield "tool passages", lambda: reading.search_passages(held, query, reading.PassageQuery(k=2))
    yield "tool ask", lambda: reading.ask(held, query)
    yield "tool list", lambda: reading.list_documents(held, "", "")
    for name in names[1::3]:
        yield f"tool fetch {name}", partial(reading.fetch, held, name)
        yield f"tool read {name}", partial(reading.read, held, name, 1, 500, "")
        yield f"tool outline {name}", partial(reading.outline, held, name, "")
        yield f"tool explain {name}", partial(reading.explain, held, query, name)
        yield f"tool why not {name}", partial(reading.why_not, held, query, name)


def changes(index: Index, everything: Sequence[Written]) -> Iterator[Question]:
    """Yield what an index says to somebody who writes: over documents of others, beside them, with their texts."""
    own = ["user:ann"]
    for one in everything:
        yield f"add {one.source}", partial(index.add, "the budget of ann", source=one.source, readers=own)
        yield f"copy {one.source}", partial(index.add, one.text, source=f"{one.source}.copy", readers=own)
        yield f"fields {one.source}", partial(index.set_metadata, one.document().id, {"color": "red"})
        yield f"readers {one.source}", partial(index.set_readers, one.document().id, own)
        yield f"delete {one.source}", partial(index.delete, one.document().id)
    owners: Sequence[tuple[str, Callable[[], object]]] = (
        ("verify", index.verify),
        ("compact", index.compact),
        ("drop", index.drop),
        ("reindex", index.reindex),
        ("settings", lambda: index.set_settings({"search.k": 3})),
        ("sync", lambda: index.sync("/nowhere")),
        ("embed", index.embed_pending),
        ("snapshot", lambda: index.snapshot("mine")),
        ("delete snapshot", lambda: index.delete_snapshot(MONDAY)),
        ("delete no snapshot", lambda: index.delete_snapshot("absent")),
        ("branch", lambda: index.branch("mine")),
        ("export", lambda: index.export("mine.twofold")),
        ("pin", lambda: index.pin("soup", ["0.txt"])),
        ("pins", index.pins),
        ("synonyms", lambda: index.set_synonyms("soup, bread")),
        ("add for others", lambda: index.add("x", source="x.txt", readers=["user:bob"])),
    )
    yield from owners
