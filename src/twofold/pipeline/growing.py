"""Growing the lexical question by what was found first, and fusing once more: `docs/decisions/0090-balanced.md`."""

from collections.abc import Mapping

from twofold.domain.ports import View
from twofold.domain.types import Ranking, TermCounts, TermQuery
from twofold.lexical.bm25 import inverse_document_frequency, length_norm, saturation
from twofold.lexical.codes import may_expand
from twofold.ranking.likeness import Likeness, more_like, shares


def grown(view: View, terms: TermQuery, first: Ranking, likeness: Likeness) -> TermQuery:
    """Add to a question the strongest terms of the passages that stand first in an order.

    Gives the question itself where the likeness leaves everything out or nothing stands in the order.
    """
    counting = shares(first.scores, likeness)
    if not len(counting):
        return terms
    counted = view.term_counts(first.keys[: len(counting)].tolist())
    plain = [{term: often for term, often in one.counts.items() if may_expand(term)} for one in counted]
    distinct = list(dict.fromkeys(term for some in plain for term in some))
    known = terms.statistics or view.statistics(distinct)
    idfs = {term: inverse_document_frequency(known.chunks, known.frequencies.get(term, 0)) for term in distinct}
    average = known.average_length
    impacts = [
        _impacts(TermCounts(some, one.length), idfs, terms, average) for some, one in zip(plain, counted, strict=True)
    ]
    return more_like(terms, impacts, counting, likeness)


def _impacts(counted: TermCounts, idfs: Mapping[str, float], asked: TermQuery, average: float) -> Mapping[str, float]:
    """Give what each of a passage's terms adds to its BM25 score at weight 1."""
    norm = length_norm(counted.length, average, asked.k1, asked.b)
    return {term: idfs[term] * saturation(often, norm, asked.k1) for term, often in counted.counts.items()}
