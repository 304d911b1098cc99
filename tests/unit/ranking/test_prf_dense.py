"""Feedback without a model: the relevance model against a slow sum, what may be chosen, and where it does nothing."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twofold.domain.errors import InvalidInputError
from twofold.domain.types import Statistics, TermCounts, TermQuery
from twofold.ranking.prf import Expansion, Feedback, expanded, relevance_model

TERMS = st.sampled_from("abcdefgh")
PASSAGES = st.lists(
    st.dictionaries(TERMS, st.integers(1, 5), max_size=6).map(lambda counts: TermCounts(counts, sum(counts.values()))),
    max_size=6,
)
WEIGHTS = st.dictionaries(TERMS, st.floats(0.25, 3.0), min_size=1, max_size=4)
HOLDING = st.dictionaries(TERMS, st.integers(0, 1000))
FEEDBACK = st.builds(Feedback, st.integers(0, 8), st.floats(0.1, 1.0), st.floats(0.01, 1.0))


@given(PASSAGES)
def test_the_model_is_the_mean_of_the_passages_own_models(passages: list[TermCounts]) -> None:
    held = [passage for passage in passages if passage.counts]
    slow = {
        term: sum(passage.counts.get(term, 0) / sum(passage.counts.values()) for passage in held) / len(held)
        for term in {term for passage in held for term in passage.counts}
    }

    assert relevance_model(passages) == pytest.approx(slow)


@given(PASSAGES.filter(lambda passages: any(passage.counts for passage in passages)), st.data())
def test_its_probabilities_sum_to_1_whatever_the_scores(passages: list[TermCounts], data: st.DataObject) -> None:
    held = [passage for passage in passages if passage.counts]
    scores = data.draw(st.lists(st.floats(-1, 9), min_size=len(held), max_size=len(held)))

    assert sum(relevance_model(held, scores).values()) == pytest.approx(1.0)


def test_passages_are_weighed_by_their_scores_and_those_below_0_not_at_all() -> None:
    passages = [TermCounts({"a": 1}, 1), TermCounts({"b": 1}, 1), TermCounts({"c": 1}, 1)]

    assert relevance_model(passages, [3.0, 1.0, -2.0]) == {"a": 0.75, "b": 0.25}
    assert relevance_model(passages, [-3.0, -1.0, -2.0]) == pytest.approx(dict.fromkeys("abc", 1 / 3))


def test_scores_that_do_not_fit_the_passages_are_a_mistake_of_the_caller() -> None:
    with pytest.raises(ValueError, match="zip"):
        relevance_model([TermCounts({"a": 1}, 1)], [1.0, 2.0])


@given(WEIGHTS, PASSAGES, HOLDING, FEEDBACK)
def test_the_weights_are_rm3_but_for_one_factor(
    weights: dict[str, float], passages: list[TermCounts], holding: dict[str, int], feedback: Feedback
) -> None:
    model = relevance_model(passages)
    made = expanded(TermQuery(weights), model, Statistics(1000, 9000, holding), feedback)
    if not made.gained:
        return
    whole = sum(weights.values())
    chosen = sum(model[term] for term in made.gained)
    for term, weight in made.query.weights.items():
        asked = weights.get(term, 0.0) / whole
        answered = model[term] / chosen if term in made.gained else 0.0
        rm3 = feedback.share * asked + (1 - feedback.share) * answered
        assert weight == pytest.approx(rm3 * whole / feedback.share)


@given(WEIGHTS, PASSAGES, HOLDING, FEEDBACK)
def test_no_more_terms_come_than_asked_for_and_none_that_is_too_common(
    weights: dict[str, float], passages: list[TermCounts], holding: dict[str, int], feedback: Feedback
) -> None:
    made = expanded(TermQuery(weights), relevance_model(passages), Statistics(1000, 9000, holding), feedback)
    new = made.query.weights.keys() - weights.keys()

    assert len(made.gained) <= feedback.terms
    assert all(0 < holding.get(term, 0) <= feedback.commonest * 1000 for term in new)
    assert list(made.query.weights)[: len(weights)] == list(weights)
    assert all(math.isfinite(weight) and weight > 0.0 for weight in made.query.weights.values())


@given(WEIGHTS, PASSAGES, HOLDING, FEEDBACK)
def test_the_question_s_own_words_lose_nothing(
    weights: dict[str, float], passages: list[TermCounts], holding: dict[str, int], feedback: Feedback
) -> None:
    made = expanded(TermQuery(weights), relevance_model(passages), Statistics(1000, 9000, holding), feedback)

    assert all(made.query.weights[term] >= weight for term, weight in weights.items())
    assert sum(made.gained.values()) <= sum(weights.values()) * (1 / feedback.share - 1) * (1 + 1e-9)


@pytest.mark.parametrize("feedback", [Feedback(terms=0), Feedback(share=1.0)])
def test_where_nothing_may_be_added_the_question_stays(feedback: Feedback) -> None:
    query = TermQuery({"a": 1.0})

    assert expanded(query, {"b": 1.0}, Statistics(10, 90, {"b": 1}), feedback) == Expansion(query, {})


def test_k1_b_and_statistics_of_the_question_are_kept() -> None:
    query = TermQuery({"a": 1.0}, 1.5, 0.5, Statistics(1, 2, {}))
    made = expanded(query, {"b": 1.0}, Statistics(10, 90, {"b": 1}), Feedback(share=0.5)).query

    assert (made.k1, made.b, made.statistics) == (query.k1, query.b, query.statistics)
    assert made.weights == {"a": 1.0, "b": 1.0}


def test_a_rare_term_is_chosen_before_a_common_one() -> None:
    known = Statistics(1000, 9000, {"rare": 2, "common": 90})
    made = expanded(TermQuery({"a": 1.0}), {"common": 0.6, "rare": 0.4}, known, Feedback(terms=1))

    assert list(made.gained) == ["rare"]


@pytest.mark.parametrize(
    "settings", [{"terms": -1}, {"terms": 101}, {"share": 0.0}, {"share": 1.1}, {"commonest": 0.0}, {"commonest": 2.0}]
)
def test_settings_out_of_range_are_refused(settings: dict[str, float]) -> None:
    with pytest.raises(InvalidInputError):
        Feedback(**settings)  # type: ignore[arg-type]
