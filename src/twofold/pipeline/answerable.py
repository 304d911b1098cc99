"""What a search knows of how well it went: the signals that `p_answerable` is made of, from what is at hand anyway."""

import math
from collections.abc import Mapping, Sequence

import numpy as np

from twofold.domain.ports import View
from twofold.domain.types import Ranking, Scores, TermQuery
from twofold.lexical.bm25 import inverse_document_frequency
from twofold.lexical.ngrams import NGRAM
from twofold.ranking.answerable import Signals
from twofold.ranking.fusion import Candidates

LOOKED_AT = 3
JUDGED = 5
CROWD = 9  # the tenth best score of an arm stands for what does not stand out


def signals_of(
    view: View, found: Candidates, ranking: Ranking, terms: TermQuery, relevance: Mapping[int, float] | None = None
) -> Signals | None:
    """Read the signals off a search; None where no passage was found.

    `found` and `terms` are those of the question as it was asked, before it was grown by what was found or rewritten;
    `ranking` is the order that is shown, and `relevance` what the reranker gave by a passage's key; None, or none of
    the best five read, where there was no reranking. With `terms.statistics` these count instead of the collection's.
    Of two terms, idf 2.0 and 1.0, the best passage holds the first one: its coverage is 2/3.
    """
    if not len(ranking):
        return None
    masses = _masses(view, terms)
    held = [{one.term for one in view.explain_terms(terms, key)} for key in ranking.keys[:LOOKED_AT].tolist()]
    read = [relevance[key] for key in ranking.keys[:JUDGED].tolist() if key in relevance] if relevance else []
    possible = sum(masses.values()) * (terms.k1 + 1.0)
    return Signals(
        terms=len(masses),
        coverage_first=_share(masses, held[:1]),
        coverage_three=_share(masses, held),
        dense_top=float(found.dense.scores[0]) if len(found.dense) else 0.0,
        dense_rise=_rise(found.dense.scores, missing=None),
        lexical_rise=math.sqrt(len(masses)) * _rise(found.lexical.scores, missing=0.0) / possible if possible else 0.0,
        agreement=_agreement(found, int(ranking.keys[0])),
        relevance=max(read) if read else None,
    )


def _masses(view: View, terms: TermQuery) -> Mapping[str, float]:
    """Give what each term counts: its weight times how rare it is. One that no passage holds counts most.

    Word n-grams are left out: their words are there, and the chance was learnt from questions without any.
    """
    known = terms.statistics or view.statistics(tuple(terms.weights))
    return {
        term: weight * inverse_document_frequency(known.chunks, known.frequencies.get(term, 0))
        for term, weight in terms.weights.items()
        if not term.startswith(NGRAM)
    }


def _share(masses: Mapping[str, float], held: Sequence[set[str]]) -> float:
    total = sum(masses.values())
    there = set().union(*held)
    return min(1.0, sum(mass for term, mass in masses.items() if term in there) / total) if total else 0.0


def _rise(scores: Scores, missing: float | None) -> float:
    """Give what the best score has above the tenth; where there are fewer, above `missing`, or above the last."""
    if not len(scores):
        return 0.0
    if len(scores) > CROWD:
        return float(scores[0] - scores[CROWD])
    return float(scores[0] - (scores[-1] if missing is None else missing))


def _agreement(found: Candidates, key: int) -> float:
    """Give the lesser of what both arms think of a passage: its BM25 to the best, its cosine's rise to the best's."""
    place = int(found.keys.searchsorted(key))
    if place == len(found.keys) or found.keys[place] != key or not len(found.lexical) or not len(found.dense):
        return 0.0
    words = float(found.lexical_scores[place]) / float(found.lexical.scores[0])
    rise = _rise(found.dense.scores, missing=None)
    short = float(found.dense.scores[0] - found.dense_scores[place])
    meaning = 1.0 - short / rise if rise > 0.0 else 1.0
    return float(np.clip(min(words, meaning), 0.0, 1.0))
