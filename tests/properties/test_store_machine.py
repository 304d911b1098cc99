"""Whatever is done to the local store, in whatever order, it answers like the memory store, bit for bit."""

import secrets
import shutil
import tempfile
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import apsw
import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from support.factories import DIMENSIONS, entry, fingerprint, pending, query, vector
from support.postgres_server import PostgresServer
from support.s3_server import S3Server
from twofold.domain.access import Readers, Viewer, viewer_of
from twofold.domain.filters import And, Condition, Filter, Not, Operator, Or
from twofold.domain.ports import ALL, Scope, Snapshot, Store
from twofold.domain.snapshots import SnapshotStore, StoredVectors
from twofold.domain.types import Clause, IndexedChunk, TermQuery
from twofold.stores.database_address import address_of
from twofold.stores.local.maintenance import Upkeep
from twofold.stores.local.store import LocalStore
from twofold.stores.memory import MemoryStore
from twofold.stores.past import with_snapshots
from twofold.stores.postgres.store import PostgresStore
from twofold.stores.s3.heads import Pace
from twofold.stores.s3.store import S3Store

SMALL = Upkeep(flush_from=9, flush_at_close_from=3, segment_chunks=7, log_bytes=100_000, documents_at_once=2)

words = st.sampled_from(["cat", "dog", "mat", "ERR-1", "ünï", "the", "ab\x00c"])
lines = st.lists(words, min_size=1, max_size=6).map(" ".join)
texts = st.lists(lines, max_size=4).map("\n".join)
names = st.sampled_from(["monday", "tuesday"])
sources = st.sampled_from([f"{letter}/{number}.txt" for letter in "ab" for number in range(5)])
scalars = st.one_of(st.integers(-3, 3), st.sampled_from([0.5, 2.0, True, False, "x", "xy", "ü"]))
metadata = st.dictionaries(
    st.sampled_from(["year", "tag"]), st.one_of(scalars, st.lists(scalars, min_size=1, max_size=2).map(tuple))
)
owned = st.lists(metadata, max_size=3)
tests = st.builds(Condition, st.sampled_from(["year", "tag", "source", "none"]), st.sampled_from(Operator), scalars)
filters: st.SearchStrategy[Filter] = st.recursive(
    tests,
    lambda part: st.one_of(
        part.map(Not),
        st.lists(part, max_size=2).map(lambda p: And(tuple(p))),
        st.lists(part).map(lambda p: Or(tuple(p))),
    ),
    max_leaves=4,
)
clauses = st.one_of(words.map(lambda word: Clause((word,))), lines.map(lambda line: Clause(tuple(line.split()), line)))
scopes = st.builds(
    Scope,
    filters,
    st.lists(clauses, max_size=2).map(tuple),
    st.lists(clauses, max_size=1).map(tuple),
)
queries = st.builds(
    lambda text, k1, b: TermQuery(query(text).weights, k1, b),
    lines,
    st.sampled_from([0.0, 0.9, 1.2]),
    st.sampled_from([0.0, 0.4, 0.75, 1.0]),
)

readers = st.sampled_from([None, (), ("public",), ("user:a",), ("group:g", "user:b")])
viewers = st.sampled_from(
    [None, viewer_of([]), viewer_of(["user:a"], default=[]), viewer_of(["user:b"], statistics="shared")]
)


