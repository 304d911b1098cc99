"""Feedback from the first passages: their terms are read as arrays, and only the strongest of them as texts."""

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np

from twofold.domain.ports import Snapshot
from twofold.domain.types import Ranking, TermQuery
from twofold.ranking.prf import PrfParameters, prf_terms, shares, strongest, with_gains
from twofold.text.bm25 import impacts_of, inverse_document_frequencies, length_norms


def expand_with_prf(view: Snapshot, terms: TermQuery, first: Ranking, prf: PrfParameters) -> TermQuery:
    """Add to a question the strongest terms of the passages that stand first in an order.

    Returns the question itself where the likeness leaves everything out or nothing stands in the order.
    """
    counting = shares(first.scores, prf)
    if not len(counting):
        return terms
    keys = first.keys[: len(counting)].tolist()
    gains = view.feedback_gains(terms, keys, counting, prf.terms)
    if gains is not None:
        return with_gains(terms, gains, prf)
    return prf_terms(terms, impacts_in(view, terms, keys, prf.terms), counting, prf)


def impacts_in(view: Snapshot, terms: TermQuery, keys: Sequence[int], most: int) -> Sequence[Mapping[str, float]]:
    """Return of each passage its `most` plain terms of greatest impact, with all ties, and what each adds at weight 1.

    What is counted of the collection is what the question `terms` is counted by.
    """
    held = view.passage_terms(keys)
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
    strong = strongest(impacts, ends, most)
    texts, worth = view.term_texts(ids[strong]), impacts[strong].tolist()
    bounds = strong.searchsorted(ends).tolist()
    return [dict(zip(texts[start:end], worth[start:end], strict=True)) for start, end in pairwise(bounds)]
