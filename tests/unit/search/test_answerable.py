"""The signals of a search, each against what can be counted by hand."""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from support.factories import entries, fingerprint, query, vector
from twofold.domain.ports import Snapshot
from twofold.domain.types import EMPTY_RANKING, Ranking, Statistics, TermQuery
from twofold.ranking.answerability import Signals
from twofold.ranking.fusion import Candidates, FusionPlan, fuse
from twofold.search.build_result import signals_of
from twofold.stores.memory import MemoryStore
from twofold.text.bm25 import inverse_document_frequency

TEXTS = ["cats sleep all day", "dogs run all day", "a fox runs", *(f"filler number {at}" for at in range(12))]


def searched(
    view: Snapshot, terms: TermQuery, like: str = "cats sleep all day", retrievers: Sequence[str] = ("words", "meaning")
) -> Candidates:
    by_bm25 = view.search_bm25(terms, 100) if "words" in retrievers else EMPTY_RANKING
    by_vector = view.search_vectors(vector(like), 100) if "meaning" in retrievers else EMPTY_RANKING
    keys = np.union1d(by_bm25.keys, by_vector.keys)
    words = view.score_terms(terms, keys) if "words" in retrievers else np.zeros(len(keys))
    meaning = view.score_vector(vector(like), keys) if "meaning" in retrievers else np.zeros(len(keys))
    return Candidates(by_bm25, by_vector, keys, words, meaning)


def read(question: str, texts: Sequence[str] = TEXTS, retrievers: Sequence[str] = ("words", "meaning")) -> Signals:
    store, terms = MemoryStore(), query(question)
    store.ensure_fingerprint(fingerprint())
    store.upsert(entries(texts))
    with store.view() as view:
        found = searched(view, terms, retrievers=retrievers)
        signals = signals_of(view, found, fuse(found, FusionPlan("convex")).ranking, terms)
    assert signals is not None
    return signals


def test_all_terms_in_the_best_passage_are_covered_whole() -> None:
    signals = read("cats sleep")
    assert signals.terms == 2
    assert signals.coverage_first == signals.coverage_three == 1.0


def test_coverage_weighs_a_term_by_how_rare_it_is() -> None:
    rare, common = inverse_document_frequency(15, 1), inverse_document_frequency(15, 2)
    assert read("cats day").coverage_first == 1.0
    assert read("cats dogs day").coverage_first == pytest.approx((rare + common) / (2 * rare + common))


def test_a_word_that_no_passage_holds_weighs_most() -> None:
    unknown, rare = inverse_document_frequency(15, 0), inverse_document_frequency(15, 1)
    assert unknown > rare
    assert read("cats zebra").coverage_first == pytest.approx(rare / (rare + unknown))


def test_the_best_three_passages_cover_together() -> None:
    assert read("cats fox").coverage_first < 1.0
    assert read("cats fox").coverage_three == 1.0


def test_the_best_cosine_is_that_of_the_nearest_passage() -> None:
    assert read("cats").vector_top == pytest.approx(1.0, abs=2e-3)


def test_the_best_bm25_is_measured_by_what_was_possible() -> None:
    store, terms = MemoryStore(), query("cats sleep")
    store.ensure_fingerprint(fingerprint())
    store.upsert(entries(TEXTS))
    with store.view() as view:
        (best, *_) = view.search_bm25(terms, 1).scores
    possible = 2 * inverse_document_frequency(15, 1) * (terms.k1 + 1.0)
    assert read("cats sleep").bm25_rise == pytest.approx(math.sqrt(2) * best / possible)


def test_what_ten_passages_hold_alike_does_not_stand_out() -> None:
    assert read("filler number").bm25_rise == pytest.approx(0.0)
    assert read("cats").bm25_rise > 0.1


def test_both_arms_agree_on_a_passage_that_is_the_best_of_both() -> None:
    assert read("cats sleep").agreement == pytest.approx(1.0)
    assert read("fox").agreement < 1.0


