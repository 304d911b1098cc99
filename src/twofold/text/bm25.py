"""BM25: the formula as small functions, and a reference scorer that is slow and obvious.

Every implementation follows this file bit for bit (float64, IEEE 754, no fused multiply-add):

    idf_t    = inverse_document_frequency(N, df_t)               math.log, once a term, never numpy's
    weight_t = query_weight_t * idf_t
    K        = k1 * (1.0 - b + b * dl / avgdl)                   = k1 * ((1.0 - b) + ((b * dl) / avgdl))
    part_t   = weight_t * (tf * (k1 + 1.0) / (tf + K))           = weight_t * ((tf * (k1 + 1.0)) / (tf + K))
    score    = 0.0 + part_1 + part_2 + …                         in the order of `TermQuery.weights`, from the left

`dl` is `TermCounts.length`, `avgdl` is `Statistics.average_length`, `tf` the term's count in the passage. A term that
does not occur adds nothing. It knows nothing of how terms are made or where passages are kept.

A group of terms, the synonyms of a word or the words that a wildcard stands for, scores as one term, as in Lucene's
SynonymQuery. With w_m the weight of member m, in (0, 1], and tf_m how often a passage holds it:

    tf = Σ_m w_m · tf_m                 a passage with `car` once and `automobile` twice at weight .5 holds it 2 times
    df = max_m df_m                     no more rare than its most frequent member: a group earns nothing by being large

A member of several words counts where they stand as a phrase; its df is the least of its words', which bounds it from
above and needs no counting.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from twofold.domain.access import rounded
from twofold.domain.types import GroupMember, Scores, Statistics, TermCounts, TermQuery, TermScore
from twofold.kernels import idfs


def inverse_document_frequency(passages: int, holding: int) -> float:
    """Return how rare a term is: ln(1 + (N - df + ½) / (df + ½)), never negative (Robertson and Spärck Jones; Lucene).

    Of 3 passages 1 holds the term: ln(1 + 2.5 / 1.5).

    >>> round(inverse_document_frequency(3, 1), 6)
    0.980829
    """
    return math.log(1.0 + (passages - holding + 0.5) / (holding + 0.5))


def inverse_document_frequencies(passages: int, holding: NDArray[np.int64]) -> Scores:
    """Return how rare each of some terms is, (m,): `inverse_document_frequency`, bit for bit."""
    return idfs(passages, holding)


def length_norm(length: int, average_length: float, k1: float, b: float) -> float:
    """Return K, what a passage's length adds to the denominator; k1 for a passage of average length.

    >>> length_norm(100, 100.0, 1.2, 0.75)
    1.2
    """
    return k1 * (1.0 - b + b * length / average_length)


def saturation(frequency: float, norm: float, k1: float) -> float:
    """Let repeats count less and less: tf · (k1 + 1) / (tf + K), from 1 at average length towards k1 + 1.

    >>> [round(saturation(tf, 1.2, 1.2), 4) for tf in (1, 2, 5)]
    [1.0, 1.375, 1.7742]
    """
    return frequency * (k1 + 1.0) / (frequency + norm)


def impacts_of(idfs: Scores, frequencies: NDArray[np.uint16], norms: Scores, k1: float) -> Scores:
    """Return what each of some terms adds to its passage's score at weight 1, all (p,): `idf · saturation`."""
    times = frequencies.astype(np.float64)
    impacts: Scores = idfs * (times * (k1 + 1.0) / (times + norms))
    return impacts


def length_norms(lengths: NDArray[np.int64], average_length: float, k1: float, b: float) -> Scores:
    """Return `length_norm` of each of some passages, (n,)."""
    norms: Scores = k1 * (1.0 - b + b * lengths.astype(np.float64) / average_length)
    return norms


def statistics_of(passages: Iterable[TermCounts], terms: Iterable[str]) -> Statistics:
    """Count passages, their words, and in how many of them each asked term occurs."""
    held = list(passages)
    frequencies = {term: sum(1 for passage in held if passage.counts.get(term, 0) > 0) for term in terms}
    return Statistics(len(held), sum(passage.length for passage in held), frequencies)


