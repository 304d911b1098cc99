"""What every reranker promises, as a suite to be tried on one of your own."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from twofold.domain.ports import Reranker, Scale

QUESTION = "How do I undo the last commit?"
NEAR = "To undo the last commit, use git reset."
FAR = "A recipe for apple pie with cinnamon."
HOSTILE = [
    "",
    " ",
    "\n\t",
    "a",
    "nul\x00inside",
    "👩‍👩‍👧‍👦🇩🇪",
    "\ud800 a lone surrogate",
    "e\u0301" * 50,
    "x" * 5_000,
    "漢字かな",
]


class RerankerContract:
    """Derive a class whose name begins with `Condition` from it, and give it a fixture `reranker`."""

    def test_what_answers_stands_above_what_does_not(self, reranker: Reranker) -> None:
        near, far = reranker.score(QUESTION, [NEAR, FAR])

        assert near > far

    def test_every_text_gets_a_finite_score(self, reranker: Reranker) -> None:
        for question in (QUESTION, "?", "\ud800", "x" * 5_000):
            raw = reranker.score(question, HOSTILE)
            assert raw.shape == (len(HOSTILE),)
            assert raw.dtype == np.float64
            assert np.isfinite(raw).all()

    def test_no_texts_give_no_scores(self, reranker: Reranker) -> None:
        assert reranker.score(QUESTION, []).shape == (0,)
        assert reranker.relevance(np.empty(0)).shape == (0,)

    def test_relevance_lies_between_0_and_1_and_turns_nothing_round(self, reranker: Reranker) -> None:
        raw = reranker.score(QUESTION, [NEAR, FAR, "Undo it.", "The last commit of the day.", *HOSTILE])
        relevance = reranker.relevance(raw)

        assert ((relevance >= 0.0) & (relevance <= 1.0)).all()
        assert (np.diff(relevance[np.argsort(raw)]) >= 0.0).all()

    def test_a_reranker_whose_scores_are_relevance_says_so(self, reranker: Reranker) -> None:
        raw = reranker.score(QUESTION, [NEAR, FAR])

        assert (reranker.identity.scale is Scale.RELEVANCE) == np.array_equal(raw, reranker.relevance(raw))

    def test_the_order_given_is_the_order_returned(self, reranker: Reranker) -> None:
        texts = [f"{'padding ' * (n * 7 % 11)}{NEAR if n % 3 else FAR} {n}" for n in range(23)]
        forward, backward = reranker.score(QUESTION, texts), reranker.score(QUESTION, texts[::-1])

        assert forward == pytest.approx(backward[::-1], abs=0.2)
        assert forward.max() > forward.min() + 0.2

    def test_callers_in_several_threads_get_their_own_scores(self, reranker: Reranker) -> None:
        texts = [[NEAR, FAR] if n % 2 else [FAR, NEAR, FAR] for n in range(12)]
        with ThreadPoolExecutor(6) as pool:
            found = list(pool.map(lambda own: reranker.score(QUESTION, own), texts))

        for own, raw in zip(texts, found, strict=True):
            assert own[int(raw.argmax())] == NEAR
