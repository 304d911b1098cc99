"""Full, without reranking, one retriever, empty: each step typed and said, or raised if asked for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twofold.domain.errors import CorruptError, InvalidInputError, ModelError
from twofold.domain.warning import warning_of
from twofold.search.degradation import (
    NO_RETRIEVER,
    ON_FAILURE,
    RETRIEVERS,
    RETRIEVERS_OF,
    Degradation,
    DegradationStep,
    Level,
    Stage,
    degradation_of,
    without,
)

GONE = ModelError("the model is gone.", "Bring it back.")
DAMAGED = CorruptError("a segment is damaged.")


def test_a_full_search_comes_down_to_no_reranking_then_one_arm_then_nothing() -> None:
    full = degradation_of("hybrid", reranks=True)
    plain = without(full, Stage.RERANK, GONE)
    words = without(plain, Stage.VECTOR, GONE)
    empty = without(words, Stage.BM25, DAMAGED)

    assert [one.level for one in (full, plain, words, empty)] == list(Level)
    assert plain.left == RETRIEVERS
    assert words.left == {Stage.BM25}
    assert empty.left == frozenset()
    assert empty.lost == (
        DegradationStep(Stage.RERANK, Level.WITHOUT_RERANK, warning_of("rerank", GONE)),
        DegradationStep(Stage.VECTOR, Level.ONE_RETRIEVER, warning_of("vector", GONE)),
        DegradationStep(Stage.BM25, Level.EMPTY, warning_of("bm25", DAMAGED)),
    )


def test_each_step_is_a_line_for_people_and_an_empty_answer_says_that_nothing_could_be_found() -> None:
    words = without(degradation_of("hybrid", reranks=False), Stage.VECTOR, GONE)

    assert tuple(map(str, words.warnings)) == ("vector unavailable: the model is gone.",)
    assert tuple(map(str, without(words, Stage.BM25, DAMAGED).warnings)) == (
        "vector unavailable: the model is gone.",
        "bm25 unavailable: a segment is damaged.",
        "retrieval empty: no retriever was left to search with.",
    )


def test_either_arm_alone_is_left_without_reranking() -> None:
    full = degradation_of("hybrid", reranks=True)

    assert without(full, Stage.BM25, DAMAGED).left == {Stage.VECTOR}
    assert without(full, Stage.VECTOR, GONE).left == {Stage.BM25}


@pytest.mark.parametrize(("mode", "retriever"), [("bm25", Stage.BM25), ("vector", Stage.VECTOR)])
def test_a_mode_that_asked_for_one_arm_is_not_answered_by_the_other(mode: str, retriever: Stage) -> None:
    degradation = degradation_of(mode, reranks=True)

    assert degradation.level is Level.FULL
    assert without(degradation, Stage.RERANK, GONE).level is Level.WITHOUT_RERANK
    assert without(degradation, retriever, GONE).level is Level.EMPTY


def test_raise_lets_the_error_through() -> None:
    with pytest.raises(ModelError) as caught:
        without(degradation_of("hybrid", reranks=True), Stage.RERANK, GONE, "raise")

    assert caught.value is GONE


def test_empty_gives_nothing_at_the_first_failure() -> None:
    empty = without(degradation_of("hybrid", reranks=True), Stage.RERANK, GONE, "empty")

    assert empty.level is Level.EMPTY
    assert tuple(map(str, empty.warnings)) == ("rerank unavailable: the model is gone.", str(NO_RETRIEVER))


def test_asking_a_bare_model_is_for_whoever_answers_and_searches_come_down_as_ever() -> None:
    full = degradation_of("hybrid", reranks=True)

    assert without(full, Stage.VECTOR, GONE, "llm") == without(full, Stage.VECTOR, GONE, "degrade")
    assert ON_FAILURE == ("degrade", "empty", "llm", "raise")


def test_another_policy_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="pray"):
        without(degradation_of("hybrid", reranks=True), Stage.RERANK, GONE, "pray")


def height(degradation: Degradation) -> int:
    return list(Level).index(degradation.level)


@given(
    st.sampled_from(list(RETRIEVERS_OF)), st.booleans(), st.lists(st.sampled_from(list(Stage)), max_size=6), st.data()
)
def test_failures_in_any_order_only_lead_down_and_none_goes_unsaid(
    mode: str,
    reranks: bool,  # noqa: FBT001
    stages: list[Stage],
    data: st.DataObject,
) -> None:
    degradation = degradation_of(mode, reranks=reranks)
    for stage in stages:
        before = degradation
        policy = data.draw(st.sampled_from(["degrade", "llm", "empty"]))
        degradation = without(before, stage, GONE, policy)

        assert degradation.left <= before.left
        assert stage not in degradation.left
        assert height(degradation) >= height(before)
        assert degradation.lost[-1] == DegradationStep(stage, degradation.level, warning_of(stage, GONE))
        assert degradation.lost[:-1] == before.lost
        assert (Stage.RERANK not in degradation.left) or degradation.left >= RETRIEVERS_OF[mode]
        assert (degradation.level is Level.EMPTY) == (not degradation.left & RETRIEVERS)