def test_an_arm_that_did_not_look_gives_nothing() -> None:
    words = read("cats sleep", retrievers=["words"])
    assert (words.vector_top, words.vector_rise, words.agreement) == (0.0, 0.0, 0.0)
    meaning = read("cats sleep", retrievers=["meaning"])
    assert (meaning.bm25_rise, meaning.agreement) == (0.0, 0.0)
    assert meaning.coverage_first == 1.0


def test_a_question_without_terms_is_covered_by_nothing() -> None:
    signals = read("", retrievers=["meaning"])
    assert (signals.terms, signals.coverage_first, signals.bm25_rise) == (0, 0.0, 0.0)


def test_one_passage_alone_stands_out_in_words() -> None:
    signals = read("cats sleep", ["cats sleep all day"])
    assert signals.coverage_first == 1.0
    assert signals.vector_rise == 0.0
    assert signals.bm25_rise > 0.0


def test_statistics_that_are_given_replace_the_collections() -> None:
    terms = query("cats zebra")
    store = MemoryStore()
    store.ensure_fingerprint(fingerprint())
    store.upsert(entries(TEXTS))
    alike = replace(terms, statistics=Statistics(100, 400, {"cats": 7, "zebra": 7}))
    with store.view() as view:
        found = searched(view, alike)
        signals = signals_of(view, found, fuse(found, FusionPlan("convex")).ranking, alike)
    assert signals is not None
    assert signals.coverage_first == pytest.approx(0.5)


def test_where_nothing_was_found_there_are_no_signals() -> None:
    store = MemoryStore()
    with store.view() as view:
        empty = Candidates(EMPTY_RANKING, EMPTY_RANKING, EMPTY_RANKING.keys, np.zeros(0), np.zeros(0))
        assert signals_of(view, empty, EMPTY_RANKING, query("cats")) is None


def rerank_with_fallback(relevance: dict[int, float] | None, order: Sequence[int] = (0, 1, 2, 3, 4, 5)) -> float | None:
    """Give the relevance that is seen where it was given by place in the order that is shown."""
    store, terms = MemoryStore(), query("cats day")
    store.ensure_fingerprint(fingerprint())
    store.upsert(entries(TEXTS))
    with store.view() as view:
        found = searched(view, terms)
        ranking = fuse(found, FusionPlan("convex")).ranking
        shown = Ranking.of(ranking.keys[list(order)], [float(len(order) - at) for at in range(len(order))])
        given = None if relevance is None else {int(shown.keys[at]): value for at, value in relevance.items()}
        signals = signals_of(view, found, shown, terms, given)
    assert signals is not None
    return signals.relevance


def test_without_a_reranker_there_is_no_relevance() -> None:
    assert rerank_with_fallback(None) is None
    assert rerank_with_fallback({}) is None


def test_the_relevance_is_the_best_among_the_five_that_are_shown() -> None:
    assert rerank_with_fallback({0: 0.2, 1: 0.7, 4: 0.5, 5: 0.9}) == 0.7


def test_what_was_read_below_the_best_five_says_nothing_of_them() -> None:
    assert rerank_with_fallback({5: 0.9}) is None


def test_a_passage_that_no_arm_found_is_no_agreement() -> None:
    store, terms = MemoryStore(), query("cats")
    store.ensure_fingerprint(fingerprint())
    store.upsert(entries(TEXTS))
    with store.view() as view:
        found = searched(view, terms, retrievers=["words"])
        with_both = replace(found, vector=found.bm25, vector_scores=found.bm25_scores)
        stranger = next(key for key in view.search_vectors(vector("x"), 100).keys if key not in found.keys)
        signals = signals_of(view, with_both, Ranking.of([int(stranger)], [1.0]), terms)
    assert signals is not None
    assert signals.agreement == 0.0


def test_word_ngrams_are_not_counted_among_the_terms() -> None:
    terms = query("cats zebra")
    more = replace(terms, weights={**terms.weights, "=+cats zebra": 0.2})
    store = MemoryStore()
    store.ensure_fingerprint(fingerprint())
    store.upsert(entries(TEXTS))
    with store.view() as view:
        found = searched(view, terms)
        ranking = fuse(found, FusionPlan("convex")).ranking

        assert signals_of(view, found, ranking, more) == signals_of(view, found, ranking, terms)
