"""Feeding words with what meaning found: terms of its first passages join the lexical question, without any model.

Pseudo-relevance feedback from the other arm (checklist 36, keyword expansion): `twofold.ranking.feedback` has the
formula and what it was measured to give. It acts where a question has both halves; in a mode of one arm there is none.
"""

from collections.abc import Sequence
from dataclasses import replace

from twofold.domain.ports import View
from twofold.domain.types import TermCounts
from twofold.lexical.codes import may_expand
from twofold.pipeline.looking import Reach
from twofold.pipeline.results import StageTrace, of_terms
from twofold.pipeline.understanding import Asked
from twofold.ranking.feedback import Feedback, expanded, relevance_model

PASSAGES = 10
"""How many passages are learnt from."""


def fed(view: View, asked: Sequence[Asked], reach: Reach, terms: int) -> tuple[tuple[Asked, ...], StageTrace | None]:
    """Add at most so many terms to the first wording; as it was, and no trace, where nothing is to be added.

    Raises StageTimeoutError where the time is up.
    """
    first = asked[0]
    if not terms or first.terms is None or first.vector is None:
        return tuple(asked), None
    reach.deadline.check()
    found = view.find_vector(first.vector, min(PASSAGES, reach.depth), reach.scope)
    passages = [_plain(counts) for counts in view.term_counts(found.keys.tolist())]
    model = relevance_model(passages, found.scores)
    known = first.terms.statistics or view.statistics(tuple(dict.fromkeys((*model, *first.terms.weights))))
    made = expanded(first.terms, model, known, Feedback(terms=terms))
    new = [term for term in made.gained if term not in first.terms.weights]
    if not made.gained:
        return tuple(asked), None
    trace = of_terms("feedback", len(found), len(new), new)
    return (replace(first, terms=made.query), *asked[1:]), trace


def _plain(counts: TermCounts) -> TermCounts:
    """Leave out what stands for itself alone."""
    plain = {term: count for term, count in counts.counts.items() if may_expand(term)}
    return TermCounts(plain, sum(plain.values()))
