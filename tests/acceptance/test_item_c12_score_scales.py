"""Checklist C12: every reranker declares its scale; thresholds hold for relevance in [0, 1], whatever the scale."""

import pytest

from support.scripted_reranker import Dictated
from twofold import Index, SearchResult, load_settings
from twofold.domain.ports import Scale
from twofold.models.catalog.entries import MS_MARCO
from twofold.models.embedders.hashing import HashingEmbedder

LOGITS = {"A": 3.0, "B": 0.1, "C": -0.8, "D": -0.9, "E": -5.0}


def asked(scale: Scale, scores: dict[str, float], threshold: float) -> SearchResult:
    settings = load_settings(overrides={"rerank.threshold": threshold, "rerank.weight": 1.0})
    with Index(":memory:", settings=settings, embedder=HashingEmbedder()) as index:
        for name in scores:
            index.add(f"passage {name}", source=name)
        named = {f"passage {name}": score for name, score in scores.items()}
        return index.search("passage", rerank=Dictated(named, scale))


@pytest.mark.parametrize(("threshold", "kept"), [(0.3, "ABC"), (0.5, "AB"), (0.95, "A")])
def test_a_threshold_on_logits_is_a_threshold_on_their_sigmoid(threshold: float, kept: str) -> None:
    result = asked(Scale.LOGIT, LOGITS, threshold)

    assert "".join(hit.source for hit in result.hits) == kept
    assert result.rerank is not None
    assert result.rerank.scale == "logit"


def test_a_logit_below_zero_can_be_relevant_enough_and_both_are_shown() -> None:
    third = asked(Scale.LOGIT, LOGITS, 0.3).hits[2].trace.rerank

    assert third is not None
    assert third.raw == -0.8
    assert third.relevance == pytest.approx(0.31, abs=0.001)


@pytest.mark.parametrize(("threshold", "kept"), [(0.3, "AB"), (0.5, "A")])
def test_a_threshold_on_relevance_is_taken_as_it_is(threshold: float, kept: str) -> None:
    result = asked(Scale.RELEVANCE, {"A": 0.9, "B": 0.3, "C": 0.29}, threshold)

    assert "".join(hit.source for hit in result.hits) == kept


def test_the_catalogs_cross_encoder_declares_logits() -> None:
    assert MS_MARCO.scale is Scale.LOGIT
