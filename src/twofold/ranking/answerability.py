"""How likely it is that a relevant passage is among the best five: a calibrated probability from several signals.

A logistic regression on what a search knows anyway. Its coefficients were fitted offline, a set for every mode,
embedder and reranker, on judged collections that are not yours: `docs/answerable.md` says on which, and how well it
held on questions and collections that it had not seen.
"""

import json
import math
from collections.abc import Iterable
from pathlib import Path

from twofold.domain.dataclass import dataclass

FITTED = Path(__file__).with_name("answerable.json")
NO_RERANKER = ""
ANY_EMBEDDER = ""
WORDS_ALONE = "bm25"
UNLIKELY = 0.4
"""The chance below which people are warned that their documents probably hold no answer."""


@dataclass(frozen=True, slots=True)
class Signals:
    """What one search knows of how well it went; each is better when greater, but `terms`, which only says how many.

    `terms` counts the question's terms. `coverage_first` and `coverage_three` are the share of the question's terms, a
    term by weight · idf, that occurs in the best passage, and in any of the best three, in [0, 1]. `vector_top` is the
    best cosine, in [-1, 1], and `vector_rise` what it has above the tenth best. `bm25_rise` is what the best BM25
    score has above the tenth best, times √terms, divided by what no passage can exceed, Σ weight · idf · (k1 + 1): of
    a longer question any passage holds a smaller share, and the share held by chance varies less, as 1 / √terms.
    `agreement` says what the retriever that thinks less of the best passage thinks of it, 1 where it is the best of
    both. A retriever that found nothing gives 0. `relevance` is the best that the reranker gave to one of the best
    five, in [0, 1], None where nothing was reranked.
    """

    terms: int
    coverage_first: float
    coverage_three: float
    vector_top: float
    vector_rise: float
    bm25_rise: float
    agreement: float
    relevance: float | None = None


@dataclass(frozen=True, slots=True)
class Coefficient:
    """How much a signal counts, at least 0. A value outside of `low` to `high`, where it was fitted, is taken as these.

    So a signal that is stranger than any that was measured is not believed beyond what was measured.
    """

    signal: str
    weight: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Measured:
    """How well a calibration held on other questions: expected calibration error (15 bins), AUROC, Brier score."""

    questions: int
    ece: float
    auroc: float
    brier: float


@dataclass(frozen=True, slots=True)
class Near:
    """The best cosine from which a question is on the subject of the documents, in whatever words they are.

    `chance` is how many of `questions` with such a cosine were answerable that the logistic regression takes for
    unlikely: their words stand in no passage, as in tables and titles, or nothing stands out from much that is alike.
    """

    cosine: float
    chance: float
    questions: int


@dataclass(frozen=True, slots=True)
class Calibration:
    """The coefficients for one mode, embedder and reranker, and how they were measured.

    `embedder` is empty for a mode without one, which fits any, `reranker` where nothing is reranked. `answerable` is
    the share of the questions it was fitted to that had a relevant passage among the best five: a probability is for
    such a mixture. `held_out` was measured on other questions of the same collections, `unseen` on collections left out
    of the fit, one at a time.
    """

    mode: str
    embedder: str
    reranker: str
    intercept: float
    coefficients: tuple[Coefficient, ...]
    answerable: float
    held_out: Measured
    unseen: Measured
    near: Near | None = None


def p_answerable(signals: Signals | None, calibration: Calibration) -> float:
    """Return the probability that one of the best five passages is relevant: 1 / (1 + exp(-(b + Σ weight · value))).

    It is no less than `near.chance` where the best cosine reaches `near.cosine`.

    `signals` are None where no passage was found, and then it is 0.0; else it lies between 0 and 1. A signal that rises
    never lowers it. With b = -6 and a weight of 10 for a cosine of 0.75: 1 / (1 + exp(-1.5)) = 0.8176.

    >>> unmeasured = Measured(0, 0.0, 0.5, 0.25)
    >>> one = (Coefficient("vector_top", 10.0, 0.4, 0.9),)
    >>> fitted = Calibration("hybrid", "made", "", -6.0, one, 0.5, unmeasured, unmeasured)
    >>> round(p_answerable(Signals(3, 0.5, 0.8, 0.75, 0.1, 0.2, 1.0), fitted), 4)
    0.8176

    Raises ValueError when the calibration is for reranked passages and these are not.
    """
    if signals is None:
        return 0.0
    total = calibration.intercept
    for one in calibration.coefficients:
        total += one.weight * min(max(value_of(signals, one.signal), one.low), one.high)
    small = math.exp(-abs(total))
    chance, near = (1.0 if total >= 0.0 else small) / (1.0 + small), calibration.near
    return max(chance, near.chance) if near is not None and signals.vector_top >= near.cosine else chance


def value_of(signals: Signals, name: str) -> float:
    """Return what a signal counts as: itself, but the log-odds of a relevance, which counts within .00001 of 0 and 1.

    >>> round(value_of(Signals(3, 0.5, 0.8, 0.75, 0.1, 0.2, 1.0, relevance=0.8), "relevance"), 4)
    1.3863
    """
    value = getattr(signals, name)
    if name != "relevance":
        return float(value)
    if value is None:
        message = "the calibration is for reranked passages, and nothing was reranked"
        raise ValueError(message)
    inside = min(max(float(value), 1e-5), 1.0 - 1e-5)
    return math.log(inside / (1.0 - inside))


def claim_of(calibration: Calibration) -> str:
    """Return a sentence about what a probability is based on, to be shown with it.

    >>> figures = Measured(1800, 0.035, 0.945, 0.093)
    >>> print(claim_of(Calibration("hybrid", "made", "", -6.0, (), 0.47, figures, Measured(1800, 0.045, 0.93, 0.1))))
    fitted on other collections: 47% of the questions answerable, off by 0.035 there, by 0.045 on collections left out
    """
    share, held_out, unseen = calibration.answerable, calibration.held_out.ece, calibration.unseen.ece
    return (
        f"fitted on other collections: {share:.0%} of the questions answerable,"
        f" off by {held_out:.3f} there, by {unseen:.3f} on collections left out"
    )


def calibration_for(
    calibrations: Iterable[Calibration], mode: str, embedder: str, reranker: str = NO_RERANKER
) -> Calibration | None:
    """Return the calibration of a way of searching; None where it was never measured, and nothing can be claimed.

    `mode` is what was done (`hybrid`, `bm25`, `vector`), `embedder` and `reranker` the names in their identities; a
    reranker that read nothing does not count. BM25 is the same with any embedder.
    """
    heard = ANY_EMBEDDER if mode == WORDS_ALONE else embedder
    return next(
        (one for one in calibrations if (one.mode, one.embedder, one.reranker) == (mode, heard, reranker)), None
    )


def load_calibrations(path: Path = FITTED) -> tuple[Calibration, ...]:
    """Read the calibrations that come with the package, which `benchmarks/answerable.py` made."""
    rows = json.loads(path.read_text(encoding="utf-8"))["calibrations"]
    return tuple(
        Calibration(
            mode=row["mode"],
            embedder=row["embedder"],
            reranker=row["reranker"],
            intercept=row["intercept"],
            coefficients=tuple(Coefficient(**one) for one in row["coefficients"]),
            answerable=row["answerable"],
            held_out=Measured(**row["held_out"]),
            unseen=Measured(**row["unseen"]),
            near=Near(**row["near"]) if "near" in row else None,
        )
        for row in rows
    )
