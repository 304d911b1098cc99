"""What every store promises who asks it: rankings, scores, filters, changes to documents."""

import numpy as np
import pytest

from twofold.domain.errors import NotFoundError
from twofold.domain.filters import And, Condition, Not, Operator, Or
from twofold.domain.ports import Scope, Store
from twofold.domain.types import Metadata, TermQuery, chunk_key
from twofold.testing.making import entries, entry, fingerprint, query, vector
from twofold.text.analyzer import may_expand
from twofold.text.bm25 import reference_scores

TEXTS = [
    "the cat sat on the mat\nthe dog sat on the log",
    "a cat and a dog\nrun run run",
    "mats are for cats",
    "logs burn\n\nthe quick brown fox",
]


class StoreSearches:
    """The part of `StoreContract` that is about finding."""

    def test_terms_are_ranked_as_the_reference_scores_them(self, store: Store) -> None:
        made = entries(TEXTS)
        store.upsert(made)
        passages = [indexed for one in made for indexed in one.chunks]
        for text in ("cat", "the cat", "run", "sat on the mat", "nothing here", "cat cat dog"):
            asked = query(text)
            scores = reference_scores(asked, [indexed.terms for indexed in passages])
            expected = {one.chunk.key: score for one, score in zip(passages, scores, strict=True) if score > 0}
            with store.view() as view:
                found = view.search_bm25(asked, 100)
            assert {hit.key: hit.score for hit in found} == expected
            assert list(found.scores) == sorted(found.scores, reverse=True)

    def test_vectors_are_ranked_by_cosine(self, store: Store) -> None:
        made = entries(TEXTS)
        store.upsert(made)
        asked = vector("the cat sat on the mat")
        with store.view() as view:
            found = view.search_vectors(asked, 3)
            everything = view.search_vectors(asked, 100)
        assert len(found) == 3
        assert found.keys[0] == made[0].chunks[0].chunk.key
        assert found.scores[0] == pytest.approx(1.0, abs=1e-3)
        assert list(everything.keys[:3]) == list(found.keys)
        assert len(everything) == sum(len(one.chunks) for one in made)

    def test_documents_are_counted_by_the_values_of_a_field(self, store: Store) -> None:
        tagged = [
            entry(TEXTS[0], "a", {"tag": ("x", "y"), "year": 2020}),
            entry(TEXTS[1], "b", {"tag": "x", "year": 2021}),
            entry(TEXTS[2], "c", {"year": "2021"}),
        ]
        store.upsert(tagged)
        keys = np.array([one.chunk.key for made in tagged for one in made.chunks], dtype=np.int64)
        some = np.array([tagged[0].chunks[0].chunk.key, tagged[2].chunks[0].chunk.key, 1], dtype=np.int64)
        with store.view() as view:
            assert view.count_documents(keys, "tag", lambda value: value) == {"x": 2, "y": 1}
            assert view.count_documents(some, "tag", lambda value: value) == {"x": 1, "y": 1}
            assert view.count_documents(keys, "year", str) == {"2020": 1, "2021": 2}
            assert view.count_documents(keys, "tag", lambda value: None if value == "y" else "held") == {"held": 2}
            assert view.count_documents(keys, "source", lambda _: "all") == {"all": 3}
            assert view.count_documents(keys, "nobody", str) == {}

    def test_a_missing_score_is_completed_with_the_true_one(self, store: Store) -> None:
        store.upsert(entries(TEXTS))
        asked, direction = query("cat dog the"), vector("something")
        with store.view() as view:
            by_terms, by_vector = view.search_bm25(asked, 100), view.search_vectors(direction, 100)
            keys = by_vector.keys
            term_scores = dict(zip(keys.tolist(), view.score_terms(asked, keys).tolist(), strict=True))
            vector_scores = view.score_vector(direction, keys)
        assert {key: score for key, score in term_scores.items() if score} == {hit.key: hit.score for hit in by_terms}
        assert vector_scores.tolist() == by_vector.scores.tolist()

    def test_unknown_keys_score_nothing_and_cannot_be_fetched(self, store: Store) -> None:
        store.upsert(entries(TEXTS))
        unknown = np.array([chunk_key("nobody_chunk_0")])
        with store.view() as view:
            assert view.score_terms(query("cat"), unknown).tolist() == [0.0]
            assert view.score_vector(vector("cat"), unknown).tolist() == [0.0]
            assert view.explain_terms(query("cat"), [int(unknown[0])]).of(0) == ()
            with pytest.raises(NotFoundError):
                view.chunks([int(unknown[0])])
            for look_up in (view.fetch, view.term_counts, view.passage_terms):
                with pytest.raises(NotFoundError):
                    look_up([int(unknown[0])])

    def test_the_terms_of_a_passage_are_those_it_was_put_with(self, store: Store) -> None:
        made = entries(TEXTS)
        store.upsert(made)
        passages = [indexed for one in made for indexed in one.chunks][::-1]
        with store.view() as view:
            for _ in range(2):  # the second time what was looked up is known
                assert list(view.term_counts([one.chunk.key for one in passages])) == [one.terms for one in passages]
            assert list(view.term_counts([])) == []

    def test_the_terms_of_passages_as_arrays_are_those_they_were_put_with(self, store: Store) -> None:
        store.upsert(entries(TEXTS))
        store.delete([entries(TEXTS)[1].document.id])
        store.upsert([entry("the cat is new\nand the old one is gone", "new.txt")])
        with store.view() as view:
            keys = view.search_vectors(vector("cat"), 100).keys.tolist()[::-1]
            held, expected = view.passage_terms(keys), view.term_counts(keys)
            texts = view.term_texts(held.ids)
            assert view.may_expand(held.ids).tolist() == list(map(may_expand, texts))
            starts, ends = held.offsets[:-1].tolist(), held.offsets[1:].tolist()
            counts = [
                dict(zip(texts[start:end], held.frequencies[start:end].tolist(), strict=True))
                for start, end in zip(starts, ends, strict=True)
            ]
            assert counts == [one.counts for one in expected]
            assert held.lengths.tolist() == [one.length for one in expected]
            known = view.statistics(tuple(dict.fromkeys(texts))).frequencies
            assert view.document_frequencies(held.ids).tolist() == [known[term] for term in texts]
            assert known["the"] == sum("the" in one.counts for one in expected)
            assert view.passage_terms([]).offsets.tolist() == [0]
            assert len(view.term_texts(held.ids[:0])) == len(view.document_frequencies(held.ids[:0])) == 0

    def test_the_parts_of_a_score_add_up_to_it(self, store: Store) -> None:
        store.upsert(entries(TEXTS))
        asked = TermQuery({"the": 1.0, "cat": 2.5, "sat": 1.0, "absent": 1.0}, k1=1.5, b=0.4)
        with store.view() as view:
            for hit in view.search_bm25(asked, 10):
                total = 0.0
                for part in view.explain_terms(asked, [hit.key]).of(0):
                    total += part.score
                assert total == hit.score

    def test_what_was_fetched_is_read_after_the_document_is_gone(self, store: Store) -> None:
        made = [entry("a cat sat", "a.txt", {"year": 2020}), entry("a cat and a cat", "b.txt")]
        store.upsert(made)
        passages = [one.chunks[0].chunk for one in made]
        asked = query("cat sat absent")
        with store.view() as view:
            fetched = view.fetch([one.key for one in passages[::-1]])
            table = view.explain_terms(asked, [one.key for one in passages])
            scores = view.score_terms(asked, np.array([one.key for one in passages])).tolist()
        store.delete([one.document.id for one in made])
        assert [one.chunk for one in fetched] == passages[::-1]
        assert [(one.source, one.title, one.metadata) for one in fetched] == [
            (one.document.source, one.document.title, one.document.metadata) for one in made[::-1]
        ]
        assert [[part.term for part in table.of(place)] for place in (0, 1)] == [["cat", "sat"], ["cat"]]
        assert [sum((part.score for part in table.of(place)), 0.0) for place in (0, 1)] == scores

    def test_a_document_is_replaced_whole(self, store: Store) -> None:
        store.upsert([entry("old words here\nmore old words\nand a third", "a.txt"), entry("other", "b.txt")])
        store.upsert([entry("new words", "a.txt")])
        with store.view() as view:
            assert len(view.search_bm25(query("old third"), 10)) == 0
            assert len(view.search_vectors(vector("x"), 10)) == 2
            assert [chunk.text for chunk in view.chunks_of(entry("", "a.txt").document.id)] == ["new words"]
            assert view.statistics(["words", "old"]).frequencies == {"words": 1, "old": 0}
            assert view.statistics([]).words == 3

    def test_a_deleted_document_counts_nowhere(self, store: Store) -> None:
        made = entries(TEXTS)
        store.upsert(made)
        assert store.delete([made[0].document.id, "unknown"]) == 1
        assert store.delete([made[0].document.id]) == 0
        rest = [indexed.terms for one in made[1:] for indexed in one.chunks]
        with store.view() as view:
            assert view.statistics(["the"]).chunks == len(rest)
            assert view.statistics(["the"]).frequencies == {"the": 1}
            assert sorted(view.search_bm25(query("the cat dog"), 99).scores) == sorted(
                score for score in reference_scores(query("the cat dog"), rest) if score
            )
            assert view.document(made[0].document.id) is None

    def test_the_filter_acts_before_the_cut(self, store: Store) -> None:
        store.upsert([entry("cat " * 9, f"loud/{n}.txt", {"year": 2020 + n}) for n in range(8)])
        store.upsert([entry("cat and many other words", "quiet/x.txt", {"year": 1999, "tags": ("old", "rare")})])
        old = Scope(filter=Condition("year", Operator.LT, 2000))
        with store.view() as view:
            assert len(view.search_bm25(query("cat"), 1, old)) == 1
            assert len(view.search_vectors(vector("cat"), 1, old)) == 1
            (found,) = view.chunks(view.search_bm25(query("cat"), 1, old).keys.tolist())
        assert found.text == "cat and many other words"

    @pytest.mark.parametrize(
        ("condition", "expected"),
        [
            (And(), {"a", "b", "c"}),
            (Or(), set()),
            (Condition("year", Operator.EQ, 2000), {"a"}),
            (Condition("year", Operator.GE, 2000), {"a", "b"}),
            (Condition("year", Operator.GE, 2000.5), {"b"}),
            (Condition("year", Operator.EQ, "2000"), set()),
            (Condition("year", Operator.EXISTS), {"a", "b"}),
            (Not(Condition("year", Operator.EXISTS)), {"c"}),
            (Condition("tags", Operator.EQ, "red"), {"a", "c"}),
            (Condition("draft", Operator.EQ, True), {"b"}),
            (Condition("draft", Operator.EQ, 1), set()),
            (Condition("source", Operator.PREFIX, "a"), {"a"}),
            (Condition("name", Operator.CONTAINS, "%"), {"c"}),
            (Condition("date", Operator.GT, "2024-12-31"), {"b"}),
            (And((Condition("tags", Operator.EQ, "red"), Not(Condition("year", Operator.EQ, 2000)))), {"c"}),
            (Condition("year", Operator.LT, 10**30), {"a", "b"}),
            (Condition("tags", Operator.EQ, "\ud800"), set()),
            (Condition("'; DROP TABLE document; --", Operator.EQ, "x' OR 1=1"), set()),
        ],
    )
    def test_a_filter_means_what_its_tree_says(self, store: Store, condition: And, expected: set[str]) -> None:
        store.upsert(
            [
                entry("word", "a", {"year": 2000, "tags": ("red", "green")}),
                entry("word", "b", {"year": 2001, "draft": True, "date": "2025-01-01"}),
                entry("word", "c", {"tags": "red", "name": "100% sure"}),
            ]
        )
        with store.view() as view:
            found = view.search_bm25(query("word"), 10, Scope(filter=condition))
            ids = [chunk.document for chunk in view.chunks(found.keys.tolist())]
            assert {view.describe([one])[one].source for one in ids} == expected

    def test_a_passages_own_fields_narrow_both_arms_before_the_cut(self, store: Store) -> None:
        own: list[Metadata] = [*[{"good": False}] * 30, {"good": True, "lang": "de"}]
        store.upsert([entry("cat cat cat\n" * 30 + "cat and many other words\n", "a.txt", {"lang": "en"}, own=own)])
        good = Condition("good", Operator.EQ, value=True)
        both = And((Condition("lang", Operator.EQ, "en"), Condition("lang", Operator.EQ, "de")))
        for condition in (good, Not(Condition("good", Operator.EQ, value=False)), both):
            with store.view() as view:
                for found in (
                    view.search_bm25(query("cat"), 1, Scope(filter=condition)),
                    view.search_vectors(vector("cat cat cat"), 1, Scope(filter=condition)),
                ):
                    (chunk,) = view.chunks(found.keys.tolist())
                    assert (chunk.ordinal, chunk.metadata) == (30, {"good": True, "lang": "de"})

    def test_fields_follow_their_passages_through_every_change(self, store: Store) -> None:
        def passing(year: int) -> set[str]:
            with store.view() as view:
                found = view.search_bm25(query("word"), 99, Scope(filter=Condition("year", Operator.EQ, year)))
                return {chunk.id for chunk in view.chunks(found.keys.tolist())}

        def ids(*sources: str) -> set[str]:
            return {entry("word", source).chunks[0].chunk.id for source in sources}

        store.upsert([entry("word", f"{n}", own=[{"year": n % 2}]) for n in range(4)])
        assert (passing(0), passing(1)) == (ids("0", "2"), ids("1", "3"))
        store.upsert([entry("word", "0", own=[{"year": 1}]), entry("word", "4", own=[{"year": (0, 1)}])])
        assert (passing(0), passing(1)) == (ids("2", "4"), ids("0", "1", "3", "4"))
        store.delete([entry("", "1").document.id])
        store.compact()
        assert (passing(0), passing(1)) == (ids("2", "4"), ids("0", "3", "4"))
        store.rebuild(
            fingerprint("again"),
            lambda documents: [entry("word", d.source, own=[{"year": 7}]).chunks for d in documents],
        )
        assert (passing(0), passing(7)) == (set(), ids("0", "2", "3", "4"))
