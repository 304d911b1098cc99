"""Reranking within a search: what is read, what is said of it, where a budget stops it, and what failure leaves."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pytest

from support.scripted_reranker import Dictated
from twofold import Index, SearchResult, load_settings
from twofold.domain.errors import InvalidInputError, NotFoundError
from twofold.domain.ports import Scale
from twofold.domain.types import Ranking, Scores
from twofold.models.embedders.hashing import HashingEmbedder
from twofold.search.pipeline import search
from twofold.search.plan import RerankPlan, SearchPlan
from twofold.search.rerank import BATCH_SIZE, RerankInput, rerank

WORDS = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda", "mu"]


def made(**all_settings: object) -> Index:
    settings = load_settings(overrides={f"rerank.{name}": value for name, value in all_settings.items()})
    index = Index(":memory:", settings=settings, embedder=HashingEmbedder())
    for place, word in enumerate(WORDS):
        index.add(f"{word} commit" + " filler" * place, source=word)
    return index


@pytest.fixture
def index() -> Iterator[Index]:
    with made() as opened:
        yield opened


def sources(result: SearchResult) -> list[str]:
    return [hit.source for hit in result.hits]


def reading(count: int) -> RerankInput:
    fused = Ranking.of(range(count), np.linspace(1.0, 0.1, count))
    return RerankInput("question", fused, lambda keys: [f"text {key}" for key in keys])


def test_nothing_is_reranked_unless_it_is_asked_for(index: Index) -> None:
    result = index.search("commit")

    assert result.rerank is None
    assert "rerank" not in result.timings_ms
    assert {hit.trace.rerank for hit in result.hits} == {None}


@pytest.mark.parametrize("mode", ["hybrid", "bm25", "vector"])
@pytest.mark.parametrize("weight", [0.0, 0.35, 1.0])
def test_every_score_is_recomputed_from_its_trace(mode: str, weight: float) -> None:
    with made(weight=weight, candidates=5) as index:
        result = index.search("alpha commit", mode=mode, k=12, rerank="word-overlap")

    assert result.rerank is not None
    assert result.rerank.read == 5
    assert "rerank" in result.timings_ms
    for hit in result.hits:
        trace = hit.trace.rerank
        assert trace is not None
        assert hit.trace.recompute_score() == hit.score
        assert hit.trace.fused() == trace.fused
        assert trace.fused_normalized <= (trace.fused - result.constants["fused_low"]) / (
            result.constants["fused_high"] - result.constants["fused_low"]
        )


def test_candidates_below_the_cut_keep_their_fused_order(index: Index) -> None:
    plain = sources(index.search("commit", k=12))
    with made(weight=1.0, candidates=4) as other:
        result = other.search("commit", k=12, rerank=Dictated({plain[3]: 0.9}))

    assert sources(result)[0] == plain[3]
    assert sources(result)[4:] == plain[4:]
    scores = [hit.score for hit in result.hits]
    assert scores == sorted(scores, reverse=True)
    below = [hit.trace.rerank for hit in result.hits[4:]]
    assert [(one.raw, one.relevance, one.weight) for one in below if one is not None] == [(None, None, 0.0)] * len(
        below
    )


def test_more_is_read_than_is_shown(index: Index) -> None:
    last = sources(index.search("commit", k=12))[-1]

    with made(weight=1.0) as other:
        assert sources(other.search("commit", k=1, rerank=Dictated({last: 1.0}))) == [last]


def test_a_threshold_leaves_out_what_was_not_found_relevant_and_what_was_not_read() -> None:
    with made(threshold=0.5, candidates=3) as index:
        plain = sources(index.search("commit", k=12))
        result = index.search("commit", k=12, rerank=Dictated({plain[0]: 0.2, plain[1]: 0.5, plain[2]: 0.9}))

    assert set(sources(result)) == {plain[1], plain[2]}
    assert result.rerank is not None
    assert (result.rerank.read, result.rerank.dropped) == (3, 1)


def test_a_failing_reranker_leaves_the_fused_order_and_says_so(index: Index) -> None:
    plain = index.search("commit")
    result = index.search("commit", rerank=Dictated({}, last=0))

    assert tuple(map(str, result.warnings)) == ("rerank unavailable: the reranker is gone.",)
    assert [(hit.source, hit.score) for hit in result.hits] == [(hit.source, hit.score) for hit in plain.hits]
    assert result.rerank is None


def test_a_threshold_that_could_not_be_applied_is_named() -> None:
    with made(threshold=0.5) as index:
        (note,) = map(str, index.search("commit", rerank=Dictated({}, last=0)).warnings)

    assert note.endswith("The threshold was not applied.")


class Broken(Dictated):
    def __init__(self, answer: Sequence[float]) -> None:
        super().__init__({})
        self._answer = answer

    def score(self, query: str, texts: Sequence[str]) -> Scores:
        super().score(query, texts)
        return np.asarray(self._answer, dtype=np.float64)


@pytest.mark.parametrize("answer", [[1.0], [float("nan")] * 12, [[0.5] * 12]])
def test_an_answer_that_is_no_score_for_each_text_counts_as_a_failure(index: Index, answer: list[float]) -> None:
    (note,) = map(str, index.search("commit", rerank=Broken(answer)).warnings)

    assert "one finite score for each text" in note


class Unbound(Dictated):
    def relevance(self, raw: Scores) -> Scores:
        return raw


def test_a_relevance_beyond_its_scale_counts_as_a_failure(index: Index) -> None:
    (note,) = map(str, index.search("commit", rerank=Unbound({"commit": 7.5}, Scale.LOGIT)).warnings)

    assert "relevance outside of 0 to 1" in note


class Clock:
    """Time that passes when a reranker works: so many milliseconds a text."""

    def __init__(self, reranker: Dictated, pace: float, start: float = 0.0) -> None:
        self._reranker = reranker
        self._pace = pace
        self._start = start

    def __call__(self) -> float:
        return self._start + self._pace * sum(len(texts) for _, texts in self._reranker.asked)


@pytest.mark.parametrize(
    ("budget", "start", "read"),
    [(0, 0, 20), (1000, 0, 20), (200, 0, 20), (199, 0, 15), (100, 0, 10), (99, 0, 5), (10, 0, 5), (100, 60, 5)],
)
def test_a_budget_picks_the_depth_by_the_pace_so_far(budget: float, start: float, read: int) -> None:
    reranker = Dictated({"text": 0.5})
    plan = RerankPlan(candidates=20, budget_ms=budget)

    done = rerank(reranker, reading(30), plan, Clock(reranker, 10.0, start))

    assert done.summary is not None
    assert done.summary.read == read
    assert len(done.ranking) == 30
    assert [len(texts) for _, texts in reranker.asked] == ([BATCH_SIZE] * (read // BATCH_SIZE) if budget else [20])


def test_a_spent_budget_reads_nothing_and_says_so() -> None:
    reranker = Dictated({})
    done = rerank(reranker, reading(30), RerankPlan(budget_ms=50.0), lambda: 50.0)

    assert not reranker.asked
    assert done.ranking == reading(30).fused
    assert tuple(map(str, done.warnings)) == ("rerank skipped: the budget of 50 ms was spent.",)


def test_a_reranker_that_fails_half_way_leaves_the_fused_order(index: Index) -> None:
    plain = index.search("commit", k=12)
    result = index.search(
        "commit", k=12, rerank=Dictated({"mu": 1.0}, last=2), settings={"timeouts": {"search": 3600.0}}
    )

    assert sources(result) == sources(plain)
    assert result.degraded
    assert {hit.trace.rerank for hit in result.hits} == {None}


def test_no_candidates_need_no_reranker() -> None:
    reranker = Dictated({}, last=0)

    assert rerank(reranker, reading(0), RerankPlan()).warnings == ()


def test_logits_are_blended_as_relevance_and_shown_as_both(index: Index) -> None:
    reranker = Dictated({"alpha": 4.0, "beta": -4.0}, Scale.LOGIT)
    hits = {hit.source: hit.trace.rerank for hit in index.search("commit", k=12, rerank=reranker).hits}
    first, second, other = hits["alpha"], hits["beta"], hits["gamma"]

    assert first is not None
    assert second is not None
    assert other is not None
    assert (first.raw, other.raw, second.raw) == (4.0, 0.0, -4.0)
    assert first.final == (1.0 - 0.2) * first.fused_normalized + 0.2 * (first.relevance or 0.0)
    assert first.relevance == pytest.approx(0.982, abs=1e-3)
    assert other.relevance == 0.5


def test_the_settings_choose_and_the_question_overrides() -> None:
    with made(model="word-overlap") as index:
        assert index.search("commit").rerank is not None
        assert index.search("commit", rerank="none").rerank is None
    with made() as index, pytest.raises(NotFoundError, match="no reranker 'nope'"):
        index.search("commit", rerank="nope")


@pytest.mark.parametrize(
    "plan",
    [
        RerankPlan(candidates=0),
        RerankPlan(weight=1.5),
        RerankPlan(threshold=-0.1),
        RerankPlan(budget_ms=-1.0),
        RerankPlan(budget_ms=float("nan")),
    ],
)
def test_a_plan_that_cannot_be_is_refused(index: Index, plan: RerankPlan) -> None:
    with pytest.raises(InvalidInputError) as refused:
        search(index._parts, "commit", replace(SearchPlan(), rerank=plan))
    assert refused.value.hint
