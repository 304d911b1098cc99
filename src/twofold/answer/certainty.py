"""How likely an extractive answer is correct: a logistic regression on what a cross-encoder made of its sentences.

    p = 1 / (1 + exp(-(INTERCEPT + READ · read + RISE · rise)))

`p_answerable` asks whether something relevant was found; this asks whether what is shown answers. `read` is the logit
of the sentence shown first, read in its place, and `rise` what it has above the mean of the next three: where many
sentences look alike the first is less sure. `p_answerable` and the share of the question's words that are shown added
nothing to these two. Fitted on judged questions with and without an answer (docs/answerable.md), for one cross-encoder.
"""

import math
from collections.abc import Sequence

from twofold.domain.dataclass import dataclass

READER = "ms-marco-MiniLM-L-12-v2"
"""The cross-encoder whose logits were measured; of what another one reads nothing is claimed."""
INTERCEPT, READ, RISE = -1.56, 0.35, 0.34
LOWEST, HIGHEST, MOST_RISE = -11.0, 10.0, 10.0
DOUBTFUL = 0.34
"""Below this an answer is more likely wrong than right on every collection that the chance was held against."""
_NEXT = 3


@dataclass(frozen=True, slots=True)
class Evidence:
    """What speaks for an answer: the logit of its first sentence, and what that has above the mean of the next three.

    `read` counts sentences that the cross-encoder read; `reader` is its name.
    """

    reader: str
    read: float
    rise: float
    sentences: int


def evidence_of(reader: str, first: float, read: Sequence[float]) -> Evidence:
    """Return the evidence of an answer whose first sentence has this logit, of all that were read.

    >>> evidence_of(READER, 6.0, [6.0, 3.0, 2.0, 1.0, -9.0])
    Evidence(reader='ms-marco-MiniLM-L-12-v2', read=6.0, rise=4.0, sentences=5)
    """
    others = sorted(read, reverse=True)
    if first in others:
        others.remove(first)
    rest = others[:_NEXT] or [LOWEST]
    return Evidence(reader, round(first, 4), round(first - sum(rest) / len(rest), 4), len(read))


def p_correct(evidence: Evidence | None) -> float | None:
    """Return the probability that an answer is correct; None where its reader was never measured, or none read.

    A logit of 6 that stands 4 above the next: -1.56 + .35 · 6 + .34 · 4 = 1.9, p = .87.

    >>> round(p_correct(Evidence(READER, 6.0, 4.0, 32)) or 0.0, 2)
    0.87
    """
    if evidence is None or evidence.reader != READER:
        return None
    read, rise = min(max(evidence.read, LOWEST), HIGHEST), min(max(evidence.rise, 0.0), MOST_RISE)
    total = INTERCEPT + READ * read + RISE * rise
    small = math.exp(-abs(total))
    return round((1.0 if total >= 0.0 else small) / (1.0 + small), 4)
