"""What every store promises of passages that have no vector yet, and of vectors that come later."""

import numpy as np
import pytest

from twofold.domain.errors import InvalidInputError, MismatchError
from twofold.domain.filters import Condition, Operator
from twofold.domain.ports import Scope, Store
from twofold.domain.types import Vector
from twofold.testing.making import DIMENSIONS, entries, entry, fingerprint, pending, query, vector

EMBEDDER = fingerprint().embedder
LINES = ("the cat sat", "the dog ran", "a fox")


def vectors(*texts: str) -> dict[str, Vector]:
    return {text: vector(text) for text in texts}


class StorePending:
    """The part of `StoreContract` that is about passages without a vector."""

    def test_a_passage_without_a_vector_is_found_by_its_words_alone(self, store: Store) -> None:
        made = entry("\n".join(LINES))
        store.upsert([pending(made, 0, 2)])
        keys = np.sort(np.array([one.chunk.key for one in made.chunks]))
        first, second, third = (one.chunk.key for one in made.chunks)
        with store.view() as view:
            assert (view.pending, store.info().pending, store.info().chunks) == (2, 2, 3)
            assert set(view.search_bm25(query("the fox"), 9).keys.tolist()) == {first, second, third}
            assert view.search_vectors(vector("the cat sat"), 9).keys.tolist() == [second]
            assert sorted(view.without_vector(keys).tolist()) == sorted([first, third])
            scores = dict(zip(keys.tolist(), view.score_vector(vector("the dog ran"), keys).tolist(), strict=True))
            assert (scores[first], scores[third]) == (0.0, 0.0)
            assert scores[second] == pytest.approx(1.0, abs=1e-3)
            assert list(view.pending_texts(9)) == ["the cat sat", "a fox"]
            assert list(view.pending_texts(1)) == ["the cat sat"]
            assert set(view.vectors_for(LINES)) == {"the dog ran"}

    def test_a_view_of_rows_alone_is_of_one_state_and_is_searched_all_the_same(self, store: Store) -> None:
        made = entries(["the cat sat", "the dog ran"])
        store.upsert(made[:1])
        with store.view(rows_only=True) as rows:
            store.upsert(made[1:])
            with store.view() as later:
                assert len(later.search_bm25(query("the"), 9)) == 2
            assert (len(list(rows.documents())), rows.pending) == (1, 0)
            assert set(rows.vectors_for(["the cat sat", "the dog ran"])) == {"the cat sat"}
            assert len(rows.search_bm25(query("the"), 9)) == 1
            assert len(rows.search_vectors(vector("the dog ran"), 9)) == 1

    def test_a_vector_that_comes_later_makes_the_same_collection(self, store: Store) -> None:
        made = [*entries(["the cat sat", "the dog ran"]), entry("a fox\nthe cat sat", "z.txt", {"year": 2020})]
        store.upsert(made)
        whole = Scope(Condition("year", Operator.EQ, 2020))
        with store.view() as view:
            before = (
                list(view.documents()),
                view.search_bm25(query("the cat fox"), 9),
                view.search_vectors(vector("x"), 9),
                view.search_vectors(vector("x"), 9, whole),
                view.statistics(["the", "fox"]),
                [view.chunks_of(one.document.id) for one in made],
            )
        store.upsert([pending(one) for one in made])
        with store.view() as view:
            assert len(view.search_vectors(vector("x"), 9)) == 0
            generation = view.generation
        assert store.update_vectors(EMBEDDER, vectors("a fox", "the cat sat", "never put")) == 3
        store.compact()
        assert store.info().pending == 1
        assert store.update_vectors(EMBEDDER, vectors("the dog ran", "the cat sat")) == 1
        with store.view() as view:
            assert view.generation > generation
            assert (view.pending, list(view.pending_texts(9))) == (0, [])
            assert before == (
                list(view.documents()),
                view.search_bm25(query("the cat fox"), 9),
                view.search_vectors(vector("x"), 9),
                view.search_vectors(vector("x"), 9, whole),
                view.statistics(["the", "fox"]),
                [view.chunks_of(one.document.id) for one in made],
            )

    def test_the_vector_of_an_old_version_is_dropped(self, store: Store) -> None:
        store.upsert([pending(entry("old words", "a.txt")), pending(entry("gone", "b.txt"))])
        store.upsert([pending(entry("new words", "a.txt"))])
        store.delete([entry("", "b.txt").document.id])
        with store.view() as view:
            generation = view.generation
        assert store.update_vectors(EMBEDDER, vectors("old words", "gone")) == 0
        with store.view() as view:
            assert (view.generation, view.pending) == (generation, 1)
            assert len(view.search_vectors(vector("old words"), 9)) == 0
        assert store.update_vectors(EMBEDDER, vectors("new words")) == 1
        assert store.update_vectors(EMBEDDER, {"new words": vector("another")}) == 0
        with store.view() as view:
            assert view.search_vectors(vector("new words"), 9).scores[0] == pytest.approx(1.0, abs=1e-3)

    def test_a_document_that_waits_keeps_waiting_when_its_fields_change(self, store: Store) -> None:
        made = entry("the cat sat\na fox")
        store.upsert([pending(made, 0)])
        store.set_metadata({made.document.id: {"year": 2020}})
        assert store.info().pending == 1
        assert store.update_vectors(EMBEDDER, vectors("the cat sat")) == 1
        with store.view() as view:
            assert len(view.search_vectors(vector("x"), 9, Scope(Condition("year", Operator.EQ, 2020)))) == 2

    def test_vectors_that_cannot_be_kept_are_refused_and_none_of_them_is(self, store: Store) -> None:
        store.upsert([pending(one) for one in entries(LINES)])
        short, zeros = vector("a fox", 8), np.zeros(DIMENSIONS, dtype=np.float32)
        undefined = np.full(DIMENSIONS, np.nan, dtype=np.float32)
        for wrong, error in ((short, MismatchError), (zeros, InvalidInputError), (undefined, InvalidInputError)):
            with pytest.raises(error):
                store.update_vectors(EMBEDDER, {"the cat sat": vector("the cat sat"), "a fox": wrong})
        with pytest.raises(MismatchError):
            store.update_vectors(fingerprint("another").embedder, vectors("a fox"))
        assert store.update_vectors(EMBEDDER, {}) == 0
        assert store.info().pending == 3

    def test_a_rebuild_leaves_nothing_waiting(self, store: Store) -> None:
        store.upsert([pending(one) for one in entries(LINES)])
        store.rebuild(fingerprint("again"), lambda documents: [entry(one.text, one.source).chunks for one in documents])
        assert store.info().pending == 0
        with pytest.raises(MismatchError):
            store.update_vectors(EMBEDDER, vectors("a fox"))
        with store.view() as view:
            assert len(view.search_vectors(vector("x"), 9)) == 3
