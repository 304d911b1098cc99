"""Content that should not break anything: it is kept exactly, or refused whole with a reason."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import apsw
import numpy as np
import pytest

from support.factories import DIMENSIONS, entry, fingerprint, query, terms, vector
from twofold.domain.errors import CorruptError, InvalidInputError, MismatchError, TwofoldError
from twofold.domain.ports import Store
from twofold.domain.types import Entry, TermCounts
from twofold.stores.local.catalog import FORMAT_VERSION
from twofold.stores.local.connections import Connections
from twofold.stores.local.place import CATALOG_NAME
from twofold.stores.local.store import LocalStore
from twofold.stores.memory import MemoryStore

LONE = "\ud800"


@pytest.fixture(params=["memory", "local"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    made: Store = MemoryStore() if request.param == "memory" else LocalStore(tmp_path / "kb")
    made.ensure_fingerprint(fingerprint())
    made.upsert([entry("every word stays", "before.txt")])
    yield made
    made.close()


def with_vector(made: Entry, value: float) -> Entry:
    spoilt = vector("x")
    spoilt[3] = value
    return replace(made, chunks=(replace(made.chunks[0], vector=spoilt),))


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_vectors_that_are_no_numbers_are_refused(store: Store, value: float) -> None:
    with pytest.raises(InvalidInputError, match="no finite number"):
        store.upsert([entry("fine", "fine.txt"), with_vector(entry("word", "a.txt"), value)])
    with store.view() as view:
        assert [info.source for info in view.documents()] == ["before.txt"]
        assert np.isfinite(view.search_vectors(vector("x"), 9).scores).all()


def test_vectors_that_are_no_numbers_are_refused_by_a_rebuild(tmp_path: Path) -> None:
    store = LocalStore(tmp_path / "kb")
    store.ensure_fingerprint(fingerprint())
    store.upsert([entry("word", "a.txt")])
    with pytest.raises(InvalidInputError):
        store.rebuild(fingerprint("new"), lambda _: [with_vector(entry("word", "a.txt"), np.nan).chunks])
    with pytest.raises(MismatchError):
        store.rebuild(fingerprint("new"), lambda _: [entry("word", "a.txt", dimensions=DIMENSIONS + 1).chunks])
    assert store.info().fingerprint == fingerprint()
    assert store.verify() == []
    store.close()


def spoilt(made: Entry) -> Iterator[Entry]:
    document, (indexed, *_) = made.document, made.chunks
    for name in ("id", "source", "title", "text", "media_type", "content_hash"):
        yield replace(made, document=replace(document, **{name: LONE}))  # type: ignore[arg-type]
    yield replace(made, document=replace(document, metadata={"tag": LONE}))
    yield replace(made, document=replace(document, metadata={"tags": ("fine", LONE)}))
    yield replace(made, document=replace(document, metadata={LONE: 1}))
    yield replace(made, document=replace(document, metadata={"n": 10**30}))
    yield replace(made, document=replace(document, metadata={"n": float("nan")}))
    yield replace(made, document=replace(document, id=""))
    for own in (
        {"tag": LONE},
        {LONE: 1},
        {"n": 10**30},
        {"n": float("inf")},
        {"t": ("x", float("nan"))},
        {"d": {"a": 1}},
    ):
        yield replace(made, chunks=(replace(indexed, chunk=replace(indexed.chunk, metadata=own)),))  # type: ignore[arg-type]
    for name, value in (("text", LONE), ("heading", (LONE,)), ("place", LONE), ("header", LONE)):
        yield replace(made, chunks=(replace(indexed, chunk=replace(indexed.chunk, **{name: value})),))  # type: ignore[arg-type]
    yield replace(made, chunks=(replace(indexed, terms=TermCounts({LONE: 1}, 1)),))


@pytest.mark.parametrize("number", range(len(list(spoilt(entry("x"))))))
def test_what_cannot_be_kept_is_refused_whole(tmp_path: Path, number: int) -> None:
    store = LocalStore(tmp_path / "kb")
    store.ensure_fingerprint(fingerprint())
    with pytest.raises(TwofoldError) as refused:
        store.upsert([entry("fine", "fine.txt"), list(spoilt(entry("word", "a.txt")))[number]])
    assert type(refused.value) is InvalidInputError
    assert refused.value.hint
    assert store.info().documents == 0
    store.upsert([entry("fine", "fine.txt")])
    assert store.verify() == []
    store.close()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\x00",
        "a\x00b",
        "🎉 \U0001d518\U0001d52b ﷺ",
        "e\u0301 é \u202eright to left\u202c",
        "\ufeffmark",
        "'; DROP TABLE chunk; --",
    ],
)
def test_any_text_comes_back_as_it_was(store: Store, text: str) -> None:
    made = entry(text, f"{text} 🎉.txt", {"tag": text, "tags": (text, "x")})
    store.upsert([made])
    with store.view() as view:
        assert view.document(made.document.id) == made.document
        assert [chunk.text for chunk in view.chunks_of(made.document.id)] == [one.chunk.text for one in made.chunks]
        if made.chunks:
            assert view.search_vectors(vector(made.chunks[0].chunk.text), 1).keys[0] == made.chunks[0].chunk.key
    assert store.verify() == []


def test_unknown_names_that_are_not_unicode_are_just_unknown(store: Store) -> None:
    assert store.delete([LONE]) == 0
    with store.view() as view:
        assert view.document(LONE) is None
        assert list(view.chunks_of(LONE)) == []
        assert view.describe([LONE]) == {}
        assert view.vectors_for([LONE]) == {}
        assert len(view.search_bm25(query(LONE), 3)) == 0


def test_a_line_of_ten_megabytes_is_one_passage(store: Store) -> None:
    line = "every wörd " * 900_000
    made = entry("short", "long.txt")
    chunk = replace(made.chunks[0].chunk, text=line, end=len(line))
    counted = terms("every wörd " * 5)
    long = Entry(replace(made.document, text=line), (replace(made.chunks[0], chunk=chunk, terms=counted),))
    store.upsert([long])
    with store.view() as view:
        (found,) = view.chunks(view.search_bm25(query("wörd"), 3).keys.tolist())
    assert found.text == line
    assert store.verify() == []


def test_a_newer_format_is_refused_and_both_are_named(tmp_path: Path) -> None:
    LocalStore(tmp_path / "kb").close()
    connections = Connections(tmp_path / "kb", "")
    with connections.writing() as connection:
        connection.pragma("user_version", FORMAT_VERSION + 1)
    connections.close()
    with pytest.raises(MismatchError, match=rf"format {FORMAT_VERSION + 1}; .* format {FORMAT_VERSION}\."):
        LocalStore(tmp_path / "kb")


@pytest.mark.parametrize("content", [b"", b"not a database", b"x" * 100_000])
def test_another_file_by_that_name_is_refused_and_kept(tmp_path: Path, content: bytes) -> None:
    (tmp_path / CATALOG_NAME).write_bytes(content)
    with pytest.raises(CorruptError):
        LocalStore(tmp_path)
    assert (tmp_path / CATALOG_NAME).read_bytes() == content


def test_another_database_by_that_name_is_refused(tmp_path: Path) -> None:
    connection = apsw.Connection(str(tmp_path / CATALOG_NAME))
    connection.execute("CREATE TABLE theirs (a)")
    connection.close()
    with pytest.raises(CorruptError):
        LocalStore(tmp_path)
