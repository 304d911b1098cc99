"""TF-IDF: the cosine of two weighted vectors of terms, as scikit-learn's vectorizer has it by default.

    idf_t   = ln((1 + N) / (1 + df_t)) + 1                       never zero
    norm_d  = sqrt(Σ (tf · idf)²)                                over all terms of the passage
    norm_q  = sqrt(Σ (weight · idf)²)                            over the terms that some passage holds
    part_t  = (weight_t · idf_t) · ((tf_t · idf_t) / (norm_q · norm_d))
    score   = 0.0 + part_1 + part_2 + …                          in the order of `TermQuery.weights`, in [0, 1]

`TermQuery.statistics`, where given, replaces N and df of the question's terms; a passage's norm is always that of its
own collection. It knows nothing of how terms are made or where passages are kept.
"""

import math
from collections.abc import Iterable, Mapping, Sequence

from twofold.domain.types import Statistics, TermCounts, TermQuery, TermScore
from twofold.text.bm25 import statistics_of


def smooth_idf(passages: int, holding: int) -> float:
    """Return how rare a term is: ln((1 + N) / (1 + df)) + 1, from 1 for a term that every passage holds.

    >>> round(smooth_idf(3, 1), 6)
    1.693147
    """
    return math.log((1 + passages) / (1 + holding)) + 1.0


def passage_norm(counts: Mapping[str, int], idfs: Mapping[str, float]) -> float:
    """Return the Euclidean length of a passage's vector; `idfs` has all of its terms.

    >>> passage_norm({"a": 3, "b": 2}, {"a": 1.0, "b": 2.0})
    5.0
    """
    return math.sqrt(math.fsum((often * idfs[term]) ** 2 for term, often in counts.items()))


def query_norm(weights: Iterable[float], idfs: Iterable[float], frequencies: Iterable[int]) -> float:
    """Return the Euclidean length of the question's vector; terms that no passage holds have no part in it."""
    total = 0.0
    for weight, idf, holding in zip(weights, idfs, frequencies, strict=True):
        if holding:
            total += (weight * idf) ** 2
    return math.sqrt(total)


def idfs_of(query: TermQuery, statistics: Statistics) -> tuple[float, ...]:
    """Return the rarity of each of the question's terms, in their order."""
    return tuple(smooth_idf(statistics.chunks, statistics.frequencies.get(term, 0)) for term in query.weights)


def norm_of_query(query: TermQuery, statistics: Statistics) -> float:
    """Return the length of the question's vector by these statistics."""
    holding = [statistics.frequencies.get(term, 0) for term in query.weights]
    return query_norm(query.weights.values(), idfs_of(query, statistics), holding)


def explain(query: TermQuery, passage: TermCounts, norm: float, statistics: Statistics) -> tuple[TermScore, ...]:
    """Return each occurring term's part, in the question's order; added up from the left they are the score.

    `norm` is the length of the passage's vector.
    """
    both = norm_of_query(query, statistics) * norm
    parts = []
    for (term, weight), idf in zip(query.weights.items(), idfs_of(query, statistics), strict=True):
        frequency = passage.counts.get(term, 0)
        if frequency and both:
            parts.append(TermScore(term, weight, idf, frequency, (weight * idf) * (frequency * idf / both)))
    return tuple(parts)


def reference_scores(query: TermQuery, passages: Sequence[TermCounts]) -> list[float]:
    """Score every passage of a collection, slowly; 0.0 where no term occurs.

    >>> passages = [TermCounts({"dbt": 1}, 1), TermCounts({"git": 2}, 2)]
    >>> reference_scores(TermQuery({"dbt": 1.0}), passages)
    [1.0, 0.0]
    """
    terms = dict.fromkeys(term for passage in passages for term in passage.counts)
    held = statistics_of(passages, terms)
    idfs = {term: smooth_idf(held.chunks, held.frequencies[term]) for term in terms}
    asked = query.statistics or statistics_of(passages, query.weights)
    return [
        sum((part.score for part in explain(query, one, passage_norm(one.counts, idfs), asked)), 0.0)
        for one in passages
    ]
