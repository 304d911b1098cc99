"""Checklist 80, 81 and C13: confidence and a calibrated chance of an answer; fields that add, when they are asked."""

import pytest

from support.indexes import GIT, indexed, sources
from support.scripted_reranker import Dictated
from twofold import Index
from twofold.domain.ports import Scale
from twofold.domain.types import Metadata


@pytest.fixture(scope="module")
def index() -> Index:
    return indexed(GIT)


def test_item_80_it_is_the_mean_relevance_of_the_best_five_between_a_half_and_one(index: Index) -> None:
    reader = Dictated({"# Undo": 0.95, "# Revert": 0.88, "# Merge": 0.65, "# Stash": 0.45, "# Errors": 0.35})
    result = index.search("commit", rerank=reader)

    assert len(result.hits) == 5
    assert result.confidence == pytest.approx(0.5 + 0.5 * (0.95 + 0.88 + 0.65 + 0.45 + 0.35) / 5)


def test_item_80_logits_count_by_their_sigmoid_and_what_was_not_read_does_not_count(index: Index) -> None:
    low = index.search("commit", rerank=Dictated({"# ": -20.0}, Scale.LOGIT))
    one = index.search("commit", rerank=Dictated({"# ": 0.6}), settings={"rerank.candidates": 1})

    assert low.confidence == pytest.approx(0.5, abs=1e-6)
    assert one.confidence == pytest.approx(0.8)


def test_item_80_it_is_reported_and_drops_nothing(index: Index) -> None:
    low = index.search("commit", rerank=Dictated({}))

    assert low.confidence == 0.5
    assert set(sources(low)) == set(sources(index.search("commit")))


def test_item_80_without_a_reranker_there_is_none(index: Index) -> None:
    assert index.search("commit").confidence is None
    assert index.search("commit", rerank=Dictated({}, last=0)).confidence is None


def test_c13_the_chance_of_an_answer_is_absolute_and_there_where_it_was_measured(index: Index) -> None:
    answered = index.search("undo the last commit with git reset").p_answerable
    unanswered = index.search("boiling point of tungsten carbide in a vacuum").p_answerable

    assert answered is not None
    assert unanswered is not None
    assert 0.0 <= unanswered < 0.5 < answered <= 1.0
    assert index.search("commit", rerank=Dictated({"# ": 0.5})).p_answerable is None
    assert indexed({}).search("commit").p_answerable == 0.0


@pytest.fixture(scope="module")
def tagged() -> Index:
    made = indexed({})
    for source, quality, density in (("plain", "ok", 0.1), ("rich", "high", 0.9)):
        fields: Metadata = {"chunk_quality": quality, "entity_density": density, "keywords": ("trade",)}
        made.add(f"Reports on trade {source}.", source=source, metadata=fields)
    return made


def test_item_81_off_by_default_and_exact_when_on(tagged: Index) -> None:
    plain = {hit.source: hit.score for hit in tagged.search("reports of trade").hits}
    assert all(not hit.trace.steps for hit in tagged.search("reports of trade").hits)

    weights = {"metadata_boost": {"alpha": 0.5, "beta": 0.3, "cap": 1.0}}
    result = tagged.search("reports of trade", settings=weights)
    scores = {hit.source: hit.score for hit in result.hits}
    assert scores["rich"] == pytest.approx(0.5 * plain["rich"] + 0.3 * (0.9 + 1.0 + 1.0) / 3)
    assert scores["plain"] == pytest.approx(0.5 * plain["plain"] + 0.3 * (0.1 + 0.5 + 1.0) / 3)
    assert sources(result)[0] == "rich"

    capped = tagged.search("reports of trade", settings={"metadata_boost": {"beta": 9.0, "cap": 0.05}})
    assert {hit.source: hit.score - plain[hit.source] for hit in capped.hits} == pytest.approx(
        {"plain": 0.05, "rich": 0.05}
    )


def test_item_81_the_semantic_type_that_a_question_wants_counts_when_that_can_be_told() -> None:
    made = indexed({})
    for source, kind in (("told", "narrative"), ("defined", "definition")):
        made.add("HEAD is where you are.", source=source, metadata={"semantic_type_primary": kind})
    settings = {"metadata_boost": {"gamma": 0.1}, "query": {"intent_filter": False}}
    result = made.search("define HEAD", settings=settings)

    scores = {hit.source: hit.score for hit in result.hits}
    assert scores["defined"] == pytest.approx(scores["told"] + 0.1)
