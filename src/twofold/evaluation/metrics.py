"""Metrics of one question's ranking. Averages over questions are taken elsewhere.

Each takes the documents as ranked, best first; the judgements, a grade for each judged document; and the cut k ≥ 1.
A document with a grade above 0 is relevant; one that was not judged, or was judged 0 or below, is not. A document
listed again gains nothing more, but takes its place. All give a number in [0, 1], and 0.0 where nothing is relevant.
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from math import log2

from twofold.domain.errors import InvalidInputError

Grades = Mapping[str, int]


class Gains(StrEnum):
    """What a grade is worth in nDCG: the grade itself, as trec_eval has it, or 2^grade - 1, as learning to rank has."""

    LINEAR = "linear"
    EXPONENTIAL = "exponential"


def ndcg(ranked: Sequence[str], grades: Grades, k: int, gains: Gains = Gains.LINEAR) -> float:
    """Divide the discounted cumulative gain at k by the best possible: `Σ gain / log2(1 + rank)`, ranks from 1.

    Linear gains unless asked otherwise; with grades 0 and 1 both are the same.
    Source: Järvelin, Kekäläinen, "Cumulated gain-based evaluation of IR techniques", 2002, as trec_eval's `ndcg_cut`.
    Grades 1, 0, 2 where the judged ones are 2, 1, 1, at 3: (1 + 2/2) / (2 + 1/1.585 + 1/2) = 2 / 3.1309.

    >>> round(ndcg(["b", "x", "a", "y", "c"], {"a": 2, "b": 1, "c": 1}, 3), 4)
    0.6388
    >>> round(ndcg(["b", "x", "a", "y", "c"], {"a": 2, "b": 1, "c": 1}, 3, Gains.EXPONENTIAL), 4)
    0.6052
    """
    ideal = sorted((grade for grade in grades.values() if grade > 0), reverse=True)[: _cut(k)]
    best = _discounted(ideal, gains)
    return min(1.0, _discounted(_grades_at(ranked, grades, k), gains) / best) if best else 0.0


def reciprocal_rank(ranked: Sequence[str], grades: Grades, k: int) -> float:
    """Return one over the rank of the first relevant document, 0 if it is not among the first k; its mean is MRR@k.

    First, third and fifth in three questions: (1 + 1/3 + 1/5) / 3 = 0.5111.

    >>> round(reciprocal_rank(["x", "y", "a"], {"a": 1}, 10), 4)
    0.3333
    """
    return next((1.0 / rank for rank, grade in enumerate(_grades_at(ranked, grades, k), start=1) if grade), 0.0)


def recall(ranked: Sequence[str], grades: Grades, k: int) -> float:
    """Return the part of the relevant documents that is among the first k.

    >>> round(recall(["b", "x", "a", "y", "c"], {"a": 2, "b": 1, "c": 1}, 3), 4)
    0.6667
    """
    relevant = sum(grade > 0 for grade in grades.values())
    return _found(ranked, grades, k) / relevant if relevant else 0.0


def precision(ranked: Sequence[str], grades: Grades, k: int) -> float:
    """Return the part of the first k places that is relevant; places left empty count as not.

    Three relevant among five: 0.6.

    >>> precision(["b", "x", "a", "y", "c"], {"a": 2, "b": 1, "c": 1}, 5)
    0.6
    """
    return _found(ranked, grades, k) / k


def hit_rate(ranked: Sequence[str], grades: Grades, k: int) -> float:
    """1.0 when anything relevant is among the first k, else 0.0; also called success@k.

    >>> hit_rate(["x", "y", "a"], {"a": 1}, 2)
    0.0
    """
    return 1.0 if _found(ranked, grades, k) else 0.0


def average_precision(ranked: Sequence[str], grades: Grades, k: int) -> float:
    """Average the precision at the rank of each relevant document, 0 for those not among the first k.

    Its mean over questions is MAP@k. Relevant at 1, 3 and 5 of three: (1/1 + 2/3 + 3/5) / 3 = 0.7556.

    >>> round(average_precision(["b", "x", "a", "y", "c"], {"a": 2, "b": 1, "c": 1}, 5), 4)
    0.7556
    """
    relevant = sum(grade > 0 for grade in grades.values())
    found, total = 0, 0.0
    for rank, grade in enumerate(_grades_at(ranked, grades, k), start=1):
        if grade:
            found += 1
            total += found / rank
    return total / relevant if relevant else 0.0


def _grades_at(ranked: Sequence[str], grades: Grades, k: int) -> list[int]:
    """Return the grade at each of the first k places: at least 0, and 0 for a document listed before."""
    seen: set[str] = set()
    at: list[int] = []
    for document in ranked[: _cut(k)]:
        at.append(0 if document in seen else max(0, grades.get(document, 0)))
        seen.add(document)
    return at


def _found(ranked: Sequence[str], grades: Grades, k: int) -> int:
    return sum(grade > 0 for grade in _grades_at(ranked, grades, k))


def _discounted(at: Sequence[int], gains: Gains) -> float:
    worth = [2.0**grade - 1.0 if gains is Gains.EXPONENTIAL else float(grade) for grade in at]
    return sum(gain / log2(1 + rank) for rank, gain in enumerate(worth, start=1))


def _cut(k: int) -> int:
    if k < 1:
        raise InvalidInputError(
            f"the cut of a metric must be at least 1, not {k}.", "The usual cuts are 5, 10 and 100."
        )
    return k
