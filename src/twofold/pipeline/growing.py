"""Growing the lexical question by what was found first, and fusing once more: `docs/decisions/0090-balanced.md`."""

from collections.abc import Mapping

from twofold.domain.ports import View
from twofold.domain.types import Ranking, Statistics, TermCounts, TermQuery
from twofold.lexical.analyze import EXACT
from twofold.lexical.bm25 import explain
from twofold.pipeline.parts import Analyser
from twofold.ranking.likeness import Likeness, more_like, shares


def grown(view: View, analyser: Analyser, terms: TermQuery, first: Ranking, likeness: Likeness) -> TermQuery:
    """Add to a question the strongest terms of the passages that stand first in an order.

    Gives the question itself where the likeness leaves everything out or nothing stands in the order.
    """
    counting = shares(first.scores, likeness)
    if not len(counting):
        return terms
    passages = view.chunks(first.keys[: len(counting)].tolist())
    counted = [analyser.counts(passage.indexed_text) for passage in passages]
    plain = [[term for term in one.counts if not term.startswith(EXACT)] for one in counted]
    known = terms.statistics or view.statistics(list(dict.fromkeys(term for some in plain for term in some)))
    impacts = [_impacts(some, one, terms, known) for some, one in zip(plain, counted, strict=True)]
    return more_like(terms, impacts, counting, likeness)


def _impacts(some: list[str], counted: TermCounts, terms: TermQuery, known: Statistics) -> Mapping[str, float]:
    """Give what each of a passage's terms adds to its BM25 score at weight 1."""
    asked = TermQuery(dict.fromkeys(some, 1.0), terms.k1, terms.b)
    return {part.term: part.score for part in explain(asked, counted, known)}
