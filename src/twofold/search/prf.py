"""Feedback from the first passages: their terms are read as arrays, and only the strongest of them as texts."""

from itertools import pairwise

import numpy as np

from twofold.domain.ports import Snapshot
from twofold.domain.types import Ranking, TermQuery
from twofold.ranking.prf import PrfParameters, prf_terms, shares, strongest
from twofold.text.bm25 import impacts_of, inverse_document_frequencies, length_norms


def expand_with_prf(view: Snapshot, terms: TermQuery, first: Ranking, prf: PrfParameters) -> TermQuery:
    """Add to a question the strongest terms of the passages that stand first in an order.

    Returns the question itself where the likeness leaves everything out or nothing stands in the order.
    """
    counting = shares(first.scores, prf)
    if not len(counting):
        return terms
    held = view.passage_terms(first.keys[: len(counting)].tolist())
    plain = np.flatnonzero(view.may_expand(held.ids))
    ids, ends = held.ids[plain], plain.searchsorted(held.offsets)
    known = terms.statistics or view.statistics(())
    if terms.statistics is None:
        holding = view.document_frequencies(ids)
    else:
        holding = np.array([known.frequencies.get(term, 0) for term in view.term_texts(ids)], dtype=np.int64)
    idfs = inverse_document_frequencies(known.chunks, holding)
    norms = length_norms(held.lengths, known.average_length, terms.k1, terms.b).repeat(np.diff(ends))
    impacts = impacts_of(idfs, held.frequencies[plain], norms, terms.k1)
    strong = strongest(impacts, ends, prf.terms)
    texts, worth = view.term_texts(ids[strong]), impacts[strong].tolist()
    bounds = strong.searchsorted(ends).tolist()
    passages = [dict(zip(texts[start:end], worth[start:end], strict=True)) for start, end in pairwise(bounds)]
    return prf_terms(terms, passages, counting, prf)
