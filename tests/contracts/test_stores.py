"""What every store promises, tried on each of them."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from making import entries, entry, query, recipe, terms, vector
from twofold.domain.errors import InvalidInputError, MismatchError, NotFoundError
from twofold.domain.filters import And, Not, Op, Or, Test
from twofold.domain.ports import Scope, Store
from twofold.domain.types import Clause, Metadata, TermQuery, chunk_key
from twofold.lexical.bm25 import reference_scores
from twofold.stores.local.store import LocalStore
from twofold.stores.memory import MemoryStore

TEXTS = [
    "the cat sat on the mat\nthe dog sat on the log",
    "a cat and a dog\nrun run run",
    "mats are for cats",
    "logs burn\n\nthe quick brown fox",
]


@pytest.fixture(params=["memory", "local"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    made: Store = MemoryStore() if request.param == "memory" else LocalStore(tmp_path / "kb")
    made.adopt(recipe())
    yield made
    assert made.verify() == []
    made.close()
    made.close()


def test_terms_are_ranked_as_the_reference_scores_them(store: Store) -> None:
    made = entries(TEXTS)
    store.put(made)
    passages = [indexed for one in made for indexed in one.chunks]
    for text in ("cat", "the cat", "run", "sat on the mat", "nothing here", "cat cat dog"):
        asked = query(text)
        scores = reference_scores(asked, [indexed.terms for indexed in passages])
        expected = {one.chunk.key: score for one, score in zip(passages, scores, strict=True) if score > 0}
        with store.view() as view:
            found = view.find_terms(asked, 100)
        assert {hit.key: hit.score for hit in found} == expected
        assert list(found.scores) == sorted(found.scores, reverse=True)


def test_vectors_are_ranked_by_cosine(store: Store) -> None:
    made = entries(TEXTS)
    store.put(made)
    asked = vector("the cat sat on the mat")
    with store.view() as view:
        found = view.find_vector(asked, 3)
        everything = view.find_vector(asked, 100)
    assert len(found) == 3
    assert found.keys[0] == made[0].chunks[0].chunk.key
    assert found.scores[0] == pytest.approx(1.0, abs=1e-3)
    assert list(everything.keys[:3]) == list(found.keys)
    assert len(everything) == sum(len(one.chunks) for one in made)


def test_a_missing_score_is_completed_with_the_true_one(store: Store) -> None:
    store.put(entries(TEXTS))
    asked, direction = query("cat dog the"), vector("something")
    with store.view() as view:
        by_terms, by_vector = view.find_terms(asked, 100), view.find_vector(direction, 100)
        keys = by_vector.keys
        term_scores = dict(zip(keys.tolist(), view.score_terms(asked, keys).tolist(), strict=True))
        vector_scores = view.score_vector(direction, keys)
    assert {key: score for key, score in term_scores.items() if score} == {hit.key: hit.score for hit in by_terms}
    assert vector_scores.tolist() == by_vector.scores.tolist()


def test_unknown_keys_score_nothing_and_cannot_be_fetched(store: Store) -> None:
    store.put(entries(TEXTS))
    unknown = np.array([chunk_key("nobody_chunk_0")])
    with store.view() as view:
        assert view.score_terms(query("cat"), unknown).tolist() == [0.0]
        assert view.score_vector(vector("cat"), unknown).tolist() == [0.0]
        assert view.explain_terms(query("cat"), int(unknown[0])) == ()
        with pytest.raises(NotFoundError):
            view.chunks([int(unknown[0])])
        with pytest.raises(NotFoundError):
            view.term_counts([int(unknown[0])])


def test_the_terms_of_a_passage_are_those_it_was_put_with(store: Store) -> None:
    made = entries(TEXTS)
    store.put(made)
    passages = [indexed for one in made for indexed in one.chunks][::-1]
    with store.view() as view:
        for _ in range(2):  # the second time what was looked up is known
            assert list(view.term_counts([one.chunk.key for one in passages])) == [one.terms for one in passages]
        assert list(view.term_counts([])) == []


def test_the_parts_of_a_score_add_up_to_it(store: Store) -> None:
    store.put(entries(TEXTS))
    asked = TermQuery({"the": 1.0, "cat": 2.5, "sat": 1.0, "absent": 1.0}, k1=1.5, b=0.4)
    with store.view() as view:
        for hit in view.find_terms(asked, 10):
            total = 0.0
            for part in view.explain_terms(asked, hit.key):
                total += part.score
            assert total == hit.score


def test_a_document_is_replaced_whole(store: Store) -> None:
    store.put([entry("old words here\nmore old words\nand a third", "a.txt"), entry("other", "b.txt")])
    store.put([entry("new words", "a.txt")])
    with store.view() as view:
        assert len(view.find_terms(query("old third"), 10)) == 0
        assert len(view.find_vector(vector("x"), 10)) == 2
        assert [chunk.text for chunk in view.chunks_of(entry("", "a.txt").document.id)] == ["new words"]
        assert view.statistics(["words", "old"]).frequencies == {"words": 1, "old": 0}
        assert view.statistics([]).words == 3


def test_a_deleted_document_counts_nowhere(store: Store) -> None:
    made = entries(TEXTS)
    store.put(made)
    assert store.delete([made[0].document.id, "unknown"]) == 1
    assert store.delete([made[0].document.id]) == 0
    rest = [indexed.terms for one in made[1:] for indexed in one.chunks]
    with store.view() as view:
        assert view.statistics(["the"]).chunks == len(rest)
        assert view.statistics(["the"]).frequencies == {"the": 1}
        assert sorted(view.find_terms(query("the cat dog"), 99).scores) == sorted(
            score for score in reference_scores(query("the cat dog"), rest) if score
        )
        assert view.document(made[0].document.id) is None


def test_the_filter_acts_before_the_cut(store: Store) -> None:
    store.put([entry("cat " * 9, f"loud/{n}.txt", {"year": 2020 + n}) for n in range(8)])
    store.put([entry("cat and many other words", "quiet/x.txt", {"year": 1999, "tags": ("old", "rare")})])
    old = Scope(filter=Test("year", Op.LT, 2000))
    with store.view() as view:
        assert len(view.find_terms(query("cat"), 1, old)) == 1
        assert len(view.find_vector(vector("cat"), 1, old)) == 1
        (found,) = view.chunks(view.find_terms(query("cat"), 1, old).keys.tolist())
    assert found.text == "cat and many other words"


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        (And(), {"a", "b", "c"}),
        (Or(), set()),
        (Test("year", Op.EQ, 2000), {"a"}),
        (Test("year", Op.GE, 2000), {"a", "b"}),
        (Test("year", Op.GE, 2000.5), {"b"}),
        (Test("year", Op.EQ, "2000"), set()),
        (Test("year", Op.EXISTS), {"a", "b"}),
        (Not(Test("year", Op.EXISTS)), {"c"}),
        (Test("tags", Op.EQ, "red"), {"a", "c"}),
        (Test("draft", Op.EQ, True), {"b"}),
        (Test("draft", Op.EQ, 1), set()),
        (Test("source", Op.PREFIX, "a"), {"a"}),
        (Test("name", Op.CONTAINS, "%"), {"c"}),
        (Test("date", Op.GT, "2024-12-31"), {"b"}),
        (And((Test("tags", Op.EQ, "red"), Not(Test("year", Op.EQ, 2000)))), {"c"}),
        (Test("year", Op.LT, 10**30), {"a", "b"}),
        (Test("tags", Op.EQ, "\ud800"), set()),
        (Test("'; DROP TABLE document; --", Op.EQ, "x' OR 1=1"), set()),
    ],
)
def test_a_filter_means_what_its_tree_says(store: Store, condition: And, expected: set[str]) -> None:
    store.put(
        [
            entry("word", "a", {"year": 2000, "tags": ("red", "green")}),
            entry("word", "b", {"year": 2001, "draft": True, "date": "2025-01-01"}),
            entry("word", "c", {"tags": "red", "name": "100% sure"}),
        ]
    )
    with store.view() as view:
        found = view.find_terms(query("word"), 10, Scope(filter=condition))
        ids = [chunk.document for chunk in view.chunks(found.keys.tolist())]
        assert {view.describe([one])[one].source for one in ids} == expected


def test_a_passages_own_fields_narrow_both_arms_before_the_cut(store: Store) -> None:
    own: list[Metadata] = [*[{"good": False}] * 30, {"good": True, "lang": "de"}]
    store.put([entry("cat cat cat\n" * 30 + "cat and many other words\n", "a.txt", {"lang": "en"}, own=own)])
    good = Test("good", Op.EQ, value=True)
    both = And((Test("lang", Op.EQ, "en"), Test("lang", Op.EQ, "de")))
    for condition in (good, Not(Test("good", Op.EQ, value=False)), both):
        with store.view() as view:
            for found in (
                view.find_terms(query("cat"), 1, Scope(filter=condition)),
                view.find_vector(vector("cat cat cat"), 1, Scope(filter=condition)),
            ):
                (chunk,) = view.chunks(found.keys.tolist())
                assert (chunk.ordinal, chunk.metadata) == (30, {"good": True, "lang": "de"})


def test_fields_follow_their_passages_through_every_change(store: Store) -> None:
    def passing(year: int) -> set[str]:
        with store.view() as view:
            found = view.find_terms(query("word"), 99, Scope(filter=Test("year", Op.EQ, year)))
            return {chunk.id for chunk in view.chunks(found.keys.tolist())}

    def ids(*sources: str) -> set[str]:
        return {entry("word", source).chunks[0].chunk.id for source in sources}

    store.put([entry("word", f"{n}", own=[{"year": n % 2}]) for n in range(4)])
    assert (passing(0), passing(1)) == (ids("0", "2"), ids("1", "3"))
    store.put([entry("word", "0", own=[{"year": 1}]), entry("word", "4", own=[{"year": (0, 1)}])])
    assert (passing(0), passing(1)) == (ids("2", "4"), ids("0", "1", "3", "4"))
    store.delete([entry("", "1").document.id])
    store.compact()
    assert (passing(0), passing(1)) == (ids("2", "4"), ids("0", "3", "4"))
    store.rebuild(
        recipe("again"), lambda documents: [entry("word", d.source, own=[{"year": 7}]).chunks for d in documents]
    )
    assert (passing(0), passing(7)) == (set(), ids("0", "2", "3", "4"))


def test_passages_come_back_with_their_fields(store: Store) -> None:
    fields: Metadata = {"n": 1, "f": 0.1199, "t": ("x", "ü"), "b": True, "s": "\x00 '"}
    made = entry("one\ntwo", own=[fields, {}])
    store.put([made])
    with store.view() as view:
        assert [chunk.metadata for chunk in view.chunks_of(made.document.id)] == [fields, {}]
        assert view.chunks([made.chunks[0].chunk.key])[0].metadata == fields


def test_a_stretch_of_a_document_is_given_in_reading_order(store: Store) -> None:
    made = entry("\n".join(f"line {n}" for n in range(8)))
    store.put([made, entry("other", "b.txt")])
    name = made.document.id
    with store.view() as view:
        for first, last, expected in [(0, 7, range(8)), (-3, 2, range(3)), (2, 2, [2]), (6, 99, [6, 7]), (5, 4, [])]:
            assert [chunk.ordinal for chunk in view.stretch(name, first, last)] == list(expected)
        assert list(view.stretch(name, 1, 3)) == list(view.chunks_of(name))[1:4]
        assert len(view.stretch(name, -(10**30), 10**30)) == 8
        assert list(view.stretch("nobody", 0, 9)) == []
        assert list(view.stretch("\ud800", 0, 9)) == []


def test_preferences_are_replaced_whole_and_stay(store: Store) -> None:
    assert store.preferences() == {}
    store.prefer({"search.k": "7", "fusion": "rrf"})
    store.put([entry("word")])
    generation = store.info().generation
    store.prefer({"search.k": "9", "ü.ß": ""})
    assert store.info().generation == generation
    store.rebuild(recipe("again"), lambda documents: [entry(one.text, one.source).chunks for one in documents])
    store.compact()
    assert store.preferences() == {"search.k": "9", "ü.ß": ""}
    store.prefer({})
    assert store.preferences() == {}


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
def test_preferences_that_are_too_many_or_too_long_are_refused(store: Store, values: dict[str, str]) -> None:
    store.prefer({"kept": "yes"})
    with pytest.raises(InvalidInputError):
        store.prefer(values)
    assert store.preferences() == {"kept": "yes"}


def test_another_enricher_is_another_recipe(store: Store) -> None:
    store.put([entry("word")])
    with pytest.raises(MismatchError, match="reindex"):
        store.adopt(replace(recipe(), enricher="rules-0"))
    assert store.info().recipe == recipe()


def test_clauses_require_and_exclude(store: Store) -> None:
    store.put(entries(["the quick brown fox", "the brown quick fox", "a slow fox", "quick quick"]))
    with store.view() as view:

        def found(scope: Scope) -> set[str]:
            return {chunk.text for chunk in view.chunks(view.find_vector(vector("x"), 9, scope).keys.tolist())}

        assert found(Scope(required=(Clause(("quick", "fox")),))) == {"the quick brown fox", "the brown quick fox"}
        assert found(Scope(required=(Clause(("quick",), "quick brown"),))) == {"the quick brown fox"}
        assert found(Scope(excluded=(Clause(("brown",)), Clause(("slow",))))) == {"quick quick"}
        assert found(Scope(required=(Clause((), "the brown"),))) == {"the brown quick fox"}
        assert found(Scope(required=(Clause(("absent",)),))) == set()


def test_documents_come_back_as_they_were_put(store: Store) -> None:
    made = entry("first line\nsecond — ünïcode 🎉\x00 NUL", "dir/Ä name.txt", {"n": 1, "f": 0.5, "t": ("x", "y")})
    store.put([made])
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


def test_known_texts_have_their_vectors(store: Store) -> None:
    store.put(entries(TEXTS))
    with store.view() as view:
        found = view.vectors_for(["mats are for cats", "never seen"])
    assert set(found) == {"mats are for cats"}
    assert found["mats are for cats"] == pytest.approx(vector("mats are for cats"), abs=1e-3)


def test_an_empty_collection_answers(store: Store) -> None:
    with store.view() as view:
        assert len(view.find_terms(query("cat"), 5)) == 0
        assert len(view.find_vector(vector("cat"), 5)) == 0
        assert view.statistics(["cat"]).average_length == 1.0
        assert list(view.documents()) == []
    store.put([entry("", "empty.txt")])
    assert store.info().documents == 1


def test_a_wrong_width_is_refused_and_nothing_is_kept(store: Store) -> None:
    with pytest.raises(MismatchError):
        store.put([entry("fine", "a.txt"), entry("too wide", "b.txt", dimensions=32)])
    assert store.info().documents == 0
    store.put([entry("fine", "a.txt")])
    with store.view() as view, pytest.raises(MismatchError):
        view.find_vector(vector("x", 32), 5)


def test_the_same_document_twice_at_once_is_refused(store: Store) -> None:
    with pytest.raises(InvalidInputError):
        store.put([entry("one", "a.txt"), entry("two", "a.txt")])


def test_another_recipe_is_refused_once_there_are_documents(store: Store) -> None:
    store.adopt(recipe("another"))
    store.adopt(recipe())
    store.put([entry("word", "a.txt")])
    store.adopt(recipe())
    with pytest.raises(MismatchError, match="reindex"):
        store.adopt(recipe("another"))


def test_a_rebuild_switches_to_the_new_recipe(store: Store) -> None:
    made = entries(TEXTS)
    store.put(made)
    wide = recipe("wide", 32)
    store.rebuild(wide, lambda documents: [entry(one.text, one.source, dimensions=32).chunks for one in documents])
    info = store.info()
    assert info.recipe == wide
    assert info.chunks == sum(len(one.chunks) for one in made)
    with store.view() as view:
        assert len(view.find_vector(vector("x", 32), 99)) == info.chunks
        assert len(view.find_terms(query("cat"), 99)) == 2
    store.put([entry("after", "z.txt", dimensions=32)])
    store.compact()
    with store.view() as view:
        assert len(view.find_terms(query("after"), 9)) == 1


def test_a_view_does_not_move_under_a_question(store: Store) -> None:
    store.put([entry("first", "a.txt")])
    with store.view() as view:
        before = view.generation
        store.put([entry("second", "b.txt")])
        assert len(view.find_vector(vector("x"), 9)) == 1
        assert view.generation == before
    with store.view() as view:
        assert len(view.find_vector(vector("x"), 9)) == 2
        assert view.generation > before


def test_ties_fall_to_the_smaller_key(store: Store) -> None:
    made = entries(["same words"] * 20)
    store.put(made)
    with store.view() as view:
        found = view.find_terms(query("words"), 7)
        near = view.find_vector(vector("same words"), 7)
    keys = sorted(one.chunks[0].chunk.key for one in made)[:7]
    assert found.keys.tolist() == keys
    assert near.keys.tolist() == keys


def test_statistics_from_elsewhere_replace_the_own(store: Store) -> None:
    made = entries(TEXTS)
    store.put(made)
    with store.view() as view:
        own = view.statistics(["cat"])
        shared = type(own)(own.chunks * 10, own.words * 20, {"cat": 3})
        asked = TermQuery({"cat": 1.0}, statistics=shared)
        expected = reference_scores(asked, [terms("a cat and a dog")])[0]
        assert expected in view.find_terms(asked, 9).scores.tolist()


def test_a_long_document_comes_back_whole(store: Store) -> None:
    text = "\n".join(f"line {number} of a long text with many words in it" for number in range(20_000))
    made = entry(text, "long.txt")
    store.put([made])
    store.compact()
    with store.view() as view:
        assert view.document(made.document.id) == made.document
        assert view.find_terms(query("19999"), 1).keys[0] == made.chunks[-1].chunk.key
