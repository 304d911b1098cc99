"""Several collections seen as one answer as one collection of all their passages does, to the last bit."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.factories import entry, fingerprint, pending, query, vector
from twofold.domain.access import Viewer, viewer_of
from twofold.domain.errors import CorruptError, InvalidInputError, MismatchError, NotFoundError
from twofold.domain.filters import Condition, Operator
from twofold.domain.ports import ALL, Scope, Snapshot, Store
from twofold.domain.types import Clause, Entry, Ranking, TermQuery, chunk_key, document_id
from twofold.stores.federated import (
    Collection,
    FederatedSnapshot,
    FederatedStore,
    LostCollectionError,
    Named,
)
from twofold.stores.federated_ids import check_names
from twofold.stores.local.store import LocalStore
from twofold.stores.memory import MemorySnapshot, MemoryStore
from twofold.stores.memory_entries import State

WORDS = ("cat", "dog", "mat", "log", "sat")
LINES = st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join), min_size=1, max_size=4)
DOCUMENTS = st.lists(LINES, max_size=5)
COLLECTIONS = st.lists(DOCUMENTS, min_size=1, max_size=4)
SCOPES = st.sampled_from(
    [
        ALL,
        Scope(Condition("lang", Operator.EQ, "de")),
        Scope(required=(Clause(("cat",)),)),
        Scope(excluded=(Clause(("sat", "cat"), "sat cat"),)),
    ]
)
QUESTIONS = st.lists(st.sampled_from((*WORDS, "absent")), min_size=1, max_size=5).map(" ".join)
DEPTHS = st.integers(1, 12)


def entries_of(collections: Sequence[Sequence[Sequence[str]]]) -> list[list[Entry]]:
    """Make documents whose sources no two share; every second one is in German."""
    return [
        [
            entry("\n".join(lines), f"{number}-{place}.txt", {"lang": ("en", "de")[place % 2]})
            for place, lines in enumerate(documents)
        ]
        for number, documents in enumerate(collections)
    ]


def filled(store: Store, entries: Sequence[Entry]) -> Store:
    store.ensure_fingerprint(fingerprint())
    if entries:
        store.upsert(entries)
    return store


def joint(stores: Sequence[Store]) -> FederatedStore:
    return FederatedStore([Collection(f"c{number}", store) for number, store in enumerate(stores)])


def own_keys(view: Snapshot, keys: Sequence[int]) -> list[int]:
    """Give the keys that passages have in their own collections, and in one that holds them all."""
    return [chunk_key(chunk.id.partition("/")[2]) for chunk in view.chunks(keys)]


def same(view: FederatedSnapshot, found: Ranking, expected: Ranking) -> bool:
    return own_keys(view, found.keys.tolist()) == expected.keys.tolist() and bool(
        (found.scores == expected.scores).all()
    )


@given(COLLECTIONS, QUESTIONS, DEPTHS, SCOPES)
def test_both_arms_rank_as_one_collection_does(
    collections: list[list[list[str]]], question: str, k: int, scope: Scope
) -> None:
    made = entries_of(collections)
    big = filled(MemoryStore(), [one for entries in made for one in entries])
    asked, direction = query(question), vector(question)
    with joint([filled(MemoryStore(), one) for one in made]).view() as view, big.view() as whole:
        for found, expected in (
            (view.search_bm25(asked, k, scope), whole.search_bm25(asked, k, scope)),
            (view.search_vectors(direction, k, scope), whole.search_vectors(direction, k, scope)),
        ):
            assert same(view, found, expected)
            other = view.search_vectors(vector("other"), 30).keys
            theirs = np.array(own_keys(view, other.tolist()), dtype=np.int64)
            assert view.score_terms(asked, other).tolist() == whole.score_terms(asked, theirs).tolist()
            assert view.score_vector(direction, other).tolist() == whole.score_vector(direction, theirs).tolist()
            assert list(view.term_counts(other.tolist())) == list(whole.term_counts(theirs.tolist()))
            kept = view.within(other, scope)
            assert own_keys(view, kept.tolist()) == whole.within(theirs, scope).tolist()
            for key, own in zip(other.tolist(), theirs.tolist(), strict=True):
                assert view.explain_terms(asked, [key]).of(0) == whole.explain_terms(asked, [own]).of(0)


@given(COLLECTIONS, QUESTIONS, st.integers(0, 7))
def test_what_may_not_be_read_is_as_if_no_collection_had_it(
    collections: list[list[list[str]]], question: str, every: int
) -> None:
    made = entries_of(collections)
    stores = [filled(MemoryStore(), one) for one in made]
    hidden = [[one.document.id for one in some[every % 3 :: 2]] for some in made]
    for store, names in zip(stores, hidden, strict=True):
        store.set_readers(dict.fromkeys(names, ("user:bob",)))
    asked, direction = query(question), vector(question)
    said: list[tuple[object, ...]] = []
    for viewer in (viewer_of(["user:ann"]), None):
        with joint(stores).view(viewer) as view:
            bm25, near = view.search_bm25(asked, 9), view.search_vectors(direction, 9)
            said.append((list(bm25), list(near), view.statistics(WORDS), list(view.documents()), view.sizes()))
            keys = near.keys.tolist()
            said[-1] += ([view.explain_terms(asked, keys).of(at) for at in range(len(keys))], view.chunks(keys))
            assert bool(view.viewer_key) == (viewer is not None)
        for store, names in zip(stores, hidden, strict=True):
            store.delete(names)
    assert said[0] == said[1]


@given(COLLECTIONS)
def test_figures_lists_and_passages_are_those_of_one_collection(collections: list[list[list[str]]]) -> None:
    made = entries_of(collections)
    every = [one for entries in made for one in entries]
    big = filled(MemoryStore(), every)
    stores = joint([filled(MemoryStore(), one) for one in made])
    with stores.view() as view, big.view() as whole:
        assert view.statistics((*WORDS, "absent")) == whole.statistics((*WORDS, "absent"))
        assert view.fingerprint == whole.fingerprint
        assert view.generation == sum(bool(entries) for entries in made)
        listed = list(view.documents())
        assert [(info.source, info.id.partition("/")[2]) for info in listed] == [
            (info.source, info.id) for info in whole.documents()
        ]
        for info in listed:
            assert view.describe([info.id]) == {info.id: info}
            own = info.id.partition("/")[2]
            assert [chunk.text for chunk in view.chunks_of(info.id)] == [one.text for one in whole.chunks_of(own)]
            assert [chunk.ordinal for chunk in view.stretch(info.id, -1, 1)] == [
                one.ordinal for one in whole.stretch(own, -1, 1)
            ]
            assert view.chunks([chunk.key for chunk in view.chunks_of(info.id)]) == view.chunks_of(info.id)
            found, expected = view.document(info.id), whole.document(own)
            assert found is not None
            assert expected is not None
            assert (found.id, found.text) == (info.id, expected.text)
        texts = [indexed.chunk.text for one in every for indexed in one.chunks]
        theirs = whole.vectors_for(texts)
        assert {text: one.tolist() for text, one in view.vectors_for([*texts, "absent"]).items()} == {
            text: one.tolist() for text, one in theirs.items()
        }
    assert (stores.info().chunks, stores.info().documents) == (big.info().chunks, big.info().documents)


@pytest.fixture
def on_disk(tmp_path: Path) -> Iterator[list[Store]]:
    with ExitStack() as stack:
        stores: list[Store] = []
        for number in range(3):
            made = entries_of([[["cat dog", f"dog {number} mat"]] * 20] * 3)[number]
            store = filled(LocalStore(tmp_path / str(number)), made)
            stack.callback(store.close)
            stores.append(store)
        yield stores


def test_collections_on_disk_rank_as_one_in_memory(on_disk: list[Store]) -> None:
    big = filled(
        MemoryStore(),
        [one for made in entries_of([[["cat dog", f"dog {n} mat"]] * 20 for n in range(3)]) for one in made],
    )
    asked, direction = query("dog mat 1"), vector("dog 1 mat")
    with joint(on_disk).view() as view, big.view() as whole:
        assert same(view, view.search_bm25(asked, 50), whole.search_bm25(asked, 50))
        assert same(view, view.search_vectors(direction, 50), whole.search_vectors(direction, 50))
        for key in view.search_bm25(asked, 50).keys.tolist():
            assert view.explain_terms(asked, [key]).of(0) == whole.explain_terms(asked, own_keys(view, [key])).of(0)


def test_a_document_that_two_collections_hold_is_two_documents() -> None:
    stores = joint([filled(MemoryStore(), [entry(text, "a.txt")]) for text in ("a cat", "a cat on a mat")])
    identity = document_id("a.txt")
    with stores.view() as view:
        found = view.search_bm25(query("cat"), 10)
        assert [(chunk.document, chunk.text) for chunk in view.chunks(found.keys.tolist())] == [
            (f"c0/{identity}", "a cat"),
            (f"c1/{identity}", "a cat on a mat"),
        ]
        assert set(view.describe([f"c0/{identity}", f"c1/{identity}", identity])) == {
            f"c0/{identity}",
            f"c1/{identity}",
        }


def test_what_is_not_there_is_not_found() -> None:
    with joint([filled(MemoryStore(), [entry("a cat", "a.txt")]) for _ in range(2)]).view() as view:
        unknown = np.array([5], dtype=np.int64)
        assert view.score_terms(query("cat"), unknown).tolist() == [0.0]
        assert view.explain_terms(query("cat"), [5]).of(0) == ()
        assert view.within(unknown, ALL).tolist() == []
        assert view.document("nobody/1") is None
        assert view.document("c0/1") is None
        assert list(view.chunks_of("nobody/1")) == []
        assert list(view.stretch("nobody/1", 0, 9)) == []
        with pytest.raises(NotFoundError, match="5"):
            view.chunks([5])


def test_statistics_that_a_question_brings_count_instead_of_the_collections() -> None:
    stores = [filled(MemoryStore(), [entry(text, "a.txt")]) for text in ("a cat", "cat cat dog")]
    with joint(stores).view() as view, stores[0].view() as first:
        counted = first.statistics(["cat"])
        asked = TermQuery({"cat": 1.0}, statistics=counted)
        assert (
            view.search_bm25(asked, 1, Scope(excluded=(Clause(("dog",)),))).scores.tolist()
            == first.search_bm25(asked, 1).scores.tolist()
        )


@pytest.mark.parametrize("names", [("a", "a"), ("a", "a/b"), ("a/b/c", "a/b")])
def test_names_that_ids_cannot_be_told_apart_by_are_refused(names: tuple[str, str]) -> None:
    with pytest.raises(InvalidInputError, match="a name of its own"):
        check_names(names)


def test_collections_that_were_made_differently_are_not_compared() -> None:
    other = MemoryStore()
    other.ensure_fingerprint(fingerprint("other"))
    stores = [Collection("a", filled(MemoryStore(), [])), Collection("b", other)]
    with (
        pytest.raises(MismatchError, match=r"'made' and 'other'.*search\.multi_index_merge=rrf"),
        FederatedStore(stores).view(),
    ):
        pass
    with FederatedStore(stores, by_meaning=False).view() as view:
        assert len(view.search_bm25(query("cat"), 1)) == 0


class Broken(MemoryStore):
    """A store whose catalog is damaged."""

    @contextmanager
    def view(self, viewer: Viewer | None = None, *, rows_only: bool = False) -> Iterator[MemorySnapshot]:  # noqa: ARG002  # rows are all there is
        raise CorruptError("page 3 is damaged.", "Restore a copy.")
        yield MemorySnapshot(State(), viewer)  # makes it what a view is asked for by


def test_of_several_the_one_that_fails_is_named() -> None:
    with (
        pytest.raises(LostCollectionError, match=r"collection c1 unavailable: page 3 is damaged\. Restore") as caught,
        joint([MemoryStore(), Broken()]).view(),
    ):
        pass
    assert isinstance(caught.value.error, CorruptError)


def test_one_alone_fails_by_its_own_error() -> None:
    with pytest.raises(CorruptError), joint([Broken()]).view():
        pass


def test_several_cannot_be_written_as_one() -> None:
    stores = joint([MemoryStore(), MemoryStore()])
    for write in (
        lambda: stores.upsert([]),
        lambda: stores.update_vectors(fingerprint().embedder, {}),
        lambda: stores.delete(["a"]),
        lambda: stores.ensure_fingerprint(fingerprint()),
        lambda: stores.rebuild(fingerprint(), lambda _: []),
        lambda: stores.set_settings({}),
        stores.compact,
    ):
        with pytest.raises(InvalidInputError, match="each by itself"):
            write()
    assert stores.get_settings() == {}
    assert stores.verify() == []
    stores.close()


def test_a_joint_view_of_the_same_view_under_two_names_counts_it_twice() -> None:
    with filled(MemoryStore(), [entry("a cat", "a.txt")]).view() as view:
        twice = FederatedSnapshot([Named("a", view), Named("b", view)])
        assert twice.statistics(["cat"]).frequencies == {"cat": 2}


def test_passages_that_wait_for_vectors_are_those_of_all() -> None:
    first = filled(MemoryStore(), [pending(entry("the cat\na fox", "a.txt"), 0)])
    other = filled(MemoryStore(), [pending(entry("the cat\na dog", "b.txt"))])
    stores = joint([first, other])
    assert stores.info().pending == 3
    with stores.view() as view:
        found = view.search_bm25(query("the a"), 9)
        keys = np.sort(found.keys)
        assert (view.pending, len(view.without_vector(keys)), len(keys)) == (3, 3, 4)
        assert list(view.pending_texts(9)) == ["the cat", "a dog"]
        assert list(view.pending_texts(1)) == ["the cat"]
        assert [chunk.text for chunk in view.chunks(view.search_vectors(vector("x"), 9).keys.tolist())] == ["a fox"]