class StoreMachine(RuleBasedStateMachine):
    """Does the same to a local store, with two openings of its folder, and to a memory store."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="twofold-machine-"))
        self.model = MemoryStore()
        self.local = self.opened()
        self.other = self.opened()
        self.editions = 0

    def opened(self) -> LocalStore | PostgresStore | S3Store:
        return LocalStore(self.folder, upkeep=SMALL)

    @initialize()
    def ensure_fingerprint(self) -> None:
        for store in (self.model, self.local):
            store.ensure_fingerprint(fingerprint())

    @rule(
        entries=st.dictionaries(sources, st.tuples(texts, metadata, owned), min_size=1, max_size=3),
        waits=st.sampled_from([None, (), (0, 2)]),
    )
    def upsert(
        self,
        entries: dict[str, tuple[str, dict[str, str], list[dict[str, str]]]],
        waits: tuple[int, ...] | None,
    ) -> None:
        made = [entry(text, source, held, own=own) for source, (text, held, own) in entries.items()]
        made = made if waits is None else [pending(one, *waits) for one in made]
        for store in (self.model, self.local):
            store.upsert(made)

    @precondition(lambda self: self.model.info().pending)
    @rule(more=st.integers(1, 4), other=lines)
    def update_vectors(self, more: int, other: str) -> None:
        with self.model.view() as view:
            texts = [*view.pending_texts(more), other]
        held = self.model.fingerprint()
        assert held is not None
        vectors = {text: vector(text) for text in texts}
        assert self.model.update_vectors(held.embedder, vectors) == self.local.update_vectors(held.embedder, vectors)

    @rule(chosen=st.lists(sources, max_size=4))
    def delete(self, chosen: list[str]) -> None:
        names = [entry("", source).document.id for source in chosen]
        assert self.model.delete(names) == self.local.delete(names)

    @rule(chosen=st.lists(sources, max_size=3), readers=readers)
    def set_readers(self, chosen: list[str], readers: Readers | None) -> None:
        for store in (self.model, self.local):
            store.set_readers({entry("", source).document.id: readers for source in chosen})

    @rule(chosen=sources, held=metadata)
    def set_metadata(self, chosen: str, held: dict[str, str]) -> None:
        for store in (self.model, self.local):
            store.set_metadata({entry("", chosen).document.id: held})

    @rule(values=st.dictionaries(words.filter(bool), words, max_size=2))
    def set_settings(self, values: dict[str, str]) -> None:
        for store in (self.model, self.local):
            store.set_settings(values)

    @rule()
    def compact(self) -> None:
        self.local.compact()

    @rule(clean=st.booleans())
    def reopen(self, clean: bool) -> None:  # noqa: FBT001
        if clean:
            self.local.close()
        else:
            self.local._connections.close()
        self.local = self.opened()

    @rule()
    def change_places(self) -> None:
        self.local, self.other = self.other, self.local

    @rule(stops=st.booleans())
    def rebuild(self, stops: bool) -> None:  # noqa: FBT001
        self.editions += 1
        new = fingerprint(f"made {self.editions}")
        try:
            self.local.rebuild(new, lambda documents: [made(one.text, one.source, stops=stops) for one in documents])
        except InterruptedError:
            self.local.rebuild(new, lambda documents: [made(one.text, one.source, stops=False) for one in documents])
        self.model.rebuild(new, lambda documents: [made(one.text, one.source, stops=False) for one in documents])

    @precondition(lambda self: not self.model.info().documents)
    @rule(dimensions=st.sampled_from([8, DIMENSIONS]))
    def adopt_another(self, dimensions: int) -> None:
        for name, width in (("narrow", dimensions), ("made", DIMENSIONS)):
            for store in (self.model, self.local):
                store.ensure_fingerprint(fingerprint(name, width))

    @precondition(lambda self: isinstance(self.local, SnapshotStore))
    @rule(name=names)
    def create_snapshot(self, name: str) -> None:
        if name in {one.name for one in self.model.snapshots()}:
            self.delete_snapshot(name)
        for store in (self.model, with_snapshots(self.local)):
            store.create_snapshot(name, 1_000_000)

    @precondition(lambda self: self.model.snapshots())
    @rule(name=names)
    def delete_snapshot(self, name: str) -> None:
        if name in {one.name for one in self.model.snapshots()}:
            for store in (self.model, with_snapshots(self.local)):
                store.delete_snapshot(name)

    def pairs(self) -> list[tuple[Store, Store]]:
        """Return each store of today, and each snapshot, with what the memory store has in its place."""
        found: list[tuple[Store, Store]] = [(self.local, self.model), (self.other, self.model)]
        for one in self.model.snapshots():
            both = with_snapshots(self.local), with_snapshots(self.other)
            found += [(store.at(one.name), self.model.at(one.name)) for store in both]
        return found

    @rule(asked=queries, scope=st.one_of(st.just(ALL), scopes), k=st.sampled_from([1, 3, 99]), viewer=viewers)
    def find(self, asked: TermQuery, scope: Scope, k: int, viewer: Viewer | None) -> None:
        for store, model in self.pairs():
            with store.view(viewer) as view, model.view(viewer) as expected:
                assert list(view.documents()) == list(expected.documents())
                assert (view.sizes(), view.pending) == (expected.sizes(), expected.pending)
                if expected.fingerprint is not None:
                    find_the_same(view, expected, asked, scope, k)

    @invariant()
    def lists_the_same(self) -> None:
        if isinstance(self.local, SnapshotStore):
            assert [(one.name, one.documents, one.chunks) for one in self.local.snapshots()] == [
                (one.name, one.documents, one.chunks) for one in self.model.snapshots()
            ]
        for store, model in self.pairs():
            with store.view() as view, model.view() as expected:
                assert view.fingerprint == expected.fingerprint
                infos = list(expected.documents())
                assert list(view.documents()) == infos
                assert view.pending == expected.pending
                assert set(view.pending_texts(99)) == set(expected.pending_texts(99))
                for info in infos[:2]:
                    assert view.document(info.id) == expected.document(info.id)
                    assert view.describe([info.id]) == {info.id: info}
                    assert list(view.chunks_of(info.id)) == list(expected.chunks_of(info.id))
                    assert list(view.stretch(info.id, 1, 2)) == list(expected.stretch(info.id, 1, 2))
            assert store.get_settings() == model.get_settings()

    def teardown(self) -> None:
        assert self.local.verify() == []
        if isinstance(self.local, LocalStore):
            keeps_nothing_without_snapshots(self.local, self.folder)
        self.local.close()
        self.other.close()
        shutil.rmtree(self.folder)


def keeps_nothing_without_snapshots(store: LocalStore, folder: Path) -> None:
    for one in store.snapshots():
        store.delete_snapshot(one.name)
    vfs = store._connections.vfs.name
    with closing(apsw.Connection(str(folder / "catalog.sqlite3"), vfs=vfs)) as held:
        for table in ("retained_document", "retained_chunk"):
            assert held.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,)  # noqa: S608


def find_the_same(view: Snapshot, expected: Snapshot, asked: TermQuery, scope: Scope, k: int) -> None:
    """Hold what a view finds, scores and explains against another one."""
    width = expected.fingerprint.embedder.dimensions if expected.fingerprint else DIMENSIONS
    direction = vector(" ".join(asked.weights), width)
    assert view.search_bm25(asked, k, scope) == expected.search_bm25(asked, k, scope)
    near = expected.search_vectors(direction, 99, scope)
    found = np.sort(expected.search_bm25(asked, 99).keys)
    assert np.array_equal(view.without_vector(found), expected.without_vector(found))
    assert view.search_vectors(direction, 99, scope) == near
    assert view.statistics(tuple(asked.weights)) == expected.statistics(tuple(asked.weights))
    assert np.array_equal(view.score_terms(asked, near.keys), expected.score_terms(asked, near.keys))
    assert np.array_equal(view.score_vector(direction, near.keys), near.scores)
    explained = near.keys[:3].tolist()
    here, there = view.explain_terms(asked, explained), expected.explain_terms(asked, explained)
    assert [here.of(place) for place in range(len(explained))] == [there.of(place) for place in range(len(explained))]
    keys = near.keys.tolist()
    assert list(view.chunks(keys)) == list(expected.chunks(keys))
    assert list(view.term_counts(keys)) == list(expected.term_counts(keys))
    assert isinstance(view, StoredVectors)
    assert isinstance(expected, StoredVectors)
    for one, other in zip(view.vectors(found.tolist()), expected.vectors(found.tolist()), strict=True):
        assert np.array_equal(one, other) if one is not None and other is not None else one is other
    for fetched, held in zip(view.fetch(keys), expected.fetch(keys), strict=True):
        assert (fetched.chunk, fetched.source, fetched.metadata) == (held.chunk, held.source, held.metadata)


def made(text: str, source: str, *, stops: bool) -> tuple[IndexedChunk, ...]:
    if stops and source.startswith("b"):
        raise InterruptedError
    return entry(text, source, own=[{"year": len(text) % 3}, {}]).chunks


class PostgresMachine(StoreMachine):
    """The same with an index in a database, which two processes have open."""

    def __init__(self, database: str) -> None:
        self._address = address_of(f"{database}&index={secrets.token_hex(8)}")
        super().__init__()

    def opened(self) -> PostgresStore:
        return PostgresStore(self._address, upkeep=SMALL, cache=self.folder)

    def teardown(self) -> None:
        assert isinstance(self.local, PostgresStore)
        for one in self.local.snapshots():
            self.local.delete_snapshot(one.name)
        with self.local._connections.reading() as connection:
            for table in ("retained_document", "retained_chunk"):
                assert connection.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,)  # noqa: S608
        super().teardown()
        PostgresStore.drop(self._address, 10.0)


def test_an_index_in_a_database_answers_like_the_memory_store(postgres_server: PostgresServer) -> None:
    machine: Any = partial(PostgresMachine, postgres_server.address())
    run_state_machine_as_test(machine, settings=settings(max_examples=8, stateful_step_count=20))


def test_a_database_that_ranks_answers_like_the_memory_store(pgvector_database: str) -> None:
    machine: Any = partial(PostgresMachine, f"{pgvector_database}&retrieval=server")
    run_state_machine_as_test(machine, settings=settings(max_examples=4, stateful_step_count=20))


class BucketMachine(StoreMachine):
    """The same with an index in a bucket, which two processes have open."""

    def __init__(self, server: S3Server) -> None:
        self._address = address_of(server.address())
        super().__init__()

    def opened(self) -> S3Store:
        return S3Store(self._address, upkeep=SMALL, cache=self.folder, pace=Pace(fresh=0.0), wait_seconds=60.0)

    def teardown(self) -> None:
        super().teardown()
        S3Store.drop(self._address, 10.0)


@pytest.mark.usefixtures("s3")
def test_an_index_in_a_bucket_answers_like_the_memory_store(s3_server: S3Server) -> None:
    machine: Any = partial(BucketMachine, s3_server)
    run_state_machine_as_test(machine, settings=settings(max_examples=8, stateful_step_count=20))


@pytest.mark.soak
@pytest.mark.usefixtures("s3")
def test_an_index_in_a_bucket_answers_like_the_memory_store_in_thousands_of_worlds(s3_server: S3Server) -> None:
    machine: Any = partial(BucketMachine, s3_server)
    run_state_machine_as_test(machine, settings=settings(max_examples=2_500, stateful_step_count=40))


@pytest.mark.soak
def test_an_index_in_a_database_answers_like_the_memory_store_in_thousands_of_worlds(
    postgres_server: PostgresServer,
) -> None:
    machine: Any = partial(PostgresMachine, postgres_server.address())
    run_state_machine_as_test(machine, settings=settings(max_examples=2_500, stateful_step_count=40))


TestStoreMachine = StoreMachine.TestCase
TestStoreMachine.settings = settings(stateful_step_count=40)
