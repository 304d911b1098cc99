import doctest
import math

import bm25s
import numpy as np
import pytest

import twofold.text.bm25
from twofold.domain.types import Statistics, TermCounts, TermQuery
from twofold.text.analyzers import analyzer_for
from twofold.text.bm25 import explain, reference_scores, statistics_of

WORDS = ["commit", "branch", "merge", "rebase", "index", "stash", "remote", "tag", "blob", "tree", "hook"]


def corpus() -> list[TermCounts]:
    """Two hundred passages, each holding each word a different number of times."""
    texts = [
        " ".join(word for place, word in enumerate(WORDS) for _ in range(seed * (place + 3) % 7))
        for seed in range(1, 201)
    ]
    analyzer = analyzer_for("simple")
    return [analyzer.counts(text) for text in texts]


def test_the_worked_numbers_are_right() -> None:
    outcome = doctest.testmod(twofold.text.bm25)

    assert outcome.attempted > 4
    assert outcome.failed == 0


@pytest.mark.parametrize(("k1", "b"), [(1.2, 0.75), (1.5, 0.75), (0.9, 0.4), (1.2, 0.0), (0.0, 1.0)])
def test_scores_are_those_of_bm25s(k1: float, b: float) -> None:
    passages = corpus()
    peer = bm25s.BM25(method="lucene", k1=k1, b=b, dtype="float64")
    peer.index(
        [[term for term, count in one.counts.items() for _ in range(count)] for one in passages], show_progress=False
    )
    query = ["merge", "tag", "tag", "hook"]
    ours = reference_scores(TermQuery({"merge": 1.0, "tag": 2.0, "hook": 1.0}, k1, b), passages)

    # bm25s leaves out the constant factor k1 + 1, which Lucene dropped too and which changes no order.
    np.testing.assert_allclose(ours, np.asarray(peer.get_scores(query)) * (k1 + 1.0), rtol=1e-12)


def test_checklist_10_the_formula_at_its_own_settings() -> None:
    passages = [TermCounts({"dbt": 5, "runs": 1}, 6), TermCounts({"dbt": 1}, 2), TermCounts({"git": 4}, 4)]
    idf = math.log(1 + (3 - 2 + 0.5) / (2 + 0.5))
    expected = [
        idf * 5 * 2.5 / (5 + 1.5 * (1 - 0.75 + 0.75 * 6 / 4)),
        idf * 1 * 2.5 / (1 + 1.5 * (0.25 + 0.75 * 2 / 4)),
        0.0,
    ]

    assert reference_scores(TermQuery({"dbt": 1.0}, 1.5, 0.75), passages) == pytest.approx(expected, rel=1e-15)


def test_checklist_17_more_occurrences_score_higher_and_none_scores_nothing() -> None:
    passages = [TermCounts({"dbt": count, "other": 10 - count}, 10) for count in (5, 1)] + [
        TermCounts({"other": 10}, 10)
    ]
    five, one, none = reference_scores(TermQuery({"dbt": 1.0}), passages)

    assert five > one > none == 0.0


def test_given_statistics_replace_the_passages_own() -> None:
    passages = corpus()
    whole = reference_scores(TermQuery({"tag": 1.0}), passages)
    part = reference_scores(TermQuery({"tag": 1.0}, statistics=statistics_of(passages, ["tag"])), passages[:50])

    assert part == whole[:50]


def test_parts_of_an_explanation_add_up_to_the_score() -> None:
    passages = corpus()
    query = TermQuery({"tag": 1.0, "nowhere": 1.0, "hook": 0.25})
    for passage, score in zip(passages, reference_scores(query, passages), strict=True):
        parts = explain(query, passage, statistics_of(passages, query.weights))

        assert sum(part.score for part in parts) == score
        assert all(part.frequency == passage.counts[part.term] for part in parts)


def test_an_empty_collection_scores_nothing() -> None:
    assert reference_scores(TermQuery({"tag": 1.0}), []) == []
    assert reference_scores(TermQuery({"tag": 1.0}), [TermCounts({}, 0)]) == [0.0]
    assert explain(TermQuery({"tag": 1.0}), TermCounts({"tag": 1}, 1), Statistics(0, 0, {}))[0].score > 0