def explain(query: TermQuery, passage: TermCounts, statistics: Statistics) -> tuple[TermScore, ...]:
    """Return each occurring term's part, in the query's order; added up from the left they are the passage's score."""
    norm = length_norm(passage.length, statistics.average_length, query.k1, query.b)
    parts = []
    for term, weight in query.weights.items():
        frequency = passage.counts.get(term, 0)
        if frequency > 0:
            idf = inverse_document_frequency(statistics.chunks, statistics.frequencies.get(term, 0))
            score = (weight * idf) * saturation(frequency, norm, query.k1)
            parts.append(TermScore(term, weight, idf, frequency, score))
    return tuple(parts)


def reference_scores(query: TermQuery, passages: Sequence[TermCounts]) -> list[float]:
    """Score every passage; 0.0 where no term occurs. `query.statistics`, when given, replaces the passages' own.

    Two passages of equal length, and one of them holds the term once: ln(1 + 1.5 / 1.5) · 2.2 / 2.2.

    >>> passages = [TermCounts({"dbt": 1, "runs": 1}, 2), TermCounts({"git": 2}, 2)]
    >>> [round(score, 6) for score in reference_scores(TermQuery({"dbt": 1.0}), passages)]
    [0.693147, 0.0]
    """
    statistics = query.statistics or statistics_of(passages, query.weights)
    scores = []
    for passage in passages:
        score = 0.0
        for part in explain(query, passage, statistics):
            score += part.score
        scores.append(score)
    return scores


def group_frequency(members: Sequence[GroupMember], count: Callable[[GroupMember], int]) -> float:
    """Return the tf of a group in one passage, of what `count` says of each member.

    >>> members = (GroupMember(("car",)), GroupMember(("automobil",), 0.5))
    >>> group_frequency(members, lambda member: {"car": 1, "automobil": 2}[member.terms[0]])
    2.0
    """
    return sum((member.weight * count(member) for member in members), 0.0)


def holding_group(members: Sequence[GroupMember], frequencies: Mapping[str, int]) -> int:
    """Return the df of a group, of how many passages hold each term.

    >>> members = (GroupMember(("nyc",)), GroupMember(("new", "york"), 1.0, "new york"))
    >>> holding_group(members, {"nyc": 3, "new": 40, "york": 7})
    7
    """
    return max((min((frequencies.get(term, 0) for term in one.terms), default=0) for one in members), default=0)


def with_groups(query: TermQuery, statistics: Statistics) -> Statistics:
    """Return statistics that count each group as a term too."""
    if not query.groups:
        return statistics
    held = {name: holding_group(members, statistics.frequencies) for name, members in query.groups.items()}
    return replace(statistics, frequencies={**statistics.frequencies, **held})


def counts_with_groups(query: TermQuery, passage: TermCounts, count: Callable[[GroupMember], int]) -> Mapping[str, Any]:
    """Return how often a passage holds each term, and each group, which may be no whole number."""
    held = {name: group_frequency(members, count) for name, members in query.groups.items()}
    return {**passage.counts, **held}


def without_groups(query: TermQuery) -> TermQuery:
    """Return the query with the single terms of its groups as terms of their own: for formulas that know no groups."""
    weights = {term: weight for term, weight in query.weights.items() if term not in query.groups}
    for name, members in query.groups.items():
        for member in members:
            for term in member.terms:
                weights.setdefault(term, query.weights[name] * member.weight)
    return replace(query, weights=weights, groups={})


def shared_statistics(counted: Statistics) -> Statistics:
    """Return counts of all passages as viewers get them who may not read all: two digits of each, 10 at the least.

    Worked numbers: of 1,234 passages with 98,765 words, of which 3 hold `merger`, 1,200, 99,000 and 10 are left.
    """
    frequencies = {term: rounded(count) for term, count in counted.frequencies.items()}
    return Statistics(rounded(counted.chunks), rounded(counted.words), frequencies, rounded=True)
