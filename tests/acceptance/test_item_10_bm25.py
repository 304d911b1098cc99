"""Checklist 10: BM25 Okapi by the formula, k1 from 1.2 to 2.0 (a seed takes 1.5), b from 0 to 1 (0.75)."""

import math
from collections import Counter

import pytest

from twofold import Index, load_settings
from twofold.domain.types import TermCounts, TermQuery
from twofold.models.embedders.hashing import HashingEmbedder
from twofold.text.bm25 import reference_scores

PASSAGES = (
    "dbt runs models",
    "dbt tests dbt models and dbt runs them",
    "warehouse of tables",
    "seeds run before dbt runs",
)
SETTINGS = [(1.5, 0.75), (1.2, 0.0), (2.0, 1.0)]


def okapi(question: str, k1: float, b: float) -> list[float]:
    """Score every passage, word for word as the formula stands in the checklist."""
    texts = [text.split() for text in PASSAGES]
    avgdl = sum(map(len, texts)) / len(texts)
    scores = []
    for words in texts:
        score = 0.0
        for q in question.split():
            df = sum(q in other for other in texts)
            idf = math.log(1 + (len(texts) - df + 0.5) / (df + 0.5))
            f = words.count(q)
            score += idf * f * (k1 + 1) / (f + k1 * (1 - b + b * len(words) / avgdl))
        scores.append(score)
    return scores


@pytest.mark.parametrize(("k1", "b"), SETTINGS)
def test_every_score_is_what_the_formula_says(k1: float, b: float) -> None:
    passages = [TermCounts(Counter(text.split()), len(text.split())) for text in PASSAGES]

    assert reference_scores(TermQuery({"dbt": 1.0, "runs": 1.0}, k1, b), passages) == pytest.approx(
        okapi("dbt runs", k1, b), abs=1e-12
    )


@pytest.mark.parametrize(("k1", "b"), SETTINGS)
def test_a_search_scores_by_it_too(k1: float, b: float) -> None:
    settings = load_settings(overrides={"analyzer": "simple", "search.bm25": {"k1": k1, "b": b}})
    with Index(":memory:", settings=settings, embedder=HashingEmbedder()) as index:
        for number, text in enumerate(PASSAGES):
            index.add(text, source=str(number))
        hits = index.search("dbt runs", mode="bm25").hits

    expected = {str(number): score for number, score in enumerate(okapi("dbt runs", k1, b)) if score > 0.0}
    assert {hit.source: hit.score for hit in hits} == pytest.approx(expected, abs=1e-6)
