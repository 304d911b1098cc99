"""What every store promises, as a suite to be tried on one of your own."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from twofold.domain.errors import InvalidInputError, MismatchError
from twofold.domain.filters import Condition, Operator
from twofold.domain.ports import Scope, Store
from twofold.domain.types import Clause, Metadata, MetadataValue, TermQuery
from twofold.testing.making import entries, entry, fingerprint, query, terms, vector
from twofold.testing.store_access import StoreAccess
from twofold.testing.store_pending import StorePending
from twofold.testing.store_searches import TEXTS, StoreSearches
from twofold.testing.store_words import StoreWords
from twofold.text.bm25 import reference_scores


class StoreContract(StoreAccess, StoreSearches, StorePending, StoreWords):
    """Derive a class whose name begins with `Condition` from it, and give it a fixture `store`.

    The store is empty and has adopted `making.fingerprint()`; when a test is done `verify` should find nothing.
    """

    def test_passages_come_back_with_their_fields(self, store: Store) -> None:
        fields: Metadata = {"n": 1, "f": 0.1199, "t": ("x", "ü"), "b": True, "s": "\x00 '"}
        made = entry("one\ntwo", own=[fields, {}])
        store.upsert([made])
        with store.view() as view:
            assert [chunk.metadata for chunk in view.chunks_of(made.document.id)] == [fields, {}]
            assert view.chunks([made.chunks[0].chunk.key])[0].metadata == fields

    def test_a_stretch_of_a_document_is_given_in_reading_order(self, store: Store) -> None:
        made = entry("\n".join(f"line {n}" for n in range(8)))
        store.upsert([made, entry("other", "b.txt")])
        name = made.document.id
        with store.view() as view:
            for first, last, expected in [
                (0, 7, range(8)),
                (-3, 2, range(3)),
                (2, 2, [2]),
                (6, 99, [6, 7]),
                (5, 4, []),
            ]:
                assert [chunk.ordinal for chunk in view.stretch(name, first, last)] == list(expected)
            assert list(view.stretch(name, 1, 3)) == list(view.chunks_of(name))[1:4]
            assert len(view.stretch(name, -(10**30), 10**30)) == 8
            assert list(view.stretch("nobody", 0, 9)) == []
            assert list(view.stretch("\ud800", 0, 9)) == []

    def test_metadata_is_replaced_and_passages_stay(self, store: Store) -> None:
        store.upsert([entry("cat\ndog", "a.txt"), entry("owl", "b.txt")])
        with store.view() as view:
            before = {info.source: info for info in view.documents()}
            chunks, generation = view.chunks_of(before["a.txt"].id), view.generation
        store.set_metadata({before["a.txt"].id: {"year": 2020, "tags": ("x", "y")}, "nobody": {"year": 1}})
        wanted = Scope(Condition("year", Operator.EQ, 2020))
        with store.view() as view:
            after = {info.source: info for info in view.documents()}
            assert after["a.txt"].metadata == {"year": 2020, "tags": ("x", "y")}
            assert after["b.txt"] == before["b.txt"]
            assert view.chunks_of(before["a.txt"].id) == chunks
            assert view.generation > generation
            assert len(view.search_bm25(query("cat"), 9, wanted)) == 1
            assert len(view.search_bm25(query("owl"), 9, wanted)) == 0
            assert list(view.within(np.array([one.key for one in chunks]), wanted)) == [one.key for one in chunks]
        store.compact()
        with store.view() as view:
            assert len(view.search_bm25(query("dog"), 9, wanted)) == 1

    @pytest.mark.parametrize(
        "refused", [None, b"x", ["x"], {"a": 1}, ("x", None), float("nan"), 2**70, "\ud800"], ids=repr
    )
    def test_metadata_that_no_filter_compares_is_refused_and_nothing_changes(
        self, store: Store, refused: MetadataValue
    ) -> None:
        made = entry("cat", "a.txt", metadata={"year": 2020})
        store.upsert([made])
        with store.view() as view:
            before = list(view.documents())
        with pytest.raises(InvalidInputError):
            store.upsert([entry("dog", "a.txt", metadata={"year": refused})])
        with pytest.raises(InvalidInputError):
            store.upsert([entry("dog", "c.txt", own=[{"year": refused}])])
        with pytest.raises(InvalidInputError):
            store.set_metadata({made.document.id: {"year": refused}})
        with store.view() as view:
            assert list(view.documents()) == before

    @pytest.mark.parametrize("part", ["id", "source", "title", "text"])
    def test_documents_whose_text_is_not_unicode_are_refused(self, store: Store, part: str) -> None:
        made = entry("cat", "a.txt")
        changed: dict[str, Any] = {part: "\ud800"}
        with pytest.raises(InvalidInputError):
            store.upsert([replace(made, document=replace(made.document, **changed))])
        with store.view() as view:
            assert view.sizes().documents == 0

    def test_roots_are_noted_beside_those_known(self, store: Store) -> None:
        assert store.info().roots == {}
        store.note_roots({"/b": 2, "/a": 1})
        store.note_roots({"/b": 3})
        store.compact()
        assert store.info().roots == {"/a": 1, "/b": 3}

    def test_preferences_are_replaced_whole_and_stay(self, store: Store) -> None:
        assert store.get_settings() == {}
        store.set_settings({"search.k": "7", "fusion": "rrf"})
        store.upsert([entry("word")])
        generation = store.info().generation
        store.set_settings({"search.k": "9", "ü.ß": ""})
        assert store.info().generation == generation
        store.rebuild(fingerprint("again"), lambda documents: [entry(one.text, one.source).chunks for one in documents])
        store.compact()
        assert store.get_settings() == {"search.k": "9", "ü.ß": ""}
        store.set_settings({})
        assert store.get_settings() == {}

    @pytest.mark.parametrize(
        "values",
        [
            {f"n{number}": "" for number in range(257)},
            {f"n{number}": "x" * 16_000 for number in range(5)},
            {"": "x"},
            {"n" * 129: "x"},
            {"n": "x" * 16_385},
            {"n": "\ud800"},
            {"\udfff": ""},
        ],
    )
    def test_preferences_that_are_too_many_or_too_long_are_refused(self, store: Store, values: dict[str, str]) -> None:
        store.set_settings({"kept": "yes"})
        with pytest.raises(InvalidInputError):
            store.set_settings(values)
        assert store.get_settings() == {"kept": "yes"}

    def test_another_enricher_is_another_recipe(self, store: Store) -> None:
        store.upsert([entry("word")])
        with pytest.raises(MismatchError, match="reindex"):
            store.ensure_fingerprint(replace(fingerprint(), enricher="rules-0"))
        assert store.info().fingerprint == store.fingerprint() == fingerprint()

    def test_clauses_require_and_exclude(self, store: Store) -> None:
        store.upsert(entries(["the quick brown fox", "the brown quick fox", "a slow fox", "quick quick"]))
        with store.view() as view:

            def found(scope: Scope) -> set[str]:
                return {chunk.text for chunk in view.chunks(view.search_vectors(vector("x"), 9, scope).keys.tolist())}

            assert found(Scope(required=(Clause(("quick", "fox")),))) == {"the quick brown fox", "the brown quick fox"}
            assert found(Scope(required=(Clause(("quick",), "quick brown"),))) == {"the quick brown fox"}
            assert found(Scope(excluded=(Clause(("brown",)), Clause(("slow",))))) == {"quick quick"}
            assert found(Scope(required=(Clause((), "the brown"),))) == {"the brown quick fox"}
            assert found(Scope(required=(Clause(("absent",)),))) == set()

    def test_documents_come_back_as_they_were_put(self, store: Store) -> None:
        made = entry("first line\nsecond — ünïcode 🎉\x00 NUL", "dir/Ä name.txt", {"n": 1, "f": 0.5, "t": ("x", "y")})
        store.upsert([made])
        with store.view() as view:
            assert view.document(made.document.id) == made.document
            (info,) = view.documents()
            assert (info.source, info.chunks, info.characters) == ("dir/Ä name.txt", 2, len(made.document.text))
            assert [chunk.text for chunk in view.chunks_of(made.document.id)] == [
                "first line",
                "second — ünïcode 🎉\x00 NUL",
            ]
            assert view.document("nobody") is None
            assert list(view.chunks_of("nobody")) == []

    def test_known_texts_have_their_vectors(self, store: Store) -> None:
        store.upsert(entries(TEXTS))
        with store.view() as view:
            found = view.vectors_for(["mats are for cats", "never seen"])
        assert set(found) == {"mats are for cats"}
        assert found["mats are for cats"] == pytest.approx(vector("mats are for cats"), abs=1e-3)

    def test_an_empty_collection_answers(self, store: Store) -> None:
        with store.view() as view:
            assert len(view.search_bm25(query("cat"), 5)) == 0
            assert len(view.search_vectors(vector("cat"), 5)) == 0
            assert view.statistics(["cat"]).average_length == 1.0
            assert list(view.documents()) == []
        store.upsert([entry("", "empty.txt")])
        assert store.info().documents == 1

    def test_a_wrong_width_is_refused_and_nothing_is_kept(self, store: Store) -> None:
        with pytest.raises(MismatchError):
            store.upsert([entry("fine", "a.txt"), entry("too wide", "b.txt", dimensions=32)])
        assert store.info().documents == 0
        store.upsert([entry("fine", "a.txt")])
        with store.view() as view, pytest.raises(MismatchError):
            view.search_vectors(vector("x", 32), 5)

    def test_the_same_document_twice_at_once_is_refused(self, store: Store) -> None:
        with pytest.raises(InvalidInputError):
            store.upsert([entry("one", "a.txt"), entry("two", "a.txt")])

    def test_another_recipe_is_refused_once_there_are_documents(self, store: Store) -> None:
        store.ensure_fingerprint(fingerprint("another"))
        store.ensure_fingerprint(fingerprint())
        store.upsert([entry("word", "a.txt")])
        store.ensure_fingerprint(fingerprint())
        with pytest.raises(MismatchError, match="reindex"):
            store.ensure_fingerprint(fingerprint("another"))

    def test_a_rebuild_switches_to_the_new_recipe(self, store: Store) -> None:
        made = entries(TEXTS)
        store.upsert(made)
        wide = fingerprint("wide", 32)
        store.rebuild(wide, lambda documents: [entry(one.text, one.source, dimensions=32).chunks for one in documents])
        info = store.info()
        assert info.fingerprint == wide
        assert info.chunks == sum(len(one.chunks) for one in made)
        with store.view() as view:
            assert len(view.search_vectors(vector("x", 32), 99)) == info.chunks
            assert len(view.search_bm25(query("cat"), 99)) == 2
        store.upsert([entry("after", "z.txt", dimensions=32)])
        store.compact()
        with store.view() as view:
            assert len(view.search_bm25(query("after"), 9)) == 1

    def test_a_view_does_not_move_under_a_question(self, store: Store) -> None:
        store.upsert([entry("first", "a.txt")])
        with store.view() as view:
            before = view.generation
            store.upsert([entry("second", "b.txt")])
            assert len(view.search_vectors(vector("x"), 9)) == 1
            assert view.generation == before
        with store.view() as view:
            assert len(view.search_vectors(vector("x"), 9)) == 2
            assert view.generation > before

    def test_ties_fall_to_the_smaller_key(self, store: Store) -> None:
        made = entries(["same words"] * 20)
        store.upsert(made)
        with store.view() as view:
            found = view.search_bm25(query("words"), 7)
            near = view.search_vectors(vector("same words"), 7)
        keys = sorted(one.chunks[0].chunk.key for one in made)[:7]
        assert found.keys.tolist() == keys
        assert near.keys.tolist() == keys

    def test_statistics_from_elsewhere_replace_the_own(self, store: Store) -> None:
        made = entries(TEXTS)
        store.upsert(made)
        with store.view() as view:
            own = view.statistics(["cat"])
            shared = type(own)(own.chunks * 10, own.words * 20, {"cat": 3})
            asked = TermQuery({"cat": 1.0}, statistics=shared)
            expected = reference_scores(asked, [terms("a cat and a dog")])[0]
            assert expected in view.search_bm25(asked, 9).scores.tolist()

    def test_a_long_document_comes_back_whole(self, store: Store) -> None:
        text = "\n".join(f"line {number} of a long text with many words in it" for number in range(20_000))
        made = entry(text, "long.txt")
        store.upsert([made])
        store.compact()
        with store.view() as view:
            assert view.document(made.document.id) == made.document
            assert view.search_bm25(query("19999"), 1).keys[0] == made.chunks[-1].chunk.key
